//! The law of order: at every pace, a client receives messages in the recorded order.

use std::time::Duration;

use proptest::prelude::*;
use tapewright_replay::{Options, Pace};
use tapewright_schemas::event::Direction::{self, ToClient, ToServer};

use super::law::project_at;
use super::stage::{Stage, options};

/// Every message with its time in milliseconds.
type Crossed = Vec<(u64, Direction, String)>;

/// The messages during one call, and after it, each after a number of milliseconds.
#[derive(Clone, Debug)]
struct Call {
    /// Progress, or log messages.
    amid: Vec<(u64, bool)>,
    answer: u64,
    /// Notifications that belong to no request.
    behind: Vec<u64>,
}

fn call() -> impl Strategy<Value = Call> {
    let gap = || prop_oneof![Just(0), 1..5_u64, 50..3_000_u64];
    let amid = prop::collection::vec((gap(), any::<bool>()), 0..5);
    (amid, gap(), prop::collection::vec(gap(), 0..3)).prop_map(|(amid, answer, behind)| Call {
        amid,
        answer,
        behind,
    })
}

fn paces() -> impl Strategy<Value = Pace> {
    let factor = prop_oneof![Just(0.0), Just(1.0), Just(0.3)];
    let cap = prop_oneof![Just(Duration::MAX), Just(Duration::from_millis(20))];
    (factor, cap).prop_map(|(factor, cap)| Pace { factor, cap })
}

fn ask(id: usize) -> String {
    format!(
        r#"{{"jsonrpc":"2.0","id":{id},"method":"m{id}","params":{{"_meta":{{"progressToken":{id}}}}}}}"#
    )
}

fn answer(id: usize) -> String {
    format!(r#"{{"jsonrpc":"2.0","id":{id},"result":{{}}}}"#)
}

fn progress(id: usize, step: usize) -> String {
    format!(
        r#"{{"jsonrpc":"2.0","method":"notifications/progress","params":{{"progressToken":{id},"progress":{step}}}}}"#
    )
}

fn log(text: &str) -> String {
    format!(
        r#"{{"jsonrpc":"2.0","method":"notifications/message","params":{{"level":"info","data":"{text}"}}}}"#
    )
}

/// One call after the other.
fn one_by_one(calls: &[Call]) -> Crossed {
    let mut all = Vec::new();
    let mut now = 0;
    for (id, call) in calls.iter().enumerate() {
        now += 1;
        all.push((now, ToServer, ask(id)));
        for (step, (gap, is_progress)) in call.amid.iter().enumerate() {
            now += gap;
            let said = if *is_progress {
                progress(id, step)
            } else {
                log(&format!("{id} {step}"))
            };
            all.push((now, ToClient, said));
        }
        now += call.answer;
        all.push((now, ToClient, answer(id)));
        for (place, gap) in call.behind.iter().enumerate() {
            now += gap;
            all.push((now, ToClient, log(&format!("{id} behind {place}"))));
        }
    }
    all
}

/// All calls at once; `turns` determines whose message comes next.
fn at_once(calls: &[Call], turns: &[prop::sample::Index]) -> Crossed {
    let mut all: Crossed = (0..calls.len())
        .map(|id| (id as u64, ToServer, ask(id)))
        .collect();
    let mut now = calls.len() as u64;
    let mut open: Vec<(usize, usize)> = (0..calls.len()).map(|id| (id, 0)).collect();
    let mut turns = turns.iter().cycle();
    while !open.is_empty() {
        let turn = turns.next().unwrap().index(open.len());
        let (id, step) = open[turn];
        let amid = &calls[id].amid;
        if let Some((gap, _)) = amid.get(step) {
            now += gap + 1;
            all.push((now, ToClient, progress(id, step)));
            open[turn].1 += 1;
        } else {
            now += calls[id].answer + 1;
            all.push((now, ToClient, answer(id)));
            open.remove(turn);
        }
    }
    all
}

/// The messages to a client that sends the recorded requests, each after it has received everything
/// before.
fn heard(crossed: &Crossed, pace: Pace) -> Vec<String> {
    let options = Options { pace, ..options() };
    let mut stage = Stage::with(&project_at(crossed), options);
    let mut said = Vec::new();
    let mut asked_at = 0;
    let mut quiet = false;
    for (at, dir, text) in crossed {
        if *dir == ToClient {
            quiet = true;
            continue;
        }
        if std::mem::take(&mut quiet) {
            said.extend(stage.within(10_000_000).into_iter().map(|one| one.1));
        }
        stage.now += Duration::from_millis(at - asked_at);
        asked_at = *at;
        said.extend(stage.send(text));
    }
    said.extend(stage.within(10_000_000).into_iter().map(|one| one.1));
    said
}

fn recorded(crossed: &Crossed) -> Vec<String> {
    let said = crossed.iter().filter(|one| one.1 == ToClient);
    said.map(|one| one.2.clone()).collect()
}

/// The progress and the answer of one call.
fn of(id: usize, said: &[String]) -> Vec<String> {
    let marks = [
        format!(r#""progressToken":{id},"#),
        format!(r#""id":{id},"#),
    ];
    let its = |line: &&String| marks.iter().any(|mark| line.contains(mark.as_str()));
    said.iter().filter(its).cloned().collect()
}

proptest! {
    #[test]
    fn a_session_hears_everything_in_its_order(
        calls in prop::collection::vec(call(), 1..6), pace in paces(),
    ) {
        let crossed = one_by_one(&calls);
        prop_assert_eq!(heard(&crossed, pace), recorded(&crossed), "{}", project_at(&crossed));
    }

    #[test]
    fn each_of_several_calls_at_once_keeps_its_order(
        calls in prop::collection::vec(call(), 2..5),
        turns in prop::collection::vec(any::<prop::sample::Index>(), 1..20),
        pace in paces(),
    ) {
        let crossed = at_once(&calls, &turns);
        let (heard, recorded) = (heard(&crossed, pace), recorded(&crossed));
        prop_assert_eq!(heard.len(), recorded.len());
        for id in 0..calls.len() {
            prop_assert_eq!(of(id, &heard), of(id, &recorded), "{}", project_at(&crossed));
        }
        // With the recorded waits, they also keep their relative order.
        if pace.factor > 0.9 && pace.cap == Duration::MAX {
            prop_assert_eq!(heard, recorded, "{}", project_at(&crossed));
        }
    }
}
