//! A server on rmcp, the official Rust SDK.

use std::io;
use std::sync::Arc;

use hyper_util::rt::TokioIo;
use hyper_util::service::TowerToHyperService;
use rmcp::handler::server::tool::ToolRouter;
use rmcp::model::{ProgressNotificationParam, RequestMetaObject};
use rmcp::transport::streamable_http_server::session::local::LocalSessionManager;
use rmcp::transport::streamable_http_server::{StreamableHttpServerConfig, StreamableHttpService};
use rmcp::{Peer, RoleServer, ServerHandler, ServiceExt as _, tool, tool_handler, tool_router};
use tokio::net::TcpListener;

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

    #[tool(description = "Ends the server")]
    async fn leave() -> Result<String, rmcp::ErrorData> {
        std::process::abort()
    }

    #[tool(description = "Always fails")]
    async fn fail() -> Result<String, rmcp::ErrorData> {
        Err(rmcp::ErrorData::internal_error("it always does", None))
    }
}

#[tool_handler]
impl ServerHandler for Server {}

fn server() -> Server {
    Server {
        tool_router: Server::tool_router(),
    }
}

fn runtime() -> io::Result<tokio::runtime::Runtime> {
    tokio::runtime::Builder::new_multi_thread()
        .worker_threads(2)
        .enable_all()
        .build()
}

/// Serves over streamable HTTP until it is ended, on a port that it prints.
#[expect(clippy::disallowed_methods, reason = "nobody shuts it down in order")]
pub(crate) fn serve_http() -> io::Result<()> {
    runtime()?.block_on(async {
        let service = StreamableHttpService::new(
            || Ok(server()),
            Arc::new(LocalSessionManager::default()),
            StreamableHttpServerConfig::default(),
        );
        let listener = TcpListener::bind("127.0.0.1:0").await?;
        let address = listener.local_addr()?;
        println!("{{\"listening\":\"http://{address}/mcp\"}}");
        loop {
            let (stream, _) = listener.accept().await?;
            stream.set_nodelay(true)?;
            let service = TowerToHyperService::new(service.clone());
            let builder = hyper::server::conn::http1::Builder::new();
            tokio::spawn(builder.serve_connection(TokioIo::new(stream), service));
        }
    })
}

/// Serves until the end of input.
pub(crate) fn serve() -> io::Result<()> {
    runtime()?.block_on(async {
        let service = server()
            .serve(rmcp::transport::stdio())
            .await
            .map_err(io::Error::other)?;
        service.waiting().await.map_err(io::Error::other)?;
        Ok(())
    })
}
