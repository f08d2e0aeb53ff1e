//! One message, as rules see it.

use std::cell::OnceCell;

use tapewright_schemas::conversation::Pair;
use tapewright_schemas::envelope::{Envelope, Kind, RequestId};
use tapewright_schemas::event::{ConduitId, Direction, Offset, Seen};

use crate::fields::{Fields, is_content_alone};
use crate::id::Key;
use crate::method::Method;
use crate::plain::Plain;
use crate::revision::Revisions;
use crate::session::Moment;
use crate::value::Value;

/// What a message is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Form {
    Request,
    Notification,
    Response,
    Batch,
    Malformed,
}

/// One message: a whole line or body, or one member of a batch.
#[derive(Debug)]
pub(crate) struct Message<'a> {
    pub(crate) seq: u64,
    pub(crate) at: Offset,
    pub(crate) dir: Direction,
    pub(crate) conduit: ConduitId,
    pub(crate) envelope: &'a Envelope<'a>,
    pub(crate) form: Form,
    pub(crate) text: &'a [u8],
    pub(crate) method: Method,
    /// The id of a request or response, in its comparable form; [`Key::Null`] without one.
    pub(crate) key: Key,
    /// Whether it is a request with an integer for its id, written as one.
    pub(crate) counts: bool,
    /// How it relates to a request.
    pub(crate) paired: Pair,
    /// The revisions that it may be of.
    pub(crate) revisions: Revisions,
    /// The ways in which it is plain.
    pub(crate) plain: Plain,
    /// The method of the pending request that it answers, if any.
    pub(crate) answers: Option<Method>,
    /// Its index in a batch.
    pub(crate) within: Option<usize>,
    // The parameters or the result.
    body: Option<&'a [u8]>,
    error: Option<&'a [u8]>,
    fields: OnceCell<Fields>,
    content_alone: OnceCell<bool>,
}

impl<'a> Message<'a> {
    pub(crate) fn new(seen: &Seen<'_>, text: &'a [u8], envelope: &'a Envelope<'a>) -> Self {
        let event = seen.event;
        let (mut method, mut key, mut refused) = (Method::Other, Key::Null, None);
        let mut counts = false;
        let (form, body) = match &envelope.kind {
            Kind::Request {
                id,
                method: name,
                params,
            } => {
                method = Method::named(name);
                let exact = Key::exact(id);
                counts = matches!(exact, Key::Integer(_));
                key = match exact {
                    Key::Number(_) => Key::by_value(id),
                    known => known,
                };
                (Form::Request, *params)
            }
            Kind::Notification {
                method: name,
                params,
            } => {
                method = Method::named(name);
                (Form::Notification, *params)
            }
            Kind::Response { id, result, error } => {
                (key, refused) = (Key::by_value(id), *error);
                (Form::Response, *result)
            }
            Kind::Batch { .. } => (Form::Batch, None),
            _ => (Form::Malformed, None),
        };
        Self {
            seq: seen.seq,
            at: event.at,
            dir: event.dir,
            conduit: event.conduit,
            envelope,
            form,
            text,
            method,
            key,
            counts,
            paired: Pair::default(),
            revisions: Revisions::NONE,
            plain: Plain::NOT,
            answers: None,
            within: None,
            body,
            error: refused,
            fields: OnceCell::new(),
            content_alone: OnceCell::new(),
        }
    }

    pub(crate) fn moment(&self) -> Moment {
        Moment {
            seq: self.seq,
            at: self.at,
        }
    }

    /// The parameters of a request or notification.
    pub(crate) fn params(&self) -> Option<Value<'a>> {
        match self.form {
            Form::Request | Form::Notification => self.body.map(Value),
            _ => None,
        }
    }

    /// A member of the parameters.
    pub(crate) fn param(&self, name: &str) -> Option<Value<'a>> {
        let params = self.params()?;
        self.fields(params).get(params, name)
    }

    /// A member of the result of a response.
    pub(crate) fn outcome(&self, name: &str) -> Option<Value<'a>> {
        let result = self.any_result()?;
        self.fields(result).get(result, name)
    }

    /// The members of the parameters or of the result: a message has one of them.
    pub(crate) fn fields(&self, body: Value<'a>) -> &Fields {
        self.fields.get_or_init(|| Fields::of(body))
    }

    /// The result of a response, if it is an object; anything else is only covered by INV-014.
    pub(crate) fn result(&self) -> Option<Value<'a>> {
        self.any_result().filter(|result| result.is_object())
    }

    /// Whether the result consists of an array `content` and optionally a valid `isError`, as most
    /// do. False if that takes a closer look.
    pub(crate) fn is_content_alone(&self) -> bool {
        let look = || self.any_result().is_some_and(is_content_alone);
        *self.content_alone.get_or_init(look)
    }

    /// The result of a response, of any type.
    pub(crate) fn any_result(&self) -> Option<Value<'a>> {
        match self.form {
            Form::Response => self.body.map(Value),
            _ => None,
        }
    }

    /// The error of a response.
    pub(crate) fn error(&self) -> Option<Value<'a>> {
        self.error.map(Value)
    }

    /// The error code of a response, if it is an integer.
    pub(crate) fn error_code(&self) -> Option<i64> {
        self.error()?.get("code")?.integer()
    }

    /// The id of a request or response.
    pub(crate) fn id(&self) -> Option<&RequestId<'a>> {
        match &self.envelope.kind {
            Kind::Request { id, .. } | Kind::Response { id, .. } => Some(id),
            _ => None,
        }
    }

    /// The method as the peer spelled it.
    pub(crate) fn spelled(&self) -> &str {
        self.envelope.method().unwrap_or_default()
    }

    /// A pointer into the payload, for a pointer into this message.
    pub(crate) fn pointer(&self, pointer: &str) -> String {
        match self.within {
            Some(index) => format!("/{index}{pointer}"),
            None => pointer.to_owned(),
        }
    }
}

/// The id of a request or response, in its comparable form.
pub(crate) fn key_of(envelope: &Envelope<'_>) -> Key {
    match &envelope.kind {
        Kind::Request { id, .. } | Kind::Response { id, .. } => Key::by_value(id),
        _ => Key::Null,
    }
}
