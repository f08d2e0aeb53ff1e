//! Serves the model side of a recording as a provider: answers an agent's requests again.
//!
//! ```text
//! tape ──ProviderExchanges──▶ Provider: Index (calls by key), Asides (all else)
//!                        │
//! agent ──HTTP──▶ front ──Request──▶ answer ──Reply──▶ front ──▶ agent
//! ```
//!
//! - `index`: finds the recorded call for a request, from exact to loose.
//! - `asides`: requests that are not model calls: lists of models, counts of tokens, files.
//! - `respond`: sends a recorded answer, verbatim or in the requested form.
//! - `miss`: the error for a request that was not recorded.
//!
//! Nothing is invented: an answer was recorded, or is an error in the provider's own format.

mod asides;
mod fields;
mod index;
mod miss;
mod report;
mod respond;
mod signature;

use std::borrow::Cow;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use bytes::Bytes;
use tapewright_models::key::Key;
use tapewright_models::recorded::ProviderExchange;
use tapewright_models::{Call, Operation, recognise};
use tapewright_proxy::front::non_mcp::{Answers, OtherResponse, Reply, Request};
use tapewright_schemas::event::InPlace;
use tapewright_schemas::redact::Redactor;

use self::asides::Asides;
use self::index::{Index, Search};
use self::respond::{AnswerForm, Responder};
use crate::options::{Options, Unanswered};
use crate::paths::Goal;

pub use self::miss::{ModelMiss, ModelReason};
pub use self::report::{Converted, ModelReport, ServedCall};

/// The model side of a recording.
pub struct Provider {
    state: Mutex<State>,
    options: Arc<Options>,
    // Places in requests that are ignored.
    places: Vec<Vec<String>>,
    on_miss: Option<Tell>,
}

/// A callback for each miss.
pub type Tell = Box<dyn Fn(&ModelMiss) + Send + Sync>;

struct State {
    index: Index,
    asides: Asides,
    // Redacts requests like the recording. It also recognizes secrets that it has learned by name.
    redactor: Redactor,
    tally: report::Tally,
}

impl std::fmt::Debug for Provider {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        out.debug_struct("Provider").finish_non_exhaustive()
    }
}

impl Provider {
    /// A provider that answers with these exchanges; `passed_over` is the number of further ones
    /// that were not kept.
    #[must_use]
    pub fn new(
        exchanges: Vec<ProviderExchange>,
        passed_over: u64,
        options: Arc<Options>,
        on_miss: Option<Tell>,
    ) -> Self {
        let places = options.ignore.places().iter().map(|place| {
            // Places are relative to `params` by default.
            match place.split_first() {
                Some((first, rest)) if first == "params" && !rest.is_empty() => rest.to_vec(),
                _ => place.clone(),
            }
        });
        let places: Vec<Vec<String>> = places.collect();
        let mut redactor = Redactor::new(Arc::clone(&options.rules));
        let mut index = Index::default();
        let mut asides = Asides::default();
        for exchange in exchanges {
            let is_skipped = exchange.answer.is_none() && options.unanswered == Unanswered::Skip;
            // New secrets get other numbers than those in the recording.
            redactor.adopt(&exchange.body);
            if let Some(answer) = &exchange.answer {
                redactor.adopt(&answer.body());
            }
            match exchange.call() {
                _ if is_skipped => {}
                Some(call) if call.operation == Operation::Generate => {
                    index.add(exchange, call, &places);
                }
                call => asides.add(exchange, call.as_ref()),
            }
        }
        let tally = report::Tally::new(passed_over + index.unread());
        Self {
            state: Mutex::new(State {
                index,
                asides,
                redactor,
                tally,
            }),
            options,
            places,
            on_miss,
        }
    }

    /// The number of recorded model calls.
    #[must_use]
    pub fn calls(&self) -> usize {
        self.lock().index.len()
    }

