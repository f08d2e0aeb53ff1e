//! The command line.

use std::path::PathBuf;
use std::time::{Duration, SystemTime};

use clap::{Args, Parser, Subcommand, ValueEnum};

use tapewright_fleet::clock;
use tapewright_fleet::names::{Gateway, Kind};
use tapewright_fleet::ship::WhenFull;
use tapewright_fleet::store::StoreLocation;

use crate::command::Priority;

/// Ship the tapes of many recorders to one store, and bring them back
#[derive(Debug, Parser)]
#[command(name = "tapewright-fleet", version, max_term_width = 100)]
pub(crate) struct Cli {
    #[command(subcommand)]
    pub(crate) command: Command,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    Ship(Ship),
    Tail(Tail),
    Ls(Ls),
    Fetch(Fetch),
    Query(Query),
    Sweep(Sweep),
    Scrub(Scrub),
}

/// Follow the tapes of a folder and ship them to a store
///
/// Runs until it is stopped; SIGTERM and SIGINT ship the rest first. You can kill it at any time: nothing is lost or shipped twice.
#[derive(Debug, Args)]
pub(crate) struct Ship {
    /// Folder with the tapes, including subfolders
    pub(crate) folder: PathBuf,
    /// Store, `file:///FOLDER` or `s3://BUCKET/PREFIX`
    #[arg(long, value_name = "URL", env = "TAPEWRIGHT_STORE", value_parser = place)]
    pub(crate) to: StoreLocation,
    /// Name of this machine in the store [default: its host name]
    #[arg(long, value_name = "NAME")]
    pub(crate) gateway: Option<Gateway>,
    /// Ship everything on the disk, and exit
    #[arg(long)]
    pub(crate) once: bool,
    /// Size of a segment, in bytes of the tape
    #[arg(long, value_name = "SIZE", default_value = "8MiB", value_parser = size)]
    pub(crate) segment_bytes: u64,
    /// Longest time until an event is shipped
    #[arg(long, value_name = "DURATION", default_value = "10s", value_parser = duration)]
    pub(crate) segment_age: Duration,
    /// Size limit for the tapes in the folder; finished tapes that are in the store are deleted first
    #[arg(long, value_name = "SIZE", value_parser = size)]
    pub(crate) buffer: Option<u64>,
    /// What to do if they exceed it while the store is unavailable
    #[arg(long, value_name = "WHAT", default_value = "wait", requires = "buffer")]
    pub(crate) when_full: Full,
    /// Lowest priority to run at: 0 to 19 as for `nice`, or `idle` to only use processors that nobody else needs
    #[arg(long, value_name = "LEVEL", default_value = "idle", value_parser = Priority::parse)]
    pub(crate) nice: Priority,
    /// NATS server to announce every segment to, `nats://HOST:PORT/STREAM` or `tls://…`
    ///
    /// Credentials come from the environment: `NATS_CREDS` or `NATS_NKEY`, each the path of a file, or `NATS_USER` with
    /// `NATS_PASSWORD`, or `NATS_TOKEN`.
    #[arg(long, value_name = "URL", env = "TAPEWRIGHT_ANNOUNCE")]
    pub(crate) announce: Option<Server>,
    #[command(flatten)]
    pub(crate) verbosity: Verbosity,
}

/// Where announcements go to and come from.
pub(crate) type Server = tapewright_fleet::announce::Address;

/// Follow the announcements of all shippers
///
/// Runs until it is stopped, and reconnects if the server is unavailable.
#[derive(Debug, Args)]
pub(crate) struct Tail {
    /// NATS server, `nats://HOST:PORT/STREAM` or `tls://…`
    #[arg(long, value_name = "URL", env = "TAPEWRIGHT_ANNOUNCE")]
    pub(crate) announce: Server,
    /// Begin this long ago [default: with new announcements]
    #[arg(long, value_name = "DURATION", value_parser = duration)]
    pub(crate) since: Option<Duration>,
    /// Only segments of this gateway
    #[arg(long, value_name = "NAME")]
    pub(crate) gateway: Option<Gateway>,
    /// Only segments with calls of this tool
    #[arg(long, value_name = "NAME")]
    pub(crate) tool: Option<String>,
    /// Only segments with exchanges of this outcome; `hang` is every outcome that `query --canned hangs` counts
    #[arg(long, value_name = "OUTCOME")]
    pub(crate) outcome: Option<String>,
    /// Exit after this many announcements
    #[arg(long, value_name = "COUNT")]
    pub(crate) count: Option<u64>,
    /// Print a line of JSON for each
    #[arg(long)]
    pub(crate) json: bool,
}

