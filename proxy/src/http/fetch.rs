//! One small request outside of MCP: a health check, a token.

use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use http::{HeaderName, HeaderValue, Method, Request, StatusCode, Uri, header};
use http_body_util::{BodyExt as _, Limited};

use super::body::Outbound;
use super::origin::{Origin, SendError};

/// A request.
#[derive(Debug)]
pub struct Ask {
    /// The method.
    pub method: Method,
    /// Header fields in addition to `Host` and `User-Agent`.
    pub fields: Vec<(HeaderName, HeaderValue)>,
    /// The body; empty for none.
    pub body: Bytes,
    /// The timeout for the whole exchange.
    pub timeout: Duration,
}

/// A response.
#[derive(Debug)]
pub struct Fetched {
    /// Its status.
    pub status: StatusCode,
    /// Its body, at most [`BODY_BYTES`].
    pub body: Bytes,
}

/// Why there is no response.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum FetchError {
    /// The body was cut off, or exceeds the limit.
    #[error("cannot read the response")]
    Body,
    /// A runtime could not be started.
    #[error("cannot start the async runtime")]
    Runtime(#[source] std::io::Error),
    /// The request had no answer.
    #[error(transparent)]
    Send(#[from] SendError),
    /// It took too long.
    #[error("no answer within {0:?}")]
    TimedOut(Duration),
}

/// The maximum length of a body.
pub const BODY_BYTES: usize = 1 << 20;

/// Sends one request to the URL of an origin, and waits for its answer. Redirects are not
/// followed. Blocks.
pub fn fetch(origin: &Arc<Origin>, ask: Ask) -> Result<Fetched, FetchError> {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .map_err(FetchError::Runtime)?;
    let timeout = ask.timeout;
    let answer = runtime.block_on(async {
        tokio::time::timeout(timeout, exchange(origin, ask))
            .await
            .unwrap_or(Err(FetchError::TimedOut(timeout)))
    });
    runtime.shutdown_background();
    answer
}

async fn exchange(origin: &Arc<Origin>, ask: Ask) -> Result<Fetched, FetchError> {
    let mut request = Request::new(Outbound::whole(ask.body));
    *request.method_mut() = ask.method;
    *request.uri_mut() = origin.url().path.parse().unwrap_or(Uri::from_static("/"));
    let head = request.headers_mut();
    if let Ok(host) = HeaderValue::try_from(origin.url().authority()) {
        head.insert(header::HOST, host);
    }
    let agent = HeaderValue::from_static(concat!("tapewright/", env!("CARGO_PKG_VERSION")));
    head.insert(header::USER_AGENT, agent);
    for (name, value) in ask.fields {
        head.insert(name, value);
    }
    let answer = origin.send(request).await?;
    let status = answer.response.status();
    let body = Limited::new(answer.response.into_body(), BODY_BYTES);
    let body = body.collect().await.map_err(|_| FetchError::Body)?;
    Ok(Fetched {
        status,
        body: body.to_bytes(),
    })
}
