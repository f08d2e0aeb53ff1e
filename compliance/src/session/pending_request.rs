//! A request that awaits its response.

use tapewright_schemas::event::{ConduitId, Offset};

use super::Moment;
use super::capabilities::Capabilities;
use super::tools::Listed;
use crate::id::Key;
use crate::method::Method;
use crate::revision::Revisions;

/// A request that awaits its response.
#[derive(Clone, Debug)]
pub(crate) struct PendingRequest {
    pub(crate) seq: u64,
    pub(crate) at: Offset,
    pub(crate) conduit: ConduitId,
    pub(crate) method: Method,
    pub(crate) revisions: Revisions,
    /// When its sender gave it up.
    pub(crate) cancelled: Option<Moment>,
    /// We tampered with it.
    pub(crate) faulted: bool,
    /// It asked for a task.
    pub(crate) task: bool,
    /// Its progress token.
    pub(crate) token: Option<Key>,
    /// For a tool call: what is known of the tool.
    pub(crate) tool: Listed,
    /// Data for some methods.
    pub(crate) more: Option<Box<More>>,
}

/// Data that only some requests need.
#[derive(Clone, Debug, Default)]
pub(crate) struct More {
    /// The revision that an `initialize` requests.
    pub(crate) version: Option<String>,
    /// The capabilities of its sender.
    pub(crate) capabilities: Option<Capabilities>,
    /// The cursor that it sent.
    pub(crate) cursor: Option<u64>,
    /// Whether the server had issued that cursor.
    pub(crate) issued: Option<bool>,
    /// Its subject: a URI, a task.
    pub(crate) subject: Option<u64>,
    /// The log level that it sets or allows.
    pub(crate) level: Option<u8>,
    /// Its parameters without those that a retry changes.
    pub(crate) salient: Option<u64>,
}

impl PendingRequest {
    /// A request of which only the method is known.
    pub(crate) fn new(
        moment: Moment,
        conduit: ConduitId,
        method: Method,
        revisions: Revisions,
    ) -> Self {
        Self {
            seq: moment.seq,
            at: moment.at,
            conduit,
            method,
            revisions,
            cancelled: None,
            faulted: false,
            task: false,
            token: None,
            tool: Listed::Unknown,
            more: None,
        }
    }

    pub(crate) fn moment(&self) -> Moment {
        Moment {
            seq: self.seq,
            at: self.at,
        }
    }

    /// Whether it is the call of a tool whose answer ends nothing but the call.
    pub(crate) fn is_plain_call(&self) -> bool {
        self.method == Method::ToolsCall
            && self.cancelled.is_none()
            && self.token.is_none()
            && !self.task
    }

    pub(crate) fn more(&self) -> Option<&More> {
        self.more.as_deref()
    }
}
