//! The type of a message, read from its bytes without changing them.
//!
//! The view borrows: parameters, results and errors are source text. No decision depends on a typed
//! model of MCP, so a message of a future revision, or a broken one, is still classified correctly.

mod id;
mod outline;

use std::borrow::Cow;

pub use self::id::RequestId;
use self::id::{Id, id_of};
pub use self::outline::Outline;
use crate::json::{Scanner, Span, Text, Token, is_grammatical, unescape, valid_members};

/// A borrowed view of one message.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Envelope<'a> {
    /// The kind of the message.
    pub kind: Kind<'a>,
    /// A member that decides the kind occurred twice; the last one counts, as in JavaScript and
    /// Python.
    pub repeated_member: bool,
    /// Source text of `jsonrpc`.
    pub version: Option<&'a [u8]>,
}

/// Whether an error, as source text, was sent by tapewright in a server's place: a bridge marks
/// those with `data.origin`.
#[must_use]
pub fn is_error_of_ours(error: &[u8]) -> bool {
    crate::json::find(error, &["data", "origin"]) == Some(b"\"tapewright\"")
}

/// The kind of a message, by its members (JSON-RPC 2.0 §4, §5).
///
/// A message with a `method` is never a response, whatever else it contains.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Kind<'a> {
    /// An array of messages (2025-03-26 allows it; it is seen at every revision).
    Batch {
        /// The number of members of the array.
        members: usize,
    },
    /// Not a JSON-RPC envelope.
    Malformed(Malformed),
    /// A `method` without an `id`.
    Notification {
        /// The method.
        method: Cow<'a, str>,
        /// Source text of `params`.
        params: Option<&'a [u8]>,
    },
    /// A `method` with an `id`.
    Request {
        /// The id.
        id: RequestId<'a>,
        /// The method.
        method: Cow<'a, str>,
        /// Source text of `params`.
        params: Option<&'a [u8]>,
    },
    /// No `method`, but an `id`, a `result` or an `error`.
    Response {
        /// The id; [`RequestId::Null`] when it is absent.
        id: RequestId<'a>,
        /// Source text of `result`.
        result: Option<&'a [u8]>,
        /// Source text of `error`.
        error: Option<&'a [u8]>,
    },
}

/// Why a message is not an envelope.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Malformed {
    /// Nothing but white space.
    #[error("a blank line")]
    Blank,
    /// JSON, but neither an object nor an array.
    #[error("JSON, but not an object")]
    NotAnObject,
    /// An object without any member of an envelope.
    #[error("a JSON object without `method`, `result` or `error`")]
    NotAnEnvelope,
    /// Not JSON.
    #[error("not JSON")]
    NotJson,
    /// Not UTF-8.
    #[error("not UTF-8")]
    NotUtf8,
}

impl Malformed {
    /// The token, in cassettes and other machine-readable output.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Blank => "blank",
            Self::NotAnObject => "not_an_object",
            Self::NotAnEnvelope => "not_an_envelope",
            Self::NotJson => "not_json",
            Self::NotUtf8 => "not_utf8",
        }
    }

    /// Writes the token.
    #[expect(clippy::trivially_copy_pass_by_ref, reason = "serde asks so")]
    pub(crate) fn write<S: serde::Serializer>(&self, out: S) -> Result<S::Ok, S::Error> {
        out.serialize_str(self.name())
    }
}

impl<'a> Envelope<'a> {
    /// Looks at one message.
    #[must_use]
    pub fn parse(message: &'a [u8]) -> Self {
        if message.trim_ascii().is_empty() {
            return Self::malformed(Malformed::Blank);
        }
        if std::str::from_utf8(message).is_err() {
            return Self::malformed(Malformed::NotUtf8);
        }
        // Nearly all are objects with nothing around them.
        if let Some(outline) = Outline::whole(message) {
            return outline.envelope(message);
        }
        if !is_grammatical(message) {
            return Self::malformed(Malformed::NotJson);
        }
        Self::of_json(message)
    }

    /// Parses one message that is known to be JSON, in UTF-8.
    #[must_use]
    pub fn of_json(message: &'a [u8]) -> Self {
        match message.trim_ascii_start().first() {
            Some(b'{') => Members::read(message).envelope(message),
            Some(b'[') => {
                let mut members = 0;
                for_each_message(message, |_| members += 1);
                Envelope {
                    kind: Kind::Batch { members },
                    repeated_member: false,
                    version: None,
                }
            }
            _ => Self::malformed(Malformed::NotAnObject),
        }
    }

    fn malformed(why: Malformed) -> Self {
        Envelope {
            kind: Kind::Malformed(why),
            repeated_member: false,
            version: None,
        }
    }

