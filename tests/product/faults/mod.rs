//! Faults: what the client sees, what the tape contains, and that nothing else is affected.

mod control;
mod ends;
mod http;
mod http_live;
mod http_replay;
mod http_requests;
mod http_streams;
mod http_wedges;
mod openapi;
mod replay;
pub(crate) mod rmcp;
mod stdio;
mod usage;
mod view;

use tapewright_schemas::event::{Effect, EventBody};

use crate::support::Tape;
use crate::support::http::{Gateway, Upstream, json, post};

/// The time after which a test has failed.
const PATIENCE: std::time::Duration = std::time::Duration::from_secs(60);

/// The field by which both sides name their session.
const SESSION: &str = "Mcp-Session-Id: s-1\r\n";

/// Opens that session.
fn begin_session(upstream: &Upstream, gateway: &Gateway) {
    let initialize = "{\"jsonrpc\":\"2.0\",\"id\":0,\"method\":\"initialize\"}";
    let mut client = gateway.connect();
    client.send(post(gateway.address, "", initialize));
    let mut server = upstream.accept();
    let head = server.head();
    server.body(&head);
    let answer = "{\"jsonrpc\":\"2.0\",\"id\":0,\"result\":{}}";
    let fields = format!("Connection: close\r\n{SESSION}");
    server.send(json("200 OK", &fields, answer));
    let head = client.head();
    assert_eq!(head.status(), 200);
    client.body(&head);
}

/// A tool call.
fn call(id: u64, tool: &str) -> String {
    format!(
        "{{\"jsonrpc\":\"2.0\",\"method\":\"tools/call\",\"params\":{{\"name\":\"{tool}\"}},\"id\":{id}}}"
    )
}

/// The effects, in order: the fault, its kind and the token.
pub(crate) fn effects(tape: &Tape) -> Vec<String> {
    let mut effects = Vec::new();
    for event in &tape.events {
        if let EventBody::Faulted(faulted) = &event.body {
            effects.push(told(&faulted.effect));
        }
    }
    effects
}

pub(crate) fn told(effect: &Effect) -> String {
    let did = effect.what.name();
    match &effect.fault {
        Some(fault) => format!("{} ({}): {did}", fault.name, fault.kind.name()),
        None => did,
    }
}
