//! Supports servers of HTTP+SSE, the transport of 2024-11-05.
//!
//! A client detects it by posting `initialize`: if a server refuses that with 400, 404 or 405, the
//! client requests an event stream, whose first event contains the endpoint for messages; every
//! answer comes on that stream (2025-11-25, basic/transports, "Backwards Compatibility").

use std::time::Duration;

use http::Method;
use tokio::time::timeout;

use super::client::Post;
use super::exchange::{Gates, chain, refusal};
use super::line_queue::{Gone, Line};
use super::ours;
use super::send::{Ask, is_stream};
use super::shared::Shared;
use super::stream::{Cursor, Events};
use super::target;
use crate::http::origin::OriginUrl;

/// The timeout for the first event.
const PATIENCE: Duration = Duration::from_secs(10);

/// Tries the older transport with a request that the newer one refused, and runs the whole session
/// on it if the server supports it; returns false otherwise.
pub(crate) async fn carry(shared: &Shared, post: &Post, gates: Gates) -> Result<bool, Gone> {
    let asked = shared.ask(Ask {
        method: Method::GET,
        url: shared.url(),
        head: http::HeaderMap::new(),
        body: None,
        behind: false,
        written: None,
    });
    let Ok(Ok(answer)) = timeout(PATIENCE, asked).await else {
        return Ok(false);
    };
    if !is_stream(&answer) {
        return Ok(false);
    }
    let mut events = Events::new(answer, shared.limit_bytes);
    let Ok(Some(reference)) = timeout(PATIENCE, endpoint(&mut events)).await else {
        return Ok(false);
    };
    let Some(endpoint) = same_origin(&shared.url(), &reference) else {
        let why = "the server's endpoint for messages has a different origin than its event stream";
        shared.give_up(post.exchange, why, None).await?;
        return Ok(true);
    };
    shared.set_legacy(endpoint);
    let mut cursor = Cursor::default();
    let (followed, posted) = tokio::join!(
        shared.follow(&mut events, &mut cursor),
        first(shared, post, gates)
    );
    followed.and(posted)?;
    // The session ends with its stream (2024-11-05, basic/transports).
    let lost = shared.client().all_ended();
    for id in lost {
        let line = ours::error(&id, "the server closed the session's stream", None);
        shared.out.push(Line::ours(line)).await?;
    }
    shared.out.finish();
    Ok(true)
}

/// Posts the first request again, to the right endpoint.
async fn first(shared: &Shared, post: &Post, gates: Gates) -> Result<(), Gone> {
    let asked = shared.ask(Ask {
        method: Method::POST,
        url: shared.post_url(),
        head: post.headers.clone(),
        body: Some(post.line.clone()),
        behind: false,
        written: None,
    });
    let asked = asked.await;
    drop(gates);
    let why = match &asked {
        Ok(answer) if answer.response.status().is_success() => return Ok(()),
        Ok(answer) => refusal(answer.response.status()),
        Err(error) => chain(error),
    };
    shared.give_up(post.exchange, &why, None).await
}

/// The data of the `endpoint` event; `None` if the stream ends without one.
async fn endpoint(events: &mut Events) -> Option<String> {
    loop {
        let event = events.next().await?;
        if event.event.as_deref() == Some(b"endpoint") {
            let data = event.data.as_ref()?.kept();
            return Some(String::from_utf8_lossy(data).into_owned());
        }
    }
}

/// Resolves the endpoint: a server may not send its client's messages, and their header fields, to
/// another origin.
fn same_origin(base: &OriginUrl, reference: &str) -> Option<OriginUrl> {
    target::resolve(base, reference).filter(|endpoint| endpoint.is_same_origin(base))
}