/// The amount and the format of output on stderr.
#[derive(Clone, Copy, Debug, Args)]
pub(crate) struct Verbosity {
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
    /// Also print every segment
    #[arg(short, long)]
    pub(crate) verbose: bool,
}

/// What to do when the buffer is full.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Full {
    /// Report it, and delete nothing that is not in the store
    Wait,
    /// Delete the oldest finished tape, and count what is lost
    DropOldest,
}

impl From<Full> for WhenFull {
    fn from(full: Full) -> Self {
        match full {
            Full::Wait => Self::Wait,
            Full::DropOldest => Self::DropOldest,
        }
    }
}

/// The store that is read.
#[derive(Debug, Args)]
pub(crate) struct At {
    /// Store, `file:///FOLDER` or `s3://BUCKET/PREFIX`
    #[arg(long = "store", value_name = "URL", env = "TAPEWRIGHT_STORE", value_parser = place)]
    pub(crate) place: StoreLocation,
}

/// List the tapes of a store
#[derive(Debug, Args)]
pub(crate) struct Ls {
    #[command(flatten)]
    pub(crate) at: At,
    /// Only tapes of this gateway
    #[arg(long, value_name = "NAME")]
    pub(crate) gateway: Option<Gateway>,
    /// List files instead: of rows, for other engines that read Parquet, or segments
    #[arg(long, value_name = "KIND", conflicts_with = "json")]
    pub(crate) files: Option<Files>,
    /// Read every entry of each tape, not only the last one
    #[arg(long, conflicts_with = "files")]
    pub(crate) check: bool,
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
}

/// A kind of files in a store.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Files {
    /// One row for each exchange
    Exchanges,
    /// One row for each finding
    Findings,
    /// One row for each call of a model
    ModelCalls,
    /// One row for each definition of a tool
    Tools,
    /// Lines of tapes
    Segments,
}

impl From<Files> for Kind {
    fn from(files: Files) -> Self {
        match files {
            Files::Exchanges => Self::Exchanges,
            Files::Findings => Self::Findings,
            Files::ModelCalls => Self::ModelCalls,
            Files::Tools => Self::Tools,
            Files::Segments => Self::Segment,
        }
    }
}

/// Fetch a tape, byte for byte, ready for `tapewright replay`
#[derive(Debug, Args)]
pub(crate) struct Fetch {
    /// Tape: `GATEWAY/TAPE`, its name alone, or a unique prefix
    pub(crate) tape: String,
    #[command(flatten)]
    pub(crate) at: At,
    /// Folder for the tape
    #[arg(short, long, value_name = "FOLDER")]
    pub(crate) output: PathBuf,
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
}

/// Query the rows of a store with SQL
///
/// The tables are `exchanges`, `findings`, `model_calls`, `tools` and `tapes`; `show columns from exchanges` lists the columns. Only
/// queries are allowed. `$since`, `$until`, `$gateway`, `$tool` and `$server` stand for the values of these options. `fetch` takes the
/// `tape` of a row.
#[derive(Debug, Args)]
#[expect(clippy::struct_excessive_bools, reason = "each is an option")]
#[command(group = clap::ArgGroup::new("question").required(true))]
pub(crate) struct Query {
    /// Query in SQL
    #[arg(group = "question")]
    pub(crate) sql: Option<String>,
    /// Run a predefined query
    #[arg(long, value_name = "NAME", group = "question")]
    pub(crate) canned: Option<Canned>,
    #[command(flatten)]
    pub(crate) at: At,
    #[command(flatten)]
    pub(crate) conditions: Conditions,
    /// Print the query without running it
    #[arg(long)]
    pub(crate) show_sql: bool,
    /// Print a line of JSON for each row
    #[arg(long, conflicts_with = "csv")]
    pub(crate) json: bool,
    /// Print CSV
    #[arg(long)]
    pub(crate) csv: bool,
    /// Memory to sort, group and join; beyond that, temporary files are used
    #[arg(long, value_name = "SIZE", default_value = "512MiB", value_parser = memory)]
    pub(crate) memory: usize,
    /// Time limit
    #[arg(long, value_name = "DURATION", default_value = "5m", value_parser = duration)]
    pub(crate) timeout: Duration,
    /// Print how much was read to stderr
    #[arg(short, long)]
    pub(crate) verbose: bool,
}