    /// The method, when the message has one.
    #[must_use]
    pub fn method(&self) -> Option<&str> {
        match &self.kind {
            Kind::Notification { method, .. } | Kind::Request { method, .. } => Some(method),
            _ => None,
        }
    }
}

/// Calls `each` with the source text of every message in a payload: the members of a
/// batch, or the payload itself.
pub fn for_each_message<'a>(payload: &'a [u8], mut each: impl FnMut(&'a [u8])) {
    let mut scanner = Scanner::new(payload);
    if !matches!(
        scanner.next_token(),
        Ok(Some(Token::Open { object: false, .. }))
    ) {
        return each(payload);
    }
    let mut spans: Vec<Span> = Vec::new();
    let mut start = None;
    loop {
        let depth = scanner.depth();
        match scanner.next_token() {
            Ok(Some(Token::Open { at, .. })) if depth == 1 => start = Some(at),
            Ok(Some(Token::Close { at, .. })) if depth == 2 => {
                if let Some(start) = start.take() {
                    spans.push(Span { start, end: at + 1 });
                }
            }
            Ok(Some(Token::Number(span) | Token::Literal(span))) if depth == 1 => spans.push(span),
            Ok(Some(Token::String(text))) if depth == 1 => {
                spans.push(Span {
                    start: text.span.start - 1,
                    end: text.span.end + 1,
                });
            }
            Ok(Some(_)) => {}
            Ok(None) => break,
            // Not an array after all.
            Err(_) => return each(payload),
        }
    }
    for span in spans {
        each(span.of(payload));
    }
}

/// The members of an envelope, as spans of the message.
#[derive(Clone, Debug, Default)]
struct Members {
    id: Option<Id>,
    method: Option<Method>,
    params: Option<Span>,
    result: Option<Span>,
    error: Option<Span>,
    version: Option<Span>,
    repeated: bool,
}

/// A `method` member: a string, or something that names nothing.
#[derive(Clone, Copy, Debug)]
enum Method {
    Named(Text),
    Nameless,
}

impl Members {
    /// Reads the members of a valid object.
    fn read(message: &[u8]) -> Self {
        let mut members = Self::default();
        let mut meaning = Vec::new();
        valid_members(message, |name, value| {
            members.named(name, value, message, &mut meaning);
        });
        members
    }

    /// Handles a member, by its name as written; `meaning` is a buffer.
    fn named(&mut self, name: Text, value: Span, message: &[u8], meaning: &mut Vec<u8>) {
        let source = name.span.of(message);
        if name.escaped {
            meaning.clear();
            unescape(source, meaning);
            self.member(meaning, value, message);
        } else {
            self.member(source, value, message);
        }
    }

    /// The envelope of the message with these members.
    fn envelope<'a>(&self, message: &'a [u8]) -> Envelope<'a> {
        Envelope {
            repeated_member: self.repeated,
            version: self.version.map(|version| version.of(message)),
            kind: self.kind(message),
        }
    }

    fn member(&mut self, name: &[u8], value: Span, message: &[u8]) {
        let repeated = match name {
            b"id" => self.id.replace(id_of(value, message)).is_some(),
            b"method" => {
                let method = as_text(value, message).map_or(Method::Nameless, Method::Named);
                self.method.replace(method).is_some()
            }
            b"params" => self.params.replace(value).is_some(),
            b"result" => self.result.replace(value).is_some(),
            b"error" => self.error.replace(value).is_some(),
            b"jsonrpc" => {
                self.version = Some(value);
                false
            }
            _ => false,
        };
        self.repeated |= repeated;
    }

    fn kind<'a>(&self, message: &'a [u8]) -> Kind<'a> {
        let part = |span: Option<Span>| span.map(|span| span.of(message));
        match (self.method, self.id) {
            (Some(Method::Named(method)), None) => Kind::Notification {
                method: meaning(method, message),
                params: part(self.params),
            },
            (Some(Method::Named(method)), Some(id)) => Kind::Request {
                id: id.view(message),
                method: meaning(method, message),
                params: part(self.params),
            },
            (Some(Method::Nameless), _) => Kind::Malformed(Malformed::NotAnEnvelope),
            (None, None) if self.result.is_none() && self.error.is_none() => {
                Kind::Malformed(Malformed::NotAnEnvelope)
            }
            (None, id) => Kind::Response {
                id: id.map_or(RequestId::Null, |id| id.view(message)),
                result: part(self.result),
                error: part(self.error),
            },
        }
    }
}

