//! A server on rmcp over streamable HTTP.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use hyper_util::rt::TokioIo;
use hyper_util::service::TowerToHyperService;
use rmcp::model::{
    CallToolRequestParams, CallToolResponse, CallToolResult, ContentBlock,
    CreateMessageRequestParams, ElicitRequestParams, ElicitationSchema, ListToolsResult,
    PaginatedRequestParams, ProgressNotificationParam, Role, SamplingMessage,
    SamplingMessageContentBlock, ServerCapabilities, ServerConfig, Tool,
};
use rmcp::service::RequestContext;
use rmcp::transport::streamable_http_server::session::local::LocalSessionManager;
use rmcp::transport::streamable_http_server::{StreamableHttpServerConfig, StreamableHttpService};
use rmcp::{ErrorData, RoleServer, ServerHandler};
use tokio::net::TcpListener;

use crate::support::eventually;

/// A server that is up.
pub(super) struct Server {
    pub(super) url: String,
    cancelled: Arc<AtomicUsize>,
}

impl Server {
    pub(super) async fn start() -> Self {
        let cancelled = Arc::new(AtomicUsize::new(0));
        let tools = Tools(Arc::clone(&cancelled));
        let service = StreamableHttpService::new(
            move || Ok(tools.clone()),
            Arc::new(LocalSessionManager::default()),
            StreamableHttpServerConfig::default(),
        );
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("http://{}/mcp", listener.local_addr().unwrap());
        tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                stream.set_nodelay(true).unwrap();
                let service = TowerToHyperService::new(service.clone());
                let builder = hyper::server::conn::http1::Builder::new();
                tokio::spawn(builder.serve_connection(TokioIo::new(stream), service));
            }
        });
        Self { url, cancelled }
    }

    /// Whether this many calls have been cancelled.
    pub(super) fn all_cancelled(&self, count: usize, within: Duration) -> bool {
        tokio::task::block_in_place(|| {
            eventually(within, || self.cancelled.load(Ordering::SeqCst) == count)
        })
    }
}

#[derive(Clone)]
struct Tools(Arc<AtomicUsize>);

impl ServerHandler for Tools {
    fn get_info(&self) -> ServerConfig {
        ServerConfig::new(ServerCapabilities::builder().enable_tools().build())
    }

    async fn list_tools(
        &self,
        _: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        let schema = Arc::new(rmcp::object!({ "type": "object" }));
        let tools = ["steps", "model", "user", "wait", "echo"];
        let tools = tools.map(|name| Tool::new(name, "Prüfung ✓", Arc::clone(&schema)));
        Ok(ListToolsResult::with_all_items(tools.to_vec()))
    }

    async fn call_tool(
        &self,
        call: CallToolRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        let said = match call.name.as_ref() {
            "steps" => {
                for step in 1..=3_u8 {
                    progress(&context, f64::from(step)).await.unwrap();
                }
                "three".to_owned()
            }
            "model" => ask_model(&context).await,
            "user" => ask_user(&context).await,
            "wait" => {
                // The client may leave at the first message, before it is known to have left.
                progress(&context, 0.0).await.ok();
                context.ct.cancelled().await;
                self.0.fetch_add(1, Ordering::SeqCst);
                "given up".to_owned()
            }
            "echo" => serde_json::to_string(&call.arguments).unwrap(),
            other => return Err(ErrorData::invalid_params(format!("no tool {other}"), None)),
        };
        Ok(CallToolResult::success(vec![ContentBlock::text(said)]).into())
    }
}

async fn progress(
    context: &RequestContext<RoleServer>,
    step: f64,
) -> Result<(), rmcp::ServiceError> {
    let Some(token) = context.meta.get_progress_token() else {
        return Ok(());
    };
    let progress = ProgressNotificationParam::new(token.clone(), step);
    let progress = progress
        .with_total(3.0)
        .with_message(format!("step {step}"));
    context.peer.notify_progress(progress).await
}

async fn ask_model(context: &RequestContext<RoleServer>) -> String {
    let question = SamplingMessageContentBlock::text("ja oder nein?");
    let question = SamplingMessage::new(Role::User, question);
    let asked = CreateMessageRequestParams::new(vec![question], 9);
    let answer = context.peer.create_message(asked).await;
    match answer {
        Ok(answer) => {
            let text = serde_json::to_value(&answer.message).unwrap();
            format!(
                "a model said: {}",
                text["content"]["text"].as_str().unwrap()
            )
        }
        Err(error) => format!("no model: {error}"),
    }
}

async fn ask_user(context: &RequestContext<RoleServer>) -> String {
    let asked = ElicitRequestParams::FormElicitationParams {
        meta: None,
        message: "wie oft?".to_owned(),
        requested_schema: ElicitationSchema::new(std::collections::BTreeMap::new()),
    };
    let answer = context.peer.create_elicitation(asked).await;
    format!("a user said: {answer:?}")
}
