//! A server on rmcp, the official Rust SDK.

use std::io;

use rmcp::handler::server::tool::ToolRouter;
use rmcp::model::{ProgressNotificationParam, RequestMetaObject};
use rmcp::{Peer, RoleServer, ServerHandler, ServiceExt as _, tool, tool_handler, tool_router};

struct Server {
    #[expect(dead_code, reason = "the macro below reads it")]
    tool_router: ToolRouter<Self>,
}

#[tool_router]
impl Server {
    #[tool(description = "Counts to three, with progress")]
    async fn count(
        meta: RequestMetaObject,
        client: Peer<RoleServer>,
    ) -> Result<String, rmcp::ErrorData> {
        if let Some(token) = meta.get_progress_token() {
            for step in 1..=3_u8 {
                let progress = ProgressNotificationParam::new(token.clone(), f64::from(step));
                let progress = progress.with_total(3.0).with_message("counting");
                client.notify_progress(progress).await.ok();
            }
        }
        Ok("three — drei — 三".to_owned())
    }

    #[tool(description = "Answers with a megabyte")]
    async fn large() -> Result<String, rmcp::ErrorData> {
        Ok("0123456789abcdef".repeat(64 * 1024))
    }

    #[tool(description = "Always fails")]
    async fn fail() -> Result<String, rmcp::ErrorData> {
        Err(rmcp::ErrorData::internal_error("it always does", None))
    }
}

#[tool_handler]
impl ServerHandler for Server {}

/// Serves until the end of input.
pub(crate) fn serve() -> io::Result<()> {
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(2)
        .enable_all()
        .build()?;
    runtime.block_on(async {
        let server = Server {
            tool_router: Server::tool_router(),
        };
        let service = server
            .serve(rmcp::transport::stdio())
            .await
            .map_err(io::Error::other)?;
        service.waiting().await.map_err(io::Error::other)?;
        Ok(())
    })
}
