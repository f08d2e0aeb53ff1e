//! One exchange: a request is sent to its server once, and the response returned.

use std::error::Error;
use std::future::poll_fn;
use std::io::{self, ErrorKind};
use std::pin::pin;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};

use http::{HeaderMap, HeaderValue, Method, Request, Response, StatusCode, Uri, header};
use hyper::body::{Body as _, Incoming};
use tapewright_models::recognise;
use tapewright_schemas::event::{
    Added, Carrier, CloseReason, Direction, Edit, EditTarget, EventBody, Head, InPlace,
    InPlaceCause, Offset, SessionMark, SessionStart,
};
use tokio::sync::OwnedSemaphorePermit;

use super::goal::RequestTarget;
use super::leg::{ClientLeg, edited};
use super::observe::{GatewayExchange, RequestWatch};
use super::ours::LocalAnswer;
use super::peer::peer;
use super::request::{head_of, target_of, to_server};
use super::waiting::Waiting;
use super::{Gateway, Route, answer, interim};
use crate::http::body::{Gate, Outbound, Stalled, Tapped};
use crate::http::edit::heads;
use crate::http::fault::{self, Scene, Wedged};
use crate::http::fields;
use crate::http::listen::Client;
use crate::http::metrics::InFlight;
use crate::http::names::Names;
use crate::http::origin::{Answer, Origin, SendError};
use crate::http::sessions::{SESSION_ID, SESSIONLESS, SessionHint};
use crate::http::tap::{BodyKind, Log, Tap};

/// An exchange whose request is about to be sent.
struct PreparedExchange {
    exchange: Arc<GatewayExchange>,
    log: Arc<Log>,
    waiting: Waiting,
    method: Method,
    // The names in its head.
    names: Names,
    // The number of the client's connection.
    connection: u64,
    arrived: Offset,
    // How long a fault held the request.
    held: Offset,
}

impl Gateway {
    /// Forwards a request, and its response.
    pub(crate) async fn exchange(
        self: &Arc<Self>,
        client: Client,
        goal: RequestTarget,
        request: Request<Incoming>,
    ) -> Response<Outbound> {
        let arrived = self.clock.now();
        let connection = client.connection;
        let names = Names::of(request.headers());
        let free = match self.place_for(&request, names) {
            Ok(free) => free,
            Err(ours) => return self.refuse(client, &request, &ours),
        };
        let exchange = self.begin(client, &goal.origin, &request, names, arrived);
        let log = Arc::clone(&exchange.log);
        let in_flight = self.metrics.begin(free);
        let waiting = Waiting(Some((Arc::clone(&exchange), in_flight)));
        // Even an exchange without a body waits for a tape that is behind.
        poll_fn(|context| log.poll_pace(context)).await;

        let (mut parts, body) = request.into_parts();
        // A body that a fault may hold is forwarded when it is complete.
        let is_held = self.faults.meets_posts() && !body.is_end_stream();
        let gate = Gate::of(&parts.headers, names);
        let gate = gate.filter(|_| !is_held && !body.is_end_stream());
        let watch = Box::new(RequestWatch(Arc::clone(&exchange)));
        let kind = BodyKind::of(&parts.headers, names);
        let tap = Tap::new(Arc::clone(&log), Direction::ToServer, kind, watch)
            .of_model(exchange.is_model_call);
        let mut body = Outbound::passing(
            Tapped::new(body, tap)
                .with_gate(gate.clone())
                .with_limit(self.limits.body_time),
        );
        let mut held = Offset::default();
        if is_held {
            let since = self.clock.now();
            let scene = self.scene(&log, connection, Direction::ToServer);
            let Some(passed) = Box::pin(scene.forward(&exchange, body)).await else {
                let ours = self.replace(&exchange, waiting.over(), &LocalAnswer::dropped());
                return fault::accepted(ours);
            };
            body = passed;
            held = self.clock.now().since(since);
        }
        if let Some(gate) = gate {
            parts.extensions.insert(gate);
        }
        let begun = PreparedExchange {
            exchange,
            log,
            waiting,
            method: parts.method.clone(),
            names,
            connection,
            arrived,
            held,
        };
        self.pass_on(begun, parts, body, goal).await
    }

