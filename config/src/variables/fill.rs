//! Filling values into the strings of a document.

use super::reference::{Fallback, Token, Variable, tokens};
use super::scope::Scope;
use crate::issue::{Code, Issues};
use crate::near::did_you_mean;
use crate::secrets::Secrets;
use crate::source::{FileId, SourceSpot, Span};
use crate::suite::rows::ROW;
use crate::template::{Piece, Reference};
use crate::yaml::{Kind, Node, Text, escape};

/// The input of filling and its results.
pub(crate) struct Filler<'a> {
    pub(crate) scope: &'a Scope<'a>,
    pub(crate) issues: &'a Issues,
    pub(crate) secrets: &'a mut Secrets,
    pub(crate) file: FileId,
    /// The text of the file.
    pub(crate) source: &'a str,
}

/// Replaces the references in every string of a document except those of `variables` and `imports`,
/// which are read before there are any values. Keys are not changed.
pub(crate) fn fill(root: &mut Node, filler: &mut Filler<'_>) {
    let Kind::Object(members) = &mut root.kind else {
        return;
    };
    for member in members {
        if matches!(member.key.as_str(), "variables" | "imports") {
            continue;
        }
        let pointer = format!("/{}", escape(&member.key));
        if member.key == "compositions" {
            filler.compositions(&mut member.value, &pointer);
        } else {
            filler.walk(&mut member.value, &pointer, &Strings::Plain);
        }
    }
}

/// How the strings below a node are read.
enum Strings<'n> {
    /// With variables.
    Plain,
    /// Those of a JSON Schema, where `$defs` in a reference is not a variable.
    Schema,
    /// Those of a composition with these nodes.
    Composition(&'n [String]),
}

impl<'a> Filler<'a> {
    fn walk(&mut self, node: &mut Node, pointer: &str, strings: &Strings<'_>) {
        let span = node.span;
        match &mut node.kind {
            Kind::Text(text) if text.value.contains('$') => self.text(text, span, pointer, strings),
            Kind::Array(items) => {
                for (index, item) in items.iter_mut().enumerate() {
                    self.walk(item, &format!("{pointer}/{index}"), strings);
                }
            }
            Kind::Object(members) => {
                for member in members {
                    let key = member.key.as_str();
                    let is_text = matches!(member.value.kind, Kind::Text(_));
                    if matches!(strings, Strings::Schema)
                        && is_text
                        && matches!(key, "$ref" | "$dynamicRef")
                    {
                        continue;
                    }
                    let pointer = format!("{pointer}/{}", escape(key));
                    let is_schema = key == "schema" && !is_text && pointer.contains("/matcher/");
                    let below = if is_schema { &Strings::Schema } else { strings };
                    self.walk(&mut member.value, &pointer, below);
                }
            }
            _ => {}
        }
    }

    /// Node arguments keep their references to other nodes.
    fn compositions(&mut self, list: &mut Node, pointer: &str) {
        let Kind::Array(items) = &mut list.kind else {
            return;
        };
        for (index, composition) in items.iter_mut().enumerate() {
            let ids = node_ids(composition);
            let Kind::Object(members) = &mut composition.kind else {
                continue;
            };
            for member in members {
                let pointer = format!("{pointer}/{index}/{}", escape(&member.key));
                let strings = if member.key == "nodes" {
                    Strings::Composition(&ids)
                } else {
                    Strings::Plain
                };
                self.walk(&mut member.value, &pointer, &strings);
            }
        }
    }

