//! Finds the answer to a call: from a recording, or from a provider.

use std::collections::hash_map::Entry;

use tapewright_judges::{
    Answer, Asker, Call, Key, Miss, Model, Recorded, Reply, Subject, Verdict, prompt,
};
use tapewright_models::conversation::{Response, Usage};
use tapewright_proxy::clock;
use tapewright_proxy::provider::{Endpoint, Provider};

use super::test::{KEPT, State};
use super::{Judges, file};
use crate::report;
use crate::suite::models::{Choice, choose};

/// Where answers come from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Mode {
    /// From the recording, or else from a provider.
    Usual,
    /// Only from the recording.
    Recorded,
    /// Only from a provider.
    Anew,
}

/// The source of answers for one test.
pub(super) struct Asking<'a> {
    pub(super) judges: &'a Judges,
    pub(super) state: &'a mut State,
    pub(super) mode: Mode,
    /// Whether any judge can be asked again.
    pub(super) can_ask: bool,
    /// Answers to the current call that were not verdicts.
    pub(super) pending: Vec<Answer>,
}

impl Asker for Asking<'_> {
    fn ask(&mut self, call: &Call, earlier: &[String]) -> Reply {
        if earlier.is_empty() {
            self.pending.clear();
        }
        let key = file::key(call, &self.judges.rules);
        match self.known(&key, earlier.len()) {
            Ok(reply) => reply,
            Err(miss) => self.fresh(call, key, earlier, &miss),
        }
    }
}

