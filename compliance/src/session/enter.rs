//! Updating the session with a message, after the rules have examined it.

use tapewright_schemas::era::PROTOCOL_VERSION_KEY;
use tapewright_schemas::event::Direction;

use super::capabilities::{Capabilities, Capability};
use super::lists::{Cursors, Scope, rank};
use super::modern::{Input, SubscriptionFilter, salient};
use super::pending_request::{More, PendingRequest};
use super::tasks::State;
use super::tokens::Progress;
use super::{Session, pick_mut};
use crate::id::{Key, hash};
use crate::message::{Form, Message};
use crate::method::Method;
use crate::plain::Plain;
use crate::revision::{R4, R5, Revisions};
use crate::value::Value;

impl Session {
    /// Enters a message.
    pub(crate) fn enter(&mut self, message: &Message<'_>) {
        self.enter_era(message);
        match message.form {
            Form::Request => self.enter_request(message),
            Form::Notification if self.is_answered_beside() => self.enter_request(message),
            Form::Notification => self.enter_notification(message),
            Form::Response => self.enter_response(message),
            Form::Batch | Form::Malformed => {}
        }
    }

    /// Updates the eras of the session, and how much each was used.
    fn enter_era(&mut self, message: &Message<'_>) {
        if message.revisions != R5 {
            return;
        }
        self.stateless = true;
        let asks = message.form == Form::Request;
        let probes = message.method == Method::ServerDiscover;
        self.beyond_probe |= asks && !probes && message.dir == Direction::ToServer;
        let typed = message.result().and_then(|result| result.get("resultType"));
        self.serves_stateless |= typed.is_some() && message.dir == Direction::ToClient;
    }

    fn enter_request(&mut self, message: &Message<'_>) {
        if message.dir == Direction::ToServer {
            self.lifecycle.spoke = true;
            if message.revisions != R5 {
                self.enter_handshake_request(message);
            }
        }
        let asked = self.asked(message);
        if let Some(token) = asked.token {
            let (moment, task) = (asked.moment(), asked.task);
            self.tokens_mut(message.dir).begin(token, moment, task);
        }
        self.note(message, asked);
    }

    fn enter_handshake_request(&mut self, message: &Message<'_>) {
        let method = message.method;
        let life = &mut self.lifecycle;
        if method == Method::Initialize {
            self.start_unknown &= life.first.is_some();
            life.asked.get_or_insert(message.moment());
        }
        if method != Method::Ping {
            life.first.get_or_insert((message.seq, method));
            let late = life.agreed.is_some() && life.initialized.is_none();
            if late && method != Method::Initialize {
                life.hasty.get_or_insert(message.seq);
            }
        }
    }

    /// The data of a request to remember.
    fn asked(&mut self, message: &Message<'_>) -> PendingRequest {
        let (moment, conduit) = (message.moment(), message.conduit);
        let mut asked = PendingRequest::new(moment, conduit, message.method, message.revisions);
        let Some(params) = message.params() else {
            if message.method == Method::ToolsList {
                self.tools.begin(true);
            }
            self.cursors.begin(message.method);
            return asked;
        };
        if self.follows.tokens && !message.plain.has(Plain::CALL) {
            asked.token = token(message);
        }
        self.enter_params(message, params, &mut asked);
        if message.revisions == R5 && self.follows.inputs {
            modern(message, params, &mut asked);
        }
        asked
    }

    fn set_level(&mut self, message: &Message<'_>, params: Value<'_>) {
        let level = params.get("level").and_then(Value::string);
        if let Some(level) = level.and_then(|one| rank(&one)) {
            self.logging.before = self.logging.level.map(|(level, _, _)| level);
            self.logging.level = Some((level, message.moment(), false));
        }
    }

