//! Event streams that a fault cuts before the answer: if that is their first event, nothing of the
//! response is forwarded.

use bytes::BytesMut;
use http::{Response, header};
use http_body_util::BodyExt as _;
use tapewright_engine::fault::{Act, CutAt};
use tapewright_schemas::event::{MessageNumber, What};

use super::channel::Collected;
use super::cutter::{Cutter, Piece};
use super::stream::numbered;
use super::{MatchedFault, Scene};
use crate::http::body::Outbound;

impl Scene {
    /// Waits for the first event of a stream, if a fault cuts before the answer to the request of
    /// this exchange; `None` if it is the answer, and there is no response.
    pub(super) async fn cut_before(
        &self,
        aimed: &MatchedFault,
        response: Response<Outbound>,
    ) -> Option<Response<Outbound>> {
        let cuts = matches!(aimed.act(), Act::Cut(CutAt::Before));
        if !cuts || response.headers().contains_key(header::CONTENT_ENCODING) {
            return Some(response);
        }
        let (parts, body) = response.into_parts();
        let (begin, answer) = self.first_event(aimed, body).await;
        if let Some(message) = answer
            && self.claim(aimed)
        {
            let effect = aimed.hit.effect(What::Cut { all: false });
            self.note(effect, message);
            return None;
        }
        Some(Response::from_parts(parts, begin.into_body(&self.gateway)))
    }

    /// Reads a stream up to its first event; returns the number of its message if it is the answer.
    async fn first_event(
        &self,
        aimed: &MatchedFault,
        mut body: Outbound,
    ) -> (Collected, Option<Option<MessageNumber>>) {
        let (mut begin, mut cutter) = (BytesMut::new(), Cutter::new(false));
        while let Some(frame) = body.frame().await {
            let data = match frame.map(|frame| frame.into_data().unwrap_or_default()) {
                Ok(data) => data,
                Err(error) => return (Collected::Broken(begin.freeze(), error), None),
            };
            begin.extend_from_slice(&data);
            cutter.push(&data);
            let pieces = numbered(&mut cutter, self.log.last_message(self.dir));
            // An event with only an id lets the client resume the stream: it goes ahead, too.
            let first = pieces.into_iter().next();
            let is_answer = |piece: &Piece| match piece {
                Piece::Event(event) => aimed.is_answered_by(event),
                Piece::Rest(_) => false,
            };
            let number = first.as_ref().filter(|one| is_answer(&one.piece));
            let number = number.map(|one| one.number);
            if first.is_some() || begin.len() > self.log.limit_bytes() {
                return (Collected::Long(begin.freeze(), body), number);
            }
        }
        (Collected::Whole(begin.freeze()), None)
    }
}
