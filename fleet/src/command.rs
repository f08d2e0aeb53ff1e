//! The commands.

mod announced;
mod priority;
mod scrub;
mod tail;

use std::io;
use std::process::ExitCode;
use std::time::Duration;

use tokio::signal::unix::{Signal, SignalKind, signal};

use tapewright_fleet::announce::LinkError;
use tapewright_fleet::clock::{self, Stopwatch};
use tapewright_fleet::fetch::{FetchError, fetch};
use tapewright_fleet::list::{Catalogue, FindError, State, files, rows};
use tapewright_fleet::names::Gateway;
use tapewright_fleet::ship::{Round, Settings, ShipError, ShipEvent, Shipper};
use tapewright_fleet::store::{Store, StoreError, StoreLocation};
use tapewright_fleet::sweep::{Policy, sweep};
use tapewright_fleet_query::QueryError;

use self::announced::Listener;
pub(crate) use self::priority::Priority;
use crate::cli::{Command, Fetch, Ls, Ship, Sweep};
use crate::report;

/// The exit status. The numbers are those of `tapewright`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Exit {
    /// Everything is as requested.
    Pass,
    /// It could not be done: bad arguments, or an unreachable store.
    Unusable,
    /// Something is missing in the store.
    Incomplete,
    /// Interrupted, after shipping the rest.
    Interrupted,
}

impl From<Exit> for ExitCode {
    fn from(exit: Exit) -> Self {
        Self::from(match exit {
            Exit::Pass => 0,
            Exit::Unusable => 2,
            Exit::Incomplete => 3,
            Exit::Interrupted => 130,
        })
    }
}

