//! Names of gateways, tapes and objects of the store, and their validation.
//!
//! ```text
//! manifests/GATEWAY/TAPE/START.json           one entry; its name is accepted once
//! manifests/GATEWAY/TAPE/START.VERSION.json   one that supersedes it; the highest version counts
//! segments/DATE/GATEWAY/TAPE-START-UUID.jsonl.zst   lines of one tape, under a unique name
//! exchanges/DATE/GATEWAY/TAPE-START-UUID.parquet    rows of exchanges settled within these lines
//! findings/DATE/GATEWAY/TAPE-START-UUID.parquet     rows of findings among these lines
//! model_calls/DATE/GATEWAY/TAPE-START-UUID.parquet  rows of model calls that ended within these lines
//! tools/DATE/GATEWAY/TAPE-START-UUID.parquet        rows of definitions of tools listed within these lines
//! ```
//!
//! Anyone who can write to a bucket can use any name there, so names are only used after this
//! module has parsed them.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};
use uuid::Uuid;

/// The folder of the entries.
pub const MANIFESTS: &str = "manifests";

/// The folder of the probes, one for each gateway, which prove that the store accepts a name only
/// once.
pub const PROBES: &str = "probes";

/// The longest name of a gateway.
const GATEWAY_LIMIT: usize = 64;
/// How many hexadecimal digits of the hash of its first line a tape's name has.
const HASH: usize = 20;
/// How many digits an offset has in a name, so that names sort as offsets do.
const DIGITS: usize = 20;
/// How many tapes may have the same first line.
pub const COPIES: u32 = 1_000;

/// Why a text is not a valid name.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum NameError {
    /// Of a gateway.
    #[error(
        "invalid gateway name; use at most {GATEWAY_LIMIT} of `a-z A-Z 0-9 - _ .`, and begin with a letter or a digit"
    )]
    Gateway,
    /// Of a tape.
    #[error("invalid tape name; `ls` lists those of a store")]
    Tape,
    /// Of an object in the store.
    #[error("not a name that `ship` writes")]
    Object,
}

/// The name of a machine, or of anything else with a folder of tapes.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct Gateway(String);

impl Gateway {
    /// From the name of a machine, with invalid characters replaced.
    #[must_use]
    pub fn of_host(host: &str) -> Self {
        let plain = |char: char| if is_plain(char) { char } else { '-' };
        let name: String = host.chars().map(plain).take(GATEWAY_LIMIT).collect();
        let name = name.trim_start_matches(['-', '_', '.']);
        Self(if name.is_empty() { "gateway" } else { name }.to_owned())
    }

    /// The name.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

fn is_plain(char: char) -> bool {
    char.is_ascii_alphanumeric() || "-_.".contains(char)
}

impl FromStr for Gateway {
    type Err = NameError;

    fn from_str(name: &str) -> Result<Self, NameError> {
        let begins = name.starts_with(|char: char| char.is_ascii_alphanumeric());
        let is_name = begins && name.len() <= GATEWAY_LIMIT && name.chars().all(is_plain);
        is_name
            .then(|| Self(name.to_owned()))
            .ok_or(NameError::Gateway)
    }
}

impl TryFrom<String> for Gateway {
    type Error = NameError;

    fn try_from(name: String) -> Result<Self, NameError> {
        name.parse()
    }
}

impl From<Gateway> for String {
    fn from(name: Gateway) -> Self {
        name.0
    }
}

impl fmt::Display for Gateway {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(&self.0)
    }
}

/// The identity of a tape, independent of its file: when it began, and the hash of its first line.
/// Another tape with the same first line gets a number.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct TapeId {
    time: String,
    hash: String,
    copy: u32,
}

impl TapeId {
    /// For a tape that began at a time (RFC 3339), with this hash of its first line, in hexadecimal
    /// digits.
    #[must_use]
    pub fn new(created: &str, hash: &str) -> Self {
        let second = created.split(['.', 'Z']).next().unwrap_or_default();
        let time: String = second
            .chars()
            .filter(|char| !matches!(char, '-' | ':'))
            .collect();
        let time = format!("{time}Z");
        Self {
            time: if is_time(&time) {
                time
            } else {
                NO_TIME.to_owned()
            },
            hash: hash.chars().take(HASH).collect(),
            copy: 1,
        }
    }

    /// When it began, to the second, in RFC 3339; `None` if its first line does not say.
    #[must_use]
    pub fn begun(&self) -> Option<String> {
        let (date, time) = self.time.split_once('T')?;
        let (year, month, day) = (date.get(..4)?, date.get(4..6)?, date.get(6..)?);
        let (hour, minute, second) = (time.get(..2)?, time.get(2..4)?, time.get(4..6)?);
        (self.time != NO_TIME).then(|| format!("{year}-{month}-{day}T{hour}:{minute}:{second}Z"))
    }

