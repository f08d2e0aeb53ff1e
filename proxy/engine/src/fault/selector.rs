//! Selects the messages that a fault matches.

use std::time::Duration;

use tapewright_schemas::envelope::RequestId;
use tapewright_schemas::event::{Direction, Offset, SessionKey};
use tapewright_schemas::json;

/// Selects messages for a fault. Requests and notifications that match are counted; `nth`, `first`,
/// `every`, `after` and `probability` choose among them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Selector {
    /// The method; `*` at the end matches any suffix. Without a method, tool, resource or prompt,
    /// the selector matches tool calls.
    pub method: Option<String>,
    /// The name of the tool that is called.
    pub tool: Option<String>,
    /// The URI of the resource that is read.
    pub resource: Option<String>,
    /// The name of the requested prompt.
    pub prompt: Option<String>,
    /// The label of the server.
    pub server: Option<String>,
    /// The session, by its number on the tape.
    pub session: Option<u32>,
    /// The direction of the message.
    pub dir: Option<Direction>,
    /// Only the match with this number, from 1.
    pub nth: Option<u64>,
    /// Only this many first matches.
    pub first: Option<u64>,
    /// Only each match whose number is a multiple of this.
    pub every: Option<u64>,
    /// Only after this many matches.
    pub after_met: Option<u64>,
    /// Only from this time after the start of the recording.
    pub after_time: Option<Duration>,
    /// Only with this probability, in millionths.
    pub probability: Option<u32>,
    /// Only with these values, by JSON pointer.
    pub equals: Vec<(String, String)>,
}

/// A request or notification to match.
#[derive(Clone, Copy, Debug)]
pub struct Subject<'a> {
    /// Its method.
    pub method: &'a str,
    /// The whole message.
    pub text: &'a [u8],
    /// Its direction.
    pub dir: Direction,
    /// Its session.
    pub session: SessionKey,
    /// Whether it is a request.
    pub is_request: bool,
}

impl Selector {
    /// Whether a message matches.
    #[must_use]
    pub fn meets(&self, subject: &Subject<'_>, server: &str, now: Offset) -> bool {
        let long_enough = self
            .after_time
            .is_none_or(|time| u128::from(now.0) >= time.as_micros());
        long_enough
            && self.dir.is_none_or(|dir| dir == subject.dir)
            && self.session.is_none_or(|one| one == subject.session.0)
            && self.server.as_deref().is_none_or(|one| fits(one, server))
            && self.meets_method(subject)
            && self
                .equals
                .iter()
                .all(|(pointer, value)| is_equal(subject.text, pointer, value))
    }

    /// Whether it may match a call of this tool of this server, ignoring arguments, counts and
    /// time.
    #[must_use]
    pub fn may_meet_call(&self, server: &str, tool: &str) -> bool {
        let is_for = |wanted: &Option<String>, found| {
            wanted.as_deref().is_none_or(|wanted| fits(wanted, found))
        };
        self.dir != Some(Direction::ToClient)
            && (self.resource.is_none() && self.prompt.is_none())
            && is_for(&self.method, "tools/call")
            && is_for(&self.tool, tool)
            && is_for(&self.server, server)
    }

    /// Whether the match with this number is chosen, ignoring probability.
    #[must_use]
    pub fn chooses(&self, met: u64) -> bool {
        let after = self.after_met.unwrap_or(0);
        let Some(count) = met.checked_sub(after).filter(|count| *count > 0) else {
            return false;
        };
        self.nth.is_none_or(|nth| count == nth)
            && self.first.is_none_or(|first| count <= first)
            && self
                .every
                .is_none_or(|every| count.is_multiple_of(every.max(1)))
    }

    fn meets_method(&self, subject: &Subject<'_>) -> bool {
        let is_named = |wanted: &Option<String>, method: &str, member: &str| {
            let Some(wanted) = wanted else { return true };
            subject.method == method
                && json::find(subject.text, &["params", member])
                    .is_some_and(|found| is_text(found, |found| fits(wanted, found)))
        };
        let names = [&self.tool, &self.resource, &self.prompt];
        let nothing = self.method.is_none() && names.iter().all(|name| name.is_none());
        if nothing {
            return subject.method == "tools/call";
        }
        self.method
            .as_deref()
            .is_none_or(|method| fits(method, subject.method))
            && is_named(&self.tool, "tools/call", "name")
            && is_named(&self.resource, "resources/read", "uri")
            && is_named(&self.prompt, "prompts/get", "name")
    }
}

/// Whether a text matches the wanted one; `*` at the end matches any suffix.
pub(super) fn fits(wanted: &str, found: &str) -> bool {
    match wanted.strip_suffix('*') {
        Some(begin) => found.starts_with(begin),
        None => wanted == found,
    }
}

pub(super) fn is_text(source: &[u8], test: impl Fn(&str) -> bool) -> bool {
    match RequestId::of_source(source) {
        RequestId::Text(meaning) => test(&meaning),
        _ => false,
    }
}

