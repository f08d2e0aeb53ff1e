//! The answers of the control API.

use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use http::{HeaderValue, Method, Request, Response, StatusCode, header};
use http_body_util::{BodyExt as _, Limited};
use hyper::body::Incoming;
use serde_json::{Value, json};
use tapewright_engine::fault::{Entry, Fault, FaultSet, Rejected};
use tokio::time::timeout;

use super::view::{Events, View};
use crate::http::body::Outbound;
use crate::http::listen::{Client, Handler, comes_from_elsewhere, is_same};

/// Answers the clients of a control.
#[derive(Clone)]
pub(crate) struct Control {
    pub(crate) fault_set: Arc<FaultSet>,
    pub(crate) view: Arc<View>,
    pub(crate) token: Option<Arc<str>>,
}

/// The maximum length of a request, in bytes.
const LIMIT_BYTES: usize = 64 * 1024;
/// The timeout for a whole request: all are short.
const BODY_TIME: Duration = Duration::from_secs(10);

impl Handler for Control {
    async fn handle(&self, _client: Client, request: Request<Incoming>) -> Response<Outbound> {
        if !self.is_allowed(&request) {
            return problem(StatusCode::UNAUTHORIZED, "the token is missing or wrong");
        }
        let (parts, body) = request.into_parts();
        let read = timeout(BODY_TIME, Limited::new(body, LIMIT_BYTES).collect());
        let body = match read.await {
            Ok(Ok(body)) => body,
            Ok(Err(_)) => {
                return problem(StatusCode::PAYLOAD_TOO_LARGE, "the request is too long");
            }
            Err(_) => return problem(StatusCode::REQUEST_TIMEOUT, "the request took too long"),
        };
        self.answer(&parts.method, parts.uri.path(), &body.to_bytes())
    }
}

impl Control {
    fn is_allowed(&self, request: &Request<Incoming>) -> bool {
        // Pages in a browser are never allowed, even with a token.
        let head = request.headers();
        if head.contains_key(header::ORIGIN) || comes_from_elsewhere(head) {
            return false;
        }
        let Some(token) = &self.token else {
            return true;
        };
        let given = request.headers().get(header::AUTHORIZATION);
        let given = given.map_or(b"".as_slice(), HeaderValue::as_bytes);
        let given = given.strip_prefix(b"Bearer ").unwrap_or_default();
        is_same(given, token)
    }

    fn answer(&self, method: &Method, path: &str, body: &Bytes) -> Response<Outbound> {
        let name = path.strip_prefix("/faults/").map(decoded);
        match (path, name, method) {
            ("/faults", _, &Method::GET) => {
                let faults: Vec<Value> = self.fault_set.entries().iter().map(shown).collect();
                let answer = json!({ "faults": faults, "seed": self.fault_set.seed() });
                whole(StatusCode::OK, &answer)
            }
            ("/faults", _, &Method::POST) => {
                match fault(body).map(|fault| self.fault_set.add(fault)) {
                    Ok(Ok(name)) => whole(StatusCode::CREATED, &json!({ "name": name })),
                    Ok(Err(error)) => rejected(&error),
                    Err(why) => problem(StatusCode::BAD_REQUEST, &why),
                }
            }
            (_, Some(name), &Method::PUT) => {
                match fault(body).map(|fault| self.fault_set.change(&name, fault)) {
                    Ok(Ok(())) => whole(StatusCode::OK, &json!({ "name": name })),
                    Ok(Err(error)) => rejected(&error),
                    Err(why) => problem(StatusCode::BAD_REQUEST, &why),
                }
            }
            (_, Some(name), &Method::DELETE) => match self.fault_set.remove(&name) {
                Ok(()) => whole(StatusCode::OK, &json!({ "name": name })),
                Err(error) => rejected(&error),
            },
            ("/faults", ..) | (_, Some(_), _) => not_so(),
            _ => self.show(method, path),
        }
    }

    /// Answers requests for state.
    fn show(&self, method: &Method, path: &str) -> Response<Outbound> {
        let view = &self.view;
        let shown: fn(&View) -> Value = match path {
            "/events" if method == Method::GET => return events(view),
            "/findings" => View::findings,
            "/hangs" => View::hangs,
            "/pending" => View::pending,
            "/recording" => View::recording,
            "/sessions" => View::sessions,
            "/events" => return not_so(),
            _ => {
                let why = "known paths are /events, /faults, /faults/NAME, /findings, /hangs, /pending, /recording and /sessions";
                return problem(StatusCode::NOT_FOUND, why);
            }
        };
        if method == Method::GET {
            whole(StatusCode::OK, &shown(view))
        } else {
            not_so()
        }
    }
}

/// Parses the fault in a request: `{"spec": "hang tool=search"}`.
fn fault(body: &[u8]) -> Result<Fault, String> {
    let value: Value =
        serde_json::from_slice(body).map_err(|error| format!("the body is not JSON: {error}"))?;
    let spec = value.get("spec").and_then(Value::as_str);
    let spec = spec.ok_or("the body has no `spec`, such as {\"spec\": \"hang tool=search\"}")?;
    Fault::parse(spec).map_err(|error| error.to_string())
}

/// An active fault, in the form used everywhere.
pub(crate) fn shown(entry: &Entry) -> Value {
    json!({
        "name": entry.name,
        "kind": entry.fault.kind.name,
        "spec": entry.fault.to_string(),
        "met": entry.met,
        "fired": entry.fired,
        "holds": entry.holds,
        "beyond": entry.beyond,
    })
}

fn rejected(error: &Rejected) -> Response<Outbound> {
    let status = match error {
        Rejected::NameTaken(_) | Rejected::TooMany => StatusCode::CONFLICT,
        Rejected::Unknown { .. } => StatusCode::NOT_FOUND,
        _ => StatusCode::BAD_REQUEST,
    };
    problem(status, &error.to_string())
}

fn not_so() -> Response<Outbound> {
    problem(StatusCode::METHOD_NOT_ALLOWED, "not with this method")
}

fn events(view: &View) -> Response<Outbound> {
    let mut response = Events::new(view.listen()).answer();
    let fresh = HeaderValue::from_static("no-store");
    response.headers_mut().insert(header::CACHE_CONTROL, fresh);
    response
}

fn problem(status: StatusCode, why: &str) -> Response<Outbound> {
    whole(status, &json!({ "error": why }))
}

fn whole(status: StatusCode, value: &Value) -> Response<Outbound> {
    let mut response = Response::new(Outbound::whole(format!("{value}\n").into()));
    *response.status_mut() = status;
    let kind = HeaderValue::from_static("application/json");
    response.headers_mut().insert(header::CONTENT_TYPE, kind);
    response
}

/// A segment of a path, percent-decoded.
pub(crate) fn decoded(text: &str) -> String {
    let mut bytes = Vec::new();
    let mut rest = text.as_bytes();
    while let Some((first, behind)) = rest.split_first() {
        let digits = behind
            .get(..2)
            .filter(|_| *first == b'%')
            .and_then(|digits| std::str::from_utf8(digits).ok())
            .and_then(|digits| u8::from_str_radix(digits, 16).ok());
        bytes.push(digits.unwrap_or(*first));
        rest = behind
            .get(if digits.is_some() { 2 } else { 0 }..)
            .unwrap_or_default();
    }
    String::from_utf8_lossy(&bytes).into_owned()
}
