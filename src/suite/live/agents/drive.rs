//! Runs an agent with its servers and its provider.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use serde_json::Value;
use tapewright_agents::{
    Call, Catalogue, Faults, Finished, Run, Step, Stub, Task, Trip, WireFault,
};
use tapewright_assertions::{Ask, Json};
use tapewright_models::Wire;
use tapewright_models::conversation::{Request, Response};
use tapewright_proxy::clock::Clock;
use tapewright_proxy::provider::{Cause, Provider};

use super::{Agents, Choice, wire};
use crate::report;
use crate::suite::live::connection::{Connection, NoAnswer, NotConnected};
use crate::suite::live::opening;
use crate::suite::models::TestBudget;
use crate::suite::plan::{AgentCase, Case};

/// Default time limit for one tool call.
const TOOL: Duration = Duration::from_secs(60);

/// A run that ended by itself or by a cap.
pub(super) struct Ran {
    pub(super) finished: Finished,
    pub(super) fingerprint: String,
    pub(super) offered: usize,
    /// The version that each server declared.
    pub(super) servers: BTreeMap<String, String>,
    /// Why the stub was used.
    pub(super) stub: Option<String>,
    pub(super) took: Duration,
    pub(super) notes: Vec<String>,
}

/// What answers for the model.
enum Model {
    Provider(Box<Provider>),
    Stub(Wire),
}

/// Runs an agent. The error says why it cannot be judged; its costs until then are in the budget.
pub(super) fn run(
    case: &Case,
    agent: &AgentCase,
    choice: Choice,
    agents: &Agents<'_>,
    test_budget: &mut TestBudget,
) -> Result<Ran, String> {
    let clock = Clock::start();
    let (model, wire, stub) = model(choice, agents)?;
    let mut connections = connect(agent, agents)?;
    let catalogue = match catalogue(&mut connections, agents) {
        Ok(catalogue) => catalogue,
        Err(why) => {
            close(connections);
            return Err(why);
        }
    };
    let (fingerprint, offered) = (catalogue.fingerprint().to_owned(), catalogue.len());
    let servers = versions(&connections);
    let mut driver = Driver {
        case,
        agent,
        model,
        connections,
        test_budget,
        clock: Clock::start(),
        simulated: 0,
    };
    let done = driver.drive(Run::new(task(agent, wire), catalogue, faults(agent)));
    let notes = close(driver.connections);
    let mut finished = done?;
    // Counted the same way as on replay.
    finished.hung = faults(agent).met(&finished.trace);
    Ok(Ran {
        finished,
        fingerprint,
        offered,
        servers,
        stub,
        took: clock.elapsed(),
        notes,
    })
}

/// The model, its wire, and the reason if it is the stub.
fn model(choice: Choice, agents: &Agents<'_>) -> Result<(Model, Wire, Option<String>), String> {
    let endpoint = match choice {
        Choice::Stub { wire, why } => return Ok((Model::Stub(wire), wire, Some(why))),
        Choice::Provider(endpoint) => endpoint,
    };
    let wire = endpoint.wire;
    let stop = &agents.options.interrupted;
    let provider = Box::new(agents.connector.provider(endpoint, stop)?);
    Ok((Model::Provider(provider), wire, None))
}

/// The version that each server declared in the handshake.
fn versions(connections: &[Connection]) -> BTreeMap<String, String> {
    let versions = connections.iter().filter_map(|connection| {
        let version = connection.server_version()?;
        Some((connection.name().to_owned(), version))
    });
    versions.collect()
}

/// The faults of a run at its beginning.
pub(super) fn faults(agent: &AgentCase) -> Faults {
    let budget = agent.gate.map(|gate| gate.max_detection);
    let wires = agent
        .wires
        .iter()
        .map(|one| Arc::clone(one) as Arc<dyn WireFault>);
    Faults::new(agent.faults.clone(), budget).with_wires(wires.collect())
}

fn task(agent: &AgentCase, wire: Wire) -> Task {
    Task {
        wire,
        model: agent.model.id.clone(),
        system_prompt: agent.system_prompt.clone(),
        user: agent.user.clone(),
        limits: agent.limits,
    }
}

/// Connects the servers of an agent, one after the other.
pub(super) fn connect(agent: &AgentCase, agents: &Agents<'_>) -> Result<Vec<Connection>, String> {
    let mut connections = Vec::with_capacity(agent.servers.len());
    for name in &agent.servers {
        let Some(server) = agents.suite.server(name) else {
            return Err(format!("the suite has no server `{name}`"));
        };
        let version = agents.options.revisions.first().map(String::as_str);
        let faulty = match wire::faulty(server, &agent.wires, &agents.options) {
            Ok(faulty) => faulty,
            Err(why) => {
                close(connections);
                return Err(why);
            }
        };
        let (server, options) = (&faulty.server, &agents.options);
        match Connection::open(server, opening(version), options, version) {
            Ok(connection) => connections.push(connection.behind(faulty.gateway)),
            Err(failed) => {
                close(connections);
                return Err(match failed {
                    NotConnected::Revision(why) => format!("the server `{name}`: {why}"),
                    NotConnected::Other(error) => format!("{error:#}"),
                });
            }
        }
    }
    Ok(connections)
}

