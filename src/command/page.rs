//! The page with the recorded or replayed traffic: its options, and its source.

use std::ffi::OsString;
use std::io;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use anyhow::Context as _;
use clap::Args;
use serde_json::{Value, json};
use tapewright_engine::fault::FaultSet;
use tapewright_models::links::PartLinks;
use tapewright_proxy::control::ListenAddress;
use tapewright_proxy::page::{
    self, Drift, Ended, Feed, PageContent, Room, Search, Serving, Source, TapeFilter, Words,
};
use tapewright_proxy::record::Settings;
use tapewright_schemas::event::Offset;
use tapewright_schemas::listing::{Counts, Entry};
use tapewright_schemas::recording::FileKind;
use tapewright_schemas::tape::Header;

use super::faults::Control;
use super::linking;
use crate::files;
use crate::report::page::{End, assets, live_policy, row, without_words};
use crate::report::show::{Closing, Part};
use crate::report::{self, Mistake};

/// Which page to serve.
#[derive(Debug, Args)]
#[command(next_help_heading = "Page")]
pub(crate) struct PageArguments {
    /// Serve a page that shows the traffic, on this port or a free one
    ///
    /// The link to the page, with a token, is printed to stderr.
    #[arg(
        long,
        value_name = "ADDR",
        num_args = 0..=1,
        require_equals = true,
        default_missing_value = ANYWHERE
    )]
    page: Option<String>,
    /// Also show the content of messages on the page, as on the tape
    #[arg(long, requires = "page")]
    page_bodies: bool,
    /// Accept this host name for the page; repeatable
    ///
    /// For example, the name of a reverse proxy in front of it.
    #[arg(long, value_name = "NAME", requires = "page")]
    page_host: Vec<String>,
}

/// Default address of a page.
pub(super) const ANYWHERE: &str = "127.0.0.1:0";

/// A page that is served until it is dropped.
#[derive(Debug)]
pub(crate) struct Page {
    _serving: Serving,
}

/// What a page shows, and how to reach it.
pub(super) struct PageSettings<'s> {
    pub(super) source: Source,
    pub(super) head: Value,
    pub(super) bodies: bool,
    pub(super) long: Option<Duration>,
    pub(super) fault_set: Option<&'s Arc<FaultSet>>,
    pub(super) drift: Option<Arc<dyn Drift>>,
    pub(super) place: &'s str,
    pub(super) option: &'static str,
    pub(super) hosts: &'s [String],
}

/// The running components that a page shows.
pub(crate) struct PageSources<'b> {
    pub(crate) fault_set: &'b Arc<FaultSet>,
    pub(crate) control: Option<&'b Control>,
    /// The drift of a replay.
    pub(crate) drift: Option<Arc<dyn Drift>>,
}

impl<'b> PageSources<'b> {
    pub(crate) fn new(
        fault_set: &'b Arc<FaultSet>,
        control: Option<&'b Control>,
        drift: Option<Arc<dyn Drift>>,
    ) -> Self {
        Self {
            fault_set,
            control,
            drift,
        }
    }
}

impl PageArguments {
    /// Refuses a command that begins with what was meant as the address: `--page 0 -- server`.
    pub(crate) fn check_command(&self, command: &[OsString]) -> anyhow::Result<()> {
        let first = command.first().and_then(|word| word.to_str());
        let Some(first) = first.filter(|word| is_address(word)) else {
            return Ok(());
        };
        if self.page.as_deref() != Some(ANYWHERE) {
            return Ok(());
        }
        let what = format!("`{first}` is not a command; `--page` takes an address only after `=`");
        Err(Mistake::new(what, format!("write `--page={first}`")).into())
    }

    /// Whether a page was requested.
    pub(crate) fn is_asked(&self) -> bool {
        self.page.is_some()
    }

    /// The page of a recorder with these settings; for an agent's recording, with the tapes in its
    /// folder.
    pub(crate) fn of_recorder(
        &self,
        settings: &Settings,
        whole: Option<&Path>,
        beside: &PageSources<'_>,
        long: Option<Duration>,
    ) -> anyhow::Result<Option<Page>> {
        let Some(place) = &self.page else {
            return Ok(None);
        };
        let header = &settings.header;
        refuse_secrets(header.redacted)?;
        let (folder, several) = settings.target.place();
        let mut search = Search {
            folder,
            tapes: TapeFilter::Recorder {
                pid: header.pid,
                created: header.created.clone(),
            },
            several,
        };
        if let Some(folder) = whole {
            search = Search {
                folder: folder.to_owned(),
                tapes: TapeFilter::PartOf(header.part_of.clone()),
                several: true,
            };
        }
        let file = settings.target.tape();
        let page = serve(PageSettings {
            source: Source::Folder(search),
            head: head(file, FileKind::Tape, header),
            bodies: self.page_bodies,
            long,
            fault_set: Some(beside.fault_set),
            drift: beside.drift.clone(),
            place,
            option: "--page",
            hosts: &self.page_host,
        });
        page.map(Some)
    }
}

/// Whether a word is a port, or a host with a port; no program is named like that.
fn is_address(word: &str) -> bool {
    let port = word.strip_prefix("localhost:").unwrap_or(word);
    port.parse::<u16>().is_ok() || word.parse::<SocketAddr>().is_ok()
}

