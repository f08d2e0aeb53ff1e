//! One HTTP exchange.

use tapewright_schemas::event::{RequestHead, ResponseHead};

/// One HTTP exchange: a request and its response, as far as they have come.
#[derive(Debug, Default)]
pub(crate) struct Conduit {
    /// Number of the client's connection.
    pub(crate) connection: u64,
    pub(crate) request: Option<(u64, RequestHead)>,
    pub(crate) response: Option<(u64, ResponseHead)>,
}

impl Conduit {
    /// The status of the response, once it is known.
    pub(crate) fn status(&self) -> Option<u16> {
        self.response.as_ref().map(|(_, head)| head.status)
    }

    /// Whether the request resumes a stream.
    pub(crate) fn resumes(&self) -> bool {
        let head = self.request.as_ref().map(|(_, head)| head);
        head.is_some_and(|head| head.fields.get("last-event-id").is_some())
    }
}
