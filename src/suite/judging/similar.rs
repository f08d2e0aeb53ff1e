//! The similarity of two texts: recorded, or from their embeddings.

use tapewright_judges::{Answer, Call, Model, Opinion, Outcome, Reply, Subject, similarity};
use tapewright_models::embeddings::EmbedRequest;
use tapewright_proxy::provider::Endpoint;

use super::asking::{Asking, TIME};
use super::{TestJudge, file};
use crate::report;

/// Two texts, the model that embeds them, and the threshold.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Nearness<'n> {
    pub(crate) reference: &'n str,
    pub(crate) candidate: &'n str,
    pub(crate) model: &'n str,
    pub(crate) threshold: f64,
}

impl TestJudge {
    /// Compares the embeddings of two texts by a model.
    pub(crate) fn similar(&self, by: &'static str, nearness: &Nearness<'_>) -> Opinion {
        let call = Call {
            model: self.named(nearness.model),
            question: nearness.reference.to_owned(),
            subject: Subject::Embedded,
            candidate: nearness.candidate.to_owned(),
            sample: 0,
        };
        let can_ask = self.has_key(&call.model);
        self.carry_out(by, can_ask, |asking| {
            let reply = asking.similarity(&call);
            opinion(&call.model, nearness.threshold, reply)
        })
    }
}

fn opinion(model: &Model, threshold: f64, reply: Reply) -> Opinion {
    let told = |outcome, why: String| Opinion {
        reason: Some(why),
        model: model.to_string(),
        ..Opinion::new(outcome, threshold)
    };
    let (text, replayed) = match reply {
        Reply::Said { text, replayed } => (text, replayed),
        Reply::Deferred(why) => return told(Outcome::Deferred, why),
        Reply::Failed(why) => return told(Outcome::Error, why),
    };
    let Some(cosine) = similarity::read(&text) else {
        return told(
            Outcome::Error,
            "the recorded verdict is not a similarity".to_owned(),
        );
    };
    Opinion {
        score: Some(cosine.max(0.0)),
        reason: (cosine < 0.0).then(|| format!("the cosine is {cosine:.2}")),
        model: model.to_string(),
        replayed,
        ..Opinion::new(Outcome::of(cosine >= threshold), threshold)
    }
}

impl Asking<'_> {
    /// The similarity of the candidate and the question of a call.
    fn similarity(&mut self, call: &Call) -> Reply {
        let key = file::key(call, &self.judges.rules);
        let miss = match self.known(&key, 0) {
            Ok(reply) => return reply,
            Err(miss) => miss,
        };
        let endpoint = match self.endpoint(&call.model, &miss) {
            Ok(endpoint) => endpoint,
            Err(reply) => return reply,
        };
        match self.compared(call, &endpoint) {
            Ok(cosine) => {
                let text = similarity::write(cosine);
                self.keep(key, vec![Answer::new(text.clone(), None)]);
                Reply::Said {
                    text,
                    replayed: false,
                }
            }
            Err(why) => Reply::Failed(why),
        }
    }

    fn compared(&mut self, call: &Call, endpoint: &Endpoint) -> Result<f64, String> {
        let known = self.judges.vectors.get(&call.model, &call.question);
        let reference = if let Some(known) = known {
            known
        } else {
            let vector = self.vector(&call.model, endpoint, &call.question)?;
            self.judges.vectors.put(&call.model, &call.question, vector)
        };
        let candidate = self.vector(&call.model, endpoint, &call.candidate)?;
        let cosine = similarity::cosine(&reference, &candidate);
        cosine.map_err(|why| format!("the embeddings of `{}`: {why}", call.model))
    }

    fn vector(
        &mut self,
        model: &Model,
        endpoint: &Endpoint,
        text: &str,
    ) -> Result<Vec<f64>, String> {
        let request = EmbedRequest {
            model: model.id.clone(),
            text: text.to_owned(),
        };
        let provider = self.provider(model, endpoint.clone())?;
        let answer = provider.embed(&request, Some(TIME));
        let embedding = answer.map_err(|error| report::causes(&error))?;
        self.pay(model, embedding.usage.as_ref());
        Ok(embedding.vector)
    }
}
