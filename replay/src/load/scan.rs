//! Reads a cassette in one pass: validates the grammar, and notes positions.

use std::borrow::Cow;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use bytes::Bytes;
use tapewright_schemas::era::Era;
use tapewright_schemas::event::Direction;
use tapewright_schemas::json::{Invalid, Scanner, Span, Text, Token, unescape};
use tapewright_schemas::recording::DocumentError;
use tapewright_schemas::slices::Part as _;

use super::ahead::{self, Piece};
use super::arrange::arrange;
use super::parts::{Draft, Entry, Parts};
use crate::script::{MethodId, Methods, Response, Script, Words};
use crate::source::Source;

/// Reads a cassette. The error is a first guess; a slower reader can locate most errors better.
pub(super) fn read(file: &Bytes) -> Result<Script, DocumentError> {
    let text = file
        .strip_prefix(b"\xef\xbb\xbf")
        .unwrap_or(file)
        .trim_ascii();
    let text = if text.is_empty() {
        Bytes::new()
    } else {
        file.slice_ref(text)
    };
    if std::str::from_utf8(&text).is_err() {
        return Err(DocumentError::Unknown);
    }
    let mut scan = Scan::amid(&text, Scanner::new(&text));
    scan.root().map_err(|stop| match stop {
        Stop::Shape(what) => DocumentError::Shape {
            pointer: scan.pointer(),
            what,
        },
        Stop::Syntax(_) => DocumentError::Unknown,
    })?;
    if !(scan.version && scan.exchanges) {
        return Err(DocumentError::Unknown);
    }
    let Scan { parts, methods, .. } = scan;
    Ok(arrange(Source::Memory(text.clone()), parts, methods))
}

/// Why a scan stopped.
pub(super) enum Stop {
    Shape(&'static str),
    Syntax(#[expect(dead_code, reason = "the careful reader names the place")] Invalid),
}

impl From<Invalid> for Stop {
    fn from(source: Invalid) -> Self {
        Self::Syntax(source)
    }
}

pub(super) struct Scan<'t> {
    pub(super) text: &'t [u8],
    pub(super) scanner: Scanner<'t>,
    pub(super) parts: Parts,
    pub(super) methods: Methods,
    pub(super) version: bool,
    pub(super) exchanges: bool,
}

/// The start of a container, or a whole scalar.
enum Value {
    Array,
    Number(Span),
    Object(usize),
    Other,
    String(Text),
}

/// The parts of a JSON-RPC message.
#[derive(Default)]
struct Envelope {
    span: Option<Span>,
    id: Option<Span>,
    method: Option<MethodId>,
    params: Option<Span>,
}

impl<'t> Scan<'t> {
    /// Continues where `scanner` is.
    pub(super) fn amid(text: &'t [u8], scanner: Scanner<'t>) -> Self {
        Self {
            text,
            scanner,
            parts: Parts::default(),
            methods: Methods::default(),
            version: false,
            exchanges: false,
        }
    }

    /// Takes over the exchanges that were read from here on, and continues after them.
    pub(super) fn adopt(&mut self, piece: Piece<'t>) {
        let ids = self.methods.admit_all(&piece.methods);
        let mut drafts = piece.drafts;
        if ids.iter().zip(0..).any(|(here, there)| here.0 != there) {
            for draft in &mut drafts {
                let here = ids.get(draft.method.0 as usize);
                draft.method = here.copied().unwrap_or(draft.method);
            }
        }
        for draft in drafts {
            self.parts.exchanges.push(draft);
        }
        self.scanner = piece.scanner;
    }

    pub(super) fn root(&mut self) -> Result<(), Stop> {
        let Value::Object(_) = self.value()? else {
            return Err(Stop::Shape("must be an object"));
        };
        while let Some(name) = self.key()? {
            let name = self.name(name);
            self.member(&name)?;
        }
        match self.scanner.next_token()? {
            None => Ok(()),
            Some(_) => Err(Stop::Shape("is followed by something else")),
        }
    }

