//! Errors in a suite, with their positions.

use std::cell::{Cell, RefCell};

use crate::source::SourceSpot;

/// The maximum number of issues that are kept; the rest is counted.
pub const MAX_ISSUES: usize = 100;

/// A kind of error. The names are part of the interface.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Code {
    /// The file cannot be read.
    Unreadable,
    /// The file is not one YAML document of JSON values.
    Yaml,
    /// A key is given twice.
    DuplicateKey,
    /// A key that does not exist.
    UnknownKey,
    /// A key that must be there.
    MissingKey,
    /// Mutually exclusive keys, or none of several of which one is required.
    Choice,
    /// A value of another type.
    Type,
    /// An invalid value of the right type.
    Value,
    /// A variable without a value, or a broken reference to one.
    Variable,
    /// A file of variables that cannot be read.
    EnvFile,
    /// An import that cannot be followed.
    Import,
    /// A name that nothing has.
    Reference,
    /// Something is given twice.
    DuplicateName,
    /// A composition that is not a directed graph without cycles.
    Graph,
    /// A matcher or target that cannot be compiled.
    Assertion,
    /// A command line that cannot be split into words.
    Command,
    /// A file that is named is not there or is something else.
    File,
    /// It is accepted but does nothing.
    Unused,
}

impl Code {
    /// Every code.
    pub const ALL: [Self; 18] = [
        Self::Unreadable,
        Self::Yaml,
        Self::DuplicateKey,
        Self::UnknownKey,
        Self::MissingKey,
        Self::Choice,
        Self::Type,
        Self::Value,
        Self::Variable,
        Self::EnvFile,
        Self::Import,
        Self::Reference,
        Self::DuplicateName,
        Self::Graph,
        Self::Assertion,
        Self::Command,
        Self::File,
        Self::Unused,
    ];

    /// The name of the code.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Unreadable => "unreadable",
            Self::Yaml => "yaml",
            Self::DuplicateKey => "duplicate-key",
            Self::UnknownKey => "unknown-key",
            Self::MissingKey => "missing-key",
            Self::Choice => "choice",
            Self::Type => "type",
            Self::Value => "value",
            Self::Variable => "variable",
            Self::EnvFile => "env-file",
            Self::Import => "import",
            Self::Reference => "reference",
            Self::DuplicateName => "duplicate-name",
            Self::Graph => "graph",
            Self::Assertion => "assertion",
            Self::Command => "command",
            Self::File => "file",
            Self::Unused => "unused",
        }
    }

    /// What is wrong, in one line.
    #[must_use]
    pub fn about(self) -> &'static str {
        match self {
            Self::Unreadable => "The suite, or a file that it imports, cannot be read.",
            Self::Yaml => "The file is not one YAML document of values that JSON has, too.",
            Self::DuplicateKey => "A key is given twice in one mapping.",
            Self::UnknownKey => "A key does not exist at this place.",
            Self::MissingKey => "A key that must be there is missing.",
            Self::Choice => "Keys exclude each other, or one of several is needed.",
            Self::Type => "A value has another type than the key takes.",
            Self::Value => "A value has the right type, but is not allowed here.",
            Self::Variable => "A variable has no value, or a reference to one is broken.",
            Self::EnvFile => "A file of variables cannot be read.",
            Self::Import => "An import cannot be followed.",
            Self::Reference => "A name is used that nothing has.",
            Self::DuplicateName => "Two of a kind have the same name.",
            Self::Graph => {
                "The nodes of a composition wait for each other in a circle, or use a node that they do not wait for."
            }
            Self::Assertion => "An expectation cannot be compiled.",
            Self::Command => "A command line cannot be split into words.",
            Self::File => "A file that the suite names is missing, or is something else.",
            Self::Unused => "Something is accepted, but does nothing.",
        }
    }

    /// What to do about it.
    #[must_use]
    pub fn remedy(self) -> &'static str {
        match self {
            Self::Unreadable | Self::EnvFile => {
                "Check the path, its permissions, and that it is text in UTF-8."
            }
            Self::Yaml => {
                "The position is where reading stopped; look for indentation, quotes and tags there."
            }
            Self::DuplicateKey => "Remove one of the two; which one would count is not defined.",
            Self::UnknownKey => {
                "Check the spelling; `tapewright schema suite` describes every key, and editors can use it."
            }
            Self::MissingKey => "Add the key; `tapewright schema suite` describes what is needed.",
            Self::Choice => "Keep exactly one of the keys that the message names.",
            Self::Type => "Quote a number that is meant as text; write a list with `-` or `[…]`.",
            Self::Value => "The message says what is allowed.",
            Self::Variable => {
                "Set it in the environment or in `.env`, or write `${NAME:-default}`."
            }
            Self::Import => {
                "Paths are relative to the file that has the import; imports must not form a circle."
            }
            Self::Reference => "Check the spelling, or define what is named.",
            Self::DuplicateName => "Rename one of the two.",
            Self::Graph => "Change what the nodes wait for.",
            Self::Assertion => {
                "Check the path, the regular expression or the schema that the message names."
            }
            Self::Command => "Close every quote, or write the command as a list of words.",
            Self::File => "Paths are relative to the suite.",
            Self::Unused => "Remove it, or fix what keeps it from being used.",
        }
    }

    /// Whether the JSON Schema of suites finds the same error.
    #[must_use]
    pub fn is_of_schema(self) -> bool {
        use Code::{Choice, MissingKey, Type, UnknownKey, Value};
        matches!(self, UnknownKey | MissingKey | Choice | Type | Value)
    }
}

