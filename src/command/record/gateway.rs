//! `record --listen --upstream` and `record --forward-proxy`: a gateway.

use std::net::SocketAddr;
use std::sync::Arc;

use anyhow::Context as _;
use tapewright_proxy::clock::Clock;
use tapewright_proxy::http::gateway::{self, Settings};
use tapewright_proxy::record::Recorder;

use crate::exit::Exit;
use crate::report::{self, Mistake};

/// Serves until a signal ends it; `path` is where MCP is spoken.
pub(super) fn run(
    settings: Settings,
    path: &str,
    recorder: &Arc<Recorder>,
    clock: Clock,
) -> anyhow::Result<Exit> {
    let listening = |origin: &str, figures: Option<SocketAddr>| {
        let mut line = serde_json::json!({ "listening": format!("{origin}{path}") });
        if let (Some(figures), Some(members)) = (figures, line.as_object_mut()) {
            let url = format!("http://{figures}/metrics");
            members.insert("metrics".to_owned(), url.into());
        }
        // Whoever does not read it has no use for it.
        drop(report::out(&format!("{line}\n")));
    };
    let outcome = match gateway::run(settings, recorder, clock, listening) {
        Ok(outcome) => outcome,
        Err(error) => {
            recorder.abandon();
            let hint = "choose another address, or port 0 for a free one";
            return Err(error).context(Mistake::new("nothing was recorded", hint));
        }
    };
    // An interruption is told as one; SIGTERM is how a gateway is meant to be stopped.
    let interrupted = outcome.signal == SIGINT;
    Ok(if interrupted {
        Exit::External(130)
    } else {
        Exit::Pass
    })
}

const SIGINT: i32 = 2;
