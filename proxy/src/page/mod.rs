//! A page in a browser that shows a recording while it is made, or one that is there.
//!
//! It is served on a port of this machine, to clients with the token of this run: see `guard`.
//! What it shows is read from the tapes, which hold no secrets, on a thread of its own.

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

/// What is told to people, and of times that stand in texts.
pub trait Words: Debug + Send + Sync {
    /// A row, as JSON on one line; `part` names its tape, where there are several.
    fn row(&self, entry: &Entry, part: Option<&str>) -> String;

    /// How a recording ended: `{text, incomplete}`.
    fn end(&self, parts: &[Ended<'_>], counts: Counts) -> Value;

    /// Wall time of the beginning of a tape as it says it, in microseconds; 0 where it does
    /// not.
    fn began_us(&self, created: &str) -> u64;

    /// Which calls of tools on these tapes carried out what models asked for, of each tape.
    fn links(&self, _tapes: &[PathBuf]) -> Vec<PartLinks> {
        Vec::new()
    }
}

/// Requests that a replay could not answer, and recorded ones that never came.
pub trait Drift: Debug + Send + Sync {
    /// So far: `drift` `[{method, name, id, why, paths}]`, the last of them, `missed` how many
    /// there were, and `unused` `{count, of, first}`; values of messages only where `bodies` are
    /// told.
    fn told(&self, bodies: bool) -> Map<String, Value>;
}

/// How one tape, cassette or capture ended.
#[derive(Clone, Copy, Debug)]
pub struct Ended<'e> {
    /// What it is called among several.
    pub name: Option<&'e str>,
    /// How it ends.
    pub ending: &'e Ending,
    /// Whether its events have times.
    pub timed: bool,
    /// When its last event was seen.
    pub last: Offset,
    /// Why it could not be read to its end.
    pub problem: Option<&'e str>,
}

/// A file of the page.
#[derive(Clone, Debug)]
pub struct Asset {
    /// Its path, such as `/` or `/page.css`.
    pub path: String,
    /// Its media type.
    pub kind: &'static str,
    /// What it holds.
    pub text: String,
}

/// What a page consists of.
#[derive(Debug)]
pub struct Settings {
    /// Its files.
    pub assets: Vec<Asset>,
    /// The policy that its browser has to hold it to.
    pub policy: String,
    /// What is known of the recording from the start: `file`, `kind`, `label`, `recorded_at`.
    pub head: Value,
    /// Further names under which it is reached, without a port.
    pub names: Vec<String>,
    /// The faults that it may switch.
    pub fault_set: Option<Arc<FaultSet>>,
    /// What drifts, of a replay.
    pub drift: Option<Arc<dyn Drift>>,
}

/// A page that is served until it is dropped.
#[derive(Debug)]
pub struct Serving {
    phase: watch::Sender<Phase>,
    shown: Arc<PageContent>,
    thread: Option<std::thread::JoinHandle<()>>,
    /// The address to open, with the token in its fragment.
    pub link: String,
}

/// Serves a page at a port of this machine.
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
            // Reading a tape for an answer holds up nothing.
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
            // It holds nothing that could be lost.
            drop(thread.join());
        }
    }
}

/// Waits until a signal ends us.
pub fn until_signal() -> io::Result<()> {
    // One that comes without end of its own is as good as a signal.
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
