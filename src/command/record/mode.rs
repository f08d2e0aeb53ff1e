//! `--mode`: whether known requests are replayed, and whether new ones are recorded.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use anyhow::Context as _;
use clap::ValueEnum;
use tapewright_engine::fault::FaultSet;
use tapewright_proxy::clock::Clock;
use tapewright_proxy::front::{self, Behind};
use tapewright_proxy::record::Tapped;
use tapewright_proxy::stdio;
use tapewright_proxy::upstream::Upstream;
use tapewright_replay::{CassetteUpstream, Episodes, Index, Options, Tally};
use tapewright_schemas::recording::FileKind;

use super::endpoints::Endpoints;
use super::episodes::{self, NewEpisodes};
use super::{Arguments, exit_of, gateway};
use crate::command::faults::{self, Control};
use crate::command::page::PageSources;
use crate::command::replay;
use crate::command::unrecorded::{Readers, UnrecordedRun};
use crate::exit::Exit;
use crate::files::output;
use crate::log;
use crate::report::{self, Mistake};

/// What to replay, and what to record.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub(super) enum Mode {
    /// Record everything, and overwrite an existing cassette
    #[default]
    All,
    /// Replay an existing cassette without contacting the server; record if there is none
    Once,
    /// Replay only; never contact the server
    None,
    /// Replay what the cassette has, ask the server for the rest, and add it to the
    /// cassette
    NewEpisodes,
}

/// What a mode means for this cassette.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Plan {
    /// Replay this cassette, and add new exchanges.
    Extend(PathBuf),
    /// Replay this cassette.
    Play(PathBuf),
    /// Record everything.
    Record,
}

impl Plan {
    /// The plan for the arguments.
    pub(super) fn of(arguments: &Arguments) -> anyhow::Result<Self> {
        if arguments.mode == Mode::All {
            if arguments.mapping.is_asked() {
                let what = "`--map` and `--no-learned-map` need a cassette to replay";
                let hint =
                    "add `--mode once`, `none` or `new-episodes`, or use `tapewright replay`";
                return Err(Mistake::new(what, hint).into());
            }
            return Ok(Self::Record);
        }
        let Some(output) = arguments.output.as_deref().filter(|path| is_cassette(path)) else {
            let what = "`--mode` needs a cassette in `-o`";
            return Err(Mistake::new(what, "add one, such as `-o session.json`").into());
        };
        let plan = match (arguments.mode, output.exists()) {
            (Mode::None | Mode::Once, true) => Self::Play(output.to_owned()),
            (Mode::None, false) => {
                let path = report::safe(&output.display().to_string());
                let what = format!("`{path}` does not exist, and `--mode none` never records");
                let hint = "use `--mode once` to record a missing cassette";
                return Err(Mistake::new(what, hint).into());
            }
            (Mode::NewEpisodes, true) => Self::Extend(output.to_owned()),
            _ => Self::Record,
        };
        if plan != Self::Record {
            arguments.fits_play()?;
        }
        Ok(plan)
    }

    /// Carries out the plan, unless everything is to be recorded.
    pub(super) fn run(
        &self,
        arguments: &Arguments,
        place: Served<'_>,
        clock: Clock,
    ) -> anyhow::Result<Option<Exit>> {
        match self {
            Self::Record => Ok(None),
            Self::Play(path) => {
                log::flow();
                play(path, arguments, place, clock).map(Some)
            }
            Self::Extend(path) => {
                log::flow();
                extend(path, arguments, place, clock).map(Some)
            }
        }
    }
}

/// The endpoints, the faults, and the observers.
#[derive(Clone, Copy)]
pub(super) struct Served<'a> {
    pub(super) way: &'a Endpoints<'a>,
    pub(super) fault_set: &'a Arc<FaultSet>,
    pub(super) control: Option<&'a Control>,
}

/// Whether a name can be that of a cassette.
fn is_cassette(path: &Path) -> bool {
    let name = path.to_string_lossy();
    !output::is_folder_name(path) && !name.ends_with(".tape.jsonl") && !path.is_dir()
}