/// Which rows a predefined query reads; parameters of your own query.
#[derive(Debug, Args)]
pub(crate) struct Conditions {
    /// Only rows from this time on, such as `2026-11-26T03:00:00Z`, or a duration ago, such as `7d`
    #[arg(long, value_name = "TIME", value_parser = time)]
    pub(crate) since: Option<When>,
    /// Only rows before this time, or before a duration ago
    #[arg(long, value_name = "TIME", value_parser = time)]
    pub(crate) until: Option<When>,
    /// Only rows of this gateway
    #[arg(long, value_name = "NAME")]
    pub(crate) gateway: Option<Gateway>,
    /// Only calls of this tool
    #[arg(long, value_name = "NAME")]
    pub(crate) tool: Option<String>,
    /// Only rows of the server with this name
    #[arg(long, value_name = "NAME")]
    pub(crate) server: Option<String>,
}

/// A time, or how long ago it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum When {
    At(SystemTime),
    Ago(Duration),
}

/// A predefined query.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Canned {
    /// Which tools hang, at which server version, since when
    Hangs,
    /// Latency of tools
    Slow,
    /// Which tools changed in failure rate, latency or definition, between versions or recordings of their server
    Drift,
    /// Findings, and how often
    Findings,
    /// Tokens and cost of model calls, by day
    Cost,
}

/// Remove old tapes from a store, and leftovers of killed shippers
///
/// Without `--older-than` and `--max-size` it removes only leftovers: segments without an entry.
#[derive(Debug, Args)]
pub(crate) struct Sweep {
    #[command(flatten)]
    pub(crate) at: At,
    /// Remove tapes that were last shipped this long ago
    #[arg(long, value_name = "DURATION", value_parser = duration)]
    pub(crate) older_than: Option<Duration>,
    /// Remove the oldest tapes until the rest fits
    #[arg(long, value_name = "SIZE", value_parser = size)]
    pub(crate) max_size: Option<u64>,
    /// Remove segments without an entry after this time, at least one hour
    #[arg(long, value_name = "DURATION", default_value = "24h", value_parser = duration)]
    pub(crate) orphans_after: Duration,
    /// Print what would be removed, without removing it
    #[arg(long)]
    pub(crate) dry_run: bool,
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
}

/// Remove secrets from a store, with rules that are newer than its tapes
///
/// Each segment with a secret is rewritten without it, with its rows, and the old one is removed. You can stop it at any time and run it
/// again. Give recorders the same rules first.
#[derive(Debug, Args)]
pub(crate) struct Scrub {
    #[command(flatten)]
    pub(crate) at: At,
    /// Only tapes of this gateway
    #[arg(long, value_name = "NAME")]
    pub(crate) gateway: Option<Gateway>,
    /// Redact values of this member or header; repeatable
    #[arg(long, value_name = "NAME")]
    pub(crate) redact_key: Vec<String>,
    /// Redact matches of this regular expression, or of its group if it has one; repeatable
    #[arg(long, value_name = "REGEX")]
    pub(crate) redact_pattern: Vec<String>,
    /// Redact the value of this environment variable; repeatable
    #[arg(long, value_name = "NAME")]
    pub(crate) redact_env: Vec<String>,
    /// Print what would be replaced, without changing it
    #[arg(long)]
    pub(crate) dry_run: bool,
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
}

fn place(url: &str) -> Result<StoreLocation, String> {
    StoreLocation::read(url).map_err(|error| error.to_string())
}