    /// Handles the parameters of a request with this method.
    fn enter_params(
        &mut self,
        message: &Message<'_>,
        params: Value<'_>,
        asked: &mut PendingRequest,
    ) {
        match message.method {
            Method::Initialize => {
                let capabilities = params.get("capabilities").map(Capabilities::read);
                // A refused handshake declares nothing.
                let refused = self.lifecycle.answered.is_some_and(|(_, agreed)| !agreed);
                self.client = self.client.filter(|_| !refused).or(capabilities);
                let version = params.get("protocolVersion").and_then(Value::string);
                asked.more_mut().version = version.as_deref().map(bounded);
            }
            Method::ToolsCall => {
                if self.tools.is_current()
                    && let Some(name) = message.param("name").and_then(Value::string)
                {
                    asked.tool = self.tools.look_up(&name);
                }
                asked.task = self.asks_for_task(message);
            }
            Method::SamplingCreateMessage | Method::ElicitationCreate => {
                asked.task = self.asks_for_task(message);
                if message.dir == Direction::ToClient {
                    self.elicitations.give(params);
                }
            }
            Method::ToolsList
            | Method::PromptsList
            | Method::ResourcesList
            | Method::ResourcesTemplatesList
            | Method::TasksList => self.walk(message, params, asked),
            Method::ResourcesRead => {
                let uri = params.get("uri").and_then(Value::string);
                asked.more_mut().subject = uri.map(|uri| hash(uri.as_bytes()));
            }
            Method::ResourcesSubscribe => {
                if let Some(uri) = params.get("uri").and_then(Value::string) {
                    self.subscriptions.begin(&uri);
                }
            }
            Method::ResourcesUnsubscribe => {
                if let Some(uri) = params.get("uri").and_then(Value::string) {
                    self.subscriptions.end(&uri, message.moment());
                }
            }
            Method::LoggingSetLevel => self.set_level(message, params),
            Method::TasksGet | Method::TasksResult | Method::TasksCancel => {
                let task = params.get("taskId").and_then(Value::string);
                asked.more_mut().subject = task.map(|task| hash(task.as_bytes()));
            }
            Method::SubscriptionsListen => {
                let wants = SubscriptionFilter::read(params.get("notifications"));
                self.modern.listen(message.key, wants);
            }
            _ => {}
        }
    }

    fn asks_for_task(&self, message: &Message<'_>) -> bool {
        self.follows.tasks && message.revisions.meets(R4) && message.param("task").is_some()
    }

    fn walk(&mut self, message: &Message<'_>, params: Value<'_>, asked: &mut PendingRequest) {
        let cursor = params.get("cursor").and_then(Value::string);
        if message.method == Method::ToolsList {
            self.tools.begin(cursor.is_none());
        }
        let Some(cursor) = cursor else {
            self.cursors.begin(message.method);
            return;
        };
        let key = Cursors::key(message.method, &cursor);
        let issued = self.cursors.was_issued(key);
        let more = asked.more_mut();
        more.cursor = Some(key);
        more.issued = (issued || !self.cursors.forgotten).then_some(issued);
    }

    fn enter_notification(&mut self, message: &Message<'_>) {
        if message.dir == Direction::ToServer {
            self.lifecycle.spoke = true;
        }
        match (message.method, message.dir) {
            (Method::Initialized, Direction::ToServer) if message.revisions != R5 => {
                self.lifecycle.initialized.get_or_insert(message.moment());
            }
            (Method::Cancelled, dir) => {
                let moment = message.moment();
                let requests = self.requests_mut(dir);
                let cancelled = message.paired.handle;
                let Some(asked) = cancelled.and_then(|one| requests.cancel(one)) else {
                    return;
                };
                asked.cancelled.get_or_insert(moment);
                let token = asked.token;
                if let Some(token) = token {
                    self.tokens_mut(dir).cancel(token, moment);
                }
            }
            (Method::Progress, dir) if self.follows.tokens => {
                let token = message
                    .param("progressToken")
                    .map(|one| Key::by_value_of(one.0));
                let progress = message.param("progress");
                let progress = progress.and_then(|one| Progress::read(one.0));
                if let (Some(token), Some(progress)) = (token, progress) {
                    self.tokens_mut(dir.opposite())
                        .advance(token, progress, message.seq);
                }
            }
            (Method::ToolsListChanged, Direction::ToClient) => self.tools.changed(),
            (Method::SubscriptionsAcknowledged, Direction::ToClient) => {
                let id = message.params().and_then(subscription);
                if let Some(listen) = id.and_then(|id| self.modern.listens.get_mut(&id)) {
                    listen.acknowledged = true;
                    listen.wants = SubscriptionFilter::read(message.param("notifications"));
                }
            }
            (Method::TasksStatus, _) => {
                if let Some(params) = message.params() {
                    self.task(params, message.seq, false);
                }
            }
            _ => {}
        }
    }