    /// Sends a request to its server, and returns the response.
    ///
    /// What needs no waiting happens before the future is made: it stores each argument twice.
    fn pass_on(
        self: &Arc<Self>,
        begun: PreparedExchange,
        mut parts: http::request::Parts,
        body: Outbound,
        goal: RequestTarget,
    ) -> impl Future<Output = Response<Outbound>> + Send {
        let PreparedExchange {
            exchange,
            log,
            waiting,
            method,
            names,
            connection,
            arrived,
            held,
        } = begun;
        if let Some(edit) = goal.unmount(&mut parts.uri) {
            log.note(Direction::ToServer, edited(edit));
        }
        let session_id = parts.headers.get(&SESSION_ID).cloned();
        let resumes = names.has(Names::LAST_EVENT_ID);
        let is_metadata = self.is_for_metadata(&goal, &parts.uri);
        if is_metadata || !self.faults.is_idle() {
            ask_for_plain(&mut parts.headers, &log);
        }
        let (leg, mut upstream) = self.onward(parts, body, &goal, names, &log);
        let flooded = interim::pass(&mut upstream, names, &log);
        async move {
            let before = self.clock.now();
            let answer = {
                let sent = pin!(goal.origin.send(upstream));
                flooded.unless(sent).await
            };
            let came = self.clock.now();
            let in_flight = waiting.over();
            let asked = answer::RequestContext {
                method,
                session_id,
                resumes,
                is_metadata,
                leg,
                goal,
            };
            let response = self.conclude(&exchange, in_flight, &asked, answer);
            let added = Added {
                request_us: before.since(arrived).0.saturating_sub(held.0),
                response_us: self.clock.now().since(came).0,
            };
            self.metrics.add_latency(added);
            log.note(Direction::ToClient, EventBody::Added(added));
            if !self.faults.is_open() {
                return response;
            }
            let scene = self.scene(&log, connection, Direction::ToClient);
            Box::pin(scene.apply(&exchange, response)).await
        }
    }

    /// A place for one exchange, or why a request is refused.
    fn place_for(
        &self,
        request: &Request<Incoming>,
        names: Names,
    ) -> Result<OwnedSemaphorePermit, LocalAnswer> {
        let Ok(free) = self.places.clone().try_acquire_owned() else {
            let why = "too many exchanges are under way";
            return Err(LocalAnswer::new(
                StatusCode::SERVICE_UNAVAILABLE,
                InPlace::Busy,
                InPlaceCause::TooManyExchanges,
                why,
            ));
        };
        if !fields::is_plainly_coded(request.headers(), names) {
            let why = "the body has a transfer coding other than `chunked`";
            return Err(LocalAnswer::new(
                StatusCode::NOT_IMPLEMENTED,
                InPlace::Unsupported,
                InPlaceCause::RequestCoding,
                why,
            ));
        }
        Ok(free)
    }

    /// The request to send to the server. A forward proxy's changes are recorded; those that depend
    /// on the version of the server's leg are returned.
    fn onward(
        &self,
        parts: http::request::Parts,
        body: Outbound,
        goal: &RequestTarget,
        names: Names,
        log: &Log,
    ) -> (Option<ClientLeg>, Request<Outbound>) {
        let is_reverse = goal.ours.is_some();
        let came = (!is_reverse).then(|| (parts.headers.clone(), parts.uri.clone(), parts.version));
        let (origin, changes) = (&goal.origin, &self.changes);
        let goes = to_server(parts, body, origin, changes, is_reverse, names);
        let leg = came.map(|came| {
            let is_ours = |edit: &Edit| {
                let mut added = changes.fields.iter();
                added.any(|(name, _)| name.as_str() == edit.field)
            };
            let edits = heads::fields(&came.0, goes.headers());
            let target = heads::target(&came.1, goes.uri());
            let edits = edits
                .into_iter()
                .filter(|edit| !is_ours(edit))
                .chain(target);
            let edits = edits.filter(|edit| !heads::is_of_version(edit, came.2));
            log.note_all(Direction::ToServer, edits.map(edited));
            ClientLeg::new(&came.0, came.2, &goes)
        });
        (leg, goes)
    }