/// Reads `64MiB`, `10MB`, `512K` or a number of bytes, as `tapewright` does.
fn size(text: &str) -> Result<u64, String> {
    let (number, unit) = parts(text);
    let factor: u64 = match unit.to_ascii_lowercase().as_str() {
        "" | "b" => 1,
        "k" | "kib" => 1 << 10,
        "kb" => 1_000,
        "m" | "mib" => 1 << 20,
        "mb" => 1_000_000,
        "g" | "gib" => 1 << 30,
        "gb" => 1_000_000_000,
        "t" | "tib" => 1 << 40,
        "tb" => 1_000_000_000_000,
        _ => return Err(SIZE.to_owned()),
    };
    let size = number.and_then(|number| number.checked_mul(factor));
    size.filter(|size| *size > 0).ok_or_else(|| SIZE.to_owned())
}

/// Reads `500ms`, `10s`, `5m`, `24h` or `30d`.
fn duration(text: &str) -> Result<Duration, String> {
    let (number, unit) = parts(text);
    let factor: u64 = match unit {
        "ms" => 1,
        "s" => 1_000,
        "m" => 60_000,
        "h" => 3_600_000,
        "d" => 86_400_000,
        _ => return Err(DURATION.to_owned()),
    };
    let millis = number.and_then(|number| number.checked_mul(factor));
    let time = millis
        .filter(|millis| *millis > 0)
        .map(Duration::from_millis);
    time.ok_or_else(|| DURATION.to_owned())
}

/// Reads a size of memory, which is no smaller than what the engine needs for itself.
fn memory(text: &str) -> Result<usize, String> {
    let size = size(text)?;
    let size = usize::try_from(size).map_err(|_| SIZE.to_owned())?;
    if size < LEAST_MEMORY {
        return Err("expected 64MiB or more".to_owned());
    }
    Ok(size)
}

const LEAST_MEMORY: usize = 64 << 20;

/// Reads a time, or how long ago it is.
fn time(text: &str) -> Result<When, String> {
    if let Some(time) = clock::parse(text.trim()) {
        return Ok(When::At(time));
    }
    let ago = duration(text).map(When::Ago);
    ago.map_err(|_| TIME.to_owned())
}

const TIME: &str =
    "expected a time such as `2026-11-26T03:00:00Z`, or how long ago it is, such as `24h` or `7d`";
const SIZE: &str = "expected a size such as `65536`, `512KiB` or `64MiB`";
const DURATION: &str = "expected a duration such as `200ms`, `10s`, `24h` or `30d`";

/// The number at the start of a text, and what follows it.
fn parts(text: &str) -> (Option<u64>, &str) {
    let text = text.trim();
    let digits = text.bytes().take_while(u8::is_ascii_digit).count();
    let (number, unit) = text.split_at_checked(digits).unwrap_or_default();
    (number.parse().ok(), unit.trim())
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory as _;

    use super::*;

    #[test]
    fn the_command_line_is_consistent() {
        Cli::command().debug_assert();
    }

    #[test]
    fn a_time_is_told_or_counted_back() {
        let read = |text| time(text).ok();
        let day = Duration::from_secs(86_400);
        assert_eq!(read("7d"), Some(When::Ago(7 * day)));
        let at = SystemTime::UNIX_EPOCH + day;
        for text in ["1970-01-02T00:00:00Z", " 1970-01-02T02:00:00+02:00"] {
            assert_eq!(read(text), Some(When::At(at)), "{text}");
        }
        for text in ["", "yesterday", "1970-01-02", "7", "0d"] {
            assert_eq!(read(text), None, "{text}");
        }
    }

    #[test]
    fn sizes_and_durations_are_what_people_write() {
        assert_eq!(size("64MiB"), Ok(64 << 20));
        assert_eq!(size(" 3 k "), Ok(3_072));
        assert_eq!(duration("250ms"), Ok(Duration::from_millis(250)));
        assert_eq!(duration("30d"), Ok(Duration::from_secs(30 * 86_400)));
        for text in [
            "",
            "0",
            "-1",
            "1.5M",
            "1X",
            "MiB",
            "99999999999999999999",
            "99999999999G",
        ] {
            assert!(size(text).is_err(), "{text}");
        }
        for text in ["", "5", "0s", "5x", "s", "1.5s", "99999999999999999999d"] {
            assert!(duration(text).is_err(), "{text}");
        }
    }
}
