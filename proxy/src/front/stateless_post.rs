//! Requests of the stateless era, from 2026-07-28.

use std::sync::Arc;

use http::{HeaderMap, Response};
use tapewright_schemas::envelope::{Envelope, Kind};
use tapewright_schemas::event::{InPlaceCause, SessionEnd, SessionKey};

use super::answer::{accepted, given};
use super::check::Refusal;
use super::child::Child;
use super::endpoint::Refused;
use super::events::Learn;
use super::exchange::FrontExchange;
use super::pool::{Choice, Credential, Load};
use super::post::{AnswerContext, Message, untaken};
use super::reading::Reading;
use super::shared::{Front, lock, unavailable};
use super::stateless;
use super::switchboard::ProtocolStyle;
use crate::http::body::Outbound;

impl Front {
    /// Handles a stateless request.
    pub(crate) async fn stateless_post(
        self: &Arc<Self>,
        head: &HeaderMap,
        exchange: &FrontExchange,
        who: Credential,
        message: &Message<'_>,
    ) -> Result<Response<Outbound>, Refused> {
        let Kind::Request { method, params, .. } = &message.kind else {
            return match &message.kind {
                // It has no effect: over HTTP, a client cancels by leaving.
                Kind::Notification { .. } => Ok(given(exchange, accepted(), None)),
                _ => Err(message.refuse(
                    Refusal::bad(
                        InPlaceCause::Batch,
                        "from 2026-07-28 on a body is one request or one notification",
                    )
                    .coded(-32_600),
                )),
            };
        };
        let params = *params;
        let tools = self.tools();
        let checked = stateless::check(head, method, params, &lock(&tools));
        checked.map_err(|refusal| message.refuse(refusal))?;
        let reading = self.lease(who, message).await?;
        let sent = reading.child.send(message.line).await;
        sent.map_err(|_| {
            message.refuse(unavailable(
                InPlaceCause::ServerEnded,
                "the server has ended",
            ))
        })?;
        let learn = (method == "tools/list").then(|| {
            let learn: Learn = Arc::new(move |line| {
                if let Kind::Response {
                    result: Some(result),
                    ..
                } = Envelope::parse(line).kind
                {
                    lock(&tools).learn(result);
                }
            });
            learn
        });
        let giving = AnswerContext {
            exchange,
            accepts: message.accepts,
            begins: None,
            status: &|line| stateless::status(line, params),
            learn,
        };
        Ok(self.give(reading, giving).await)
    }

    /// Finds or starts the process for a request.
    async fn lease(
        self: &Arc<Self>,
        who: Credential,
        message: &Message<'_>,
    ) -> Result<Reading, Refused> {
        let quiet = !message.accepts.events;
        let open = |child: Arc<Child>| {
            let opened = child.board().open(message.line, quiet);
            opened
                .map(|opened| Reading { child, opened })
                .map_err(|why| message.refuse(untaken(why)))
        };
        let load = |child: &Arc<Child>| {
            let board = child.board();
            Load {
                under_way: board.under_way(),
                collides: board.is_over() || board.collides(message.line),
            }
        };
        let free = |child: &Arc<Child>| child.board().under_way() == 0;
        {
            let mut pool = self.pool();
            pool.retain(|child| !child.is_over());
            let mut choice = pool.choose(who, load);
            if matches!(choice, Choice::Nobody)
                && let Some(other) = pool.evict(free)
            {
                other.end(SessionEnd::Replaced);
                choice = pool.choose(who, load);
            }
            match choice {
                // Opened under the lock, so that no other request can claim it.
                Choice::Use(child) => return open(child),
                Choice::Start => {}
                Choice::Nobody => {
                    let why = "every server process has a pending request with this id";
                    return Err(message.refuse(unavailable(InPlaceCause::IdRepeated, why)));
                }
            }
        }
        let mut starting = Starting {
            front: self,
            who,
            over: false,
        };
        self.is_serving()
            .map_err(|refusal| message.refuse(refusal))?;
        let started = self
            .start(ProtocolStyle::Stateless, SessionKey::default())
            .await;
        let child = started.map_err(|refusal| message.refuse(refusal))?;
        let mut pool = self.pool();
        starting.over = true;
        let now = self.now();
        pool.started(who, Some((Arc::clone(&child), now)));
        open(child)
    }
}

/// Returns the place of a process whose start failed, or whose client left meanwhile.
struct Starting<'a> {
    front: &'a Front,
    who: Credential,
    over: bool,
}

impl Drop for Starting<'_> {
    fn drop(&mut self) {
        if !self.over {
            self.front.pool().started(self.who, None);
        }
    }
}
