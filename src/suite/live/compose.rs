//! A live composition: each call gets values from earlier ones.

use std::sync::Arc;

use tapewright_assertions::target::{Found, Target};
use tapewright_assertions::{Answer, Ask, Evidence, Expectation, Failure, Json};
use tapewright_config::template::Reference;

use super::Round;
use super::connection::{Connection, NoAnswer};
use super::worker::timeout;
use crate::suite::judged;
use crate::suite::plan::{Case, Graph, Node};
use crate::suite::result::{Row, Status};
use crate::suite::world::TestWorld;

/// The result of one node.
struct Ran {
    id: String,
    status: &'static str,
    output: Json,
    error: Option<String>,
    took_us: Option<u64>,
}

/// Runs a composition and judges it. A failed node alone is not a failure: the assertions decide.
/// But an output node that was never called gave nothing to judge.
pub(super) fn run(
    number: usize,
    case: &Case,
    graph: &Graph,
    connections: &mut [Connection],
    round: &Round<'_>,
) -> Row {
    let mut row = judged::row(number, case, Status::Pass);
    row.replay = !connections.is_empty() && connections.iter().all(Connection::is_replay);
    let mut ran: Vec<Ran> = Vec::new();
    for node in &graph.nodes {
        let one = call(node, case, &ran, connections);
        ran.push(one);
    }
    let envelope = envelope(graph, &ran);
    let world = TestWorld {
        shared: Arc::clone(round.shared),
        test_judge: round.shared.test_judge(case.kind, &case.name),
        variables: TestWorld::variables(&case.name, "", ""),
        time: case.timeout,
    };
    let evidence = Evidence {
        envelope: &envelope,
        world: &world,
    };
    let mut outcome = tapewright_assertions::Outcome::default();
    for (index, assertion) in graph.assertions.iter().enumerate() {
        outcome.take(index, assertion, &evidence);
    }
    outcome.failures.extend(never_called(graph, &ran));
    judged::settle(&mut row, case, &outcome);
    world.settle(&mut row);
    for one in ran.iter().filter(|one| one.status == "err") {
        let why = one.error.as_deref().unwrap_or("it failed");
        row.warnings.push(format!("node `{}`: {why}", one.id));
    }
    let total = ran.iter().filter_map(|one| one.took_us).sum();
    row.took = Some(std::time::Duration::from_micros(total));
    row
}

/// The failure of an output node that was never called, unless an assertion is about this node.
fn never_called(graph: &Graph, ran: &[Ran]) -> Option<Failure> {
    let id = graph.output.as_ref()?;
    let node = ran.iter().find(|one| one.id == *id)?;
    let mut targets = graph.assertions.iter().map(|one| one.target());
    if node.took_us.is_some() || targets.any(|target| target.starts_with(&["nodes", id])) {
        return None;
    }
    let why = node.error.as_deref().unwrap_or("it was not reached");
    Some(Failure {
        matcher: "output".to_owned(),
        note: Some(format!("the output node `{id}` has no answer: {why}")),
        ..Failure::default()
    })
}

fn call(node: &Node, case: &Case, ran: &[Ran], connections: &mut [Connection]) -> Ran {
    let result = |status, output, error, took_us| Ran {
        id: node.id.clone(),
        status,
        output,
        error,
        took_us,
    };
    let is_ok = |id: &String| ran.iter().any(|one| one.id == *id && one.status == "ok");
    if let Some(id) = node.needs.iter().find(|id| !is_ok(id)) {
        let why = format!("it needs `{id}`, which gave nothing");
        return result("skipped", Json::Null, Some(why), None);
    }
    let arguments = node.args.fill(&mut |reference| look_up(reference, ran));
    let arguments = match arguments {
        Ok(arguments) => Json::from(&arguments),
        Err(why) => return result("err", Json::Null, Some(why), None),
    };
    let Some(connection) = connections.iter_mut().find(|one| one.name() == node.server) else {
        let why = format!("the server `{}` is not connected", node.server);
        return result("err", Json::Null, Some(why), None);
    };
    let ask = Ask::Tool {
        name: node.tool.clone(),
        arguments: Some(arguments),
    };
    match connection.ask(&ask, timeout(case)) {
        Err(NoAnswer::Failed(why) | NoAnswer::Unknown(why)) => {
            result("err", Json::Null, Some(why), None)
        }
        Ok(asked) => {
            let took = u64::try_from(asked.took.as_micros()).ok();
            let answer = Answer {
                envelope: &asked.envelope,
                took_us: None,
                headers: tapewright_assertions::Headers::NotHttp,
                redacted: false,
            };
            // An empty expectation fails exactly for errors of the server.
            let refused = Expectation::default().judge(&answer, &tapewright_assertions::NoWorld);
            let output = asked.envelope.get("result").cloned().unwrap_or(Json::Null);
            match refused.failures.first() {
                Some(failure) => result("err", output, failure.note.clone(), took),
                None if output
                    .get("isError")
                    .is_some_and(|flag| *flag == Json::Bool(true)) =>
                {
                    let why = "the tool says that it failed (`isError`)".to_owned();
                    result("err", output, Some(why), took)
                }
                None => result("ok", output, None, took),
            }
        }
    }
}

/// The value of a reference in the output of an earlier node: in its result, or if that has no such
/// member, in the result's `structuredContent`.
fn look_up(reference: &Reference, ran: &[Ran]) -> Result<serde_json::Value, String> {
    let node = ran.iter().find(|one| one.id == reference.id);
    let node = node.ok_or_else(|| format!("no output of `{}`", reference.id))?;
    let target = Target::parse(&reference.path).map_err(|error| error.to_string())?;
    let inner = node.output.get("structuredContent");
    let inner = inner.map(|inner| target.resolve(inner));
    match (target.resolve(&node.output), inner) {
        (Found::Value(value), _) | (Found::Missing(_), Some(Found::Value(value))) => {
            Ok(serde_json::Value::from(value.as_ref()))
        }
        (Found::Missing(stop), _) => Err(format!("`{}.{}`: {stop}", reference.id, reference.path)),
    }
}

/// The value that the assertions of a composition apply to.
fn envelope(graph: &Graph, ran: &[Ran]) -> Json {
    let called = |one: &&Ran| one.status != "skipped";
    let order: Vec<Json> = ran
        .iter()
        .filter(called)
        .map(|one| one.id.as_str().into())
        .collect();
    let nodes = ran.iter().map(|one| {
        let mut members = vec![
            ("status", Json::from(one.status)),
            ("output", one.output.clone()),
        ];
        members.extend(
            one.took_us
                .map(|took| ("duration_ms", Json::from(took / 1_000))),
        );
        members.extend(one.error.as_deref().map(|why| ("error", Json::from(why))));
        (one.id.clone(), Json::object(members))
    });
    let nodes = Json::object(nodes.collect::<Vec<_>>());
    let output = graph.output.as_ref().and_then(|id| {
        let node = ran.iter().find(|one| one.id == *id)?;
        Some(node.output.clone())
    });
    Json::object([
        (
            "composition",
            Json::object([
                ("ran", Json::Bool(!order.is_empty())),
                ("order", Json::Array(order)),
            ]),
        ),
        ("nodes", nodes),
        ("output", output.unwrap_or(Json::Null)),
    ])
}
