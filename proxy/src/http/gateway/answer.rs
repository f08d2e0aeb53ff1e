//! The response to the client.

use std::sync::Arc;
use std::sync::atomic::Ordering;

use http::header::{self, HeaderMap, HeaderValue};
use http::{Method, Response, StatusCode, Version};
use hyper::body::Incoming;
use tapewright_schemas::event::{
    Carrier, Direction, Edit, EditTarget, EventBody, Head, SessionEnd, SessionMark, SessionStart,
};

use super::goal::RequestTarget;
use super::leg::{self, ClientLeg};
use super::observe::{GatewayExchange, ResponseWatch};
use super::ours;
use crate::http::body::{Outbound, Tapped};
use crate::http::decode::Decoder;
use crate::http::edit::{Addresses, Editor, EndpointEditor, ResourceEditor, challenge, heads};
use crate::http::fields;
use crate::http::metrics::InFlight;
use crate::http::names::Names;
use crate::http::origin::Answer;
use crate::http::sessions::{SESSION_ID, SESSIONLESS, SessionHint};
use crate::http::tap::{BodyKind, Tap};

/// The parts of a request that its response needs.
pub(crate) struct RequestContext {
    pub(crate) method: Method,
    /// The session id from the client.
    pub(crate) session_id: Option<HeaderValue>,
    /// It resumes a stream.
    pub(crate) resumes: bool,
    /// It requests the metadata of a protected resource, which is to be rewritten.
    pub(crate) is_metadata: bool,
    /// The client's leg, if its differences from the server's are recorded.
    pub(crate) leg: Option<ClientLeg>,
    /// Its destination.
    pub(crate) goal: RequestTarget,
}

/// Sends a response to the client: status and head immediately, the body as it arrives.
pub(crate) fn pass(
    exchange: &Arc<GatewayExchange>,
    in_flight: InFlight,
    asked: &RequestContext,
    answer: Answer,
) -> Response<Outbound> {
    let (response, names, lease) = (answer.response, answer.names, answer.lease);
    let mut kind = BodyKind::of(response.headers(), names);
    let is_stream = kind.is_stream;
    let is_legacy_stream = place(exchange, asked, is_stream, &response);
    let carrier = carrier(exchange, asked, is_stream, is_legacy_stream);
    let log = &exchange.log;
    log.carry(Direction::ToClient, carrier);
    let head = Head::Response(ours::head_of(&response));
    log.note(Direction::ToClient, EventBody::Head(Box::new(head)));
    let status = response.status();
    let leg = asked.leg.as_ref().map(|leg| {
        leg.note_request(response.version(), &exchange.log);
        let came = (response.headers().clone(), response.version());
        (leg, came, leg::is_open(&response))
    });
    let ends = ends(exchange, asked, status, response.headers());
    let (mut parts, body) = response.into_parts();
    let may_announce = is_stream && may_announce(asked, status);
    let decoder = may_announce.then(|| decoder(asked, &mut kind)).flatten();
    let is_encoded = kind.is_encoded;
    let watch = ResponseWatch {
        exchange: Arc::clone(exchange),
        ends,
        is_legacy_stream,
        in_flight,
    };
    let tap = tap(exchange, kind, status, watch);
    fields::strip(&mut parts.headers, names);
    if let Some((leg, (came, version), is_open)) = &leg {
        leg.note_response(came, *version, &parts.headers, *is_open, &exchange.log);
    }
    // Each leg has its own version (RFC 9110 §2.5).
    parts.version = Version::HTTP_11;
    if decoder.is_some() {
        let edit = heads::remove(&mut parts.headers, &header::CONTENT_ENCODING);
        log.note(Direction::ToClient, EventBody::Edited(Box::new(edit)));
    }
    let editor = rewrite(exchange, asked, &mut parts, names, may_announce);
    if editor.is_some() {
        // The length may change.
        parts.headers.remove(header::CONTENT_LENGTH);
    }
    let faults = &exchange.gateway.faults;
    let may_be_apart = faults.is_open() && is_stream && !is_encoded;
    let events_apart = may_be_apart.then(|| Arc::clone(faults));
    let body = Tapped::decoded(body, decoder, tap)
        .with_lease(lease, Arc::clone(&exchange.sent))
        .with_editor(editor)
        .with_times(faults.is_open())
        .with_events_apart(events_apart);
    Response::from_parts(parts, Outbound::passing(body))
}