/// What the servers offer.
pub(super) fn catalogue(
    connections: &mut [Connection],
    agents: &Agents<'_>,
) -> Result<Catalogue, String> {
    let mut listed = Vec::with_capacity(connections.len());
    for connection in connections {
        let name = connection.name().to_owned();
        let tools = connection.list_tools(agents.options.patience);
        let tools = tools.map_err(|why| format!("cannot list the tools of `{name}`: {why}"))?;
        listed.push((name, tools));
    }
    Ok(Catalogue::new(&listed))
}

/// Ends the conversations, and returns notes about them.
pub(super) fn close(connections: Vec<Connection>) -> Vec<String> {
    connections
        .into_iter()
        .flat_map(Connection::close)
        .collect()
}

struct Driver<'d> {
    case: &'d Case,
    agent: &'d AgentCase,
    model: Model,
    connections: Vec<Connection>,
    test_budget: &'d mut TestBudget,
    clock: Clock,
    simulated: usize,
}

impl Driver<'_> {
    fn drive(&mut self, mut run: Run) -> Result<Finished, String> {
        loop {
            match run.next(self.clock.elapsed()) {
                Step::Done => return Ok(run.finish(self.clock.elapsed())),
                Step::Call(call) => run.called(self.call(&call)),
                Step::Ask(request) => self.ask(&mut run, &request, None)?,
                Step::Simulate(request) => {
                    let turn = self.simulated;
                    self.simulated += 1;
                    self.ask(&mut run, &request, Some(turn))?;
                }
            }
        }
    }

    fn ask(&mut self, run: &mut Run, request: &Request, user: Option<usize>) -> Result<(), String> {
        let asked = self.clock.elapsed();
        let response = match &self.model {
            Model::Stub(wire) => {
                let user = user.map(|turn| Stub::user(*wire, turn == 0));
                run.answered(&user.unwrap_or_else(|| Stub::answer(*wire)));
                return Ok(());
            }
            Model::Provider(provider) => {
                self.test_budget.may_ask(&self.agent.model.id)?;
                provider.ask(request, self.left())
            }
        };
        match response {
            Ok(answered) => {
                let took = self.clock.elapsed().saturating_sub(asked);
                self.take(run, &answered.response, took)
            }
            Err(error) if matches!(error.cause, Cause::OutOfTime) => {
                let limit = self.agent.limits.time_budget.unwrap_or_default();
                run.stop(Trip::Time(limit));
                Ok(())
            }
            Err(error) => Err(report::causes(&error)),
        }
    }

    fn take(&mut self, run: &mut Run, response: &Response, took: Duration) -> Result<(), String> {
        let paid = self
            .test_budget
            .pay(&self.agent.model.id, response.usage.as_ref());
        run.answered_after(response, took);
        paid
    }

    /// The remaining time of the run.
    fn left(&self) -> Option<Duration> {
        let limit = self.agent.limits.time_budget?;
        Some(limit.saturating_sub(self.clock.elapsed()))
    }

    /// The result of a call, or why there is none.
    fn call(&mut self, call: &Call) -> Result<Value, String> {
        let limit = self.case.timeout.unwrap_or(TOOL);
        let limit = self.left().map_or(limit, |left| left.min(limit));
        // An agent gives up on a call that a fault holds after this time.
        let gate = self.agent.gate.filter(|_| !self.agent.wires.is_empty());
        let limit = gate.map_or(limit, |gate| gate.max_detection.min(limit));
        let mut connections = self.connections.iter_mut();
        let connection = connections.find(|one| one.name() == call.server);
        let connection = connection.ok_or("the server is not connected")?;
        let arguments = Json::from(&Value::Object(call.arguments.clone()));
        let ask = Ask::Tool {
            name: call.tool.clone(),
            arguments: Some(arguments),
        };
        let asked = connection.ask(&ask, limit).map_err(|why| match why {
            NoAnswer::Failed(why) | NoAnswer::Unknown(why) => why,
        })?;
        let result = asked.envelope.get("result").unwrap_or(&Json::Null);
        match result
            .get("error")
            .filter(|_| result.get("jsonrpc").is_some())
        {
            Some(error) => Err(refused(error)),
            None => Ok(Value::from(result)),
        }
    }
}

/// A JSON-RPC error in one line.
fn refused(error: &Json) -> String {
    let code = error.get("code").map(Json::to_string).unwrap_or_default();
    let message = error.get("message").and_then(Json::as_str);
    format!("error {code}: {}", message.unwrap_or("without a message"))
}
