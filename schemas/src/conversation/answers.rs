//! Which requests responses and notifications refer to.

use std::sync::LazyLock;

use memchr::memmem::Finder;

use super::exchange::{Answered, State};
use super::fold::{Carrier, Conversation};
use super::step::Does;
use super::{Answer, Handle, IdKey, is_about_noise};
use crate::envelope::RequestId;
use crate::event::{ConduitId, Event};
use crate::json;

impl<T: Default> Conversation<T> {
    /// Handles a response to the request that its id names, or in the body of an HTTP error, to the
    /// request of its exchange.
    pub(super) fn answer(
        &mut self,
        event: &Event,
        id: &RequestId<'_>,
        error: Option<&[u8]>,
        answered: impl FnOnce() -> Answered,
    ) -> (Does, Option<Handle>) {
        if let Some(carrier) = self.carriers.get(&event.conduit)
            && carrier.status >= 400
            && !self.is_carried(carrier, event, id)
        {
            let refused = self.refuse(event.conduit);
            return (refused.map_or(Does::Orphan, |_| Does::Refuses), refused);
        }
        if is_about_noise(id, error) {
            return (Does::Orphan, None);
        }
        match self.exchanges.meet(event.scope(), event.dir, id) {
            Answer::Pairs(handle, ()) => {
                let Some(exchange) = self.exchanges.get_mut(handle) else {
                    return (Does::Orphan, None);
                };
                exchange.answer = Some(answered());
                if exchange.state == State::GivenUp {
                    return (Does::Late, Some(handle));
                }
                self.enter(handle, State::Fresh);
                self.freshen(event, handle);
                (Does::Answers, Some(handle))
            }
            Answer::TypeChanged(handle) => (Does::TypeChanged, Some(handle)),
            Answer::Duplicate => (Does::Duplicate, None),
            Answer::Forgotten | Answer::Orphan => (Does::Orphan, None),
        }
    }

    pub(super) fn notification(
        &mut self,
        event: &Event,
        method: &str,
        params: Option<&[u8]>,
    ) -> (Does, Option<Handle>) {
        let scope = event.scope();
        let (what, handle) = match method {
            "notifications/cancelled" => {
                let id = params.and_then(|params| json::find(params, &["requestId"]));
                let id = id.map(|id| self.exchanges.key(&RequestId::of_source(id)));
                let one = id.and_then(|id| self.exchanges.cancel(scope, event.dir, id));
                (Does::Cancels, one)
            }
            "notifications/progress" => {
                let token = params.and_then(|params| json::find(params, &["progressToken"]));
                let token = token.map(IdKey::exact_of);
                let dir = event.dir.opposite();
                let one = token.and_then(|token| self.exchanges.by_token(scope, dir, token));
                (Does::Progress, one)
            }
            _ => (Does::Nothing, None),
        };
        let Some(exchange) = handle.and_then(|one| self.exchanges.get_mut(one)) else {
            return (Does::Nothing, None);
        };
        if exchange.state != State::GivenUp {
            exchange.link(event.seq);
        }
        (what, handle)
    }

    /// Whether the id of a response names a request that the same HTTP exchange carried.
    fn is_carried(&self, carrier: &Carrier, event: &Event, id: &RequestId<'_>) -> bool {
        let named = self
            .exchanges
            .find(event.scope(), event.dir.opposite(), self.exchanges.key(id))
            .filter(|_| id.pairs());
        named.is_some_and(|named| carrier.asked.contains(&named))
    }

    /// The first request of an HTTP exchange that was not refused yet, for the body of an HTTP
    /// error whose id is `null`, missing, or `"server-error"`.
    fn refuse(&mut self, conduit: ConduitId) -> Option<Handle> {
        let carrier = self.carriers.get(&conduit)?;
        for handle in &carrier.asked {
            if let Some(exchange) = self.exchanges.get_mut(*handle)
                && exchange.answer.is_none()
                && !std::mem::replace(&mut exchange.refused, true)
            {
                return Some(*handle);
            }
        }
        None
    }
}

/// Built once: building it costs more than using it on a small message.
static TOKEN_FINDER: LazyLock<Finder<'static>> = LazyLock::new(|| Finder::new("progressToken"));

/// Source text of the token under which a request asks for progress.
pub(super) fn progress_token(params: &[u8]) -> Option<&[u8]> {
    // Spares most requests a second scan.
    TOKEN_FINDER.find(params)?;
    json::find(params, &["_meta", "progressToken"])
}