fn tap(
    exchange: &GatewayExchange,
    kind: BodyKind,
    status: StatusCode,
    watch: ResponseWatch,
) -> Tap {
    let log = Arc::clone(&exchange.log);
    Tap::new(log, Direction::ToClient, kind, Box::new(watch))
        .with_status(status)
        .of_model(exchange.is_model_call)
}

/// Whether a stream may announce an address: any that a GET opens, as the editor only examines its
/// first event.
fn may_announce(asked: &RequestContext, status: StatusCode) -> bool {
    asked.method == Method::GET && !asked.resumes && status.is_success()
}

/// The decoder of a compressed stream in which an address has to be changed.
fn decoder(asked: &RequestContext, kind: &mut BodyKind) -> Option<Decoder> {
    // In a session with an id, which later revisions have, a stream announces no address.
    let has_id = asked.session_id.is_some();
    if has_id || !kind.is_encoded || asked.goal.addresses().is_none() {
        return None;
    }
    kind.take_decoder()
}

/// The carrier of the messages in a response.
fn carrier(
    exchange: &GatewayExchange,
    asked: &RequestContext,
    is_stream: bool,
    is_legacy: bool,
) -> Carrier {
    let listens = exchange.log.carrier(Direction::ToClient) == Carrier::Listen;
    match (&asked.method, is_stream) {
        _ if is_legacy => Carrier::LegacyStream,
        (&Method::GET, true) if asked.resumes => Carrier::ResumedStream,
        (&Method::GET, true) => Carrier::GetStream,
        (_, true) if listens => Carrier::Listen,
        (_, true) => Carrier::PostStream,
        (_, false) => Carrier::PostAnswer,
    }
}

/// Replaces the server's address in a head, and returns the editor for the body.
fn rewrite(
    exchange: &GatewayExchange,
    asked: &RequestContext,
    parts: &mut http::response::Parts,
    names: Names,
    may_announce: bool,
) -> Option<Editor> {
    let rewrite_auth = exchange.gateway.changes.rewrite_auth;
    if !may_change(asked, names, rewrite_auth, may_announce) {
        return None;
    }
    let addresses = asked.goal.addresses()?;
    for edit in edit_head(&mut parts.headers, &addresses, rewrite_auth) {
        if edit.what == EditTarget::ResourceMetadata {
            exchange.gateway.metadata.learn(&edit.after, &addresses);
        }
        exchange
            .log
            .note(Direction::ToClient, EventBody::Edited(Box::new(edit)));
    }
    editor_of(asked, parts, addresses, may_announce)
}

/// Assigns the exchange to its session, if the response decides it; returns whether it is the
/// stream that carries a session of 2024-11-05.
fn place(
    exchange: &GatewayExchange,
    asked: &RequestContext,
    is_stream: bool,
    response: &Response<Incoming>,
) -> bool {
    let gateway = &exchange.gateway;
    if exchange.initialize.load(Ordering::Relaxed) && response.status().is_success() {
        let session = exchange.settle(SESSIONLESS);
        if let Some(id) = response.headers().get(&SESSION_ID) {
            let now = gateway.clock.now();
            let id = id.as_bytes();
            if gateway.sessions.named(&exchange.origin, id, session, now) && session != SESSIONLESS
            {
                exchange.mark(SessionMark::Began(SessionStart::SessionId));
            }
        } else {
            gateway.sessions.unnamed(&exchange.origin);
        }
    }
    if !exchange.ask_response {
        join(exchange, asked, response);
        return false;
    }
    let is_open = response.status().is_success() && is_stream;
    let place = match &asked.session_id {
        _ if !is_open => None,
        None => Some(SessionHint::New(gateway.sessions.stream())),
        Some(id) => {
            let (origin, now) = (&exchange.origin, gateway.clock.now());
            let sessions = &gateway.sessions;
            sessions.joined(origin, id.as_bytes(), true, now)
        }
    };
    match place {
        Some(SessionHint::New(session)) => {
            exchange.settle(session);
            let how = match &asked.session_id {
                Some(_) => SessionStart::SessionId,
                None => SessionStart::EventStream,
            };
            exchange.mark(SessionMark::Began(how));
        }
        Some(SessionHint::Known(session)) => drop(exchange.settle(session)),
        _ => drop(exchange.settle(SESSIONLESS)),
    }
    is_open && asked.session_id.is_none()
}

