//! Removes secrets from recorded data before anything is written to disk.
//!
//! A [`Redactor`] belongs to one tape. It replaces the bytes of each secret by a placeholder and
//! preserves every other byte: the order of members, white space, escapes, the spelling of numbers.
//! The same value has the same placeholder all over a tape, so that a token can still be followed
//! from the call that got it to the calls that used it.
//!
//! # What is a secret
//!
//! - Text with the *shape* of a token, anywhere: `shapes`.
//! - The value under a secret *name*: a member, a header, a variable, an option, also in free text
//!   and in JSON inside strings: `names`.
//! - A value that one of these found *before*: if it can be distinguished from ordinary text, it is
//!   recognized from then on, anywhere and in any form (`learned`).
//! - The *values* and *patterns* of the [`Settings`]. How far a value reaches depends on how well
//!   it can be distinguished from words of the protocol (`common`).
//!
//! Shapes need a word boundary on both sides and names are compared word by word: a recording that
//! lost a cursor, a hash or a `tokenizer` is as useless as one that leaks.
//! `tests/redact_canaries.rs` and `tests/redact_lookalikes.rs` hold both lists.
//!
//! # Laws
//!
//! Redacting twice has no further effect. The output of [`Redactor::json`] is JSON. Placeholders
//! are assigned by the hash of a value; learned values stay in memory. Nothing here panics,
//! whatever the bytes, and the time is linear in their number.
//!
//! # Elsewhere
//!
//! The caller decides which environment variables are secret, with [`is_secret_name`], and reads
//! their values.

mod argv;
mod blob;
mod body;
mod cache;
mod clean;
mod common;
mod edits;
mod elements;
mod example;
mod finder;
mod forms;
mod head;
mod header;
pub mod hidden;
mod http;
mod learned;
mod lexer;
mod lines;
mod literals;
mod named;
mod names;
mod origins;
mod outline;
pub mod page;
mod placeholders;
mod query;
mod regions;
mod rules;
mod shapes;
mod text;
mod told;
mod url;
mod value;
mod vocabulary;
pub mod work;

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::Arc;

pub use lines::LineState;
pub use names::is_secret_name;
pub use rules::{RuleError, Rules, Settings};

use crate::envelope::Outline;
use crate::json::{Invalid, Span};
use crate::slices::{Front as _, Part as _};
use clean::CleanFields;
use edits::Edit;
use finder::Finder;
use origins::Origins;
use placeholders::Table;

/// A secret in a text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Finding {
    /// Its position in the raw text.
    pub span: Span,
    /// Its kind, as in its placeholder.
    pub kind: String,
}

/// What a redactor knows, without any value: what was learned, and what was replaced so far.
///
/// Two redactors that have given the same results for the same texts and have the same standing
/// also give the same results for what follows.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Standing {
    learned: u64,
    numbers: BTreeMap<String, u64>,
    counts: BTreeMap<String, u64>,
}

/// Replaces the secrets of one tape.
#[derive(Debug)]
pub struct Redactor {
    rules: Arc<Rules>,
    finder: Finder,
    table: Table,
    clean: CleanFields,
    counts: BTreeMap<String, u64>,
    // The kinds that were replaced, while a caller collects them.
    journal: Option<Vec<&'static str>>,
    // The outline is that of the last text that `json` read.
    outlined: bool,
}

impl Redactor {
    /// A redactor that has not seen anything yet.
    #[must_use]
    pub fn new(rules: Arc<Rules>) -> Self {
        Self {
            rules,
            finder: Finder::default(),
            table: Table::default(),
            clean: CleanFields::default(),
            counts: BTreeMap::new(),
            journal: None,
            outlined: false,
        }
    }

    /// Treats every text separately from now on: a secret found in one is not searched for in the
    /// next. For texts without a fixed order, whose results must not depend on it.
    pub fn stop_learning(&mut self) {
        self.finder.learned.turn_off();
    }

