//! The messages of all kinds of gateways at their beginning and end.

use std::net::SocketAddr;
use std::sync::Arc;

use anyhow::Context as _;
use tapewright_proxy::clock::Clock;
use tapewright_proxy::http::gateway::{self, Outcome, ServeError, Settings};
use tapewright_proxy::http::listen::ReachableAt;
use tapewright_proxy::record::Recorder;
use tracing::info;

use crate::exit::Exit;
use crate::log;
use crate::report::{self, Mistake};

/// Serves until a signal; `path` is the path of MCP.
pub(super) fn run(
    settings: Settings,
    path: &str,
    recorder: &Arc<Recorder>,
    clock: Clock,
) -> anyhow::Result<Exit> {
    let served = gateway::run(settings, recorder, clock, |reached, figures| {
        announce(reached, path, figures);
    });
    conclude(served, recorder, "nothing was recorded")
}

/// Announces where clients can connect, as one line of JSON.
pub(crate) fn announce(reached: &ReachableAt, path: &str, figures: Option<SocketAddr>) {
    announce_with(reached, path, figures, std::iter::empty::<(&str, &str)>());
}

/// Like `announce`, with further members.
pub(crate) fn announce_with<'a>(
    reached: &ReachableAt,
    path: &str,
    figures: Option<SocketAddr>,
    more: impl Iterator<Item = (&'a str, impl Into<String>)>,
) {
    let mut line = match reached {
        ReachableAt::Origin(origin) => {
            serde_json::json!({ "listening": format!("{origin}{path}") })
        }
        ReachableAt::Socket(socket) => serde_json::json!({
            "listening": format!("http://localhost{path}"),
            "socket": socket.to_string_lossy(),
        }),
    };
    if let (Some(figures), Some(members)) = (figures, line.as_object_mut()) {
        let url = format!("http://{figures}/metrics");
        members.insert("metrics".to_owned(), url.into());
    }
    if let Some(members) = line.as_object_mut() {
        members.extend(more.map(|(name, text)| (name.to_owned(), text.into().into())));
    }
    let listening = line.get("listening").and_then(serde_json::Value::as_str);
    info!(
        name: "ready",
        target: "tapewright::http",
        listening = listening.map(log::place),
        socket = line.get("socket").and_then(serde_json::Value::as_str),
        metrics = line.get("metrics").and_then(serde_json::Value::as_str),
    );
    // It does not matter if the line is not read.
    drop(report::out(&format!("{line}\n")));
}

/// The status of a gateway that has ended; `failed` makes the error for one that never started.
pub(crate) fn conclude(
    served: Result<Outcome, ServeError>,
    recorder: &Recorder,
    failed: &str,
) -> anyhow::Result<Exit> {
    let outcome = served
        .inspect_err(|_| recorder.abandon())
        .context(Mistake::new(
            failed,
            "choose another address, or port 0 for a free one",
        ))?;
    // An interruption has its own status; SIGTERM is the regular way to stop a gateway.
    Ok(if outcome.signal == SIGINT {
        Exit::External(130)
    } else {
        Exit::Pass
    })
}

const SIGINT: i32 = 2;