/// Why a command failed.
#[derive(Debug, thiserror::Error)]
pub(crate) enum Failure {
    #[error(transparent)]
    Store(#[from] StoreError),
    #[error(transparent)]
    Ship(#[from] ShipError),
    #[error(transparent)]
    Fetch(#[from] FetchError),
    #[error("invalid tape `{tape}`: {why}")]
    Find { tape: String, why: FindError },
    #[error(transparent)]
    Query(QueryError),
    #[error("{0}")]
    Incomplete(String),
    #[error("`--server` and `--tool` do not apply to calls of models")]
    NoSuchCondition,
    #[error("the query took longer than {}; narrow it, or raise `--timeout`", crate::report::duration(*.0))]
    Slow(Duration),
    #[error("the store is unavailable; not everything was shipped")]
    Away,
    #[error("some tapes could not be shipped")]
    Trouble,
    #[error("invalid redaction rules: {0}")]
    Rules(String),
    #[error(transparent)]
    Link(#[from] LinkError),
    #[error("{0}")]
    Output(#[from] io::Error),
    #[error("the query failed because of a bug in this program")]
    Broken,
}

impl Failure {
    /// The exit status of a failure.
    pub(crate) fn exit(&self) -> Exit {
        match self {
            Self::Incomplete(_) => Exit::Incomplete,
            _ => Exit::Unusable,
        }
    }
}

/// How often the folder is checked.
const PACE: Duration = Duration::from_millis(250);
/// How long `--once` retries while the store is unavailable.
const PATIENCE: Duration = Duration::from_secs(20);
/// How long the rest is shipped after a signal.
const GRACE: Duration = Duration::from_secs(5);

/// Runs a command.
pub(crate) async fn run(command: Command) -> Result<Exit, Failure> {
    match command {
        Command::Ship(ship) => Box::pin(self::ship(ship)).await,
        Command::Tail(tail) => Box::pin(tail::run(tail)).await,
        Command::Ls(ls) => self::ls(ls).await,
        Command::Fetch(fetch) => fetch_one(fetch).await,
        Command::Query(query) => Box::pin(crate::query::run(query)).await,
        Command::Scrub(scrub) => Box::pin(scrub::run(scrub)).await,
        Command::Sweep(sweep) => sweep_store(sweep).await,
    }
}

/// Opens a store with the environment's settings.
pub(crate) fn open(place: &StoreLocation, may_create: bool) -> Result<Store, StoreError> {
    Store::open(place, may_create, environment())
}

/// The variables that are valid text.
fn environment() -> impl Iterator<Item = (String, String)> {
    let variables = std::env::vars_os();
    variables
        .filter_map(|(name, value)| Some((name.into_string().ok()?, value.into_string().ok()?)))
}

async fn ship(arguments: Ship) -> Result<Exit, Failure> {
    let Ship {
        folder,
        to,
        gateway,
        once,
        verbosity,
        ..
    } = arguments;
    if !folder.is_dir() {
        let why = io::ErrorKind::NotADirectory.into();
        return Err(ShipError::Folder(why).into());
    }
    let settings = Settings {
        folder,
        gateway: gateway.unwrap_or_else(host),
        segment_bytes: arguments.segment_bytes,
        segment_age: arguments.segment_age,
        buffer: arguments.buffer,
        when_full: arguments.when_full.into(),
    };
    arguments.nice.take();
    let store = open(&to, true)?;
    let listener = Listener::new(verbosity);
    let on_event = |told: &ShipEvent<'_>| listener.tell(told);
    on_event(&ShipEvent::Started {
        gateway: &settings.gateway,
        folder: &settings.folder,
    });
    let mut signals = Signals::new()?;
    let mut shipper = Shipper::new(&store, &settings, &on_event);
    let to = arguments.announce;
    let mut announcer = to.map(|to| listener.announcer(&store, &settings, &on_event, to));
    let exit = {
        let ship = ship_until(&mut shipper, &mut signals, once);
        tokio::pin!(ship);
        tokio::select! {
            biased;
            exit = &mut ship => exit,
            () = announced::run(announcer.as_mut()) => ship.await,
        }
    };
    listener.finish(announcer.as_mut(), once).await;
    exit
}

/// Ships until a signal, or everything that exists.
async fn ship_until(
    shipper: &mut Shipper<'_>,
    signals: &mut Signals,
    once: bool,
) -> Result<Exit, Failure> {
    if once {
        return ship_once(shipper, signals).await;
    }
    let exit = follow(shipper, signals).await?;
    // The next shipper ships what is left after this time.
    match tokio::time::timeout(GRACE, flush(shipper, Duration::ZERO)).await {
        Ok(Err(error @ Failure::Ship(_))) => Err(error),
        _ => Ok(exit),
    }
}

async fn ship_once(shipper: &mut Shipper<'_>, signals: &mut Signals) -> Result<Exit, Failure> {
    tokio::select! {
        done = flush(shipper, PATIENCE) => done.map(|()| Exit::Pass),
        exit = signals.wait() => Ok(exit),
    }
}

/// The name of this machine.
fn host() -> Gateway {
    let name = rustix::system::uname();
    Gateway::of_host(&name.nodename().to_string_lossy())
}

/// Ships what is due until a signal.
async fn follow(shipper: &mut Shipper<'_>, signals: &mut Signals) -> Result<Exit, Failure> {
    loop {
        let pause = match shipper.round(false).await? {
            Round::More => Duration::ZERO,
            Round::Done | Round::Waits => PACE,
        };
        tokio::select! {
            biased;
            exit = signals.wait() => return Ok(exit),
            () = tokio::time::sleep(pause) => {}
        }
    }
}

/// Ships everything that exists now.
async fn flush(shipper: &mut Shipper<'_>, patience: Duration) -> Result<(), Failure> {
    let began = Stopwatch::start();
    loop {
        match shipper.round(true).await? {
            Round::Done => return Ok(()),
            Round::More => {}
            Round::Waits if began.elapsed() < patience => tokio::time::sleep(PACE).await,
            Round::Waits if shipper.away().is_zero() => return Err(Failure::Trouble),
            Round::Waits => return Err(Failure::Away),
        }
    }
}

/// The signals that end a shipper.
pub(crate) struct Signals {
    interrupt: Signal,
    terminate: Signal,
}

impl Signals {
    pub(crate) fn new() -> io::Result<Self> {
        Ok(Self {
            interrupt: signal(SignalKind::interrupt())?,
            terminate: signal(SignalKind::terminate())?,
        })
    }

    pub(crate) async fn wait(&mut self) -> Exit {
        tokio::select! {
            _ = self.interrupt.recv() => Exit::Interrupted,
            _ = self.terminate.recv() => Exit::Pass,
        }
    }
}

async fn ls(arguments: Ls) -> Result<Exit, Failure> {
    let store = open(&arguments.at.place, false)?;
    let gateway = arguments.gateway.as_ref().map(Gateway::as_str);
    let catalogue = Catalogue::read(&store, gateway).await?;
    if let Some(kind) = arguments.files {
        let paths = files(&store, &catalogue, kind.into()).await?;
        report::files(&arguments.at.place, &paths)?;
        return Ok(Exit::Pass);
    }
    let rows = rows(&store, &catalogue, arguments.check).await?;
    report::list(&catalogue, &rows, arguments.json)?;
    let is_damaged = rows.iter().any(|row| row.state == State::Damaged);
    Ok(if is_damaged {
        Exit::Incomplete
    } else {
        Exit::Pass
    })
}

async fn fetch_one(arguments: Fetch) -> Result<Exit, Failure> {
    let store = open(&arguments.at.place, false)?;
    let catalogue = Catalogue::read(&store, None).await?;
    let name = catalogue.find(&arguments.tape);
    let name = name.map_err(|why| Failure::Find {
        tape: arguments.tape.clone(),
        why,
    })?;
    let entries = catalogue.tapes.get(name).map(Vec::as_slice);
    let fetched = fetch(&store, name, entries.unwrap_or_default(), &arguments.output).await?;
    report::fetched(&fetched, arguments.json)?;
    Ok(if fetched.is_whole() {
        Exit::Pass
    } else {
        Exit::Incomplete
    })
}

async fn sweep_store(arguments: Sweep) -> Result<Exit, Failure> {
    let store = open(&arguments.at.place, false)?;
    let policy = Policy {
        older_than: arguments.older_than,
        max_size: arguments.max_size,
        orphans_after: arguments.orphans_after,
        is_dry: arguments.dry_run,
        now: clock::wall(),
    };
    let swept = sweep(&store, &policy).await?;
    report::swept(&swept, arguments.json)?;
    Ok(Exit::Pass)
}