    /// Learns the secrets that another redactor identified by their names, for reading the same
    /// texts again: so that occurrences before the name are found too.
    pub fn learn_from(&mut self, other: &Self) {
        for (value, kind) in other.finder.learned.values() {
            self.finder.learn(value, kind);
        }
    }

    /// Proves that `text` is one JSON value in UTF-8, by the grammar of
    /// [`Scanner`](crate::json::Scanner), and redacts it in the same pass.
    ///
    /// Borrowed when nothing changed. Bytes that are not UTF-8 are an [`Invalid::Syntax`].
    pub fn json<'t>(&mut self, text: &'t [u8]) -> Result<Cow<'t, [u8]>, Invalid> {
        match std::str::from_utf8(text) {
            Ok(text) => self.json_text(text),
            Err(error) => Err(Invalid::Syntax {
                at: error.valid_up_to(),
            }),
        }
    }

    /// Like [`json`](Self::json), for a text that is known to be UTF-8.
    pub(crate) fn json_text<'t>(&mut self, text: &'t str) -> Result<Cow<'t, [u8]>, Invalid> {
        let text = text.as_bytes();
        self.finder.begin();
        self.finder.walk(&self.rules, text, 0)?;
        // Another reading would outline another text.
        self.outlined = self.finder.edits.len() == 0;
        Ok(self.settle(text, Reading::Json))
    }

    /// The positions of the members of `text`, which [`json`](Self::json) has just validated, if it
    /// contained no secret.
    pub(crate) fn outline(&self, text: &[u8]) -> Option<Outline> {
        let members = self.finder.outline.members();
        let members = members.filter(|_| self.outlined);
        members.map(|members| Outline::of_members(text, members))
    }

    /// Redacts free text of any bytes: noise, a URL, malformed JSON.
    pub fn text<'t>(&mut self, text: &'t [u8]) -> Cow<'t, [u8]> {
        self.finder.begin();
        self.finder.free_text(&self.rules, text, 0);
        self.settle(text, Reading::Text)
    }

    /// Redacts one line of a stream; `state` tracks a private key across lines.
    pub fn line<'t>(&mut self, state: &mut LineState, line: &'t [u8]) -> Cow<'t, [u8]> {
        self.finder.begin();
        let edits = &mut self.finder.edits;
        let Some((span, mark)) = state.part_of_key(line, || edits.fresh_mark()) else {
            return self.text(line);
        };
        let (before, after) = (line.part(..span.start), line.part(span.end..));
        self.finder.free_text(&self.rules, before, 0);
        let from = self.finder.edits.len();
        self.finder.free_text(&self.rules, after, 0);
        self.finder.edits.shift(from, span.end);
        if !span.is_empty() && !placeholders::is_whole(line.part(span.clone())) {
            self.finder.edits.marked(span, "private-key", mark);
        }
        self.settle(line, Reading::Text)
    }

    /// Redacts the recorded head of a message that was cut at an arbitrary byte: like
    /// [`text`](Self::text), but also removes what may be the first half of a secret at the cut.
    pub fn head(&mut self, head: &[u8]) -> Vec<u8> {
        if self.rules.off {
            return head.to_vec();
        }
        self.finder.begin();
        let kept = self.finder.head(&self.rules, head);
        self.finder.edits.cut(kept);
        self.settle(head.front(kept), Reading::Text).into_owned()
    }

    /// Redacts a command line: `--api-key VALUE`, `--token=VALUE`, `KEY=value`, headers
    /// after `-H`, passwords in URLs.
    pub fn argv(&mut self, argv: &[Vec<u8>]) -> Vec<Vec<u8>> {
        let mut expect = argv::Expect::default();
        let mut redacted = Vec::with_capacity(argv.len());
        for argument in argv {
            self.finder.begin();
            expect = self.finder.argument(&self.rules, argument, expect);
            redacted.push(self.settle(argument, Reading::Text).into_owned());
        }
        redacted
    }

    /// How many secrets were learned. Never decreases.
    #[must_use]
    pub fn learned(&self) -> u64 {
        self.finder.learned.count()
    }

    /// What it knows; `None` if it has forgotten a secret, or learns none.
    #[must_use]
    pub fn standing(&self) -> Option<Standing> {
        self.finder.learned.knows_all().then(|| Standing {
            learned: self.learned(),
            numbers: self.table.numbers().clone(),
            counts: self.counts.clone(),
        })
    }

    /// How often each kind was replaced.
    #[must_use]
    pub fn counts(&self) -> &BTreeMap<String, u64> {
        &self.counts
    }

    /// The number of known secrets. A text that contains none of them may change when there are
    /// more.
    pub(crate) fn known(&self) -> u64 {
        self.table.len() as u64 + self.finder.learned.count()
    }

    /// The kinds of what `work` replaces.
    pub(crate) fn replaced_by(&mut self, work: impl FnOnce(&mut Self)) -> Vec<&'static str> {
        self.journal = Some(Vec::new());
        work(self);
        self.journal.take().unwrap_or_default()
    }

    /// Counts replacements that were done the same way before.
    pub(crate) fn replaced_again(&mut self, kinds: &[&'static str]) {
        for kind in kinds {
            count(&mut self.counts, kind);
        }
    }

    /// Learns the placeholders that a text already holds, so that new numbers differ.
    pub fn adopt(&mut self, text: &[u8]) {
        self.table.adopt(text);
    }

    /// The position and kind of every secret in a JSON text or a free text. It reports what
    /// [`json`](Self::json) or [`text`](Self::text) would replace.
    pub fn findings(&mut self, text: &[u8]) -> Vec<Finding> {
        if self.rules.off {
            return Vec::new();
        }
        let counts = self.counts.clone();
        self.finder.begin();
        let is_json =
            std::str::from_utf8(text).is_ok() && self.finder.walk(&self.rules, text, 0).is_ok();
        let reading = if is_json {
            Reading::Json
        } else {
            Reading::Text
        };
        let mut found = Origins::default();
        let mut current = Cow::Borrowed(text);
        for _ in 0..=MOST_ROUNDS {
            self.finder.begin();
            if !reading.read(&mut self.finder, &self.rules, &current)
                || self.finder.edits.len() == 0
            {
                break;
            }
            let again = reading.is_repeated(&mut self.finder, &current);
            let out = self.replace(&current, |edit, placeholder| {
                found.replaced(edit, placeholder);
            });
            found.next_round();
            current = Cow::Owned(out);
            if !again {
                break;
            }
        }
        self.counts = counts;
        found.into_findings()
    }

    /// Applies the edits as placeholders. If one is next to other letters, these may now be a token
    /// since they have a word boundary, and in free text any placeholder changes how its neighbours
    /// are read; then the result is read again.
    fn settle<'t>(&mut self, text: &'t [u8], reading: Reading) -> Cow<'t, [u8]> {
        if self.rules.off {
            return Cow::Borrowed(text);
        }
        self.replaced(text, reading)
    }

    /// Like [`settle`](Self::settle), even if the rules are off.
    fn replaced<'t>(&mut self, text: &'t [u8], reading: Reading) -> Cow<'t, [u8]> {
        if self.finder.edits.len() == 0 {
            return Cow::Borrowed(text);
        }
        let mut again = reading.is_repeated(&mut self.finder, text);
        let mut out = self.replace(text, |_, _| {});
        for _ in 0..MOST_ROUNDS {
            if !again {
                break;
            }
            self.finder.begin();
            if !reading.read(&mut self.finder, &self.rules, &out) || self.finder.edits.len() == 0 {
                break;
            }
            again = reading.is_repeated(&mut self.finder, &out);
            out = self.replace(&out, |_, _| {});
        }
        Cow::Owned(out)
    }

    /// Applies the edits as placeholders; `tell` is called with each edit and the position of its
    /// placeholder.
    fn replace(&mut self, text: &[u8], mut tell: impl FnMut(&Edit, Range<usize>)) -> Vec<u8> {
        let edits = self.finder.edits.as_slice();
        let mut out = Vec::with_capacity(text.len() + 32);
        let mut at = 0;
        for edit in edits {
            out.extend_from_slice(text.part(at..edit.start));
            let quote = |out: &mut Vec<u8>| {
                if let Some(backslashes) = edit.quote {
                    out.extend((0..backslashes).map(|_| b'\\'));
                    out.push(b'"');
                }
            };
            let start = out.len();
            quote(&mut out);
            let kind = self.table.write(edit.mark, edit.kind, &mut out);
            quote(&mut out);
            tell(edit, start..out.len());
            count(&mut self.counts, kind);
            if let Some(journal) = &mut self.journal {
                journal.push(kind);
            }
            at = edit.end;
        }
        out.extend_from_slice(text.part(at..));
        out
    }
}

