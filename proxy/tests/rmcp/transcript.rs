//! What a client sees during a whole session.

use std::future::Future;
use std::time::Duration;

use rmcp::model::{CallToolRequestParams, ClientRequest, JsonObject, ProtocolVersion, Request};
use rmcp::service::{PeerRequestOptions, RunningService};
use rmcp::transport::IntoTransport;
use rmcp::{ClientLifecycleMode, ClientServiceExt as _, RoleClient};

use crate::peer::Notifications;

/// The era of the client.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Era {
    Handshake,
    Stateless,
}

/// Longer than any step takes on a busy machine.
const LIMIT: Duration = Duration::from_secs(120);

type Client = RunningService<RoleClient, Notifications>;

/// Runs a whole session and returns what the client saw.
pub(crate) async fn transcript<T, E, A>(era: Era, transport: T) -> Vec<String>
where
    T: IntoTransport<RoleClient, E, A>,
    E: std::error::Error + Send + Sync + 'static,
{
    let session = Box::pin(session(era, transport));
    tokio::time::timeout(LIMIT, session)
        .await
        .expect("the session ends in time")
}

async fn session<T, E, A>(era: Era, transport: T) -> Vec<String>
where
    T: IntoTransport<RoleClient, E, A>,
    E: std::error::Error + Send + Sync + 'static,
{
    let lifecycle = match era {
        Era::Handshake => ClientLifecycleMode::Initialize,
        Era::Stateless => ClientLifecycleMode::Discover {
            preferred_versions: vec![ProtocolVersion::V_2026_07_28],
        },
    };
    let heard = Notifications::default();
    let client = heard
        .clone()
        .serve_with_lifecycle(transport, lifecycle)
        .await
        .unwrap();
    let mut said = vec![format!("{:?}", client.peer_info())];
    let mut tools = client.list_all_tools().await.unwrap();
    tools.sort_by(|a, b| a.name.cmp(&b.name));
    said.push(format!("{tools:?}"));

    let mut steps = vec!["count", "large", "fail", "no such tool"];
    match era {
        Era::Handshake => steps.extend(["sample", "elicit", "log", "change"]),
        Era::Stateless => steps.push("ask"),
    }
    for tool in steps {
        said.push(format!(
            "{tool}: {}",
            call(&client, CallToolRequestParams::new(tool)).await
        ));
    }
    let arguments: JsonObject = serde_json::from_str(r#"{"region":"Zürich"}"#).unwrap();
    let mirrored = CallToolRequestParams::new("größe").with_arguments(arguments);
    said.push(call(&client, mirrored).await);
    said.extend(many(&client).await);
    said.push(cancelled(&client).await);

    // Progress of the call that is waited for, and messages that the server sent without a request.
    let expected = match era {
        Era::Handshake => 3 + 2,
        Era::Stateless => 3,
    };
    said.extend(heard.all(expected).await);
    client.cancel().await.unwrap();
    said
}

async fn call(client: &Client, call: CallToolRequestParams) -> String {
    // Answers a server's questions, and sends the request again.
    if call.name == "ask" {
        return format!("{:?}", client.call_tool(call).await);
    }
    let call = ClientRequest::CallToolRequest(Request::new(call));
    let handle = client
        .send_cancellable_request(call, PeerRequestOptions::no_options())
        .await
        .unwrap();
    format!("{:?}", handle.await_response().await)
}

/// Several calls at the same time.
async fn many(client: &Client) -> Vec<String> {
    let mut calls: Vec<std::pin::Pin<Box<dyn Future<Output = String> + '_>>> = Vec::new();
    for number in 0..20 {
        let arguments = format!(r#"{{"region":"{number}"}}"#);
        let arguments: JsonObject = serde_json::from_str(&arguments).unwrap();
        let one = CallToolRequestParams::new("größe").with_arguments(arguments);
        calls.push(Box::pin(call(client, one)));
    }
    let mut done: Vec<Option<String>> = calls.iter().map(|_| None).collect();
    std::future::poll_fn(|context| {
        for (call, done) in calls.iter_mut().zip(&mut done) {
            if done.is_none()
                && let std::task::Poll::Ready(said) = call.as_mut().poll(context)
            {
                *done = Some(said);
            }
        }
        if done.iter().all(Option::is_some) {
            std::task::Poll::Ready(())
        } else {
            std::task::Poll::Pending
        }
    })
    .await;
    done.into_iter().flatten().collect()
}

/// Cancels a call, and asks the server whether it received the cancellation.
async fn cancelled(client: &Client) -> String {
    let slow = ClientRequest::CallToolRequest(Request::new(CallToolRequestParams::new("slow")));
    let handle = client
        .send_cancellable_request(slow, PeerRequestOptions::no_options())
        .await
        .unwrap();
    // Over HTTP a cancellation may overtake its request, and is then ignored.
    call(client, CallToolRequestParams::new("begun")).await;
    handle.cancel(Some("enough".to_owned())).await.unwrap();
    call(client, CallToolRequestParams::new("cancelled")).await
}
