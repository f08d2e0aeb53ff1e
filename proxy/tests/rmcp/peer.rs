//! A server and a client on rmcp that use all features of a session.

#![expect(deprecated, reason = "sampling is deprecated, and alive")]

use std::sync::{Arc, Mutex};
use std::time::Duration;

use rmcp::model::{
    CallToolRequestParams, CallToolResponse, CallToolResult, ClientConfig, ContentBlock,
    CreateMessageRequestParams, CreateMessageResult, ElicitRequest, ElicitRequestParams,
    ElicitResult, ElicitationAction, ErrorData, InputRequest, InputRequests, InputRequiredResult,
    JsonObject, ListToolsResult, LoggingLevel, LoggingMessageNotificationParam,
    PaginatedRequestParams, ProgressNotificationParam, SamplingMessage, ServerCapabilities,
    ServerConfig, Tool,
};
use rmcp::service::{NotificationContext, RequestContext};
use rmcp::{ClientHandler, RoleClient, RoleServer, ServerHandler};
use serde_json::json;
use tokio::sync::Notify;

/// A server; its clones share their state.
#[derive(Clone, Default)]
pub(crate) struct Server {
    begun: Arc<Happened>,
    cancelled: Arc<Happened>,
}

/// An event that happens once, and can be waited for.
#[derive(Default)]
struct Happened(Mutex<bool>, Notify);

impl Happened {
    fn tell(&self) {
        *self.0.lock().unwrap() = true;
        self.1.notify_waiters();
    }

    async fn wait(&self) {
        loop {
            let mut told = std::pin::pin!(self.1.notified());
            told.as_mut().enable();
            if *self.0.lock().unwrap() {
                return;
            }
            told.await;
        }
    }
}

fn text(text: impl Into<String>) -> CallToolResponse {
    CallToolResult::success(vec![ContentBlock::text(text.into())]).into()
}

fn failed(error: impl std::fmt::Display) -> ErrorData {
    ErrorData::internal_error(error.to_string(), None)
}

fn form() -> ElicitRequestParams {
    ElicitRequestParams::FormElicitationParams {
        meta: None,
        message: "Your name?".into(),
        requested_schema: serde_json::from_value(json!({
            "type": "object",
            "properties": {"name": {"type": "string"}},
            "required": ["name"]
        }))
        .unwrap(),
    }
}

impl ServerHandler for Server {
    fn get_info(&self) -> ServerConfig {
        let capabilities = ServerCapabilities::builder()
            .enable_tools()
            .enable_tool_list_changed()
            .enable_logging()
            .build();
        ServerConfig::new(capabilities)
    }

    async fn list_tools(
        &self,
        _: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        let plain: JsonObject = serde_json::from_value(json!({"type": "object"})).unwrap();
        let mirrored: JsonObject = serde_json::from_value(json!({
            "type": "object",
            "properties": {"region": {"type": "string", "x-mcp-header": "Region"}}
        }))
        .unwrap();
        let mut tools: Vec<Tool> = [
            "count",
            "ask",
            "sample",
            "large",
            "fail",
            "slow",
            "cancelled",
            "change",
        ]
        .into_iter()
        .map(|name| Tool::new(name, "a tool", Arc::new(plain.clone())))
        .collect();
        tools.push(Tool::new(
            "größe",
            "a tool with mirrored arguments",
            Arc::new(mirrored),
        ));
        Ok(ListToolsResult::with_all_items(tools))
    }

