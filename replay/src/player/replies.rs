//! Compares the client's replies to the recorded server with the recorded ones.

use tapewright_schemas::json;

use super::Player;
use crate::json::{Difference, Ignore};
use crate::tally::OtherReply;
use crate::verify::judge;

impl Player {
    /// Reports a reply that differs from the recorded one. The recording continues anyway: it does
    /// not contain the server's reaction to another reply.
    ///
    /// `take` is the take during which the server sent its request; `None` for a request outside of
    /// all takes. `recorded` is `None` if the recorded client never replied.
    pub(super) fn weigh_reply(
        &mut self,
        method: &str,
        take: Option<usize>,
        recorded: Option<&[u8]>,
        live: &[u8],
    ) {
        let options = std::sync::Arc::clone(&self.index.options);
        let differences = match recorded {
            Some(recorded) => {
                let ignore = Ignore::default();
                let comparison = judge::comparison(options.mode, &ignore);
                judge::compared(recorded, live, &comparison, self.matcher.redactor())
            }
            None => vec![unasked(&judge::redacted(live, self.matcher.redactor()))],
        };
        if differences.is_empty() {
            return;
        }
        let take = take.and_then(|take| self.index.script.take(take));
        self.tally.replied_otherwise(OtherReply {
            method: method.to_owned(),
            place: take.map(|take| take.place.pointer()),
            differences,
        });
    }
}

/// The difference for a reply that the recorded client did not send.
fn unasked(live: &[u8]) -> Difference {
    let said = json::find(live, &["result"]).or_else(|| json::find(live, &["error"]));
    Difference {
        path: "$".to_owned(),
        recorded: None,
        live: Some(crate::json::shown(said.unwrap_or(live))),
        redacted: false,
    }
}
