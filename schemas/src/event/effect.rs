//! What was done to messages, by a fault or because they could not be forwarded.

use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::{Map, Value};

use super::tokens::tokens;
use super::{FaultKind, FaultRef, MessageNumber, Offset};

/// Something other than forwarding was done to a message.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Faulted {
    /// The number of the message in the event's conduit and direction; `None` if it is not about a
    /// single message, or the number is unknown.
    pub message: Option<MessageNumber>,
    /// What was done.
    pub effect: Effect,
}

/// What was done, and by which fault.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Effect {
    /// The fault; `None` for effects without a fault of their own. For waiting behind a message that
    /// a fault holds, it is that fault; older recorders did not name it.
    pub fault: Option<FaultRef>,
    /// What was done.
    pub what: What,
}

/// What was done. On a tape, the token of a variant is the value of `did`, next to its members.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "did", rename_all = "snake_case")]
pub enum What {
    /// The client gets this HTTP status in its place.
    Answered {
        /// The status.
        status: u16,
    },
    /// It waits behind a message that a fault holds.
    Behind {
        /// The holding message, if it is in the same conduit and direction.
        #[serde(default, rename = "behind", skip_serializing_if = "Option::is_none")]
        holder: Option<MessageNumber>,
    },
    /// A cancellation is held back from the server, so that it answers.
    CancellationKept,
    /// It is changed in an unspecified way.
    Changed,
    /// The connection is cut in place of the message, or after it.
    Cut {
        /// The whole message is sent first.
        #[serde(default, skip_serializing_if = "is_false")]
        all: bool,
    },
    /// The connection was cut while it was held.
    CutOff {
        /// How long it had been held.
        #[serde(rename = "after_us")]
        after: Offset,
    },
    /// It is passed on this much later.
    Delayed {
        /// The delay, counted from this event.
        #[serde(rename = "by_us")]
        by: Offset,
    },
    /// It is not forwarded.
    Dropped {
        /// It was to be held, but too many messages are held by faults.
        #[serde(default, skip_serializing_if = "is_false")]
        too_many: bool,
    },
    /// The server's process is ended in its place.
    Ended,
    /// Events of a stream that a client resumes are gone.
    EventsGone {
        /// The number of events.
        count: u64,
    },
    /// A notification by tapewright is sent after it.
    Followed,
    /// Earlier messages were given up, since they had no reader.
    GivenUp {
        /// The number of messages.
        count: u64,
    },
    /// It is passed on later.
    Held {
        /// When.
        until: Until,
    },
    /// Its beginning is forwarded; the rest is held with everything after it.
    HeldAmid,
    /// It is held with everything after it in its direction, or in its session.
    HeldAll {
        /// The connection is cut after this time.
        #[serde(
            default,
            rename = "cut_after_us",
            skip_serializing_if = "Option::is_none"
        )]
        cut_after: Option<Offset>,
    },
    /// Its receiver left, or its client did, while it was held.
    Left {
        /// How long it had been held.
        #[serde(rename = "after_us")]
        after: Offset,
    },
    /// Lines by tapewright are written to standard error before it.
    Logged,
    /// Messages that were held when the stream ended, and are never forwarded.
    Lost {
        /// The number of messages.
        count: u64,
    },
    /// Nothing was done, though it was to be.
    NotDone {
        /// Why.
        why: Unable,
    },
    /// It could not be brought to its receiver.
    NotPassed {
        /// Why.
        why: Unroutable,
    },
    /// An effect that this build does not know; it does not hold anything back.
    Other {
        /// The words, or the token, of the recorder that wrote it.
        text: String,
    },
    /// A line by tapewright is sent before it.
    Preceded,
    /// The recorder ended while it was held.
    RecorderEnded {
        /// How long it had been held.
        #[serde(rename = "after_us")]
        after: Offset,
    },
    /// A held message is forwarded.
    Released {
        /// How long it was held.
        #[serde(rename = "after_us")]
        after: Offset,
        /// Why it is passed on.
        why: Release,
        /// Everything that waited behind it is released too.
        #[serde(default, skip_serializing_if = "is_false")]
        all: bool,
    },
    /// It is forwarded this many additional times.
    Repeated {
        /// How many additional times.
        times: u64,
    },
    /// Something else is passed on in its place.
    Replaced {
        /// The replacement.
        by: Replacement,
        /// The code of the error that replaces it.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        code: Option<i64>,
    },
    /// It is passed on piece by piece.
    Sliced {
        /// The number of pieces.
        pieces: u64,
        /// How much later the last piece is passed on, if pieces are apart.
        #[serde(default, rename = "by_us", skip_serializing_if = "Option::is_none")]
        by: Option<Offset>,
    },
    /// It is held, and nothing more is read from its sender.
    Stalled {
        /// For how long; `None` until the fault is removed.
        #[serde(default, rename = "for_us", skip_serializing_if = "Option::is_none")]
        time: Option<Offset>,
    },
    /// The server's standard error was not forwarded, because it was not read.
    Unread {
        /// The amount, in bytes.
        bytes: u64,
    },
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde asks for it")]
fn is_false(value: &bool) -> bool {
    !value
}

