//! The model side of a recording as a provider: what an agent asked is answered again.
//!
//! ```text
//! tape ──ProviderExchanges──▶ Provider: Index (calls by what decides on the answer), Asides (all else)
//!                        │
//! agent ──HTTP──▶ front ──Request──▶ answer ──Reply──▶ front ──▶ agent
//! ```
//!
//! - `index`: which recorded call a request is, from exact to loose.
//! - `asides`: what is no call of a model: lists of models, counts of tokens, files.
//! - `respond`: a recorded answer as it is sent: as it came, or in the form that is asked for.
//! - `miss`: what is said where nothing was recorded.
//!
//! Nothing is invented: an answer was recorded, or says in the provider's own form that it
//! was not.

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
    // What is passed over in requests.
    places: Vec<Vec<String>>,
    on_miss: Option<Tell>,
}

/// Hears of each miss as it happens.
pub type Tell = Box<dyn Fn(&ModelMiss) + Send + Sync>;

struct State {
    index: Index,
    asides: Asides,
    // Redacts what is asked as the recording was: what it is told by a name once, it knows.
    redactor: Redactor,
    tally: report::Tally,
}

impl std::fmt::Debug for Provider {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        out.debug_struct("Provider").finish_non_exhaustive()
    }
}

impl Provider {
    /// A provider that answers with these exchanges; `passed_over` more could not be kept.
    #[must_use]
    pub fn new(
        exchanges: Vec<ProviderExchange>,
        passed_over: u64,
        options: Arc<Options>,
        on_miss: Option<Tell>,
    ) -> Self {
        let places = options.ignore.places().iter().map(|place| {
            // Places count from `params` on where nothing else is said.
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
            // New secrets get other numbers than those that the recording knows.
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

    /// How many calls of models are recorded.
    #[must_use]
    pub fn calls(&self) -> usize {
        self.lock().index.len()
    }

    /// What became of them so far.
    #[must_use]
    pub fn report(&self) -> ModelReport {
        let state = self.lock();
        state.tally.report(&state.index, &state.asides)
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// A call of a model.
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

    /// The recorded call that a request is, and whether a stream is asked for.
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
        // What was recorded here is looked for as it came.
        if mapped.is_some()
            && let Ok(at) = index.find(&Key::of(&read(body)?).without(&self.places), &search)
        {
            return Ok((at, asked.stream));
        }
        Err(index.missed(&asked, &key, reason, &search))
    }

    /// Whatever else is asked of a provider.
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

/// A response of our own.
fn ours(status: u16, body: &serde_json::Value) -> OtherResponse {
    let fields = [
        ("content-type", "application/json"),
        // The SDKs of two providers ask for this before they ask again.
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