    async fn call_tool(
        &self,
        request: CallToolRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        match request.name.as_ref() {
            "count" => {
                if let Some(token) = context.meta.get_progress_token() {
                    for step in 1..=3_u8 {
                        let step = ProgressNotificationParam::new(token.clone(), f64::from(step));
                        let step = step.with_total(3.0).with_message("counting — 数");
                        context.peer.notify_progress(step).await.map_err(failed)?;
                    }
                }
                Ok(text("three"))
            }
            "log" => {
                let log = LoggingMessageNotificationParam::new(LoggingLevel::Info, json!("logged"));
                context
                    .peer
                    .notify_logging_message(log)
                    .await
                    .map_err(failed)?;
                Ok(text("done"))
            }
            "sample" => {
                let ask = vec![SamplingMessage::user_text("Why?")];
                let ask = CreateMessageRequestParams::new(ask, 10);
                let answer = context.peer.create_message(ask).await.map_err(failed)?;
                Ok(text(format!("{} said {:?}", answer.model, answer.message)))
            }
            "elicit" => {
                let answer = context
                    .peer
                    .create_elicitation(form())
                    .await
                    .map_err(failed)?;
                Ok(text(format!("{:?}", answer.content)))
            }
            "ask" => match request.input_responses {
                None => {
                    let mut requests = InputRequests::new();
                    let ask = InputRequest::Elicitation(ElicitRequest::new(form()));
                    requests.insert("name".to_owned(), ask);
                    let state = Some("so \"far\"\n".to_owned());
                    Ok(InputRequiredResult::new(Some(requests), state).into())
                }
                Some(answers) => Ok(text(format!(
                    "{:?} {:?}",
                    answers.get("name"),
                    request.request_state
                ))),
            },
            "large" => Ok(text("0123456789abcdef".repeat(64 * 1024))),
            "fail" => Err(ErrorData::internal_error(
                "it always does",
                Some(json!([1])),
            )),
            "slow" => {
                self.begun.tell();
                context.ct.cancelled().await;
                self.cancelled.tell();
                Ok(text("too late"))
            }
            "begun" => {
                self.begun.wait().await;
                Ok(text("it has begun"))
            }
            "cancelled" => {
                self.cancelled.wait().await;
                Ok(text("it was told"))
            }
            "change" => {
                context
                    .peer
                    .notify_tool_list_changed()
                    .await
                    .map_err(failed)?;
                Ok(text("changed"))
            }
            "größe" => Ok(text(format!("{:?}", request.arguments))),
            other => Err(ErrorData::invalid_params(format!("no tool {other}"), None)),
        }
    }
}

/// The messages to a client other than answers.
#[derive(Clone, Default)]
pub(crate) struct Notifications {
    lines: Arc<(Mutex<Vec<String>>, Notify)>,
}

impl Notifications {
    fn push(&self, line: String) {
        self.lines.0.lock().unwrap().push(line);
        self.lines.1.notify_waiters();
    }

    /// Waits for this many lines, in any order.
    pub(crate) async fn all(&self, count: usize) -> Vec<String> {
        let heard = async {
            loop {
                let mut told = std::pin::pin!(self.lines.1.notified());
                told.as_mut().enable();
                let lines = self.lines.0.lock().unwrap().clone();
                if lines.len() >= count {
                    return lines;
                }
                told.await;
            }
        };
        let Ok(mut lines) = tokio::time::timeout(Duration::from_secs(60), heard).await else {
            panic!("only heard {:?}", self.lines.0.lock().unwrap());
        };
        lines.sort();
        lines
    }
}

impl ClientHandler for Notifications {
    fn get_info(&self) -> ClientConfig {
        let mut info = ClientConfig::default();
        info.capabilities = serde_json::from_value(json!({
            "sampling": {}, "elicitation": {"form": {}}, "roots": {}
        }))
        .unwrap();
        info
    }

    async fn create_message(
        &self,
        request: CreateMessageRequestParams,
        _: RequestContext<RoleClient>,
    ) -> Result<CreateMessageResult, ErrorData> {
        let said = format!("because: {:?}", request.messages.len());
        let said = SamplingMessage::assistant_text(said);
        Ok(CreateMessageResult::new(said, "model-1".to_owned()))
    }

    async fn create_elicitation(
        &self,
        _: ElicitRequestParams,
        _: RequestContext<RoleClient>,
    ) -> Result<ElicitResult, ErrorData> {
        let content = json!({"name": "Ada"});
        Ok(ElicitResult::new(ElicitationAction::Accept).with_content(content))
    }

    async fn on_progress(
        &self,
        progress: ProgressNotificationParam,
        _: NotificationContext<RoleClient>,
    ) {
        self.push(format!(
            "{} of {:?}: {:?}",
            progress.progress, progress.total, progress.message
        ));
    }

    async fn on_logging_message(
        &self,
        log: LoggingMessageNotificationParam,
        _: NotificationContext<RoleClient>,
    ) {
        self.push(format!("log {:?}", log.data));
    }

    async fn on_tool_list_changed(&self, _: NotificationContext<RoleClient>) {
        self.push("the tools have changed".to_owned());
    }
}