fn play(
    path: &Path,
    arguments: &Arguments,
    place: Served<'_>,
    clock: Clock,
) -> anyhow::Result<Exit> {
    let (cassette, tally) = cassette(path, arguments, clock)?;
    let index = Arc::clone(&cassette.1);
    let exit = serve(place, Arc::new(cassette.0), arguments, clock)?;
    let report = tally.report(&index);
    replay::conclude(&report, None, arguments.verbose)?;
    Ok(if report.missed > 0 { Exit::Fail } else { exit })
}

fn extend(
    path: &Path,
    arguments: &Arguments,
    place: Served<'_>,
    clock: Clock,
) -> anyhow::Result<Exit> {
    let way = place.way;
    episodes::recover(path, arguments.cassette_times);
    let ((cassette, index), _) = cassette(path, arguments, clock)?;
    // New exchanges are later than recorded ones.
    let live_clock = clock.put_forward(index.script().length());
    let fresh = NewEpisodes::start(path, arguments, way, live_clock)?;
    let live = way.upstream(&arguments.http, arguments.max_message)?;
    let tapped = Tapped::new(live, fresh.recorder(), live_clock);
    let episodes = Arc::new(Episodes::new(cassette, Arc::new(tapped)));
    let served = serve(
        place,
        Arc::clone(&episodes) as Arc<dyn Upstream>,
        arguments,
        clock,
    );
    let whole = fresh.finish(path, episodes.asked(), arguments)?;
    let exit = served?;
    Ok(if whole { exit } else { Exit::Inconclusive })
}

type Loaded = (CassetteUpstream, Arc<Index>);

/// The cassette, as a server.
fn cassette(
    path: &Path,
    arguments: &Arguments,
    clock: Clock,
) -> anyhow::Result<(Loaded, Arc<Tally>)> {
    let script = replay::load(path)?;
    if script.kind() != FileKind::Cassette {
        let shown = report::safe(&path.display().to_string());
        let what = format!(
            "`{shown}` is a {}, but `--mode` needs a cassette",
            script.kind().name()
        );
        let hint = "convert it with `tapewright export TAPE --as cassette -o FILE`";
        return Err(Mistake::new(what, hint).into());
    }
    let rules = super::settings::rules(arguments, None)?();
    let options = Options {
        paths: arguments.mapping.paths(&script)?,
        ..Options::new(rules)
    };
    let index = Arc::new(Index::new(Arc::new(script), Arc::new(options)));
    let tally = Arc::new(replay::tally(arguments.verbose));
    let upstream = CassetteUpstream::new(Arc::clone(&index), Arc::clone(&tally), clock);
    Ok(((upstream, index), tally))
}

/// Serves until the client leaves, or a signal ends it.
fn serve(
    place: Served<'_>,
    upstream: Arc<dyn Upstream>,
    arguments: &Arguments,
    clock: Clock,
) -> anyhow::Result<Exit> {
    let Served {
        way,
        fault_set,
        control,
    } = place;
    let label = arguments.label.clone().unwrap_or_else(|| way.label());
    let is_redacted = !arguments.redaction.is_off();
    let run = UnrecordedRun {
        label: &label,
        transport: way.transport(),
        redacted: is_redacted,
        limit_bytes: arguments.max_message,
        rules: Box::new(|| Ok(super::settings::rules(arguments, None)?())),
    };
    let beside = PageSources::new(fault_set, control, None);
    let readers = Readers {
        page: &arguments.page,
        otlp: &arguments.otlp,
        destination: arguments.otlp.destination(is_redacted)?,
        beside: &beside,
    };
    let running = readers.start_unrecorded(run, clock)?;
    let recorder = Arc::clone(&running.recorder);
    let Some(listen) = way.listen() else {
        let outcome = stdio::run(&*upstream, &faults::policy(fault_set), &recorder, clock);
        running.end(arguments.verbose);
        return Ok(exit_of(outcome.context("cannot serve")?.exit));
    };
    let settings = arguments.http.listening.front(arguments.max_message)?;
    let (place, tls) = arguments.http.listening.place(listen)?;
    let path = settings.path.clone();
    let behind = Behind {
        upstream,
        policy: faults::policy(fault_set),
        recorder: Arc::clone(&recorder),
        clock,
    };
    let served = front::run(settings, place, tls, behind, |reached| {
        gateway::announce(reached, &path, None);
    });
    running.end(arguments.verbose);
    gateway::conclude(served, &recorder, "cannot serve")
}