/// How severe it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Severity {
    /// The suite cannot be used.
    Error,
    /// The suite can be used, but something in it has no effect or another effect than intended.
    Warning,
}

/// One issue.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Issue {
    /// Its kind.
    pub code: Code,
    /// How severe it is.
    pub severity: Severity,
    /// Its position; `None` if it is not in a readable file.
    pub place: Option<SourceSpot>,
    /// The error. It never contains the value of a variable.
    pub message: String,
    /// How to fix it.
    pub help: Option<String>,
}

/// A growing list of issues.
#[derive(Debug, Default)]
pub(crate) struct Issues {
    list: RefCell<Vec<Issue>>,
    errors: Cell<usize>,
    dropped: Cell<usize>,
}

impl Issues {
    /// Adds an issue unless there are too many.
    pub(crate) fn push(&self, issue: Issue) {
        if issue.severity == Severity::Error {
            self.errors.set(self.errors.get() + 1);
        }
        let mut list = self.list.borrow_mut();
        if list.len() < MAX_ISSUES {
            list.push(issue);
        } else {
            self.dropped.set(self.dropped.get() + 1);
        }
    }

    /// Adds an error at a place.
    pub(crate) fn error(
        &self,
        code: Code,
        place: SourceSpot,
        message: String,
        help: Option<String>,
    ) {
        self.add(Severity::Error, code, place, message, help);
    }

    /// Adds an issue at a position: a message, and a hint.
    pub(crate) fn add(
        &self,
        severity: Severity,
        code: Code,
        place: SourceSpot,
        message: String,
        help: Option<String>,
    ) {
        self.push(Issue {
            code,
            severity,
            place: Some(place),
            message,
            help,
        });
    }

    /// Hands everything over to another list.
    pub(crate) fn move_to(self, other: &Self) {
        let (list, dropped) = self.finish();
        for issue in list {
            other.push(issue);
        }
        other.dropped.set(other.dropped.get() + dropped);
    }

    /// The number of errors, kept or not.
    pub(crate) fn errors(&self) -> usize {
        self.errors.get()
    }

    /// The issues and how many more there were.
    pub(crate) fn finish(self) -> (Vec<Issue>, usize) {
        (self.list.into_inner(), self.dropped.get())
    }
}