/// Serves a page, and prints its link.
pub(super) fn serve(shows: PageSettings<'_>) -> anyhow::Result<Page> {
    let option = shows.option;
    let mistake = |what: String| Mistake::new(what, format!("name it like `{option}={ANYWHERE}`"));
    let place = ListenAddress::parse(shows.place);
    let place: SocketAddr = match place {
        Ok(ListenAddress::Tcp(address)) => address,
        Ok(ListenAddress::Unix(_)) => {
            let what = format!("`{option}`: browsers cannot open Unix sockets");
            return Err(mistake(what).into());
        }
        Err(error) => return Err(mistake(format!("`{option}`: {error}")).into()),
    };
    let feed = Feed {
        source: shows.source,
        words: Box::new(PageWords {
            bodies: shows.bodies,
        }),
        make: Box::new(|| files::spool().map_err(io::Error::other)),
        room: Room::default(),
        long: shows
            .long
            .and_then(|time| u64::try_from(time.as_micros()).ok())
            .map(Offset),
        bodies: shows.bodies,
    };
    let settings = page::Settings {
        assets: assets(),
        policy: live_policy(),
        head: shows.head,
        names: shows.hosts.to_vec(),
        fault_set: shows.fault_set.cloned(),
        drift: shows.drift,
    };
    let served = PageContent::start(feed).and_then(|shown| page::serve(shown, settings, place));
    let serving = served.with_context(|| mistake("the page could not be served".to_owned()))?;
    report::raw_note(&format!("{}", json!({ "page": serving.link })));
    Ok(Page { _serving: serving })
}

/// The facts about a recording that are known from the start.
pub(super) fn head(file: &Path, kind: FileKind, header: &Header) -> Value {
    let name = file.file_name().unwrap_or_default().to_string_lossy();
    json!({
        "file": name,
        "kind": kind.name(),
        "label": header.label,
        "recorded_at": header.created,
    })
}

/// Refuses unredacted recordings: a page shows the tape's contents, and no secrets.
pub(super) fn refuse_secrets(redacted: bool) -> anyhow::Result<()> {
    if redacted {
        return Ok(());
    }
    let what = "a page cannot show a recording that was made with `--no-redact`";
    let hint =
        "omit `--no-redact` or `--page`; `tapewright scrub FILE` removes secrets from a recording";
    Err(Mistake::new(what, hint).into())
}

/// The texts of a page.
#[derive(Debug)]
struct PageWords {
    bodies: bool,
}

impl Words for PageWords {
    fn row(&self, entry: &Entry, part: Option<&str>) -> String {
        let text = if self.bodies {
            row(entry, part)
        } else {
            without_words(entry, part)
        };
        // It consists of numbers and texts, which JSON can always represent.
        text.unwrap_or_else(|_| "{}".to_owned())
    }

    fn end(&self, parts: &[Ended<'_>], counts: Counts) -> Value {
        let closing = Closing {
            counts,
            parts: parts.iter().map(closing_part).collect(),
            filtered: false,
            wants_times: false,
        };
        let problems: Vec<&str> = parts.iter().filter_map(|part| part.problem).collect();
        let mut end = End {
            text: closing.text(),
            incomplete: closing.is_incomplete(),
        };
        for problem in problems {
            end.text.extend(["; ", &*report::safe(problem)]);
        }
        json!(end)
    }

    fn began_us(&self, created: &str) -> u64 {
        linking::began(created)
    }

    fn links(&self, tapes: &[PathBuf]) -> Vec<PartLinks> {
        // A page without links is better than none.
        linking::of_parts(tapes).unwrap_or_default()
    }
}

fn closing_part<'e>(ended: &Ended<'e>) -> Part<'e> {
    Part {
        name: ended.name.map(str::to_owned),
        kind: FileKind::Tape,
        timed: ended.timed,
        ending: ended.ending,
        last: ended.last,
        written_by: None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_no_program_is_called_counts_as_an_address() {
        for word in [
            "0",
            "4000",
            "127.0.0.1:0",
            "0.0.0.0:80",
            "[::1]:7",
            "localhost:4000",
        ] {
            assert!(is_address(word), "{word}");
        }
        for word in [
            "node",
            "7z",
            "C:\\x",
            "./0",
            "localhost",
            "npx",
            "fs:server",
            "-v",
        ] {
            assert!(!is_address(word), "{word}");
        }
    }

    #[test]
    fn a_command_of_a_server_is_left_alone() {
        let page = |page: Option<&str>| PageArguments {
            page: page.map(str::to_owned),
            page_bodies: false,
            page_host: Vec::new(),
        };
        let words = |text: &str| text.split(' ').map(OsString::from).collect::<Vec<_>>();
        let npx = words("npx -y pkg -- --flag 0");
        assert!(page(Some(ANYWHERE)).check_command(&npx).is_ok());
        assert!(page(Some(ANYWHERE)).check_command(&[]).is_ok());
        assert!(page(None).check_command(&words("0 -v")).is_ok());
        let refused = page(Some(ANYWHERE)).check_command(&words("0 -v -- node"));
        assert!(refused.unwrap_err().to_string().contains("only after `=`"));
    }
}