    /// The name of the `copy`th tape with this first line, counted from 1.
    #[must_use]
    pub fn copy(&self, copy: u32) -> Self {
        Self {
            copy,
            ..self.clone()
        }
    }
}

const NO_TIME: &str = "00000000T000000Z";

/// Whether a text has the form of `20261126T031500Z`.
fn is_time(text: &str) -> bool {
    text.len() == NO_TIME.len()
        && text
            .bytes()
            .zip(NO_TIME.bytes())
            .all(|(byte, form)| match form {
                b'0' => byte.is_ascii_digit(),
                _ => byte == form,
            })
}

fn is_hex(text: &str) -> bool {
    text.bytes()
        .all(|byte| byte.is_ascii_digit() || (b'a'..=b'f').contains(&byte))
}

impl FromStr for TapeId {
    type Err = NameError;

    fn from_str(name: &str) -> Result<Self, NameError> {
        let (time, rest) = name.split_once('-').ok_or(NameError::Tape)?;
        let (hash, copy) = match rest.split_once('.') {
            Some((hash, copy)) => (hash, number(copy).ok_or(NameError::Tape)?),
            None => (rest, 1),
        };
        let is_copy = (1..=u64::from(COPIES)).contains(&copy) && (copy > 1) == rest.contains('.');
        if !is_time(time) || hash.len() != HASH || !is_hex(hash) || !is_copy {
            return Err(NameError::Tape);
        }
        Ok(Self {
            time: time.to_owned(),
            hash: hash.to_owned(),
            copy: u32::try_from(copy).map_err(|_| NameError::Tape)?,
        })
    }
}

/// Parses a number in its only valid spelling.
fn number(text: &str) -> Option<u64> {
    let number: u64 = text.parse().ok()?;
    (number.to_string() == text).then_some(number)
}

impl TryFrom<String> for TapeId {
    type Error = NameError;

    fn try_from(name: String) -> Result<Self, NameError> {
        name.parse()
    }
}

impl From<TapeId> for String {
    fn from(id: TapeId) -> Self {
        id.to_string()
    }
}

impl fmt::Display for TapeId {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "{}-{}", self.time, self.hash)?;
        if self.copy > 1 {
            write!(out, ".{}", self.copy)?;
        }
        Ok(())
    }
}

/// A tape in a store.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct TapeName {
    /// The gateway that shipped it.
    pub gateway: Gateway,
    /// Its identity.
    pub id: TapeId,
}

impl TapeName {
    /// The folder of its entries.
    #[must_use]
    pub fn folder(&self) -> String {
        format!("{MANIFESTS}/{}/{}", self.gateway, self.id)
    }
}

impl fmt::Display for TapeName {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "{}/{}", self.gateway, self.id)
    }
}

/// The name of an entry: the tape, and the first byte.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct EntryName {
    /// The tape.
    pub tape: TapeName,
    /// Where its range begins.
    pub start: u64,
    /// How many entries of the same range it supersedes; 0 is what a shipper writes.
    pub version: u32,
}

impl EntryName {
    /// The name of a shipper's entry.
    #[must_use]
    pub fn first(tape: &TapeName, start: u64) -> Self {
        Self {
            tape: tape.clone(),
            start,
            version: 0,
        }
    }

    /// The name of the entry that supersedes this one.
    #[must_use]
    pub fn next(&self) -> Self {
        Self {
            version: self.version.saturating_add(1),
            ..self.clone()
        }
    }

    /// Whether another name has the same range.
    #[must_use]
    pub fn is_of_same(&self, other: &Self) -> bool {
        (&self.tape, self.start) == (&other.tape, other.start)
    }

    /// Sorts names, and keeps only the latest version of each range.
    pub fn keep_latest(names: &mut Vec<Self>) {
        names.sort_by(|a, b| b.cmp(a));
        names.dedup_by(|next, last| next.is_of_same(last));
        names.reverse();
    }

    /// Its path in the store.
    #[must_use]
    pub fn path(&self) -> String {
        let (folder, start) = (self.tape.folder(), self.start);
        match self.version {
            0 => format!("{folder}/{start:0DIGITS$}.json"),
            version => format!("{folder}/{start:0DIGITS$}.{version}.json"),
        }
    }

    /// Parses the path of an entry.
    pub fn read(path: &str) -> Result<Self, NameError> {
        let parts: Vec<&str> = path.split('/').collect();
        let [MANIFESTS, gateway, id, file] = parts.as_slice() else {
            return Err(NameError::Object);
        };
        let digits = file.strip_suffix(".json").ok_or(NameError::Object)?;
        let (digits, version) = match digits.split_once('.') {
            None => (digits, 0),
            Some((digits, version)) => (digits, number(version).ok_or(NameError::Object)?),
        };
        let tape = TapeName {
            gateway: gateway.parse()?,
            id: id.parse()?,
        };
        let name = Self {
            tape,
            start: offset(digits).ok_or(NameError::Object)?,
            version: u32::try_from(version).map_err(|_| NameError::Object)?,
        };
        // Each name has one spelling.
        (name.path() == path)
            .then_some(name)
            .ok_or(NameError::Object)
    }
}