fn count(counts: &mut BTreeMap<String, u64>, kind: &str) {
    match counts.get_mut(kind) {
        Some(count) => *count += 1,
        None => {
            counts.insert(kind.to_owned(), 1);
        }
    }
}

/// How a text is read.
#[derive(Clone, Copy, Debug)]
enum Reading {
    /// As JSON.
    Json,
    /// As free text.
    Text,
}

impl Reading {
    /// Finds secrets; returns whether the text could be read.
    fn read(self, finder: &mut Finder, rules: &Rules, text: &[u8]) -> bool {
        match self {
            Self::Json => finder.walk(rules, text, 0).is_ok(),
            Self::Text => {
                finder.free_text(rules, text, 0);
                true
            }
        }
    }

    /// Whether the result of the edits of `text` must be read again.
    fn is_repeated(self, finder: &mut Finder, text: &[u8]) -> bool {
        match self {
            // A value that was learned late in a text may also occur before that.
            Self::Json => finder.learned.is_fresh() || finder.edits.makes_edges(text),
            Self::Text => true,
        }
    }
}

/// More than one additional pass is only needed for unusual patterns.
const MOST_ROUNDS: usize = 4;

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::envelope::Envelope;

    fn agrees(text: &str) -> Result<(), TestCaseError> {
        let mut redactor =
            Redactor::new(Arc::new(Rules::new(&Settings::default()).expect("sound")));
        if redactor.json(text.as_bytes()).is_ok() {
            let wanted = Envelope::of_json(text.as_bytes());
            let outline = redactor.outline(text.as_bytes());
            let outlined = outline.map(|outline| outline.envelope(text.as_bytes()));
            prop_assert_eq!(
                outlined.unwrap_or_else(|| wanted.clone()),
                wanted,
                "{}",
                text
            );
        }
        Ok(())
    }

    proptest! {
        #[test]
        fn an_outline_shows_what_a_second_reading_shows(
            members in prop::collection::vec((
                prop::sample::select(vec!["id", "\\u0069d", "method", "params", "result", "error", "x", "token"]),
                prop::sample::select(vec!["1", " \"a\" ", "null", "{}", "[ ]", "{\"id\":2, \"method\":[{}]}", "[[1],{\"a\":\"b\"}]", "\"\\u0061\"", "true", "\"{\\\"id\\\":1}\""]),
            ), 0..20),
            space in prop::sample::select(vec!["", " ", "\t"]),
        ) {
            let members: Vec<_> = members
                .iter()
                .map(|(name, value)| format!("{space}\"{name}\"{space}:{space}{value}{space}"))
                .collect();
            let object = format!("{space}{{{}}}{space}", members.join(","));
            agrees(&object)?;
            agrees(&format!("[{object}]"))?;
            agrees(&format!("\"{}\"", members.len()))?;
        }
    }
}
