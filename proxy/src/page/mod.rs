//! Shows a recording in a browser, finished or while it is made.
//!
//! The page is served on a port of this machine, to clients with the token of this run: see
//! `guard`. It is read from the redacted tapes, on a separate thread.

mod answer;
mod bodies;
mod content;
mod fold;
mod growing;
mod guard;
mod linked;
mod pace;
mod reading;
mod rows;
mod state;
mod stream;
mod switches;
mod tape;

#[cfg(test)]
mod tests;

use std::fmt::Debug;
use std::io;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::sync::Arc;

use serde_json::{Map, Value};
use tapewright_engine::fault::FaultSet;
use tapewright_models::links::PartLinks;
use tapewright_schemas::event::Offset;
use tapewright_schemas::listing::{Counts, Entry};
use tapewright_schemas::tape::Ending;
use tokio::sync::watch;

pub use self::content::{Feed, PageContent, Search, Source, TapeFilter};
pub(crate) use self::growing::Growing;
pub use self::rows::{MakeFile, Room};
pub use self::tape::Document;

use self::answer::Page;
use self::guard::Guard;
use crate::http::listen::{Limits, Listener, Phase};

/// Formats texts for people, and parses times.
pub trait Words: Debug + Send + Sync {
    /// A row, as JSON on one line; `part` is the name of its tape if there are several.
    fn row(&self, entry: &Entry, part: Option<&str>) -> String;

    /// How a recording ended: `{text, incomplete}`.
    fn end(&self, parts: &[Ended<'_>], counts: Counts) -> Value;

    /// The wall time of the start of a tape, from its header, in microseconds; 0 if it is not
    /// valid.
    fn began_us(&self, created: &str) -> u64;

    /// Which tool calls on these tapes carried out models' tool uses, by tape.
    fn links(&self, _tapes: &[PathBuf]) -> Vec<PartLinks> {
        Vec::new()
    }
}

/// Requests that a replay could not answer, and recorded ones that were never requested.
pub trait Drift: Debug + Send + Sync {
    /// The current state: `drift` `[{method, name, id, why, paths}]` with the last misses, `missed`
    /// with their number, and `unused` `{count, of, first}`; values of messages only if `bodies` is
    /// set.
    fn told(&self, bodies: bool) -> Map<String, Value>;
}

/// How one tape, cassette or capture ended.
#[derive(Clone, Copy, Debug)]
pub struct Ended<'e> {
    /// Its name if there are several.
    pub name: Option<&'e str>,
    /// How it ends.
    pub ending: &'e Ending,
    /// Whether its events have times.
    pub timed: bool,
    /// The time of its last event.
    pub last: Offset,
    /// Why it could not be read completely.
    pub problem: Option<&'e str>,
}

/// A file of the page.
#[derive(Clone, Debug)]
pub struct Asset {
    /// Its path, such as `/` or `/page.css`.
    pub path: String,
    /// Its media type.
    pub kind: &'static str,
    /// Its content.
    pub text: String,
}

/// The parts of a page.
#[derive(Debug)]
pub struct Settings {
    /// Its files.
    pub assets: Vec<Asset>,
    /// The content security policy.
    pub policy: String,
    /// What is known from the start: `file`, `kind`, `label`, `recorded_at`.
    pub head: Value,
    /// Additional names of its host, without a port.
    pub names: Vec<String>,
    /// The faults that it can switch.
    pub fault_set: Option<Arc<FaultSet>>,
    /// The drift of a replay.
    pub drift: Option<Arc<dyn Drift>>,
}

/// A page that is served until it is dropped.
#[derive(Debug)]
pub struct Serving {
    phase: watch::Sender<Phase>,
    shown: Arc<PageContent>,
    thread: Option<std::thread::JoinHandle<()>>,
    /// The link to open, with the token in its fragment.
    pub link: String,
}

/// Serves a page on a port of this machine.
pub fn serve(
    shown: Arc<PageContent>,
    settings: Settings,
    place: SocketAddr,
) -> io::Result<Serving> {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()?;
    let listener = runtime
        .block_on(Listener::bind(place, None, LIMITS))?
        .ours();
    let address = listener.address()?;
    let token = crate::front::token()
        .ok_or_else(|| io::Error::other("the system has no random numbers"))?;
    if let Some(drift) = &settings.drift {
        shown.drifts(Arc::clone(drift));
    }
    let link = format!("http://{address}/#token={token}");
    let guard = Guard::new(address, &settings.names, token);
    let page = Page::new(Arc::clone(&shown), guard, settings);
    let (phase, phases) = watch::channel(Phase::Serving);
    let thread = std::thread::Builder::new()
        .name("page".to_owned())
        .spawn(move || {
            runtime.block_on(listener.serve(page, phases));
            // A read for an answer does not delay the end.
            runtime.shutdown_background();
        })?;
    Ok(Serving {
        phase,
        shown,
        thread: Some(thread),
        link,
    })
}

impl Drop for Serving {
    fn drop(&mut self) {
        self.shown.close();
        self.phase.send_replace(Phase::Stopping);
        if let Some(thread) = self.thread.take() {
            // Its result does not matter.
            drop(thread.join());
        }
    }
}

/// Waits until a signal ends the process.
pub fn until_signal() -> io::Result<()> {
    // A closed channel counts as a signal.
    let _signal = crate::http::gateway::ending_signals()?.blocking_recv();
    Ok(())
}

/// A few browsers with small requests.
const LIMITS: Limits = Limits {
    connections: 64,
    exchanges: 64,
    head_bytes: 16 * 1024,
    head_time: std::time::Duration::from_secs(30),
    body_time: std::time::Duration::from_secs(10),
    tap_bytes: 0,
};
