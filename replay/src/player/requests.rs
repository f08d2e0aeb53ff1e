//! Handles a request of the client: the scene that it starts, or why it starts none.

use std::time::Duration;

use bytes::Bytes;
use tapewright_schemas::conversation::IdKey;
use tapewright_schemas::event::{Direction, Scope};
use tapewright_schemas::json;

use super::scene::Scene;
use super::{Output, Player};
use crate::era;
use crate::index::is_by_method;
use crate::matcher::{Found, Live, MISS_CODE, Miss, Reason};
use crate::options::Unanswered;

impl Player {
    /// Handles a request of the client. `id` is source text.
    pub(super) fn request(
        &mut self,
        now: Duration,
        line: &[u8],
        id: &[u8],
        method: &str,
        params: Option<&[u8]>,
    ) {
        let asked = Live {
            line,
            method,
            params,
        };
        if let Some(refusal) = era::refusal(self.index.eras(), method, params) {
            // A probe that was refused in the recording gets the same error.
            if is_by_method(method.as_bytes())
                && let Ok(found) = self.find(asked)
            {
                return self.start(now, found, id, method, params);
            }
            if self.falls_through {
                self.fell = true;
                return;
            }
            return self.refuse_era(now, id, method, refusal);
        }
        let mut found = self.find(asked);
        if found.is_err() && method == "initialize" && self.reached.is_some() {
            // A second handshake starts a second session.
            self.begin_again();
            found = self.matcher.find(asked, &self.names.aliases);
        }
        match found {
            Ok(found) => self.start(now, found, id, method, params),
            // The receiver answers a ping itself (2025-11-25, basic/utilities/ping).
            Err(_) if method == "ping" && !era::is_stateless(method, params) => {
                self.tally.pinged();
                self.ready
                    .push_back(Output::response(id, "result", "{}", None));
            }
            Err(_) if self.falls_through => self.fell = true,
            Err(miss) => self.miss(now, id, *miss),
        }
    }

    /// The take for a request; marks it as played. If the request with mapped paths was not
    /// recorded, it is looked up verbatim: it may be an episode that was added here.
    fn find(&mut self, asked: Live<'_>) -> Result<Found, Box<Miss>> {
        let missed = match self.find_as(asked) {
            Ok(found) => return Ok(found),
            Err(missed) => missed,
        };
        let Some(came) = self.unmapped.clone() else {
            return Err(missed);
        };
        let as_it_came = Live {
            line: &came,
            params: json::find(&came, &["params"]),
            ..asked
        };
        let found = self.find_as(as_it_came).map_err(|_| missed)?;
        self.mapped.clear();
        Ok(found)
    }

    fn find_as(&mut self, asked: Live<'_>) -> Result<Found, Box<Miss>> {
        let aliases = &self.names.aliases;
        if era::is_stateless(asked.method, asked.params) {
            self.sessionless.lock().find(asked, aliases)
        } else {
            self.matcher.find(asked, aliases)
        }
    }

    /// Answers a request of an era that is not recorded, as a server of the recorded era would. A
    /// probe is not a miss: a client that supports both eras starts with one.
    fn refuse_era(&mut self, now: Duration, id: &[u8], method: &str, refusal: era::Refusal) {
        let error = refusal.error().to_string();
        let output = Output::response(id, "error", &error, Some(refusal.code));
        self.say_now(now, output);
        if !refusal.is_probe {
            let reason = Reason::Era { why: refusal.why };
            let method = self.matcher.shown(method);
            self.tally.missed(id, Miss::plain(method, reason));
        }
    }

    fn start(
        &mut self,
        now: Duration,
        found: Found,
        id: &[u8],
        method: &str,
        params: Option<&[u8]>,
    ) {
        let script = std::sync::Arc::clone(&self.index.script);
        let ordinal = found.ordinal as usize;
        let Some(take) = script.take(ordinal) else {
            return;
        };
        self.tally.served(found.ordinal);
        let mapped = std::mem::take(&mut self.mapped);
        if !mapped.is_empty() {
            self.tally.mapped(found.ordinal, mapped);
        }
        self.reach(now, take.asked);
        if self.index.options.unanswered == Unanswered::Error
            && let Some(why) = Self::unanswered(&take)
        {
            let why = why.to_owned();
            let method = self.matcher.shown(method);
            return self.refuse(now, id, &Miss::plain(method, Reason::Unanswered { why }));
        }
        let id = Bytes::copy_from_slice(id);
        let token = |params: Option<&[u8]>| {
            let params = params?;
            // Saves most requests the search.
            memchr::memmem::find(params, b"progressToken")?;
            json::find(params, &["_meta", "progressToken"]).map(Bytes::copy_from_slice)
        };
        let recorded = take.params.map(|span| script.source(span));
        let recorded_token = token(recorded.as_deref());
        let recorded_id = take.id.map(|span| script.source(span));
        self.names.request(
            recorded_id.as_deref(),
            &id,
            recorded_token.as_deref(),
            token(params),
        );
        let number = self.next_scene;
        self.next_scene += 1;
        let key = IdKey::exact_of(&id);
        let dir = Direction::ToServer;
        let asked = self.asked.ask(Scope::default(), dir, key, number).handle;
        self.scenes
            .insert(number, Scene::new(ordinal, &take, id, asked, now));
        self.schedule(number);
    }

    fn miss(&mut self, now: Duration, id: &[u8], miss: Miss) {
        self.refuse(now, id, &miss);
        self.tally.missed(id, miss);
    }

    /// Answers a request with an error that explains the miss.
    fn refuse(&mut self, now: Duration, id: &[u8], miss: &Miss) {
        let error = miss.error().to_string();
        let output = Output {
            keeps_paths: miss.fitting_map.is_some(),
            ..Output::response(id, "error", &error, Some(MISS_CODE))
        };
        self.say_now(now, output);
    }

    /// Sends a message after all those that are already due.
    fn say_now(&mut self, now: Duration, output: Output) {
        while let Some(due) = self.play_due(now) {
            self.ready.push_back(due);
        }
        self.ready.push_back(output);
    }

    fn begin_again(&mut self) {
        self.matcher.reset();
        self.asides.reset();
        self.reached = None;
    }
}