    fn enter_response(&mut self, message: &Message<'_>) {
        let Some(asked) = self.take_answered(message) else {
            return;
        };
        let beside = self.beside.as_ref().and_then(|beside| beside.key);
        let (way, key) = (message.dir.opposite(), beside.unwrap_or(message.key));
        if way == Direction::ToServer && self.requests(way).is_idle() {
            self.freed = Some(message.moment());
        }
        let read = pick_mut(&mut self.read, way);
        *read = (*read).max(asked.seq);
        if let Some(token) = asked.token {
            let (moment, conduit) = (message.moment(), message.conduit.0);
            self.tokens_mut(way).end(token, moment, conduit);
        }
        if way == Direction::ToServer {
            self.count(message, asked.method);
        }
        let Some(result) = message.any_result().filter(|_| message.error().is_none()) else {
            if message.error_code() == Some(URL_ELICITATION_REQUIRED) {
                let error = message.error();
                if let Some(list) = error.and_then(|one| one.at(&["data", "elicitations"])) {
                    list.elements(|one| self.elicitations.give(one));
                }
            }
            if asked.method == Method::LoggingSetLevel {
                self.logging.refused(asked.seq);
            }
            if asked.method == Method::Initialize {
                let failed = (message.moment(), false);
                self.lifecycle.answered.get_or_insert(failed);
            }
            return;
        };
        self.enter_result(message, &asked, result, key);
    }

    /// The server answered `initialize` with a result.
    fn agree(&mut self, message: &Message<'_>, result: Value<'_>) {
        let moment = message.moment();
        self.lifecycle.answered.get_or_insert((moment, true));
        if self.lifecycle.agreed.is_some() {
            return;
        }
        self.lifecycle.agreed = Some(moment);
        let version = result.get("protocolVersion").and_then(Value::string);
        let version = version.and_then(|name| Revisions::named(&name));
        self.negotiated = version
            .filter(|one| Revisions::HANDSHAKE.covers(*one))
            .unwrap_or(Revisions::HANDSHAKE);
        // Read strictly, an absent member declares nothing.
        let capabilities = result.get("capabilities").filter(|one| one.is_object());
        self.server = capabilities
            .map(Capabilities::read)
            .or_else(|| self.by_the_letter().then(Capabilities::default));
        let has_tools = self.server.is_some_and(|one| one.has(Capability::TOOLS));
        self.serves_tools = has_tools && !self.by_the_letter();
    }

    fn enter_result(
        &mut self,
        message: &Message<'_>,
        asked: &PendingRequest,
        result: Value<'_>,
        key: Key,
    ) {
        match asked.method {
            Method::Initialize => self.agree(message, result),
            Method::ServerDiscover => {
                self.discovered = result.get("capabilities").map(Capabilities::read);
            }
            Method::ToolsList => {
                if self.follows.tools {
                    self.tools.page(result);
                }
                if !self.tells_of_changes(message.revisions) {
                    self.tools.doubt();
                }
                self.issue(message, asked.method, result);
            }
            Method::PromptsList
            | Method::ResourcesList
            | Method::ResourcesTemplatesList
            | Method::TasksList => self.issue(message, asked.method, result),
            Method::ResourcesUnsubscribe => self.subscriptions.confirm(asked.seq),
            Method::LoggingSetLevel => {
                if let Some((_, moment, confirmed)) = &mut self.logging.level
                    && moment.seq == asked.seq
                {
                    *confirmed = true;
                }
            }
            Method::SubscriptionsListen => {
                self.modern.listens.remove(&key);
            }
            Method::TasksGet | Method::TasksCancel => self.task(result, message.seq, false),
            _ => {}
        }
        if asked.task
            && let Some(task) = result.get("task")
        {
            self.task(task, message.seq, true);
        }
        if message.revisions == R5
            && self.follows.inputs
            && result
                .get("resultType")
                .is_some_and(|one| one.is("input_required"))
        {
            self.modern.ask(Input::read(message, asked, result, key));
        }
    }

    /// Whether the file would show a change of the tools. A capture does not contain the server's
    /// own messages, so there it counts that the server declares that it never sends them.
    fn tells_of_changes(&self, revisions: Revisions) -> bool {
        let never = |one: &Capabilities| !one.has(Capability::TOOLS_CHANGED);
        self.facts.keeps.all_that_was_said() || self.advertised(revisions).is_some_and(never)
    }