    /// A member of the document.
    fn member(&mut self, name: &[u8]) -> Result<(), Stop> {
        match name {
            b"version" => {
                let span = self.scanner.skip_value()?;
                self.version = span.of(self.text) == b"\"1\"";
                if !self.version {
                    return Err(Stop::Shape("must be \"1\""));
                }
            }
            b"exchanges" => {
                self.parts.exchanges.clear();
                self.exchanges = true;
                let Value::Array = self.value()? else {
                    return Err(Stop::Shape("must be an array"));
                };
                ahead::read(self)?;
            }
            b"probes" => {
                self.parts.probes.clear();
                self.optional_array(|scan| {
                    let draft = scan.take(true)?;
                    scan.parts.probes.push(draft);
                    Ok(())
                })?;
            }
            b"unanswered" => {
                self.parts.unanswered.clear();
                self.optional_array(|scan| {
                    let draft = scan.take(false)?;
                    scan.parts.unanswered.push(draft);
                    Ok(())
                })?;
            }
            b"messages" => {
                self.parts.messages.clear();
                self.optional_array(|scan| {
                    let entry = scan.entry()?;
                    scan.parts.messages.push(entry);
                    Ok(())
                })?;
            }
            b"meta" => self.meta()?,
            b"incomplete" => {
                if let Value::String(text) = self.value_whole()? {
                    self.parts.incomplete = Some(self.string(text));
                }
            }
            b"incomplete_detail" => {
                if let Value::String(text) = self.value_whole()? {
                    self.parts.incomplete_detail = Some(self.string(text));
                }
            }
            _ => {
                self.scanner.skip_value()?;
            }
        }
        Ok(())
    }

    fn meta(&mut self) -> Result<(), Stop> {
        let Value::Object(_) = self.value()? else {
            // Scalars are already consumed; an array is skipped from inside.
            return self.leave();
        };
        while let Some(name) = self.key()? {
            let name = String::from_utf8_lossy(&self.name(name)).into_owned();
            if let Value::String(text) = self.value_whole()? {
                let value = self.string(text);
                self.parts.meta.push((name, value));
            }
        }
        Ok(())
    }

    /// An element of `exchanges`, or of `unanswered`.
    pub(super) fn take(&mut self, answered: bool) -> Result<Draft, Stop> {
        let Value::Object(_) = self.value()? else {
            return Err(Stop::Shape("must be an object"));
        };
        let mut draft = Draft::default();
        let mut request = Envelope::default();
        let mut response = Envelope::default();
        while let Some(name) = self.key()? {
            match self.name(name).as_ref() {
                b"request" => request = self.envelope(true)?,
                b"response" if answered => response = self.envelope(false)?,
                b"timing" => self.timing(&mut draft)?,
                b"sent_ms" => draft.sent_us = self.millis()?,
                b"seen" => draft.seen = self.number()?,
                b"stream" => self.stream(&mut draft)?,
                b"era" => {
                    if let Value::String(text) = self.value_whole()? {
                        let era = self.name(text);
                        draft.era = str::from_utf8(&era).ok().and_then(Era::from_name);
                    }
                }
                b"head" => draft.head = Some(self.scanner.skip_value()?),
                b"session" => draft.session = self.number()?.unwrap_or_default(),
                b"after" => draft.after = self.number()?,
                b"marks" => {
                    let marks = self.scanner.skip_value()?;
                    draft.http_error =
                        memchr::memmem::find(marks.of(self.text), b"\"http error\"").is_some();
                }
                b"why" => {
                    if let Value::String(text) = self.value_whole()? {
                        draft.why = self.string(text);
                    }
                }
                _ => {
                    self.scanner.skip_value()?;
                }
            }
        }
        let Some(span) = request.span else {
            return Err(Stop::Shape("has no `request`"));
        };
        draft.request = span;
        draft.id = request.id;
        draft.method = request.method.unwrap_or(MethodId::NONE);
        draft.params = request.params;
        draft.response = response.span.map(|span| Response {
            span,
            id: response.id,
        });
        if answered && draft.response.is_none() {
            return Err(Stop::Shape("has no `response`"));
        }
        Ok(draft)
    }

