//! One message, as rules see it.

use std::cell::OnceCell;
use std::sync::LazyLock;

use memchr::memmem::Finder;
use tapewright_schemas::envelope::{Envelope, Kind, RequestId};
use tapewright_schemas::event::{ConduitId, Direction, Offset, Seen};

use crate::id::Key;
use crate::method::Method;
use crate::revision::Revisions;
use crate::session::Moment;
use crate::value::Value;

/// Made once: to make it costs more than to use it on a small message.
static META: LazyLock<Finder<'static>> = LazyLock::new(|| Finder::new("meta\""));

/// One message: a whole line or body, or one member of a batch.
#[derive(Debug)]
pub(crate) struct Message<'a> {
    pub(crate) seq: u64,
    pub(crate) at: Offset,
    pub(crate) dir: Direction,
    pub(crate) conduit: ConduitId,
    pub(crate) envelope: &'a Envelope<'a>,
    pub(crate) text: &'a [u8],
    pub(crate) method: Method,
    /// The id of a request or response, as it is compared; [`Key::Null`] without one.
    pub(crate) key: Key,
    /// The revisions that it may be of.
    pub(crate) revisions: Revisions,
    /// Its place in a batch.
    pub(crate) within: Option<usize>,
    meta: OnceCell<bool>,
}

impl<'a> Message<'a> {
    pub(crate) fn new(seen: &Seen<'_>, text: &'a [u8], envelope: &'a Envelope<'a>) -> Self {
        let event = seen.event;
        let key = match &envelope.kind {
            Kind::Request { id, .. } | Kind::Response { id, .. } => Key::by_value(id),
            _ => Key::Null,
        };
        Self {
            seq: seen.seq,
            at: event.at,
            dir: event.dir,
            conduit: event.conduit,
            envelope,
            text,
            method: envelope.method().map_or(Method::Other, Method::named),
            key,
            revisions: Revisions::NONE,
            within: None,
            meta: OnceCell::new(),
        }
    }

    /// Whether the parameters may hold a `_meta`: looked for once, as many rules ask. The
    /// name is taken for one that nobody spells with escapes.
    pub(crate) fn mentions_meta(&self) -> bool {
        let look = || {
            self.params()
                .is_some_and(|params| META.find(params.0).is_some())
        };
        *self.meta.get_or_init(look)
    }

    pub(crate) fn moment(&self) -> Moment {
        Moment {
            seq: self.seq,
            at: self.at,
        }
    }

    /// The parameters of a request or notification.
    pub(crate) fn params(&self) -> Option<Value<'a>> {
        match self.envelope.kind {
            Kind::Request { params, .. } | Kind::Notification { params, .. } => params.map(Value),
            _ => None,
        }
    }

    /// A member of the parameters.
    pub(crate) fn param(&self, name: &str) -> Option<Value<'a>> {
        self.params()?.get(name)
    }

    /// The result of a response; what is no object is none, which is the subject of INV-014
    /// and of no other rule.
    pub(crate) fn result(&self) -> Option<Value<'a>> {
        self.any_result().filter(|result| result.is_object())
    }

    /// The result of a response, of whatever type.
    pub(crate) fn any_result(&self) -> Option<Value<'a>> {
        match self.envelope.kind {
            Kind::Response { result, .. } => result.map(Value),
            _ => None,
        }
    }

    /// The error of a response.
    pub(crate) fn error(&self) -> Option<Value<'a>> {
        match self.envelope.kind {
            Kind::Response { error, .. } => error.map(Value),
            _ => None,
        }
    }

    /// The error code of a response, when it is an integer.
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
