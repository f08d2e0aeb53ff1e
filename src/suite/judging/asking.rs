//! Who answers a call: a recording, or a provider.

use tapewright_judges::{Answer, Asker, Call, Key, Miss, Recorded, Reply, Verdict, prompt};
use tapewright_models::conversation::Response;
use tapewright_proxy::clock;
use tapewright_proxy::provider::Endpoint;

use super::test::State;
use super::{Judges, file};
use crate::report;
use crate::suite::models::{Choice, choose};

/// Whom to ask.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Mode {
    /// What is recorded, else a provider.
    Usual,
    /// What is recorded alone.
    Recorded,
    /// A provider, whatever is recorded.
    Anew,
}

/// The asker of one test.
pub(super) struct Asking<'a> {
    pub(super) judges: &'a Judges,
    pub(super) state: &'a mut State,
    pub(super) mode: Mode,
    /// Answers to the call at hand that were no verdicts.
    pub(super) pending: Vec<Answer>,
}

impl Asker for Asking<'_> {
    fn ask(&mut self, call: &Call, earlier: &[String]) -> Reply {
        if earlier.is_empty() {
            self.pending.clear();
        }
        let key = file::key(call, &self.judges.rules);
        let recorded = match self.mode {
            Mode::Anew => Err(Miss::Nothing),
            _ => self.recorded(&key, earlier.len()),
        };
        match recorded {
            Ok(text) => Reply::Said {
                text,
                replayed: true,
            },
            Err(_) if self.mode == Mode::Recorded => Reply::Failed("it is not recorded".to_owned()),
            Err(miss) => self.fresh(call, key, earlier, &miss),
        }
    }
}

impl Asking<'_> {
    /// What is recorded for a call, at this one of its answers.
    fn recorded(&mut self, key: &Key, number: usize) -> Result<String, Miss> {
        let found = self.state.record.find(key)?.clone();
        let answer = found.answers.get(number).ok_or(Miss::Nothing)?;
        let text = answer.text.clone();
        if self.mode == Mode::Usual {
            self.state.kept.put(found);
        }
        Ok(text)
    }

    fn fresh(&mut self, call: &Call, key: Key, earlier: &[String], miss: &Miss) -> Reply {
        let choice = choose(
            &call.model,
            &self.judges.providers,
            &self.judges.variables.0,
        );
        let choice = match choice {
            Ok(choice) => choice,
            Err(why) => return Reply::Failed(why),
        };
        let is_recorded = self.mode == Mode::Usual && !self.state.record.calls.is_empty();
        if let Some(why) = &self.state.unreadable
            && !self.judges.how.record
        {
            return Reply::Failed(why.clone());
        }
        let endpoint = match choice {
            Choice::Provider(_) if is_recorded && !self.judges.how.record => {
                return Reply::Failed(format!("{miss}; {RECORD}"));
            }
            Choice::Stub { why, .. } if is_recorded => {
                return Reply::Failed(format!("{miss}, and {why}; {RECORD}"));
            }
            Choice::Stub { why, .. } => return Reply::Deferred(why),
            Choice::Provider(endpoint) => endpoint,
        };
        match self.live(call, endpoint, earlier) {
            Ok(response) => self.said(call, key, &response),
            Err(why) => Reply::Failed(why),
        }
    }

    fn live(
        &mut self,
        call: &Call,
        endpoint: Endpoint,
        earlier: &[String],
    ) -> Result<Response, String> {
        let State {
            purse,
            providers,
            over,
            ..
        } = &mut *self.state;
        if let Some(why) = over {
            return Err(why.clone());
        }
        purse.may_ask(&call.model.id)?;
        let wire = endpoint.wire;
        let provider = match providers.entry(call.model.clone()) {
            std::collections::hash_map::Entry::Occupied(known) => known.into_mut(),
            std::collections::hash_map::Entry::Vacant(free) => free.insert(
                self.judges
                    .connector
                    .provider(endpoint, &self.judges.stop)?,
            ),
        };
        let request = prompt::request(wire, call, earlier);
        let answered = provider.ask(&request, Some(TIME));
        answered
            .map(|answered| answered.response)
            .map_err(|error| report::causes(&error))
    }

    /// A judge has answered: it is paid, and what led to a verdict is kept.
    fn said(&mut self, call: &Call, key: Key, response: &Response) -> Reply {
        let usage = response.usage.as_ref();
        // A cap that this answer crosses stops the next one: it is paid, and counts.
        if let Err(why) = self.state.purse.pay(&call.model.id, usage) {
            self.state.over = Some(why);
        }
        let text = response.text();
        self.pending.push(Answer::new(text.clone(), usage));
        if Verdict::read(&text).is_ok() {
            let answers = std::mem::take(&mut self.pending);
            let now = jiff::Timestamp::try_from(clock::wall()).unwrap_or_default();
            let recorded_at = now.strftime("%Y-%m-%dT%H:%M:%SZ").to_string();
            self.state.fresh += 1;
            self.state.kept.put(Recorded {
                key,
                answers,
                recorded_at,
            });
        }
        Reply::Said {
            text,
            replayed: false,
        }
    }
}

/// How long one answer of a judge may take.
const TIME: std::time::Duration = std::time::Duration::from_secs(120);
/// What to do about a recording of something else.
const RECORD: &str = "judge it anew with `--record`";
