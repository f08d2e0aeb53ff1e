//! What the client replies to the recorded server, beside what it replied when it was recorded.

use tapewright_schemas::json;

use super::Player;
use crate::json::{Difference, Ignore};
use crate::tally::OtherReply;
use crate::verify::judge;

impl Player {
    /// Tells the tally when a reply is not the recorded one. What follows is played all the
    /// same: what the server would have made of another reply is not on the recording.
    ///
    /// `take` is the take in whose course the server asked; none for what it asked of its
    /// own accord. `recorded` is none when the recorded client never replied.
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

/// A reply where the recorded client gave none.
fn unasked(live: &[u8]) -> Difference {
    let said = json::find(live, &["result"]).or_else(|| json::find(live, &["error"]));
    Difference {
        path: "$".to_owned(),
        recorded: None,
        live: Some(crate::json::shown(said.unwrap_or(live))),
        redacted: false,
    }
}
