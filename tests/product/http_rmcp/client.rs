//! A client on rmcp over streamable HTTP.

use std::sync::{Arc, Mutex};

use rmcp::model::{
    CallToolRequestParams, ClientCapabilities, ClientConfig, ClientRequest,
    CreateMessageRequestParams, CreateMessageResult, ElicitRequestParams, ElicitResult,
    ElicitationAction, Implementation, ProgressNotificationParam, ProtocolVersion, Request, Role,
    SamplingMessage, SamplingMessageContentBlock,
};
use rmcp::service::{
    ClientLifecycleMode, ClientServiceExt as _, NotificationContext, PeerRequestOptions,
    RequestContext, RunningService,
};
use rmcp::transport::StreamableHttpClientTransport;
use rmcp::transport::streamable_http_client::StreamableHttpClientTransportConfig;
use rmcp::{ClientHandler, ErrorData, RoleClient};
use tokio::sync::Notify;

/// The number of tool calls of one client.
pub(super) const CALLS: usize = 5 + ECHOES;

/// The same if no server sends requests to its client.
pub(super) const CALLS_STATELESS: usize = 3 + ECHOES;

const ECHOES: usize = 20;

/// The era that a client uses.
#[derive(Clone, Copy, PartialEq)]
pub(super) enum Lifecycle {
    Handshake,
    Stateless,
}

#[derive(Clone)]
struct Client {
    name: String,
    progress: Arc<Mutex<Vec<String>>>,
    begun: Arc<Notify>,
}

impl ClientHandler for Client {
    fn get_info(&self) -> ClientConfig {
        let capabilities = ClientCapabilities::builder()
            .enable_sampling()
            .enable_elicitation()
            .build();
        ClientConfig::new(capabilities, Implementation::new(self.name.clone(), "1"))
    }

    async fn create_message(
        &self,
        _: CreateMessageRequestParams,
        _: RequestContext<RoleClient>,
    ) -> Result<CreateMessageResult, ErrorData> {
        let said = SamplingMessageContentBlock::text(format!("yes, {}", self.name));
        let said = SamplingMessage::new(Role::Assistant, said);
        Ok(CreateMessageResult::new(said, "model".to_owned()))
    }

    async fn create_elicitation(
        &self,
        _: ElicitRequestParams,
        _: RequestContext<RoleClient>,
    ) -> Result<ElicitResult, ErrorData> {
        let content = serde_json::json!({ "name": self.name });
        Ok(ElicitResult::new(ElicitationAction::Accept).with_content(content))
    }

    async fn on_progress(
        &self,
        progress: ProgressNotificationParam,
        _: NotificationContext<RoleClient>,
    ) {
        let message = format!("{:?}", progress.message);
        self.progress.lock().unwrap().push(message);
        // Last: a test that waits for it reads the earlier messages.
        if progress.progress == 0.0 {
            self.begun.notify_one();
        }
    }
}

/// Talks with a server and returns what the client saw.
pub(super) async fn talk(url: &str, name: &str, lifecycle: Lifecycle) -> Vec<String> {
    let client = Client {
        name: name.to_owned(),
        progress: Arc::default(),
        begun: Arc::default(),
    };
    // The tests may run with a proxy in the environment.
    let http = reqwest::Client::builder().no_proxy().build().unwrap();
    let config = StreamableHttpClientTransportConfig::with_uri(url);
    let transport = StreamableHttpClientTransport::with_client(http, config);
    let mode = match lifecycle {
        Lifecycle::Handshake => ClientLifecycleMode::Initialize,
        Lifecycle::Stateless => ClientLifecycleMode::Discover {
            preferred_versions: vec![ProtocolVersion::V_2026_07_28],
        },
    };
    let service = client.clone().serve_with_lifecycle(transport, mode);
    let service = service.await.unwrap();
    let mut said = vec![format!("{:?}", service.peer_info())];
    said.push(format!("{:?}", service.list_all_tools().await));
    let mut tools = vec!["steps", "no-such-tool"];
    if lifecycle == Lifecycle::Handshake {
        tools.extend(["model", "user"]);
    }
    for tool in tools {
        let call = start(&service, CallToolRequestParams::new(tool)).await;
        said.push(format!("{tool}: {:?}", call.await_response().await));
    }
    said.extend(echoes(&service, name).await);

    let call = start(&service, CallToolRequestParams::new("wait")).await;
    client.begun.notified().await;
    call.cancel(Some("changed my mind".to_owned()))
        .await
        .unwrap();
    service.cancel().await.unwrap();
    let mut progress = client.progress.lock().unwrap().clone();
    // The SDK handles notifications in separate tasks, which may overtake each other.
    progress.sort();
    said.extend(progress);
    said
}

type Service = RunningService<RoleClient, Client>;

async fn start(
    service: &Service,
    call: CallToolRequestParams,
) -> rmcp::service::RequestHandle<RoleClient> {
    let call = ClientRequest::CallToolRequest(Request::new(call));
    service
        .send_cancellable_request(call, PeerRequestOptions::no_options())
        .await
        .unwrap()
}

/// Calls that are all pending at once.
async fn echoes(service: &Service, name: &str) -> Vec<String> {
    let mut calls = Vec::new();
    for number in 0..ECHOES {
        let arguments = rmcp::object!({ "from": name, "text": format!("echo {number}") });
        let call = CallToolRequestParams::new("echo").with_arguments(arguments);
        calls.push(start(service, call).await);
    }
    let mut said = Vec::new();
    for call in calls {
        said.push(format!("{:?}", call.await_response().await));
    }
    said
}
