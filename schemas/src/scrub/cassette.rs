//! Scrubbing the parts of a cassette other than its messages: heads, events of streams, bodies, and
//! lines as base64. Names that identify a secret are values there, and secrets in base64 are not
//! visible in the text.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::sync::LazyLock;

use aho_corasick::packed;
use memchr::memmem;

use super::document::FoundSecret;
use super::http;
use super::splice::{Edits, decoded, encoded, meaning, quoted};
use crate::event::{Edit, EditTarget, Fields};
use crate::json;
use crate::recording::{Element, Part, Piece, elements};
use crate::redact::Redactor;
use crate::tape::redacted_edit;

/// Scrubs these parts, and notes where secrets were. A text that is not a cassette is unchanged.
pub(super) fn beside_messages<'t>(
    redactor: &mut Redactor,
    text: &'t [u8],
    places: &mut Vec<FoundSecret>,
) -> Cow<'t, [u8]> {
    let mut scrubber = Scrubber {
        text,
        edits: Edits::default(),
        counted: redactor.counts().clone(),
        places,
        redactor,
    };
    json::members(text, |name, value| {
        scrubber.member(name, value.trim_ascii());
    });
    scrubber.edits.apply(text)
}

/// The members of a document that are lists of events.
pub(super) const LISTS: [&str; 6] = [
    "exchanges",
    "unanswered",
    "probes",
    "http",
    "messages",
    "sessions",
];

/// Whether a piece of a document may contain parts other than messages. Rarely a false positive,
/// never a false negative: requests, their answers and messages, which are nearly the whole file,
/// contain none.
pub(super) fn may_stand_beside(piece: Piece<'_>) -> bool {
    let is_plain = |text| memmem::find(text, ESCAPE).is_none();
    match piece.part {
        Part::Glue => false,
        // A list whose name is spelled in another way.
        Part::Members => !is_plain(piece.text),
        Part::Elements {
            list: "http" | "sessions",
            ..
        } => true,
        Part::Elements { .. } => {
            let names = BESIDE.as_ref();
            !is_plain(piece.text) || names.is_none_or(|names| names.find(piece.text).is_some())
        }
    }
}

/// An escape may spell any name.
const ESCAPE: &[u8] = b"\\u";

/// The members of an exchange and of a message to search for. `None` if the processor cannot search
/// for so many at once.
static BESIDE: LazyLock<Option<packed::Searcher>> = LazyLock::new(|| {
    let names = [
        "fault", "http", "via", "sse", "body", "why", "effect", "base64", "clipped",
    ];
    packed::Searcher::new(names.map(|name| format!("\"{name}\"")))
});

struct Scrubber<'a, 't> {
    redactor: &'a mut Redactor,
    text: &'t [u8],
    edits: Edits,
    // How often each kind had been replaced at the last check.
    counted: BTreeMap<String, u64>,
    places: &'a mut Vec<FoundSecret>,
}

