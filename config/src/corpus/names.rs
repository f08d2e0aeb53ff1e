//! Words that corpora and the registry share: ids, categories, transports, versions.

use super::rule::{Applies, Section, Severity};
use crate::issue::Code;
use crate::near::did_you_mean;
use crate::read::Cursor;

/// The possible prefixes of rule ids.
pub const CATEGORIES: &[&str] = &[
    "PROTO",
    "SCHEMA",
    "SEQ",
    "TOOL",
    "RES",
    "PROMPT",
    "AUTH",
    "TRANSPORT",
    "HEADER",
    "REPLAY",
    "EDGE",
    "COMPAT",
    "ELICIT",
    "COMPL",
    "RESTPL",
    "PROG",
    "SAMPLE",
    "ROOTS",
];

/// The version without a date: the next revision.
pub const DRAFT: &str = "draft";

/// The category in an id: the text before its hyphen.
#[must_use]
pub fn category_of(id: &str) -> &str {
    id.rsplit_once('-').map_or(id, |(category, _)| category)
}

/// Whether a text is an id: a category, a hyphen, three digits.
#[must_use]
pub fn is_rule_id(id: &str) -> bool {
    id.rsplit_once('-').is_some_and(|(category, number)| {
        CATEGORIES.contains(&category)
            && number.len() == 3
            && number.bytes().all(|byte| byte.is_ascii_digit())
    })
}

/// Reads one of [`CATEGORIES`].
pub(super) fn category(at: &Cursor<'_>) -> String {
    at.word(CATEGORIES).unwrap_or_default().to_owned()
}

/// Reads the id of a rule of this category.
pub(super) fn id(at: &Cursor<'_>, category: &str) -> String {
    let id = at.name();
    if id.is_empty() {
        return id;
    }
    let shown = id.escape_debug();
    if !is_rule_id(&id) {
        let written = category_of(&id);
        let near = (!CATEGORIES.contains(&written))
            .then(|| did_you_mean(written, CATEGORIES.iter().copied()))
            .flatten();
        let help = near.unwrap_or_else(|| "a category, a hyphen, three digits: `PROTO-002`".into());
        at.error(
            Code::Value,
            format!("`{shown}` is not the id of a rule"),
            help,
        );
    } else if !category.is_empty() && category_of(&id) != category {
        let help = format!("its id would begin with `{category}-`");
        let message = format!("`{shown}` is not of the category `{category}`");
        at.error(Code::Value, message, help);
    }
    id
}

/// Reads the name of a version: `v` and a date, or `draft`.
pub(super) fn version(at: &Cursor<'_>) -> String {
    let version = at.name();
    if !version.is_empty() && !is_version(&version) {
        let message = format!("`{}` is not a version", version.escape_debug());
        let help = "`v` and the date of a revision, or `draft`: `v2025-06-18`".to_owned();
        at.error(Code::Value, message, help);
    }
    version
}

fn is_version(text: &str) -> bool {
    let Some(date) = text.strip_prefix('v') else {
        return text == DRAFT;
    };
    let lengths = date.split('-').map(str::len);
    lengths.eq([4, 2, 2])
        && date
            .bytes()
            .all(|byte| byte.is_ascii_digit() || byte == b'-')
}

/// Reads a list of transports with at least one.
pub(super) fn transports(at: &Cursor<'_>) -> Vec<Applies> {
    at.some_items().iter().filter_map(transport).collect()
}

/// Reads a transport.
pub(super) fn transport(at: &Cursor<'_>) -> Option<Applies> {
    at.word(&["stdio", "http"]).map(|word| match word {
        "stdio" => Applies::Stdio,
        _ => Applies::Http,
    })
}

/// Reads a level.
pub(super) fn severity(at: &Cursor<'_>) -> Severity {
    match at.word(&["MUST", "SHOULD", "MAY"]) {
        Some("SHOULD") => Severity::Should,
        Some("MAY") => Severity::May,
        _ => Severity::Must,
    }
}

/// Reads a section of the score.
pub(super) fn section(at: &Cursor<'_>) -> Section {
    let words: Vec<_> = Section::ALL.iter().map(|one| one.name()).collect();
    let word = at.word(&words);
    let found = Section::ALL.iter().find(|one| Some(one.name()) == word);
    found.copied().unwrap_or(Section::Lifecycle)
}

impl Applies {
    /// The word for it: `stdio`, `http`.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Stdio => "stdio",
            Self::Http => "http",
        }
    }
}

impl Severity {
    /// The word of RFC 2119.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Must => "MUST",
            Self::Should => "SHOULD",
            Self::May => "MAY",
        }
    }
}

impl Section {
    /// Every section, in the order of a scorecard.
    pub const ALL: [Self; 5] = [
        Self::Lifecycle,
        Self::Tools,
        Self::Resources,
        Self::Prompts,
        Self::TransportAuth,
    ];

    /// The word for it: `transport-auth`.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Lifecycle => "lifecycle",
            Self::Tools => "tools",
            Self::Resources => "resources",
            Self::Prompts => "prompts",
            Self::TransportAuth => "transport-auth",
        }
    }
}