impl Asking<'_> {
    /// The known answer to a call at this index, without asking; otherwise the reason why there is
    /// none.
    pub(super) fn known(&mut self, key: &Key, number: usize) -> Result<Reply, Miss> {
        if self.mode == Mode::Anew {
            return Err(Miss::Nothing);
        }
        match self.recorded(key, number) {
            Ok(text) => Ok(Reply::Said {
                text,
                replayed: true,
            }),
            Err(_) if self.mode == Mode::Recorded => Ok(Reply::Failed("not recorded".to_owned())),
            Err(miss) => Err(miss),
        }
    }

    /// The recorded answer to a call at this index.
    fn recorded(&mut self, key: &Key, number: usize) -> Result<String, Miss> {
        let found = self.state.record.find(key)?.clone();
        if self.is_too_old(&found) {
            return Err(Miss::Age);
        }
        let answer = found.answers.get(number).ok_or(Miss::Nothing)?;
        let text = answer.text.clone();
        if self.mode == Mode::Usual {
            self.state.kept.put(found);
        }
        Ok(text)
    }

    /// Whether a verdict is too old and must be asked for again. If its judge cannot be asked, it
    /// is kept.
    fn is_too_old(&mut self, recorded: &Recorded) -> bool {
        let Some(most) = self.judges.how.age.filter(|_| self.mode == Mode::Usual) else {
            return false;
        };
        let now = jiff::Timestamp::try_from(clock::wall()).unwrap_or_default();
        // An unreadable time counts as the oldest possible.
        let made = recorded.recorded_at.parse().unwrap_or(jiff::Timestamp::MIN);
        if now.duration_since(made).unsigned_abs() <= most {
            return false;
        }
        let model = &recorded.key.model;
        let choice = choose(model, &self.judges.providers, &self.judges.variables.0);
        let is_scored = recorded.key.subject == Subject::Scored;
        let is_there = self.can_ask && (is_scored || matches!(choice, Ok(Choice::Provider(_))));
        if !is_there {
            self.state.warnings.insert(KEPT.to_owned());
        }
        is_there
    }

    fn fresh(&mut self, call: &Call, key: Key, earlier: &[String], miss: &Miss) -> Reply {
        let endpoint = match self.endpoint(&call.model, miss) {
            Ok(endpoint) => endpoint,
            Err(reply) => return reply,
        };
        match self.live(call, endpoint, earlier) {
            Ok(response) => self.said(call, key, &response),
            Err(why) => Reply::Failed(why),
        }
    }

    /// The provider to ask for an answer that is not recorded, or why there is none.
    pub(super) fn endpoint(&self, model: &Model, miss: &Miss) -> Result<Endpoint, Reply> {
        let choice = choose(model, &self.judges.providers, &self.judges.variables.0);
        let choice = choice.map_err(Reply::Failed)?;
        match choice {
            Choice::Provider(endpoint) => self.may_ask(miss).map(|()| endpoint),
            Choice::Stub { why, .. } => {
                self.is_readable()?;
                Err(if self.is_recorded() {
                    Reply::Failed(format!("{miss}, and {why}; {RECORD}"))
                } else {
                    Reply::Deferred(why)
                })
            }
        }
    }

    /// Whether asking for an unrecorded answer is allowed.
    pub(super) fn may_ask(&self, miss: &Miss) -> Result<(), Reply> {
        self.is_readable()?;
        let is_wanted = self.judges.how.record || *miss == Miss::Age;
        if self.is_recorded() && !is_wanted {
            return Err(Reply::Failed(format!("{miss}; {RECORD}")));
        }
        Ok(())
    }

    fn is_recorded(&self) -> bool {
        self.mode == Mode::Usual && !self.state.record.calls.is_empty()
    }

    /// An unreadable recording is only replaced with `--record`.
    fn is_readable(&self) -> Result<(), Reply> {
        match &self.state.unreadable {
            Some(why) if !self.judges.how.record => Err(Reply::Failed(why.clone())),
            _ => Ok(()),
        }
    }

    fn live(
        &mut self,
        call: &Call,
        endpoint: Endpoint,
        earlier: &[String],
    ) -> Result<Response, String> {
        let wire = endpoint.wire;
        let request = prompt::request(wire, call, earlier);
        let answered = self
            .provider(&call.model, endpoint)?
            .ask(&request, Some(TIME));
        answered
            .map(|answered| answered.response)
            .map_err(|error| report::causes(&error))
    }

    /// The provider of a model, unless a cap is reached.
    pub(super) fn provider(
        &mut self,
        model: &Model,
        endpoint: Endpoint,
    ) -> Result<&Provider, String> {
        let State {
            test_budget,
            providers,
            over,
            ..
        } = &mut *self.state;
        if let Some(why) = over {
            return Err(why.clone());
        }
        test_budget.may_ask(&model.id)?;
        match providers.entry(model.clone()) {
            Entry::Occupied(known) => Ok(known.into_mut()),
            Entry::Vacant(free) => {
                let made = self
                    .judges
                    .connector
                    .provider(endpoint, &self.judges.stop)?;
                Ok(free.insert(made))
            }
        }
    }

    /// Pays for an answer. If that crosses a cap, this answer still counts, and the next request is
    /// refused.
    pub(super) fn pay(&mut self, model: &Model, usage: Option<&Usage>) {
        if let Err(why) = self.state.test_budget.pay(&model.id, usage) {
            self.state.over = Some(why);
        }
    }

    /// Records the answers to a call with the test.
    pub(super) fn keep(&mut self, key: Key, answers: Vec<Answer>) {
        let now = jiff::Timestamp::try_from(clock::wall()).unwrap_or_default();
        let recorded_at = now.strftime("%Y-%m-%dT%H:%M:%SZ").to_string();
        self.state.fresh += 1;
        self.state.kept.put(Recorded {
            key,
            answers,
            recorded_at,
        });
    }

    /// Handles a judge's answer: pays for it, and keeps the answers that led to a verdict.
    fn said(&mut self, call: &Call, key: Key, response: &Response) -> Reply {
        let usage = response.usage.as_ref();
        self.pay(&call.model, usage);
        let text = response.text();
        self.pending.push(Answer::new(text.clone(), usage));
        if Verdict::read(&text).is_ok() {
            let answers = std::mem::take(&mut self.pending);
            self.keep(key, answers);
        }
        Reply::Said {
            text,
            replayed: false,
        }
    }
}

/// Time limit for one answer of a judge.
pub(super) const TIME: std::time::Duration = std::time::Duration::from_secs(120);
/// The advice for a recording that does not match.
const RECORD: &str = "judge it again with `--record`";