    fn stream(&mut self, draft: &mut Draft) -> Result<(), Stop> {
        draft.stream.clear();
        self.optional_array(|scan| {
            draft.stream.push(scan.entry()?);
            Ok(())
        })
    }

    fn timing(&mut self, draft: &mut Draft) -> Result<(), Stop> {
        let Value::Object(_) = self.value()? else {
            return self.leave();
        };
        while let Some(name) = self.key()? {
            let name = self.name(name);
            let time = self.millis()?;
            match name.as_ref() {
                b"sent_ms" => draft.sent_us = time,
                b"took_ms" => draft.took_us = time,
                _ => {}
            }
        }
        Ok(())
    }

    fn envelope(&mut self, request: bool) -> Result<Envelope, Stop> {
        let Value::Object(start) = self.value()? else {
            return Err(Stop::Shape("needs envelopes that are objects"));
        };
        let mut envelope = Envelope::default();
        while let Some(name) = self.key()? {
            match self.name(name).as_ref() {
                b"id" => envelope.id = Some(self.scanner.skip_value()?),
                b"method" if request => {
                    envelope.method = match self.value_whole()? {
                        Value::String(text) => {
                            let method = self.name(text);
                            Some(self.methods.admit(&method))
                        }
                        _ => None,
                    };
                }
                b"params" if request => envelope.params = Some(self.scanner.skip_value()?),
                _ => {
                    self.scanner.skip_value()?;
                }
            }
        }
        envelope.span = Some(Span {
            start,
            end: self.scanner.offset(),
        });
        Ok(envelope)
    }

    /// An entry of `stream` or `messages`.
    fn entry(&mut self) -> Result<Entry, Stop> {
        let Value::Object(_) = self.value()? else {
            return Err(Stop::Shape("must be an object"));
        };
        let mut dir = None;
        let mut entry = Entry::default();
        while let Some(name) = self.key()? {
            match self.name(name).as_ref() {
                b"from" => {
                    let Value::String(text) = self.value_whole()? else {
                        return Err(Stop::Shape(FROM));
                    };
                    let from = self.string(text);
                    dir = [Direction::ToServer, Direction::ToClient]
                        .into_iter()
                        .find(|dir| dir.sender() == from);
                    if dir.is_none() {
                        return Err(Stop::Shape(FROM));
                    }
                }
                b"at_ms" => entry.at_us = self.millis()?,
                b"seen" => entry.seen = self.number()?,
                b"unanswered_before" => entry.unanswered_before = self.number()?,
                b"late" => {
                    let late = self.scanner.skip_value()?;
                    entry.late = late.of(self.text) == b"true";
                }
                b"session" => entry.session = self.number()?.unwrap_or_default(),
                b"after" => entry.after = self.number()?,
                b"message" => entry.words = Some(Words::Span(self.scanner.skip_value()?)),
                b"text" => {
                    if let Value::String(text) = self.value_whole()? {
                        entry.words = Some(Words::Kept(self.meaning(text).into()));
                    }
                }
                b"base64" => {
                    let Value::String(text) = self.value_whole()? else {
                        return Err(Stop::Shape("must be base64"));
                    };
                    let bytes = STANDARD.decode(self.meaning(text));
                    let bytes = bytes.map_err(|_| Stop::Shape("must be base64"))?;
                    entry.words = Some(Words::Kept(bytes.into()));
                }
                _ => {
                    self.scanner.skip_value()?;
                }
            }
        }
        entry.dir = dir.ok_or(Stop::Shape(FROM))?;
        Ok(entry)
    }

    /// The elements of an array; `null` counts as empty.
    fn optional_array(
        &mut self,
        mut element: impl FnMut(&mut Self) -> Result<(), Stop>,
    ) -> Result<(), Stop> {
        match self.value()? {
            Value::Array => {}
            Value::Other => return Ok(()),
            _ => return Err(Stop::Shape("must be an array")),
        }
        // The scanner cannot look ahead, so the end of the array is checked first.
        while !self.closes() {
            element(self)?;
        }
        self.scanner.next_token()?;
        Ok(())
    }

