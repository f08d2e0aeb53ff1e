//! Reading one entry of a stream.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use bytes::Bytes;

use super::exchange::read_note;
use super::open::ID_TYPE_CHANGED;
use super::read::{Entry, millis, seen, session};
use crate::event::{
    ConduitId, Direction, Effect, EventBody, Faulted, LineEnd, Origin, Payload, SseNote, What,
};
use crate::recording::{DocumentError, Element, object};

impl Entry {
    pub(super) fn read(document: &Bytes, element: Element<'_>) -> Result<Self, DocumentError> {
        let entry = object(element)?;
        let from = entry.required("from")?;
        let dir = [Direction::ToServer, Direction::ToClient]
            .into_iter()
            .find(|dir| from.string().as_deref() == Some(dir.sender()))
            .ok_or_else(|| from.error("must be \"client\" or \"server\""))?;
        let sse = entry.member("sse").map(|sse| read_note(&sse));
        let payload = Self::payload(document, &entry)?;
        let body = if let Some(payload) = payload {
            Some(EventBody::Message {
                payload,
                end: LineEnd::Lf,
                origin: Origin::default(),
            })
        } else if let Some(body) = entry.member("body") {
            Some(EventBody::Body {
                payload: Self::body(document, &body)?,
            })
        } else if sse.is_some() {
            None
        } else {
            Some(EventBody::Faulted(Box::new(faulted(&entry))))
        };
        let message = matches!(body, Some(EventBody::Message { .. }));
        Ok(Self {
            dir,
            at: millis(&entry, "at_ms"),
            seen: seen(&entry),
            late: entry.source("late") == Some(b"true"),
            early: entry
                .member("mark")
                .and_then(|mark| mark.string())
                .as_deref()
                == Some(ID_TYPE_CHANGED),
            unanswered_before: entry
                .member("unanswered_before")
                .and_then(|count| count.number()),
            session: session(&entry),
            conduit: entry
                .member("conduit")
                .and_then(|conduit| conduit.number())
                .map(ConduitId),
            sse: sse.map(|sse| SseNote { message, ..sse }),
            body,
        })
    }

    fn body(document: &Bytes, body: &Element<'_>) -> Result<Payload, DocumentError> {
        if let Some(json) = body.source("json") {
            return Ok(Payload::Whole(document.slice_ref(json)));
        }
        Self::payload(document, body)?
            .ok_or_else(|| body.error("must have `json`, `text`, `base64` or `clipped`"))
    }

    fn payload(document: &Bytes, entry: &Element<'_>) -> Result<Option<Payload>, DocumentError> {
        // `null` is a message that a peer can send.
        if let Some(message) = entry.source("message") {
            return Ok(Some(Payload::Whole(document.slice_ref(message))));
        }
        if let Some(text) = entry.member("text") {
            let text = text
                .string()
                .ok_or_else(|| text.error("must be a string"))?;
            return Ok(Some(Payload::Whole(text.into())));
        }
        if let Some(base64) = entry.member("base64") {
            let bytes = base64.string().and_then(|text| STANDARD.decode(text).ok());
            let bytes = bytes.ok_or_else(|| base64.error("must be base64"))?;
            return Ok(Some(Payload::Whole(bytes.into())));
        }
        let Some(clipped) = entry.member("clipped") else {
            return Ok(None);
        };
        let len = clipped.required("len")?;
        let head = clipped.required("head")?;
        Ok(Some(Payload::Clipped {
            len: len.number().ok_or_else(|| len.error("must be a number"))?,
            head: head
                .string()
                .ok_or_else(|| head.error("must be a string"))?
                .into(),
        }))
    }
}

/// What was done to a message; older recorders wrote it in words, as `why`.
fn faulted(entry: &Element<'_>) -> Faulted {
    let effect = entry.member("effect");
    let effect = effect.and_then(|effect| serde_json::from_slice(effect.text).ok());
    effect.unwrap_or_else(|| {
        let why = entry.member("why").and_then(|why| why.string());
        let text = why.unwrap_or_default();
        Faulted {
            message: None,
            effect: Effect::plain(What::Other { text }),
        }
    })
}