    /// Whether a request is for a document that is rewritten.
    fn is_for_metadata(&self, goal: &RequestTarget, uri: &Uri) -> bool {
        goal.ours.is_some() && self.changes.rewrite_auth && self.metadata.has(uri.path())
    }

    /// One side of an exchange, for the faults that may act on it.
    fn scene(self: &Arc<Self>, log: &Arc<Log>, connection: u64, dir: Direction) -> Scene {
        Scene {
            gateway: Arc::clone(self),
            talk: Wedged::of(log.session(), connection),
            log: Arc::clone(log),
            dir,
        }
    }

    /// Starts to record an exchange, in its session if the head determines it.
    fn begin(
        self: &Arc<Self>,
        client: Client,
        origin: &Origin,
        request: &Request<Incoming>,
        names: Names,
        arrived: Offset,
    ) -> Arc<GatewayExchange> {
        let origin = Arc::clone(origin.name());
        let target = target_of(request.uri());
        let place = self.sessions.place(
            &origin,
            request.method(),
            target,
            request.headers(),
            arrived,
        );
        let session = match place {
            SessionHint::Known(session) | SessionHint::New(session) => Some(session),
            SessionHint::AskMessage | SessionHint::AskResponse => None,
        };
        let log = Arc::new(self.log(session));
        let is_named = names.has(Names::SESSION_ID);
        // A message that belongs to a session without naming it was posted to the endpoint that the
        // stream of 2024-11-05 announced, possibly after that stream has ended.
        let is_late =
            || place == SessionHint::AskMessage && self.sessions.was_announced(&origin, target);
        let is_legacy =
            !is_named && (session.is_some_and(|session| session != SESSIONLESS) || is_late());
        log.carry(
            Direction::ToServer,
            if is_legacy {
                Carrier::LegacyPost
            } else {
                Carrier::Post
            },
        );
        let began = matches!(place, SessionHint::New(_))
            .then(|| EventBody::Session(SessionMark::Began(SessionStart::SessionId)));
        let opened = EventBody::Opened(peer(client));
        let head = EventBody::Head(Box::new(Head::Request(head_of(request))));
        log.note_all(Direction::ToServer, began.into_iter().chain([opened, head]));
        Arc::new(GatewayExchange {
            gateway: Arc::clone(self),
            log,
            origin,
            initialize: AtomicBool::new(false),
            sent: Arc::default(),
            broken_off: AtomicBool::new(false),
            ask_response: place == SessionHint::AskResponse,
            // Other requests to a provider are not MCP either.
            is_model_call: matches!(self.route, Route::Models(_)) || is_model_call(request, names),
            aimed: Mutex::default(),
        })
    }

    /// The response for the client.
    fn conclude(
        &self,
        exchange: &Arc<GatewayExchange>,
        in_flight: InFlight,
        asked: &answer::RequestContext,
        answer: Result<Answer, SendError>,
    ) -> Response<Outbound> {
        match answer {
            Ok(answer) if !fields::is_plainly_coded(answer.response.headers(), answer.names) => {
                let why = "the server used a transfer coding other than `chunked`";
                let cause = InPlaceCause::ResponseCoding;
                let ours = LocalAnswer::new(StatusCode::BAD_GATEWAY, InPlace::Broken, cause, why);
                self.replace(exchange, in_flight, &ours)
            }
            // Upgrades are not supported: upgrade requests are not forwarded.
            Ok(answer) if answer.response.status() == StatusCode::SWITCHING_PROTOCOLS => {
                let why = "the server switched protocols unasked";
                let cause = InPlaceCause::SwitchedProtocols;
                let ours = LocalAnswer::new(StatusCode::BAD_GATEWAY, InPlace::Broken, cause, why);
                self.replace(exchange, in_flight, &ours)
            }
            Ok(answer) => answer::pass(exchange, in_flight, asked, answer),
            // The server is not responsible.
            Err(error) if exchange.broken_off.load(Ordering::Acquire) => {
                if let Some(stalled) = cause::<Stalled>(&error) {
                    let ours = LocalAnswer::new(
                        StatusCode::REQUEST_TIMEOUT,
                        InPlace::Slow,
                        InPlaceCause::BodySlow,
                        stalled.to_string(),
                    );
                    return self.replace(exchange, in_flight, &ours);
                }
                let why = "the request broke off, or its body is malformed";
                let ours = LocalAnswer::bad_request(InPlaceCause::BodyBrokeOff, why);
                if is_malformed(&error) {
                    self.replace(exchange, in_flight, &ours)
                } else {
                    // There is no client to read it.
                    drop(Waiting(Some((Arc::clone(exchange), in_flight))));
                    ours.response()
                }
            }
            Err(error) => self.replace(exchange, in_flight, &LocalAnswer::of_send(&error)),
        }
    }

