//! Results for programs, as described by `schemas/json/report.schema.json`.

use tapewright_assertions::Json;

use super::view::{Excerpt, Problem, RowView, View};
use crate::suite::result::{Cost, Status};

/// One JSON object.
pub(super) fn text(views: &[View]) -> String {
    let document = Json::object([
        ("report", Json::from("1")),
        (
            "by",
            concat!("tapewright ", env!("CARGO_PKG_VERSION")).into(),
        ),
        ("summary", summary(views)),
        ("suites", Json::Array(views.iter().map(suite).collect())),
    ]);
    crate::report::safe_json(&format!("{document:#}\n")).into_owned()
}

fn summary(views: &[View]) -> Json {
    let count = |status| {
        views
            .iter()
            .map(|view| view.count(status) as u64)
            .sum::<u64>()
    };
    let flaky = views.iter().map(|view| view.flaky() as u64).sum::<u64>();
    let total = views.iter().map(|view| view.rows.len() as u64).sum::<u64>();
    let took = views.iter().map(|view| view.took_us).sum();
    let mut members = vec![
        ("total", total.into()),
        ("passed", count(Status::Pass).into()),
        ("failed", count(Status::Fail).into()),
        ("known_failures", count(Status::Known).into()),
        ("errors", count(Status::Error).into()),
        ("inconclusive", count(Status::Inconclusive).into()),
        ("not_exercised", count(Status::NotExercised).into()),
        ("deferred", count(Status::Deferred).into()),
        ("skipped", count(Status::Skip).into()),
        ("flaky", flaky.into()),
        ("duration_ms", millis(took)),
    ];
    let costs = views.iter().filter_map(View::cost);
    members.extend(costs.reduce(Cost::and).map(|one| ("cost", cost(one))));
    Json::object(members)
}

/// What the answers of models used; unknown figures are `null`, not zero.
fn cost(cost: Cost) -> Json {
    let dollars = cost.is_known.then(|| Json::Number(cost.dollars().into()));
    Json::object([
        ("asked", Json::from(cost.asked)),
        ("tokens", cost.tokens.into()),
        ("usd", dollars.unwrap_or(Json::Null)),
        ("usd_known", Json::Number(cost.dollars().into())),
    ])
}

fn suite(view: &View) -> Json {
    let mut members = vec![
        ("suite", Json::from(view.suite.as_str())),
        ("summary", summary(std::slice::from_ref(view))),
        ("tests", Json::Array(view.rows.iter().map(row).collect())),
        ("skipped", list(&view.skipped)),
        ("notes", list(&view.notes)),
    ];
    if !view.tools.is_empty() {
        let tools = view.tools.iter().map(|tool| {
            Json::object([
                ("server", Json::from(tool.server.as_str())),
                ("name", tool.name.as_str().into()),
                ("calls", (tool.calls as u64).into()),
                ("listed", Json::Bool(tool.listed)),
                ("tests", list(&tool.tests)),
            ])
        });
        members.push(("tools", Json::Array(tools.collect())));
    }
    Json::object(members)
}

fn row(row: &RowView) -> Json {
    let text = |value: &Option<String>| value.as_deref().map(Json::from);
    let judged = |judged: bool| {
        let problems = row.problems.iter().filter(|one| one.judged == judged);
        Json::Array(problems.map(problem).collect())
    };
    let mut members = vec![
        ("name", Json::from(row.name.as_str())),
        ("kind", row.kind.into()),
        ("status", row.status.name().into()),
    ];
    members.extend(text(&row.server).map(|value| ("server", value)));
    members.extend(text(&row.revision).map(|value| ("revision", value)));
    members.extend(row.took_us.map(|took| ("duration_ms", millis(took))));
    members.push(("asked", (row.asked as u64).into()));
    members.push(("flaky", Json::Bool(row.flaky)));
    members.push(("replay", Json::Bool(row.replay)));
    if row.stub {
        members.push(("stub", Json::Bool(true)));
    }
    members.extend(row.cost.map(|one| ("cost", cost(one))));
    if !row.judgements.is_empty() {
        let all = row.judgements.iter().map(|one| one.object.clone());
        members.push(("judgements", Json::Array(all.collect())));
    }
    members.extend(
        row.exercised
            .map(|count| ("exercised", (count as u64).into())),
    );
    members.push(("failures", judged(true)));
    members.push(("errors", judged(false)));
    members.push(("reasons", list(&row.reasons)));
    members.push(("warnings", list(&row.warnings)));
    members.extend(row.spot.as_ref().map(|spot| ("place", place(spot))));
    Json::object(members)
}

/// The documented object, with the places in the suite and in the recording.
fn problem(problem: &Problem) -> Json {
    let mut object = problem.object.clone();
    if let Json::Object(members) = &mut object {
        if let Some(spot) = &problem.spot {
            members.insert("place".to_owned(), place(spot));
        }
        if let Some(exchange) = problem.exchange {
            let mut told = vec![("request", Json::from(exchange.request))];
            told.extend(exchange.response.map(|seq| ("response", Json::from(seq))));
            if exchange.session != 0 {
                told.push(("session", Json::from(u64::from(exchange.session))));
            }
            members.insert("exchange".to_owned(), Json::object(told));
        }
    }
    object
}

fn place(spot: &Excerpt) -> Json {
    Json::object([
        ("file", Json::from(spot.file.as_str())),
        ("line", (spot.line as u64).into()),
        ("column", (spot.column as u64).into()),
        ("pointer", spot.pointer.as_str().into()),
    ])
}

fn list(lines: &[String]) -> Json {
    Json::Array(lines.iter().map(|line| line.as_str().into()).collect())
}

/// Milliseconds, with microseconds as decimal places.
fn millis(us: u64) -> Json {
    Json::Number(format!("{}.{:03}", us / 1_000, us % 1_000).into())
}