    fn issue(&mut self, message: &Message<'_>, method: Method, result: Value<'_>) {
        if let Some(cursor) = result.get("nextCursor").and_then(Value::string) {
            let key = Cursors::key(method, &cursor);
            let scope = Scope::of(result).filter(|_| message.revisions == R5);
            let scope = scope.map(|scope| (scope, message.seq));
            self.cursors.issue(method, key, scope);
        }
    }

    fn count(&mut self, message: &Message<'_>, method: Method) {
        let letter = self.by_the_letter();
        let Some(one) = self.uses.of(method) else {
            return;
        };
        if message.error().is_none() {
            one.answered += 1;
            return;
        }
        // Wrong arguments, missing resources and a user who must sign in say nothing about the capability.
        let wrong = matches!(message.error_code(), Some(-32_602 | -32_042 | -32_002));
        if letter || !wrong {
            one.answered += 1;
            one.errors += 1;
            one.last_error = message.seq;
        }
    }

    fn task(&mut self, task: Value<'_>, seq: u64, created: bool) {
        if !self.follows.tasks {
            return;
        }
        let id = task.get("taskId").and_then(Value::string);
        let state = task.get("status").and_then(Value::string);
        let state = state.and_then(|name| State::named(&name));
        if let (Some(id), Some(state)) = (id, state) {
            self.tasks.set(hash(id.as_bytes()), state, seq, created);
            if state.is_final() {
                let [to_server, to_client] = &mut self.tokens;
                to_server.forget_tasks();
                to_client.forget_tasks();
            }
        }
    }
}

impl PendingRequest {
    fn more_mut(&mut self) -> &mut More {
        self.more.get_or_insert_default()
    }
}

impl Input {
    fn read(message: &Message<'_>, asked: &PendingRequest, result: Value<'_>, id: Key) -> Self {
        let mut keys = std::collections::HashSet::new();
        if let Some(requests) = result.get("inputRequests") {
            requests.members(|name, _| {
                keys.insert(hash(name));
            });
        }
        let state = result.get("requestState").and_then(Value::string);
        Self {
            seq: message.seq,
            method: asked.method,
            salient: asked
                .more()
                .and_then(|more| more.salient)
                .unwrap_or_default(),
            id,
            state: state.map(|state| hash(state.as_bytes())),
            keys,
        }
    }
}

/// What a stateless request shows about its sender.
fn modern(message: &Message<'_>, params: Value<'_>, asked: &mut PendingRequest) {
    let meta = params.get("_meta");
    let more = asked.more_mut();
    more.version = meta
        .and_then(|meta| meta.get(PROTOCOL_VERSION_KEY))
        .and_then(Value::string)
        .map(|name| bounded(&name));
    more.capabilities = meta
        .and_then(|meta| meta.get(CLIENT_CAPABILITIES_KEY))
        .map(Capabilities::read);
    more.level = meta
        .and_then(|meta| meta.get(LOG_LEVEL_KEY))
        .and_then(Value::string)
        .and_then(|name| rank(&name));
    let retried = matches!(
        message.method,
        Method::ToolsCall | Method::PromptsGet | Method::ResourcesRead
    );
    if retried {
        more.salient = Some(salient(Some(params)));
    }
}

/// The progress token of a request.
fn token(message: &Message<'_>) -> Option<Key> {
    let token = message.param("_meta")?.get("progressToken")?;
    (token.is_string() || token.is_number()).then(|| Key::by_value_of(token.0))
}

/// The name of a revision, limited in length.
fn bounded(name: &str) -> String {
    name.chars().take(VERSION_CHARS).collect()
}

const VERSION_CHARS: usize = 64;

/// The code of the error that sends a user to a page first (2025-11-25).
const URL_ELICITATION_REQUIRED: i64 = -32_042;

/// The id of the listen request that a message belongs to.
pub(crate) fn subscription(params: Value<'_>) -> Option<Key> {
    let id = params.at(&["_meta", SUBSCRIPTION_KEY])?;
    Some(Key::by_value_of(id.0))
}

pub(crate) const CLIENT_CAPABILITIES_KEY: &str = "io.modelcontextprotocol/clientCapabilities";
pub(crate) const LOG_LEVEL_KEY: &str = "io.modelcontextprotocol/logLevel";
pub(crate) const SUBSCRIPTION_KEY: &str = "io.modelcontextprotocol/subscriptionId";