    /// Answers in the server's place.
    fn replace(
        &self,
        exchange: &GatewayExchange,
        in_flight: InFlight,
        ours: &LocalAnswer,
    ) -> Response<Outbound> {
        exchange.settle(SESSIONLESS);
        note_ours(&exchange.log, ours);
        self.metrics.add_refused();
        drop(in_flight);
        ours.response()
    }

    /// Answers a request that is not forwarded. It is recorded anyway.
    pub(crate) fn refuse(
        &self,
        client: Client,
        request: &Request<Incoming>,
        ours: &LocalAnswer,
    ) -> Response<Outbound> {
        let log = self.log(Some(SESSIONLESS));
        let head = Head::Request(head_of(request));
        log.note_all(
            Direction::ToServer,
            [
                EventBody::Opened(peer(client)),
                EventBody::Head(Box::new(head)),
                EventBody::Closed(CloseReason::ReceiverGone),
            ],
        );
        note_ours(&log, ours);
        self.metrics.add_refused();
        ours.response()
    }
}

/// Whether a request goes to a model's endpoint. Its body is not known yet.
fn is_model_call(request: &Request<Incoming>, names: Names) -> bool {
    let shows = names.has(Names::OF_PROVIDER);
    let field = |name: &str| request.headers().get(name)?.to_str().ok();
    let head = |name: &str| shows.then(|| field(name)).flatten();
    let target = request.uri().path_and_query();
    let target = target.map_or("/", http::uri::PathAndQuery::as_str);
    recognise(request.method().as_str(), target, head, None).is_some()
}

/// Requests an unencoded body, since it may have to be changed.
fn ask_for_plain(head: &mut HeaderMap, log: &Log) {
    let identity = HeaderValue::from_static("identity");
    let before = head.insert(header::ACCEPT_ENCODING, identity);
    let before = before.and_then(|value| value.to_str().map(str::to_owned).ok());
    let edit = EventBody::Edited(Box::new(Edit {
        what: EditTarget::AcceptEncoding,
        before: before.unwrap_or_default(),
        after: "identity".to_owned(),
        ..Edit::default()
    }));
    log.note(Direction::ToServer, edit);
}

/// Whether a body did not match its framing; otherwise its sender has left.
fn is_malformed(error: &SendError) -> bool {
    cause::<io::Error>(error).is_some_and(|error| {
        matches!(
            error.kind(),
            ErrorKind::InvalidData | ErrorKind::InvalidInput
        )
    })
}

/// The first cause of this type, if any.
fn cause<T: Error + 'static>(error: &SendError) -> Option<&T> {
    let mut cause: Option<&(dyn Error + 'static)> = Some(error);
    while let Some(error) = cause {
        if let Some(found) = error.downcast_ref() {
            return Some(found);
        }
        cause = error.source();
    }
    None
}

/// Records a request whose head could not be read, and its answer.
pub(crate) fn note_unreadable(log: &Log, client: Client, is_too_long: bool) {
    let cut = [
        EventBody::Opened(peer(client)),
        EventBody::Closed(CloseReason::Aborted),
    ];
    log.note_all(Direction::ToServer, cut);
    note_ours(log, &LocalAnswer::unreadable(is_too_long));
}

/// Records that tapewright answered in the server's place.
pub(crate) fn note_ours(log: &Log, ours: &LocalAnswer) {
    log.note_all(
        Direction::ToClient,
        [
            EventBody::Head(Box::new(Head::Response(ours.head()))),
            EventBody::Closed(CloseReason::Failed),
        ],
    );
}
