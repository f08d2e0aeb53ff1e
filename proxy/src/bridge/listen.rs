//! The GET stream of a session, for messages that answer no request.

use std::time::Duration;

use super::line_queue::Gone;
use super::send::{Gate, is_stream};
use super::shared::Shared;
use super::stream::{Cursor, Events};

impl Shared {
    /// Keeps the GET stream of a session open as long as the server offers one, and resumes it
    /// where it ended. `opened` is dropped with the first answer.
    pub(crate) async fn listen(&self, opened: Gate) -> Result<(), Gone> {
        let mut opened = Some(opened);
        let mut cursor = Cursor::default();
        let mut attempt = 0;
        loop {
            let answer = self.open_stream(&cursor).await;
            drop(opened.take());
            if let Some(answer) = answer {
                if is_stream(&answer) {
                    let mut events = Events::new(answer, self.limit_bytes);
                    self.follow(&mut events, &mut cursor).await?;
                    if cursor.moved {
                        attempt = 0;
                    }
                } else if !comes_back(answer.response.status().as_u16()) {
                    // 405: the server offers none; 404: the session is over.
                    return Ok(());
                }
            }
            tokio::time::sleep(cursor.wait(attempt).max(LEAST)).await;
            attempt += 1;
        }
    }
}

/// The minimum time between two streams: one that ends immediately must not be reopened in a tight
/// loop.
const LEAST: Duration = Duration::from_millis(10);

/// Whether another attempt may succeed: an earlier stream of the bridge is still open (409), or the
/// server has a temporary problem.
fn comes_back(status: u16) -> bool {
    matches!(status, 409 | 429 | 500..=599)
}
