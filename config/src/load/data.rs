//! Rows of `data` in a separate file.

use std::path::{Path, PathBuf};

use super::document::why;
use super::{Document, Loader, MAX_FILE_BYTES, csv};
use crate::issue::Code;
use crate::source::{Source, SourceSpot, Span};
use crate::yaml::{self, Kind, Member, Node};

/// The blocks whose tests may have rows.
const BLOCKS: [&str; 3] = ["tools", "resources", "prompts"];

impl Loader<'_> {
    /// Replaces the name of a file by its rows. Paths are relative to the file that contains them.
    pub(super) fn data(&mut self, documents: &mut [Document]) {
        for document in documents {
            let folder = self.sources.path(document.file).parent();
            let folder = folder.unwrap_or(Path::new("")).to_owned();
            let Kind::Object(blocks) = &mut document.root.kind else {
                continue;
            };
            for block in blocks {
                let Kind::Array(tests) = &mut block.value.kind else {
                    continue;
                };
                if !BLOCKS.contains(&block.key.as_str()) {
                    continue;
                }
                for (number, test) in tests.iter_mut().enumerate() {
                    let Some(data) = named(test) else { continue };
                    let place = SourceSpot {
                        file: document.file,
                        pointer: format!("/{}/{number}/data", block.key),
                        span: data.value.span,
                    };
                    self.rows(data, &folder, place);
                }
            }
        }
    }

    fn rows(&mut self, data: &mut Member, folder: &Path, place: SourceSpot) {
        let Kind::Text(text) = &data.value.kind else {
            return;
        };
        if text.value.is_empty() {
            return;
        }
        let path: PathBuf = folder.join(&text.value).components().collect();
        match self.rows_of(&path, place.span) {
            Ok(rows) => data.value.kind = Kind::Array(rows),
            Err(why) => {
                let message = format!("cannot read the rows of `{}`: {why}", path.display());
                let help = "write a CSV file whose first line names the columns, or a JSON list of objects";
                self.issues
                    .error(Code::File, place, message, Some(help.to_owned()));
            }
        }
    }

    fn rows_of(&mut self, path: &Path, span: Span) -> Result<Vec<Node>, String> {
        let bytes = self.files.read(path, MAX_FILE_BYTES);
        let bytes = bytes.map_err(|error| why(&error))?;
        let text = String::from_utf8(bytes).map_err(|_| "it is not UTF-8")?;
        let text = text.trim_start_matches('\u{feff}').to_owned();
        let extension = path.extension().and_then(|one| one.to_str());
        let rows = match extension.map(str::to_ascii_lowercase).as_deref() {
            Some("csv") => csv::rows(&text, span),
            Some("json") => json(&text, span),
            _ => Err("expected a name that ends in `.csv` or `.json`".to_owned()),
        }?;
        if rows.is_empty() {
            return Err("it has no rows".to_owned());
        }
        self.sources.add(Source::new(path.to_owned(), text));
        Ok(rows)
    }
}

/// `data` of a test, if it is a file name.
fn named(test: &mut Node) -> Option<&mut Member> {
    let Kind::Object(members) = &mut test.kind else {
        return None;
    };
    let is_name =
        |member: &&mut Member| member.key == "data" && matches!(member.value.kind, Kind::Text(_));
    members.iter_mut().find(is_name)
}

/// A list of objects. JSON is valid YAML.
fn json(text: &str, span: Span) -> Result<Vec<Node>, String> {
    let (root, problems) = yaml::parse(text);
    if let Some(problem) = problems.into_iter().next() {
        return Err(problem.message);
    }
    let Some(Kind::Array(mut rows)) = root.map(|root| root.kind) else {
        return Err("it is not a list".to_owned());
    };
    if let Some(row) = rows.iter().find(|row| !matches!(row.kind, Kind::Object(_))) {
        return Err(format!(
            "expected an array of objects, found {}",
            row.what()
        ));
    }
    for row in &mut rows {
        stand(row, span);
    }
    Ok(rows)
}

/// Sets the position of every value to that of the file's name.
fn stand(node: &mut Node, span: Span) {
    node.span = span;
    match &mut node.kind {
        Kind::Array(items) => items.iter_mut().for_each(|item| stand(item, span)),
        Kind::Object(members) => {
            for member in members {
                member.key_span = span;
                stand(&mut member.value, span);
            }
        }
        _ => {}
    }
}
