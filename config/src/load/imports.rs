//! Following imports: in order, each file once, up to a limit, below one folder.

use std::collections::HashSet;
use std::path::{Path, PathBuf};

use super::document::why;
use super::{Document, Loader};
use crate::issue::Code;
use crate::source::{FileId, SourceSpot};
use crate::yaml::{Kind, Node};

/// The most files that one suite may consist of.
const MAX_FILES: usize = 256;

/// The state of loading imports.
struct ImportState {
    /// The folder of the suite, with links resolved; no import may lead out of it.
    folder: Option<PathBuf>,
    /// The files that lead to here, as they are and as they were named.
    chain: Vec<(PathBuf, PathBuf)>,
    done: HashSet<PathBuf>,
    found: Vec<Document>,
}

impl Loader<'_> {
    /// Reads a suite and everything that it imports; imports come before their importer.
    pub(super) fn documents(&mut self, path: &Path) -> Vec<Document> {
        let Some(document) = self.document(path, None) else {
            return Vec::new();
        };
        let real = self.files.canonical(path).ok();
        let mut way = ImportState {
            folder: real.as_deref().and_then(Path::parent).map(Path::to_owned),
            chain: vec![(real.unwrap_or_else(|| path.to_owned()), path.to_owned())],
            done: HashSet::new(),
            found: Vec::new(),
        };
        self.below(&document, path, &mut way);
        way.found.push(document);
        way.found
    }

    fn below(&mut self, document: &Document, path: &Path, way: &mut ImportState) {
        for (entry, place) in entries(document.file, &document.root) {
            self.import(&entry, &place, path, way);
        }
    }

    fn import(&mut self, entry: &str, place: &SourceSpot, importer: &Path, way: &mut ImportState) {
        if entry.contains("${") {
            let help = "imports are read before variables have values; write the path out";
            self.refuse(place, format!("cannot resolve `{entry}`"), help);
            return;
        }
        let folder = importer.parent().unwrap_or(Path::new(""));
        // Joined part by part, so that no `./` remains in the middle.
        let path: PathBuf = folder.join(entry).components().collect();
        let real = match self.reachable(entry, &path, folder, way) {
            Ok(real) => real,
            Err((message, help)) => return self.refuse(place, message, help),
        };
        if !way.done.insert(real.clone()) {
            return;
        }
        if way.done.len() >= MAX_FILES {
            self.refuse(
                place,
                format!("a suite may consist of {MAX_FILES} files"),
                "join some of them",
            );
            return;
        }
        if let Some(document) = self.document(&path, Some(place)) {
            way.chain.push((real, path.clone()));
            self.below(&document, &path, way);
            way.chain.pop();
            way.found.push(document);
        }
    }

    /// The actual path of the file, or why it may not be imported and how to fix it.
    fn reachable(
        &self,
        entry: &str,
        path: &Path,
        folder: &Path,
        way: &ImportState,
    ) -> Result<PathBuf, (String, String)> {
        let real = self.files.canonical(path).map_err(|error| {
            let message = format!("cannot read `{}`: {}", path.display(), why(&error));
            let folder = shown(folder);
            let help = format!("paths are relative to the file that imports, here to `{folder}`");
            (message, help)
        })?;
        let inside = way.folder.as_deref();
        if inside.is_none_or(|folder| !real.starts_with(folder)) {
            let help = "a suite may import files in its own folder and in folders below it; move the file there";
            let message = format!("`{entry}` is outside of the suite's folder");
            return Err((message, help.to_owned()));
        }
        if let Some(from) = way.chain.iter().position(|(known, _)| *known == real) {
            let chain = way.chain.iter().skip(from).map(|(_, named)| named);
            let around = chain.chain(way.chain.iter().skip(from).take(1).map(|(_, named)| named));
            let names: Vec<_> = around
                .map(|named| format!("`{}`", named.display()))
                .collect();
            let message = "imports form a cycle".to_owned();
            return Err((message, names.join(" imports ")));
        }
        Ok(real)
    }

    fn refuse(&self, place: &SourceSpot, message: impl Into<String>, help: impl Into<String>) {
        self.issues.error(
            Code::Import,
            place.clone(),
            message.into(),
            Some(help.into()),
        );
    }
}

fn entries(file: FileId, root: &Node) -> Vec<(String, SourceSpot)> {
    let Some(Kind::Array(items)) = root.member("imports").map(|member| &member.value.kind) else {
        return Vec::new();
    };
    let entry = |(index, item): (usize, &Node)| match &item.kind {
        Kind::Text(text) if !text.value.is_empty() => {
            let pointer = format!("/imports/{index}");
            Some((
                text.value.clone(),
                SourceSpot {
                    file,
                    pointer,
                    span: item.span,
                },
            ))
        }
        _ => None,
    };
    items.iter().enumerate().filter_map(entry).collect()
}

/// A folder for a message; the current one has no name.
fn shown(folder: &Path) -> String {
    if folder.as_os_str().is_empty() {
        ".".to_owned()
    } else {
        folder.display().to_string()
    }
}