/// The content of a string value; `None` for any other value.
fn as_text(value: Span, message: &[u8]) -> Option<Text> {
    let source = value.of(message);
    if source.first() != Some(&b'"') {
        return None;
    }
    let span = Span {
        start: value.start + 1,
        end: value.end - 1,
    };
    Some(Text {
        span,
        escaped: memchr::memchr(b'\\', source).is_some(),
    })
}

fn meaning(text: Text, message: &[u8]) -> Cow<'_, str> {
    let source = text.span.of(message);
    if text.escaped {
        let mut out = Vec::new();
        unescape(source, &mut out);
        return Cow::Owned(String::from_utf8_lossy(&out).into_owned());
    }
    String::from_utf8_lossy(source)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::conversation::IdKey;

    fn kind(message: &str) -> Kind<'_> {
        Envelope::parse(message.as_bytes()).kind
    }

    #[test]
    fn tells_the_four_kinds_apart() {
        assert_eq!(
            kind(r#"{"jsonrpc":"2.0","id":1,"method":"ping","params":{}}"#),
            Kind::Request {
                id: RequestId::Number("1"),
                method: "ping".into(),
                params: Some(b"{}")
            }
        );
        assert_eq!(
            kind(r#"{"method":"notifications/initialized"}"#),
            Kind::Notification {
                method: "notifications/initialized".into(),
                params: None
            }
        );
        assert_eq!(
            kind(r#"{"id":"a","result":null}"#),
            Kind::Response {
                id: RequestId::Text("a".into()),
                result: Some(b"null"),
                error: None
            }
        );
        assert_eq!(
            kind(r#"{"error":{"code":1}}"#),
            Kind::Response {
                id: RequestId::Null,
                result: None,
                error: Some(br#"{"code":1}"#)
            }
        );
        assert_eq!(
            kind(r#"[{"id":1,"method":"a"},[],1, "x"]"#),
            Kind::Batch { members: 4 }
        );
        assert_eq!(kind("[]"), Kind::Batch { members: 0 });
    }

    #[test]
    fn a_message_with_a_method_is_never_a_response() {
        let both = kind(r#"{"id":1,"method":"x","result":{}}"#);
        assert!(matches!(both, Kind::Request { .. }));
    }

    #[test]
    fn ids_keep_type_and_spelling() {
        let id = |text: &str| {
            let message = format!(r#"{{"id":{text},"result":1}}"#);
            match kind(&message) {
                Kind::Response { id, .. } => IdKey::exact(&id),
                _ => panic!("{message} is not a response"),
            }
        };
        let all = [
            "1",
            "1.0",
            "\"1\"",
            "1e0",
            "true",
            "[1]",
            "9007199254740993",
            "null",
        ];
        for (at, one) in all.iter().enumerate() {
            for (other_at, other) in all.iter().enumerate() {
                assert_eq!(id(one) == id(other), at == other_at, "{one} {other}");
            }
        }
        assert_eq!(id(r#""\u0031""#), id(r#""1""#));
    }

    #[test]
    fn the_last_of_two_members_counts() {
        let envelope = Envelope::parse(br#"{"id":6,"id":7,"method":"ping"}"#);
        assert!(envelope.repeated_member);
        assert!(matches!(
            envelope.kind,
            Kind::Request {
                id: RequestId::Number("7"),
                ..
            }
        ));
    }

    #[test]
    fn what_is_no_envelope_says_why() {
        for (text, why) in [
            ("  ", Malformed::Blank),
            ("Listening on 3000", Malformed::NotJson),
            ("{\"id\":1", Malformed::NotJson),
            ("42", Malformed::NotAnObject),
            ("{}", Malformed::NotAnEnvelope),
            ("{\"method\":5,\"id\":1}", Malformed::NotAnEnvelope),
        ] {
            assert_eq!(kind(text), Kind::Malformed(why), "{text}");
        }
        let bytes = b"{\"id\":\"\xff\"}";
        assert_eq!(
            Envelope::parse(bytes).kind,
            Kind::Malformed(Malformed::NotUtf8)
        );
    }

    #[test]
    fn batches_are_walked_member_by_member() {
        let collect = |text: &str| {
            let mut found = Vec::new();
            for_each_message(text.as_bytes(), |one| {
                found.push(String::from_utf8(one.to_vec()).unwrap());
            });
            found
        };
        assert_eq!(
            collect(r#"[{"a":[1]}, 2,"x" ]"#),
            [r#"{"a":[1]}"#, "2", "\"x\""]
        );
        assert_eq!(collect(r#"{"a":[1]}"#), [r#"{"a":[1]}"#]);
        assert_eq!(collect("[{"), ["[{"]);
        assert!(collect("[]").is_empty());
    }
}