/// Whether the value at a pointer has the same meaning as the wanted one. A string needs no quotes.
pub(super) fn is_equal(text: &[u8], pointer: &str, value: &str) -> bool {
    let Some(found) = at(text, pointer) else {
        return false;
    };
    is_text(found, |found| found == value)
        || json::is_valid(value.as_bytes()) && json::is_same(found, value.as_bytes())
}

/// The value at a JSON pointer (RFC 6901).
pub(super) fn at<'a>(text: &'a [u8], pointer: &str) -> Option<&'a [u8]> {
    let mut here = text.trim_ascii();
    for step in pointer.split('/').skip(1) {
        let name = step.replace("~1", "/").replace("~0", "~");
        here = if here.starts_with(b"[") {
            let wanted: usize = name.parse().ok()?;
            let (mut index, mut hit) = (0, None);
            json::valid_elements(here, |span| {
                if index == wanted {
                    hit = Some(span);
                }
                index += 1;
            });
            hit?.of(here)
        } else {
            json::find(here, &[&name])?
        };
    }
    Some(here.trim_ascii())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn subject(text: &str) -> Subject<'_> {
        Subject {
            method: "tools/call",
            text: text.as_bytes(),
            dir: Direction::ToServer,
            session: SessionKey(1),
            is_request: true,
        }
    }

    const CALL: &str = r#"{"params":{"name":"se\u0061rch","arguments":{"a/b":[1,{"c":"x"}]}}}"#;

    #[test]
    fn names_pointers_and_places_are_looked_at() {
        let meets = |selector: Selector| selector.meets(&subject(CALL), "fs", Offset(1_000));
        let one = Selector::default;
        let text = |text: &str| Some(text.to_owned());
        assert!(meets(one()));
        assert!(meets(Selector {
            tool: text("search"),
            ..one()
        }));
        assert!(meets(Selector {
            tool: text("se*"),
            server: text("fs"),
            ..one()
        }));
        assert!(!meets(Selector {
            tool: text("find"),
            ..one()
        }));
        assert!(!meets(Selector {
            server: text("other"),
            ..one()
        }));
        assert!(!meets(Selector {
            prompt: text("search"),
            ..one()
        }));
        assert!(!meets(Selector {
            method: text("tools/list"),
            ..one()
        }));
        assert!(meets(Selector {
            method: text("*"),
            ..one()
        }));
        assert!(!meets(Selector {
            session: Some(2),
            ..one()
        }));
        assert!(!meets(Selector {
            dir: Some(Direction::ToClient),
            ..one()
        }));
        assert!(meets(Selector {
            after_time: Some(Duration::from_millis(1)),
            ..one()
        }));
        assert!(!meets(Selector {
            after_time: Some(Duration::from_millis(2)),
            ..one()
        }));
        for (pointer, value, is) in [
            ("/params/arguments/a~1b/0", "1", true),
            ("/params/arguments/a~1b/1/c", "x", true),
            ("/params/arguments/a~1b/1/c", "\"x\"", true),
            ("/params/arguments/a~1b/0", "1.0", true),
            ("/params/arguments/a~1b", "[1e0, {\"c\": \"x\"}]", true),
            ("/params/arguments/a~1b", "[1]", false),
            ("/params/arguments/a~1b/2", "1", false),
            ("/params/nothing", "1", false),
        ] {
            let equals = vec![(pointer.to_owned(), value.to_owned())];
            assert_eq!(meets(Selector { equals, ..one() }), is, "{pointer}={value}");
        }
    }

    #[test]
    fn a_call_may_be_met_whatever_its_number() {
        let may = |words: &str, server: &str, tool: &str| {
            let fault = crate::fault::Fault::parse(words).unwrap();
            fault.selector.may_meet_call(server, tool)
        };
        assert!(may("hang", "fs", "search"));
        assert!(may("hang method=* nth=3 probability=0.1", "fs", "search"));
        assert!(may("hang tool=se* server=f*", "fs", "search"));
        assert!(may("hang /params/arguments/a=1", "fs", "search"));
        assert!(!may("hang tool=se* server=other", "fs", "search"));
        assert!(!may("hang tool=find", "fs", "search"));
        assert!(!may("hang method=tools/list", "fs", "search"));
        assert!(!may("hang resource=*", "fs", "search"));
        assert!(!may("drop method=* dir=to_client", "fs", "search"));
    }

    #[test]
    fn counts_choose() {
        let chosen = |selector: &Selector| -> Vec<u64> {
            (1..8).filter(|met| selector.chooses(*met)).collect()
        };
        let one = Selector::default;
        assert_eq!(
            chosen(&Selector {
                nth: Some(3),
                ..one()
            }),
            [3]
        );
        assert_eq!(
            chosen(&Selector {
                first: Some(2),
                ..one()
            }),
            [1, 2]
        );
        assert_eq!(
            chosen(&Selector {
                every: Some(3),
                ..one()
            }),
            [3, 6]
        );
        assert_eq!(
            chosen(&Selector {
                after_met: Some(5),
                ..one()
            }),
            [6, 7]
        );
        let both = Selector {
            after_met: Some(1),
            nth: Some(2),
            ..one()
        };
        assert_eq!(chosen(&both), [3]);
    }
}