    fn text(&mut self, text: &mut Text, span: Span, pointer: &str, strings: &Strings<'_>) {
        let mut out = String::new();
        let mut pieces = Vec::new();
        // The text if no row is filled in.
        let mut whole = String::new();
        for token in tokens(&text.value) {
            if let Some(reference) = output(&token, strings) {
                if !out.is_empty() {
                    whole.push_str(&out);
                    pieces.push(Piece::Text(std::mem::take(&mut out)));
                }
                if let Token::Output { written, .. } = token {
                    whole.push_str(written);
                }
                pieces.push(Piece::Output(reference));
                continue;
            }
            match token {
                Token::Text(part) => out.push_str(part),
                Token::Dollar => out.push('$'),
                Token::Output { written, .. } => out.push_str(written),
                Token::Variable(variable) => {
                    text.interpolated = true;
                    match self.value(&variable) {
                        Ok(value) => out.push_str(value),
                        Err(message) => {
                            let place = SourceSpot {
                                file: self.file,
                                pointer: pointer.to_owned(),
                                span: self.span_within(span, variable.written),
                            };
                            self.unresolved(&variable, message, place);
                        }
                    }
                }
            }
        }
        if pieces.is_empty() {
            text.value = out;
            return;
        }
        whole.push_str(&out);
        if !out.is_empty() {
            pieces.push(Piece::Text(out));
        }
        text.pieces = Some(pieces);
        if !matches!(strings, Strings::Composition(_)) {
            text.value = whole;
        }
    }

    /// The value of a variable; the error is the message in its reference.
    fn value<'v>(&mut self, variable: &Variable<'v>) -> Result<&'v str, Option<&'v str>>
    where
        'a: 'v,
    {
        if let Some(value) = self.scope.value(variable.name) {
            if self.scope.is_secret(variable.name) {
                self.secrets.add(variable.name, value);
            }
            return Ok(value);
        }
        match variable.fallback {
            Fallback::Default(default) => Ok(default),
            Fallback::None => Err(None),
            Fallback::Message(message) => Err(Some(message)),
        }
    }

    fn unresolved(&self, variable: &Variable<'_>, message: Option<&str>, place: SourceSpot) {
        let name = variable.name;
        let what = match message {
            Some(message) if !message.is_empty() => format!("`{name}` is required: {message}"),
            Some(_) => format!("`{name}` is required and has no value"),
            None => format!("`{name}` has no value"),
        };
        let near = did_you_mean(name, self.scope.declared().filter(|other| *other != name));
        let help = if let Some(from) = self.scope.declared_from(name) {
            format!(
                "set `{from}` in the environment or in `.env`, or give the variable a `default`"
            )
        } else if let Some(near) = near {
            near
        } else if variable.written.starts_with("${") {
            format!(
                "declare it under `variables`, set it in the environment or in `.env`, or pass `--var {name}=…`"
            )
        } else {
            format!("set it like any variable, or write `$${name}` if the dollar sign is meant")
        };
        self.issues.error(Code::Variable, place, what, Some(help));
    }

    /// The position of a reference within a string; that of the string if it cannot be located.
    fn span_within(&self, span: Span, written: &str) -> Span {
        let text = self
            .source
            .get(span.start as usize..span.end as usize)
            .unwrap_or_default();
        let Some(at) = text.find(written).and_then(|at| u32::try_from(at).ok()) else {
            return span;
        };
        let start = span.start + at;
        let length = u32::try_from(written.len()).unwrap_or(0);
        Span {
            start,
            end: start + length,
        }
    }
}

/// The output that a token means within a composition. `${id}` means a node when there is
/// one of that name; defaults are for variables. Elsewhere `${data.x}` means a column.
fn output(token: &Token<'_>, strings: &Strings<'_>) -> Option<Reference> {
    let Strings::Composition(ids) = strings else {
        return match token {
            Token::Output { id: ROW, path, .. } => Some(Reference {
                id: ROW.to_owned(),
                path: (*path).to_owned(),
            }),
            _ => None,
        };
    };
    let (id, path) = match token {
        Token::Output { id, path, .. } => (*id, *path),
        Token::Variable(variable) => {
            let is_plain =
                variable.written.starts_with("${") && variable.fallback == Fallback::None;
            let is_node = is_plain && ids.iter().any(|id| id == variable.name);
            is_node.then_some((variable.name, ""))?
        }
        _ => return None,
    };
    Some(Reference {
        id: id.to_owned(),
        path: path.to_owned(),
    })
}

fn node_ids(composition: &Node) -> Vec<String> {
    let Some(Kind::Array(nodes)) = composition.member("nodes").map(|member| &member.value.kind)
    else {
        return Vec::new();
    };
    let id = |node: &Node| match &node.member("id")?.value.kind {
        Kind::Text(text) => Some(text.value.clone()),
        _ => None,
    };
    nodes.iter().filter_map(id).collect()
}