tokens! {
    /// When something that is held is passed on.
    pub enum Until {
        /// When its request is cancelled.
        Cancelled = "cancelled",
        /// After the next message of its direction.
        Next = "next",
        /// When the fault is removed or changed.
        Removed = "removed",
    }
}

tokens! {
    /// Why something that was held is passed on.
    pub enum Release {
        /// Its request was cancelled.
        Cancelled = "cancelled",
        /// The fault was changed.
        Changed = "changed",
        /// Its time is over.
        Due = "due",
        /// The stream, or the recorder, ends.
        End = "end",
        /// The next message of its direction has passed.
        Next = "next",
        /// The fault was removed.
        Removed = "removed",
        /// Unknown: an older recorder did not record it.
        Unknown = "unknown",
    }
}

tokens! {
    /// What is forwarded in place of a message.
    pub enum Replacement {
        /// A JSON-RPC error.
        Error = "error",
        /// The same message with another result.
        Other = "other",
        /// The same message with a member of the requested size.
        Oversized = "oversized",
        /// Its beginning only.
        Truncated = "truncated",
        /// The same message with an id of no request.
        WrongId = "wrong_id",
    }
}

tokens! {
    /// Why a fault had no effect on a message.
    pub enum Unable {
        /// It broke off before it was whole.
        BrokeOff = "broke_off",
        /// Over HTTP, the answer of a client can only come later, or never.
        ClientAnswers = "client_answers",
        /// The response has begun already.
        HasBegun = "has_begun",
        /// It contains no answer.
        NoAnswer = "no_answer",
        /// The peer there does not use HTTP.
        NoHttp = "no_http",
        /// The fault was removed since.
        Removed = "removed",
        /// It is too long to be parsed, or to be changed.
        TooLong = "too_long",
        /// Faults already hold the maximum number of messages.
        TooMany = "too_many",
        /// Too many sessions are wedged: later messages in this one are not held.
        TooManyWedged = "too_many_wedged",
    }
}

tokens! {
    /// Why a message of a server could not be delivered to its client.
    pub enum Unroutable {
        /// Several requests are pending, and stdio does not show which one it is for.
        Ambiguous = "ambiguous",
        /// The client that waited for it is gone.
        ClientGone = "client_gone",
        /// It is not an MCP message.
        Noise = "noise",
        /// A server sends no requests in this era.
        RequestOfServer = "request_of_server",
        /// It is longer than we carry.
        TooLong = "too_long",
        /// No request awaits it, or asked for it.
        Unasked = "unasked",
    }
}

impl Effect {
    /// An effect without a fault of its own.
    #[must_use]
    pub fn plain(what: What) -> Self {
        Self { fault: None, what }
    }

    /// As an event about this message.
    #[must_use]
    pub fn about(self, message: Option<MessageNumber>) -> Box<Faulted> {
        Box::new(Faulted {
            message,
            effect: self,
        })
    }
}