    /// Whether the next token closes an array.
    pub(super) fn closes(&self) -> bool {
        let rest = self.text.part(self.scanner.offset()..);
        rest.iter()
            .find(|byte| !matches!(byte, b' ' | b'\t' | b'\n' | b'\r'))
            == Some(&b']')
    }

    /// The next member name of the current object; `None` at its end.
    fn key(&mut self) -> Result<Option<Text>, Stop> {
        match self.scanner.next_token()? {
            Some(Token::Key(text)) => Ok(Some(text)),
            Some(Token::Close { .. }) => Ok(None),
            _ => Err(Stop::Syntax(Invalid::Cut)),
        }
    }

    fn value(&mut self) -> Result<Value, Stop> {
        match self.scanner.next_token()? {
            Some(Token::Open { object: true, at }) => Ok(Value::Object(at)),
            Some(Token::Open { object: false, .. }) => Ok(Value::Array),
            Some(Token::String(text)) => Ok(Value::String(text)),
            Some(Token::Number(span)) => Ok(Value::Number(span)),
            Some(Token::Literal(_)) => Ok(Value::Other),
            Some(Token::Key(_) | Token::Close { .. }) | None => Err(Stop::Syntax(Invalid::Cut)),
        }
    }

    /// Like [`value`](Self::value), but skips containers.
    fn value_whole(&mut self) -> Result<Value, Stop> {
        let value = self.value()?;
        if matches!(value, Value::Array | Value::Object(_)) {
            self.leave()?;
            return Ok(Value::Other);
        }
        Ok(value)
    }

    /// Skips the rest of a container whose start was just read, if any.
    fn leave(&mut self) -> Result<(), Stop> {
        let before = self.scanner.offset();
        let opened = before
            .checked_sub(1)
            .and_then(|at| self.text.get(at))
            .is_some_and(|byte| matches!(byte, b'[' | b'{'));
        if !opened {
            return Ok(());
        }
        let depth = self.scanner.depth();
        while self.scanner.depth() >= depth {
            if self.scanner.next_token()?.is_none() {
                break;
            }
        }
        Ok(())
    }

    /// Reads milliseconds, and returns microseconds; `None` if the value is not a time.
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "the cast saturates, and what is negative is ruled out"
    )]
    fn millis(&mut self) -> Result<Option<u64>, Stop> {
        let Value::Number(span) = self.value_whole()? else {
            return Ok(None);
        };
        let text = std::str::from_utf8(span.of(self.text)).unwrap_or_default();
        let millis: Option<f64> = text.parse().ok();
        Ok(millis
            .filter(|millis| *millis >= 0.0)
            .map(|millis| (millis * 1_000.0).round() as u64))
    }

    fn number<T: std::str::FromStr>(&mut self) -> Result<Option<T>, Stop> {
        let Value::Number(span) = self.value_whole()? else {
            return Ok(None);
        };
        let text = std::str::from_utf8(span.of(self.text)).unwrap_or_default();
        Ok(text.parse().ok())
    }

    fn name(&self, text: Text) -> Cow<'t, [u8]> {
        if text.escaped {
            Cow::Owned(self.meaning(text))
        } else {
            Cow::Borrowed(text.span.of(self.text))
        }
    }

    fn meaning(&self, text: Text) -> Vec<u8> {
        let mut out = Vec::new();
        unescape(text.span.of(self.text), &mut out);
        out
    }

    fn string(&self, text: Text) -> String {
        String::from_utf8_lossy(&self.meaning(text)).into_owned()
    }

    /// A pointer to the current element.
    fn pointer(&self) -> String {
        if self.exchanges {
            let read = self.parts.exchanges.len();
            format!("/exchanges/{read}")
        } else {
            String::new()
        }
    }
}

const FROM: &str = "must say `from`: \"client\" or \"server\"";