impl<'t> Scrubber<'_, 't> {
    /// A member of the document.
    fn member(&mut self, name: &[u8], value: &'t [u8]) {
        let Some(list) = LISTS.iter().find(|list| list.as_bytes() == name) else {
            return;
        };
        let array = Element::of_root(list, value);
        for element in elements(&array).unwrap_or_default() {
            match *list {
                "messages" => self.entry(&element),
                "sessions" => self.strings(&element, &["began", "ended"], Redactor::url),
                _ => self.exchange(&element),
            }
        }
    }

    fn exchange(&mut self, exchange: &Element<'t>) {
        self.strings(exchange, &["fault"], Redactor::url);
        self.effect(exchange.member("fault"));
        if let Some(http) = exchange.member("http") {
            self.http(&http);
        }
        if let Some(sse) = exchange.member("via").and_then(|via| via.member("sse")) {
            self.sse(&sse);
        }
        for entry in list_of(exchange, "stream") {
            self.entry(&entry);
        }
    }

    fn http(&mut self, http: &Element<'t>) {
        self.strings(http, &["path"], |redactor, target| {
            redactor.target(target).into_owned()
        });
        self.strings(
            http,
            &[
                "ours",
                "ours_detail",
                "ours_about",
                "ended",
                "request_ended",
            ],
            Redactor::url,
        );
        for name in ["request", "request_trailers", "response", "trailers"] {
            for field in list_of(http, name) {
                self.field(&field);
            }
        }
        for edit in list_of(http, "edits") {
            let text = |name| edit.member(name).and_then(|value| value.string());
            let what = EditTarget::of(&text("what").unwrap_or_default());
            let field = text("field").unwrap_or_default();
            for name in ["before", "after"] {
                let Some(value) = edit.member(name) else {
                    continue;
                };
                self.string(&value, |redactor, text| {
                    let edit = Edit {
                        what,
                        field: field.clone(),
                        before: text.to_owned(),
                        after: String::new(),
                    };
                    redacted_edit(redactor, &edit).before
                });
            }
        }
    }

    /// A name and its value.
    fn field(&mut self, field: &Element<'t>) {
        let pair = elements(field).unwrap_or_default();
        let [name, value] = pair.as_slice() else {
            return;
        };
        let Some(called) = name.string() else { return };
        self.string(value, |redactor, text| {
            let redacted = redactor.fields(&Fields::from_iter([(&called, text)]));
            let value = redacted.iter().next();
            value.map_or_else(String::new, |(_, value)| value.to_owned())
        });
    }

    /// The effect on a message: the texts in it that are not tokens.
    fn effect(&mut self, effect: Option<Element<'t>>) {
        if let Some(effect) = effect {
            self.strings(&effect, &["fault", "text"], Redactor::url);
        }
    }

    fn sse(&mut self, sse: &Element<'t>) {
        self.strings(sse, &["id", "event", "comment"], Redactor::url);
    }

    fn entry(&mut self, entry: &Element<'t>) {
        let sse = entry.member("sse");
        let event = sse.as_ref().and_then(|sse| sse.member("event")?.string());
        if let Some(sse) = &sse {
            self.sse(sse);
        }
        if let Some(body) = entry.member("body") {
            let endpoint = event.as_deref() == Some("endpoint");
            for (old, new) in http::body(self.redactor, body.text, endpoint) {
                self.replace(&body, old, new);
            }
        }
        self.strings(entry, &["why"], Redactor::url);
        self.effect(entry.member("effect"));
        if let Some(line) = entry.member("base64")
            && let Some(bytes) = decoded(line.text)
        {
            let redacted = self.redactor.text(&bytes).into_owned();
            if redacted != bytes {
                self.replace(&line, line.text, encoded(&redacted));
            }
        }
        if let Some(head) = entry.member("clipped").and_then(|it| it.member("head"))
            && let Some(bytes) = meaning(head.text)
        {
            let redacted = self.redactor.head(&bytes);
            if redacted != bytes {
                self.replace(&head, head.text, quoted(&redacted));
            }
        }
    }

    fn strings(
        &mut self,
        object: &Element<'t>,
        names: &[&'static str],
        redact: fn(&mut Redactor, &str) -> String,
    ) {
        for value in names.iter().filter_map(|name| object.member(name)) {
            self.string(&value, redact);
        }
    }

    fn string(&mut self, value: &Element<'t>, redact: impl FnOnce(&mut Redactor, &str) -> String) {
        let Some(text) = value.string() else { return };
        let redacted = redact(self.redactor, &text);
        if redacted != text {
            self.replace(value, value.text, quoted(redacted.as_bytes()));
        }
    }

    /// Replaces a part of a value, and records the kinds that were replaced.
    fn replace(&mut self, value: &Element<'t>, old: &[u8], new: Vec<u8>) {
        self.edits.replace(self.text, old, new);
        let counts = self.redactor.counts();
        let risen = counts
            .iter()
            .filter(|(kind, count)| self.counted.get(*kind) != Some(count));
        self.places.extend(risen.map(|(kind, _)| FoundSecret {
            pointer: value.pointer(),
            kind: kind.clone(),
        }));
        self.counted.clone_from(counts);
    }
}

/// The elements of a member that is an array; none for anything else.
fn list_of<'t>(object: &Element<'t>, name: &'static str) -> Vec<Element<'t>> {
    let array = object.member(name);
    array
        .and_then(|array| elements(&array).ok())
        .unwrap_or_default()
}