    /// The results so far.
    #[must_use]
    pub fn report(&self) -> ModelReport {
        let state = self.lock();
        state.tally.report(&state.index, &state.asides)
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Answers a model call.
    fn generate(&self, call: &Call, request: &Request) -> Reply {
        let mut state = self.lock();
        let State {
            index,
            redactor,
            tally,
            ..
        } = &mut *state;
        let body = match redactor.body(&request.body) {
            Cow::Borrowed(_) => request.body.clone(),
            Cow::Owned(body) => Bytes::from(body),
        };
        let searched = self.search(index, call, &body);
        let (at, wants) = match searched {
            Ok(found) => found,
            Err(miss) => {
                let reply = miss::reply(call.wire, 400, &miss.message);
                tally.missed(&miss);
                drop(state);
                if let Some(tell) = &self.on_miss {
                    tell(&miss);
                }
                return reply;
            }
        };
        let Some(entry) = index.take(at) else {
            return Reply::Silence;
        };
        let Some(answer) = &entry.exchange.answer else {
            return match self.options.unanswered {
                Unanswered::Error => {
                    let text = "this call was recorded without an answer";
                    miss::reply(call.wire, 400, text)
                }
                Unanswered::Hang | Unanswered::Skip => Reply::Silence,
            };
        };
        let responder = Responder {
            call: &entry.call,
            answer,
            options: &self.options,
        };
        let asked = AnswerForm {
            stream: wants,
            framing: call.framing,
        };
        let (given, converted) = responder.respond(asked);
        if let Some((recorded, sent)) = converted {
            tally.converted(Converted {
                seq: entry.exchange.seq,
                recorded,
                sent,
            });
        }
        Reply::Response(given)
    }

    /// Finds the recorded call for a request, and whether a stream is requested.
    fn search(&self, index: &Index, call: &Call, body: &Bytes) -> Result<(usize, bool), ModelMiss> {
        let search = Search {
            mode: self.options.mode,
            exhausted: self.options.exhausted,
            places: &self.places,
        };
        let mapped = self.options.paths.turn_all(body, Goal::Recorded);
        let first = mapped.as_ref().unwrap_or(body);
        let read = |body: &Bytes| {
            let read = call.wire.read_request(call, body);
            read.map_err(|error| ModelMiss::unreadable(call, &error))
        };
        let asked = read(first)?;
        let key = Key::of(&asked).without(&self.places);
        let reason = match index.find(&key, &search) {
            Ok(at) => return Ok((at, asked.stream)),
            Err(reason) => reason,
        };
        // A call that was recorded here matches verbatim.
        if mapped.is_some()
            && let Ok(at) = index.find(&Key::of(&read(body)?).without(&self.places), &search)
        {
            return Ok((at, asked.stream));
        }
        Err(index.missed(&asked, &key, reason, &search))
    }

    /// Answers any other request to a provider.
    fn beside(&self, call: Option<&Call>, request: &Request) -> Reply {
        let mut state = self.lock();
        let State {
            asides,
            redactor,
            tally,
            ..
        } = &mut *state;
        let body = redactor.body(&request.body);
        let found = asides
            .take(request, call, &body)
            .map(|one| one.answer.clone());
        match found {
            Some(Some(answer)) => Reply::Response(respond::as_it_came(&answer, &self.options)),
            Some(None) => Reply::Silence,
            None => {
                let (path, _) = request
                    .target
                    .split_once('?')
                    .unwrap_or((&request.target, ""));
                let path = String::from_utf8_lossy(&redactor.text(path.as_bytes())).into_owned();
                let what = format!("{} {path}", request.method);
                let text = format!("`{what}` is not in the recording");
                tally.missed_beside(what);
                let wire = call.map_or_else(|| miss::wire_of(request), |call| call.wire);
                miss::reply(wire, 404, &text)
            }
        }
    }
}

impl Answers for Provider {
    fn answer(&self, request: &Request) -> Reply {
        let field = |name: &str| request.fields.get(name);
        let call = recognise(&request.method, &request.target, field, Some(&request.body));
        match call {
            Some(call) if call.operation == Operation::Generate => self.generate(&call, request),
            call => self.beside(call.as_ref(), request),
        }
    }

    fn refuse(&self, request: &Request, status: u16, why: &str) -> Option<OtherResponse> {
        let field = |name: &str| request.fields.get(name);
        let call = recognise(&request.method, &request.target, field, None);
        let wire = call.map_or_else(|| miss::wire_of(request), |call| call.wire);
        Some(miss::given(wire, status, &format!("replay: {why}")))
    }
}

/// A response made by tapewright.
fn ours(status: u16, body: &serde_json::Value) -> OtherResponse {
    let fields = [
        ("content-type", "application/json"),
        // The SDKs of two providers check this before they retry.
        (
            "x-should-retry",
            if status == 503 { "true" } else { "false" },
        ),
        ("x-tapewright", "answered in the provider's place"),
    ];
    OtherResponse {
        wait: std::time::Duration::ZERO,
        status,
        fields: fields.into_iter().collect(),
        parts: [(std::time::Duration::ZERO, Bytes::from(body.to_string()))].into(),
        breaks_off: false,
        ours: Some(InPlace::NotRecorded),
    }
}

#[cfg(test)]
mod tests;
