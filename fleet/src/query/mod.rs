//! The command `query`.

mod source;
#[cfg(test)]
mod tests;

use std::io::IsTerminal as _;
use std::num::NonZero;
use std::sync::Arc;
use std::time::{SystemTime, UNIX_EPOCH};

use tapewright_fleet::clock;
use tapewright_fleet_query::canned::Condition;
use tapewright_fleet_query::{Answer, Limits, Parameter, QueryError, Question, ask, canned};

use self::source::StoreSource;
use crate::cli::{Canned, Conditions, Query, When};
use crate::command::{Exit, Failure, Signals, open};
use crate::report::{self, Form};

/// More cores do not help with small files.
const MOST_AT_ONCE: usize = 8;

/// Runs a query, and prints the answer as it arrives.
pub(crate) async fn run(query: Query) -> Result<Exit, Failure> {
    let question = question(&query, clock::wall())?;
    if query.show_sql {
        report::sql(&question.sql)?;
        return Ok(Exit::Pass);
    }
    let source = Arc::new(StoreSource::new(open(&query.at.place, false)?));
    let mut signals = Signals::new()?;
    let answered = tokio::select! {
        answered = tokio::time::timeout(query.timeout, answer(&query, &source, question)) => answered,
        exit = signals.wait() => return Ok(exit),
    };
    let answered = answered.map_err(|_| Failure::Slow(query.timeout))?;
    // The source knows whether its error is about something missing.
    answered.map_err(|error| match (error, source.missing()) {
        (Failure::Query(QueryError::Source(error)), true) => Failure::Incomplete(error.to_string()),
        (error, _) => error,
    })?;
    let damaged = source.damaged();
    report::damaged(&damaged);
    Ok(if damaged.is_empty() {
        Exit::Pass
    } else {
        Exit::Incomplete
    })
}

async fn answer(
    query: &Query,
    source: &Arc<StoreSource>,
    question: Question,
) -> Result<(), Failure> {
    let cores = std::thread::available_parallelism().map_or(1, NonZero::get);
    let limits = Limits {
        memory: query.memory,
        at_once: cores.min(MOST_AT_ONCE),
    };
    let began = clock::Stopwatch::start();
    let mut answer = ask(Arc::clone(source) as _, question, limits)
        .await
        .map_err(Failure::Query)?;
    print(query, &mut answer).await?;
    if query.verbose {
        report::counts(&answer.counts, began.elapsed());
    }
    Ok(())
}

async fn print(query: &Query, answer: &mut Answer) -> Result<(), Failure> {
    let form = match (query.json, query.csv) {
        (true, _) => Form::Json,
        (_, true) => Form::Csv,
        _ if answer.is_plan => Form::Plan,
        _ => Form::Table,
    };
    let is_terminal = std::io::stdout().is_terminal();
    let mut printer = report::Printer::new(form, &answer.columns, is_terminal);
    while let Some(rows) = answer.next().await.map_err(Failure::Query)? {
        printer.rows(&rows)?;
    }
    Ok(printer.finish()?)
}

/// The query, with its parameters.
fn question(query: &Query, now: SystemTime) -> Result<Question, Failure> {
    let parameters = parameters(&query.conditions, now);
    let given: Vec<Condition> = parameters.iter().map(|(condition, _)| *condition).collect();
    let sql = match (query.canned, &query.sql) {
        (Some(canned), _) => {
            let canned = self::canned(canned);
            if given.iter().any(|condition| !canned.takes(*condition)) {
                return Err(Failure::NoSuchCondition);
            }
            canned.sql(&given)
        }
        (None, sql) => sql.clone().unwrap_or_default(),
    };
    if sql.len() > LONGEST {
        let text = "it is longer than 1 MiB".to_owned();
        return Err(Failure::Query(QueryError::Sql(text)));
    }
    let parameters = parameters
        .into_iter()
        .map(|(condition, value)| (condition.name(), value));
    Ok(Question {
        sql,
        parameters: parameters.collect(),
    })
}

/// The longest query to read, in bytes.
const LONGEST: usize = 1 << 20;

fn canned(canned: Canned) -> canned::Canned {
    match canned {
        Canned::Hangs => canned::Canned::Hangs,
        Canned::Slow => canned::Canned::Slow,
        Canned::Drift => canned::Canned::Drift,
        Canned::Findings => canned::Canned::Findings,
        Canned::Cost => canned::Canned::Cost,
    }
}

fn parameters(conditions: &Conditions, now: SystemTime) -> Vec<(Condition, Parameter)> {
    let time = |when: Option<When>| when.map(|when| Parameter::Time(micros(when, now)));
    let text = |text: &Option<String>| text.clone().map(Parameter::Text);
    let gateway = conditions.gateway.as_ref();
    let gateway = gateway.map(|gateway| Parameter::Text(gateway.to_string()));
    let all = [
        (Condition::Since, time(conditions.since)),
        (Condition::Until, time(conditions.until)),
        (Condition::Gateway, gateway),
        (Condition::Tool, text(&conditions.tool)),
        (Condition::Server, text(&conditions.server)),
    ];
    all.into_iter()
        .filter_map(|(condition, value)| Some((condition, value?)))
        .collect()
}

/// A time in microseconds since 1970.
fn micros(when: When, now: SystemTime) -> i64 {
    let time = match when {
        When::At(time) => Some(time),
        When::Ago(ago) => now.checked_sub(ago),
    };
    let Some(time) = time else { return i64::MIN };
    let long = |us: u128| i64::try_from(us).unwrap_or(i64::MAX);
    match time.duration_since(UNIX_EPOCH) {
        Ok(since) => long(since.as_micros()),
        Err(before) => -long(before.duration().as_micros()),
    }
}
