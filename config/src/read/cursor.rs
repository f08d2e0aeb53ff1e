//! A node with the way to it.

use crate::issue::{Code, Issues, Severity};
use crate::source::{FileId, SourceSpot, Span};
use crate::yaml::{Kind, Node, Text, escape};

/// Whether variables have been replaced.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Phase {
    /// Not yet: a string with a `$` may become anything.
    Written,
    /// They have.
    Filled,
}

/// The data that all nodes of a file share.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Context<'a> {
    pub(crate) issues: &'a Issues,
    pub(crate) file: FileId,
    pub(crate) phase: Phase,
    /// The name for the root of the document in messages: `a suite`.
    pub(crate) root: &'static str,
}

/// A node and its position.
#[derive(Clone, Debug)]
pub(crate) struct Cursor<'a> {
    pub(super) context: Context<'a>,
    pub(super) node: &'a Node,
    pointer: String,
    /// The position of its key; its own if it has none.
    pub(super) key_span: Span,
}

impl<'a> Cursor<'a> {
    /// The root of a document.
    pub(crate) fn root(context: Context<'a>, node: &'a Node) -> Self {
        Self {
            context,
            node,
            pointer: String::new(),
            key_span: node.span,
        }
    }

    /// The node below by one step.
    pub(super) fn step(&self, segment: &str, node: &'a Node, key_span: Span) -> Self {
        Self {
            context: self.context,
            node,
            pointer: format!("{}/{}", self.pointer, escape(segment)),
            key_span,
        }
    }

    /// Another node in the same place.
    pub(crate) fn with<'b>(&self, node: &'b Node) -> Cursor<'b>
    where
        'a: 'b,
    {
        Cursor {
            context: self.context,
            node,
            pointer: self.pointer.clone(),
            key_span: self.key_span,
        }
    }

    /// Whether variables have been replaced.
    pub(crate) fn is_filled(&self) -> bool {
        self.context.phase == Phase::Filled
    }

    /// The position of the node.
    pub(crate) fn place(&self) -> SourceSpot {
        self.place_of(self.node.span)
    }

    pub(super) fn place_of(&self, span: Span) -> SourceSpot {
        SourceSpot {
            file: self.context.file,
            pointer: self.pointer.clone(),
            span,
        }
    }

    /// The node as JSON.
    pub(crate) fn node(&self) -> &'a Node {
        self.node
    }

    /// The string that the node is.
    pub(super) fn string(&self) -> Option<&'a Text> {
        match &self.node.kind {
            Kind::Text(text) => Some(text),
            _ => None,
        }
    }

    /// Whether the value is only known after variables have been replaced.
    pub(super) fn is_open(&self) -> bool {
        self.context.phase == Phase::Written
            && self.string().is_some_and(|text| text.value.contains('$'))
    }

    /// The value for a message: short, on one line, and never that of a variable.
    pub(super) fn shown(&self) -> String {
        match &self.node.kind {
            Kind::Text(text) if text.interpolated => {
                "the value with its variables replaced".to_owned()
            }
            // Not truncated: the rest of a secret would not be recognized as one.
            Kind::Text(text) if text.value.chars().count() > LONGEST_SHOWN => {
                "this string".to_owned()
            }
            Kind::Text(text) => format!("`{}`", text.value.escape_debug()),
            Kind::Number(number) => format!("`{number}`"),
            _ => self.node.what().to_owned(),
        }
    }

    /// The name of the node in messages.
    pub(crate) fn label(&self) -> String {
        let mut segments = self.pointer.rsplit('/');
        let last = segments.next().unwrap_or_default();
        match (last.parse::<usize>(), segments.next()) {
            (Ok(index), Some(parent)) => format!("entry {} of `{parent}`", index + 1),
            _ if self.pointer.is_empty() => self.context.root.to_owned(),
            _ => format!("`{}`", crate::yaml::unescape(last)),
        }
    }

    pub(crate) fn is_null(&self) -> bool {
        matches!(self.node.kind, Kind::Null)
    }

    pub(crate) fn is_boolean(&self) -> bool {
        matches!(self.node.kind, Kind::Bool(_))
    }

    pub(crate) fn is_text(&self) -> bool {
        self.string().is_some()
    }

    pub(crate) fn is_array(&self) -> bool {
        matches!(self.node.kind, Kind::Array(_))
    }

    pub(crate) fn is_object(&self) -> bool {
        matches!(self.node.kind, Kind::Object(_))
    }

    /// Notes an error about the value.
    pub(crate) fn error(
        &self,
        code: Code,
        message: impl Into<String>,
        help: impl Into<Option<String>>,
    ) {
        // The value was valid as written, but is not after replacing a variable.
        let is_filled = self.string().is_some_and(|text| text.interpolated);
        let code = if is_filled { Code::Variable } else { code };
        let place = self.place();
        self.context
            .issues
            .error(code, place, message.into(), help.into());
    }

    /// Reports an error about a part of the value.
    pub(crate) fn error_within(
        &self,
        span: Span,
        code: Code,
        message: String,
        help: impl Into<Option<String>>,
    ) {
        let place = self.place_of(span);
        self.context.issues.error(code, place, message, help.into());
    }

    /// Notes an error about the key.
    pub(crate) fn error_at_key(
        &self,
        code: Code,
        message: impl Into<String>,
        help: impl Into<Option<String>>,
    ) {
        self.at_key(Severity::Error, code, message.into(), help.into());
    }

    /// Notes a warning about the key.
    pub(crate) fn warn(
        &self,
        code: Code,
        message: impl Into<String>,
        help: impl Into<Option<String>>,
    ) {
        self.at_key(Severity::Warning, code, message.into(), help.into());
    }

    fn at_key(&self, severity: Severity, code: Code, message: String, help: Option<String>) {
        let place = self.place_of(self.key_span);
        let issues = self.context.issues;
        issues.add(severity, code, place, message, help);
    }

    /// Reports that the value has another type, and a hint.
    pub(crate) fn wrong_type_with(&self, wanted: &str, help: &str) {
        self.not_of_type(wanted, Some(help.to_owned()));
    }

    fn not_of_type(&self, wanted: &str, help: Option<String>) {
        let message = format!(
            "{} must be {wanted}, not {}",
            self.label(),
            self.node.what()
        );
        self.error(Code::Type, message, help);
    }

    /// Notes that the value has another type.
    pub(crate) fn wrong_type(&self, wanted: &str) {
        let help = match &self.node.kind {
            Kind::Null if wanted.starts_with("an array") => {
                Some("write `[]`, or leave the key out".to_owned())
            }
            Kind::Null if wanted.starts_with("an object") => {
                Some("write `{}`, or leave the key out".to_owned())
            }
            Kind::Null => Some("give a value, or leave the key out".to_owned()),
            Kind::Text(text) if text.value.contains('$') => Some(
                "types are checked before variables are replaced, and a reference is a string"
                    .to_owned(),
            ),
            Kind::Bool(_) | Kind::Number(_) if wanted.contains("a string") => {
                Some("put it in quotes".to_owned())
            }
            _ => None,
        };
        self.not_of_type(wanted, help);
    }
}

const LONGEST_SHOWN: usize = 80;