/// An offset in a name.
fn offset(digits: &str) -> Option<u64> {
    let is_offset = digits.len() == DIGITS && digits.bytes().all(|byte| byte.is_ascii_digit());
    is_offset.then(|| digits.parse().ok()).flatten()
}

/// The kinds of objects of an entry.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Kind {
    /// Lines of a tape, compressed.
    Segment,
    /// Rows of exchanges.
    Exchanges,
    /// Rows of findings.
    Findings,
    /// Rows of model calls.
    ModelCalls,
    /// Rows of definitions of tools.
    Tools,
}

impl Kind {
    /// Every kind.
    pub const ALL: [Self; 5] = [
        Self::Segment,
        Self::Exchanges,
        Self::Findings,
        Self::ModelCalls,
        Self::Tools,
    ];

    /// The folder of its objects.
    #[must_use]
    pub fn folder(self) -> &'static str {
        match self {
            Self::Segment => "segments",
            Self::Exchanges => "exchanges",
            Self::Findings => "findings",
            Self::ModelCalls => "model_calls",
            Self::Tools => "tools",
        }
    }

    fn ending(self) -> &'static str {
        match self {
            Self::Segment => ".jsonl.zst",
            Self::Exchanges | Self::Findings | Self::ModelCalls | Self::Tools => ".parquet",
        }
    }
}

/// The name of an object of an entry.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ObjectName {
    /// Its kind.
    pub kind: Kind,
    date: String,
    /// The entry that may name it, or one that supersedes it.
    pub of: EntryName,
    uuid: Uuid,
}

impl ObjectName {
    /// The name of a new segment, in the folder of the current day.
    #[must_use]
    pub fn fresh(of: &EntryName) -> Self {
        Self::at(Kind::Segment, of, Uuid::now_v7())
    }

    /// The name of another object made from the same lines.
    #[must_use]
    pub fn of_kind(&self, kind: Kind) -> Self {
        Self {
            kind,
            ..self.clone()
        }
    }

    fn at(kind: Kind, of: &EntryName, uuid: Uuid) -> Self {
        let time = made(uuid).and_then(|millis| jiff::Timestamp::from_millisecond(millis).ok());
        let time = time.unwrap_or_default();
        Self {
            kind,
            date: time.strftime("%Y-%m-%d").to_string(),
            of: EntryName::first(&of.tape, of.start),
            uuid,
        }
    }

    /// Whether both were made from the same range at the same time, so that one entry has both.
    #[must_use]
    pub fn is_made_with(&self, other: &Self) -> bool {
        self.uuid == other.uuid && self.of == other.of
    }

    /// When it was made, in milliseconds since 1970.
    #[must_use]
    pub fn made_ms(&self) -> i64 {
        made(self.uuid).unwrap_or_default()
    }

    /// Its path in the store.
    #[must_use]
    pub fn path(&self) -> String {
        let TapeName { gateway, id } = &self.of.tape;
        let (date, start, uuid) = (&self.date, self.of.start, self.uuid);
        let (folder, ending) = (self.kind.folder(), self.kind.ending());
        format!("{folder}/{date}/{gateway}/{id}-{start:0DIGITS$}-{uuid}{ending}")
    }

    /// Parses the path of an object.
    pub fn read(path: &str) -> Result<Self, NameError> {
        Self::parts(path).ok_or(NameError::Object)
    }

    fn parts(path: &str) -> Option<Self> {
        let parts: Vec<&str> = path.split('/').collect();
        let [folder, _, gateway, file] = parts.as_slice() else {
            return None;
        };
        let kind = Kind::ALL
            .into_iter()
            .find(|kind| kind.folder() == *folder)?;
        let file = file.strip_suffix(kind.ending())?;
        let (file, uuid) = file.split_at_checked(file.len().checked_sub(UUID)?)?;
        let (file, start) = file.strip_suffix('-')?.rsplit_once('-')?;
        let tape = TapeName {
            gateway: gateway.parse().ok()?,
            id: file.parse().ok()?,
        };
        let start = offset(start)?;
        let of = EntryName::first(&tape, start);
        let name = Self::at(kind, &of, uuid.parse().ok()?);
        // Each name has one spelling.
        (name.path() == path).then_some(name)
    }
}

/// Length of a UUID as text.
const UUID: usize = 36;

/// When a UUID of version 7 was made, in milliseconds since 1970.
fn made(uuid: Uuid) -> Option<i64> {
    let (seconds, nanos) = uuid.get_timestamp()?.to_unix();
    let seconds = i64::try_from(seconds).ok()?;
    Some(seconds.checked_mul(1_000)? + i64::from(nanos / 1_000_000))
}

#[cfg(test)]
mod tests;