impl What {
    /// The token on a tape.
    #[must_use]
    pub fn name(&self) -> String {
        match serde_json::to_value(self) {
            Ok(Value::Object(mut members)) => text(members.remove("did")).unwrap_or_default(),
            _ => String::new(),
        }
    }
}

impl Serialize for Faulted {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        #[derive(Serialize)]
        struct Line<'a> {
            #[serde(skip_serializing_if = "Option::is_none")]
            message: Option<MessageNumber>,
            #[serde(skip_serializing_if = "Option::is_none")]
            fault: Option<&'a str>,
            #[serde(skip_serializing_if = "Option::is_none")]
            kind: Option<&'a FaultKind>,
            #[serde(flatten)]
            what: &'a What,
        }
        let fault = self.effect.fault.as_ref();
        let line = Line {
            message: self.message,
            fault: fault.map(|fault| fault.name.as_str()),
            kind: fault.map(|fault| &fault.kind),
            what: &self.effect.what,
        };
        line.serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for Faulted {
    /// An effect of a later minor version, or one that an older version wrote in words, is
    /// [`What::Other`].
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let mut members = match Value::deserialize(deserializer)? {
            Value::Object(members) => members,
            Value::String(text) => {
                return Ok(Self {
                    message: None,
                    effect: Effect::plain(What::Other { text }),
                });
            }
            _ => return Err(serde::de::Error::custom("neither an object nor a text")),
        };
        let message = members.remove("message");
        let message = message.and_then(|number| MessageNumber::new(number.as_u64()?));
        let name = text(members.remove("fault"));
        let kind = text(members.remove("kind")).unwrap_or_default();
        let kind = FaultKind::read(&kind);
        let fault = name.map(|name| FaultRef { name, kind });
        let what = what_of(members);
        let effect = Effect { fault, what };
        Ok(Self { message, effect })
    }
}

fn what_of(members: Map<String, Value>) -> What {
    let did = text(members.get("did").cloned()).unwrap_or_default();
    What::deserialize(Value::Object(members)).unwrap_or(What::Other { text: did })
}

fn text(value: Option<Value>) -> Option<String> {
    match value {
        Some(Value::String(text)) => Some(text),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(line: &str) -> Faulted {
        serde_json::from_str(line).unwrap()
    }

    #[test]
    fn what_was_done_stands_flat_beside_its_fault() {
        let line = r#"{"message":3,"fault":"slow-1","kind":"slow","did":"delayed","by_us":50000}"#;
        let faulted = read(line);
        assert_eq!(faulted.effect.what.delay(), Some(Offset(50_000)));
        assert_eq!(serde_json::to_string(&faulted).unwrap(), line);
        assert_eq!(faulted.effect.what.name(), "delayed");
        let plain = r#"{"did":"behind","behind":7}"#;
        assert_eq!(serde_json::to_string(&read(plain)).unwrap(), plain);
        assert!(read(plain).effect.what.keeps_back());
    }

    #[test]
    fn what_is_not_known_keeps_nothing_back() {
        for line in [
            r#"{"did":"teleported"}"#,
            r#"{"did":"held"}"#,
            r#"{"did":"held","until":"doomsday"}"#,
            r#""held""#,
            "{}",
        ] {
            let what = read(line).effect.what;
            assert!(matches!(what, What::Other { .. }), "{line}: {what:?}");
            assert!(!what.keeps_back());
        }
    }

    #[test]
    fn a_name_decides_nothing() {
        for name in ["a (b): held", "x (wrong-id)", "y (slow): delayed 5 ms", ""] {
            let faulted = Faulted {
                message: None,
                effect: Effect {
                    fault: Some(FaultRef {
                        name: name.to_owned(),
                        kind: FaultKind::known("slow"),
                    }),
                    what: What::Repeated { times: 1 },
                },
            };
            let text = serde_json::to_string(&faulted).unwrap();
            let back = read(&text);
            assert_eq!(back, faulted);
            let what = &back.effect.what;
            assert!(!what.keeps_back() && !what.is_sequel() && what.delay().is_none());
        }
    }
}
