//! Putting one question, until there is a verdict.

use crate::call::{Asker, Call, Reply};
use crate::prompt::LONGEST;
use crate::verdict::Verdict;
use tapewright_models::slices::Part as _;

/// The result of one question.
pub(crate) enum AskOutcome {
    Judged { verdict: Verdict, replayed: bool },
    Deferred(String),
    Failed(String),
}

/// The maximum number of attempts for one verdict.
const ATTEMPTS: usize = 2;

/// Asks one question. If the answer is not a verdict, it asks once more.
pub(crate) fn ask(call: &Call, asker: &mut dyn Asker) -> AskOutcome {
    if call.question.len() + call.candidate.len() > LONGEST {
        let why = format!("what is to be judged is longer than {LONGEST} bytes");
        return AskOutcome::Failed(why);
    }
    let mut earlier = Vec::new();
    loop {
        let (text, replayed) = match asker.ask(call, &earlier) {
            Reply::Said { text, replayed } => (text, replayed),
            Reply::Deferred(why) => return AskOutcome::Deferred(why),
            Reply::Failed(why) => return AskOutcome::Failed(why),
        };
        let why = match Verdict::read(&text) {
            Ok(verdict) => return AskOutcome::Judged { verdict, replayed },
            Err(why) => why,
        };
        let shown = shown(&text);
        earlier.push(text);
        if earlier.len() == ATTEMPTS {
            return AskOutcome::Failed(format!(
                "`{}` gave no verdict, and none when it was asked again: {why}: {shown}",
                call.model
            ));
        }
    }
}

/// The beginning of an answer, on one line.
fn shown(text: &str) -> String {
    const CHARS: usize = 120;
    let line = text.split_whitespace().collect::<Vec<_>>().join(" ");
    match line.char_indices().nth(CHARS) {
        Some((at, _)) => format!("{}…", line.part(..at)),
        None if line.is_empty() => "(an empty answer)".to_owned(),
        None => line,
    }
}