/// Adds a session whose start was not seen: the server accepts its id, or its answer contains the
/// id.
fn join(exchange: &GatewayExchange, asked: &RequestContext, response: &Response<Incoming>) {
    let may_join = asked.method == Method::POST
        && response.status().is_success()
        && exchange.log.session() == Some(SESSIONLESS)
        && !exchange.initialize.load(Ordering::Relaxed);
    if !may_join {
        return;
    }
    let named = response.headers().get(&SESSION_ID);
    let Some(id) = named.or(asked.session_id.as_ref()) else {
        return;
    };
    let gateway = &exchange.gateway;
    let (origin, now) = (&exchange.origin, gateway.clock.now());
    // The session starts with what follows.
    gateway.sessions.joined(origin, id.as_bytes(), false, now);
}

/// What the end of this response means for the session.
fn ends(
    exchange: &GatewayExchange,
    asked: &RequestContext,
    status: StatusCode,
    head: &HeaderMap,
) -> Option<SessionEnd> {
    if exchange.initialize.load(Ordering::Relaxed) {
        return (!head.contains_key(&SESSION_ID)).then_some(SessionEnd::NoSessionId);
    }
    let id = asked.session_id.as_ref()?;
    if asked.method == Method::DELETE && status.is_success() {
        if exchange.log.session() == Some(SESSIONLESS) {
            let sessions = &exchange.gateway.sessions;
            sessions.ended_unseen(&exchange.origin, id.as_bytes());
        }
        return Some(SessionEnd::Deleted);
    }
    (status == StatusCode::NOT_FOUND).then_some(SessionEnd::NotFound)
}

/// Whether any part of a response may contain the server's address.
fn may_change(
    asked: &RequestContext,
    names: Names,
    rewrite_auth: bool,
    may_announce: bool,
) -> bool {
    may_announce
        || names.has(Names::LOCATION)
        || rewrite_auth && (names.has(Names::WWW_AUTHENTICATE) || asked.is_metadata)
}

/// Replaces the server's address in a head.
fn edit_head(head: &mut HeaderMap, addresses: &Addresses, rewrite_auth: bool) -> Vec<Edit> {
    let mut edits = Vec::new();
    let text = |head: &HeaderMap, name| {
        let value = head.get(name)?.to_str().ok()?;
        Some(value.to_owned())
    };
    if let Some(edit) = text(head, header::LOCATION).and_then(|url| addresses.location(&url))
        && let Ok(value) = HeaderValue::try_from(&edit.after)
    {
        head.insert(header::LOCATION, value);
        edits.push(edit);
    }
    if rewrite_auth && let header::Entry::Occupied(mut all) = head.entry(header::WWW_AUTHENTICATE) {
        for value in all.iter_mut() {
            let Some((changed, found)) = value.to_str().ok().and_then(|text| {
                let (text, found) = challenge(text, addresses)?;
                Some((HeaderValue::try_from(text).ok()?, found))
            }) else {
                continue;
            };
            *value = changed;
            edits.extend(found);
        }
    }
    edits
}

/// The editor for the body, if it must be changed.
fn editor_of(
    asked: &RequestContext,
    parts: &http::response::Parts,
    addresses: Addresses,
    may_announce: bool,
) -> Option<Editor> {
    let encoded = parts.headers.contains_key(header::CONTENT_ENCODING);
    if encoded {
        return None;
    }
    if may_announce {
        return Some(Editor::Endpoint(EndpointEditor::new(addresses)));
    }
    let document = asked.is_metadata && parts.status.is_success();
    document.then(|| Editor::Resource(ResourceEditor::new(addresses)))
}
