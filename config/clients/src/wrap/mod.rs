//! Putting the recorder in front of a server.

mod by_hand;
mod change;

use serde::{Deserialize, Serialize};

use crate::document::{Document, Entry, Process, Server, Transport};
use crate::edit::{Edit, apply, in_order, list, quoted};
use crate::node::Node;
use crate::refusal::{Refusal, RefusalReason};

use self::change::Change;

/// How servers are recorded.
#[derive(Clone, Debug)]
pub struct RecordOptions {
    /// The recorder.
    pub program: String,
    /// The options of `record`.
    pub options: Vec<String>,
    /// The URL of a gateway, which replaces the server's own.
    pub gateway: Option<String>,
}

impl RecordOptions {
    /// Whether an entry is recorded with these options.
    #[must_use]
    pub fn are_of(&self, transport: &Transport) -> bool {
        match (transport, &self.gateway) {
            (Transport::Remote { url }, Some(gateway)) => url == gateway,
            (Transport::Process { arguments, .. }, None) => {
                let mut words = arguments.iter().skip(1);
                self.options.iter().all(|word| words.next() == Some(word))
                    && words.next().is_some_and(|word| word == "--")
            }
            _ => false,
        }
    }
}

/// The result of wrapping.
pub enum Wrapped {
    /// The entry already starts the recorder.
    Already,
    /// The changes to the file, and the data to keep for unwrapping.
    Changed(Vec<Edit>, OriginalEntry),
}

/// The data for unwrapping. It contains the original text, which may be a secret.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct OriginalEntry {
    /// The server.
    pub name: String,
    /// The replaced slices, in the order of the file.
    pub slices: Vec<Slice>,
}

/// A replaced part of an entry.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Slice {
    /// The path of the entry's members that contain the part.
    pub path: Vec<String>,
    /// Where it begins in its first member.
    pub from: Part,
    /// The members in the new part, and their meanings.
    pub members: Vec<(String, Meaning)>,
    /// The original text.
    pub original: String,
    /// The new text.
    pub ours: String,
}

/// The part of a member where a slice begins. It ends with a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Part {
    /// Beginning with the name.
    Key,
    /// Beginning after the name.
    KeyEnd,
    /// Beginning with the value.
    Value,
}

/// The meaning of a value.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum Meaning {
    /// A text.
    Text(String),
    /// A list of texts.
    List(Vec<String>),
}

impl Meaning {
    pub(crate) fn is_of(&self, node: &Node) -> bool {
        match self {
            Self::Text(text) => node.text() == Some(text),
            Self::List(texts) => node.texts().as_ref() == Some(texts),
        }
    }

    fn written(&self) -> String {
        match self {
            Self::Text(text) => quoted(text),
            Self::List(texts) => list(texts),
        }
    }
}

impl Document<'_> {
    /// Returns the edits that put the recorder in front of a server.
    ///
    /// # Errors
    ///
    /// A [`Refusal`] with the change to make by hand, if the entry cannot be changed without
    /// changing anything else, or a possible secret would have to be copied.
    pub fn wrap(&self, name: &str, how: &RecordOptions) -> Result<Wrapped, Refusal> {
        let refuse = |why: RefusalReason| self.refusal(why, how);
        let entry = self.entry(name).map_err(refuse)?;
        if let Ok(Some(process)) = self.process(entry.node)
            && process.is_recorder()
        {
            return Ok(Wrapped::Already);
        }
        let changes = self.changes(&entry, how).map_err(refuse)?;
        let kept = OriginalEntry {
            name: name.to_owned(),
            slices: changes.iter().map(|change| self.kept(change)).collect(),
        };
        let edits = changes
            .into_iter()
            .map(|change| self.edit(&change.range, change.new));
        let edits = in_order(edits.collect()).ok_or_else(|| refuse(RefusalReason::Unsure))?;
        if !self.holds(&edits, &kept, how) {
            return Err(refuse(RefusalReason::Unsure));
        }
        Ok(Wrapped::Changed(edits, kept))
    }

    fn changes(
        &self,
        entry: &Entry<'_>,
        how: &RecordOptions,
    ) -> Result<Vec<Change>, RefusalReason> {
        if let Some(held) = entry.held {
            return Err(RefusalReason::NotReplaceable(held));
        }
        let process = self.process(entry.node)?;
        let remote = self.remote(entry.node)?;
        match (process, remote) {
            (Some(_), Some(url)) => Err(RefusalReason::Both(
                self.client.shape.command.member().to_owned(),
                url.key.clone(),
            )),
            (Some(_), None) if how.gateway.is_some() => Err(RefusalReason::NotRemote),
            (Some(process), None) => self.process_changes(&process, how),
            (None, Some(url)) => self.remote_changes(entry.node, url, how),
            (None, None) => Err(RefusalReason::NoProcess),
        }
    }

    fn kept(&self, change: &Change) -> Slice {
        Slice {
            path: change.path.clone(),
            from: change.from,
            members: change.members.clone(),
            original: self.slice(&change.range).to_owned(),
            ours: change.new.clone(),
        }
    }

    /// Whether the changed file has the wrapped command, and can be restored.
    fn holds(&self, edits: &[Edit], kept: &OriginalEntry, how: &RecordOptions) -> bool {
        let marked = "\u{feff}".repeat(usize::from(self.mark > 0)) + self.body;
        let changed = apply(&marked, edits);
        let read = Self::read_like(self, &changed);
        let Ok(after) = read else { return false };
        let servers = after.servers();
        let mut same = servers.iter().filter(|server| server.name == kept.name);
        let means = match (same.next().map(|server| &server.transport), &how.gateway) {
            (Some(Transport::Remote { url }), Some(gateway)) => url == gateway,
            (Some(Transport::Process { program, arguments }), None) => {
                *program == how.program && arguments.first().is_some_and(|word| word == "record")
            }
            _ => false,
        };
        let names = |servers: &[Server]| -> Vec<String> {
            servers.iter().map(|server| server.name.clone()).collect()
        };
        means
            && names(&servers) == names(&self.servers())
            && after
                .unwrap(kept)
                .is_ok_and(|restored| apply(&changed, &restored.edits) == marked)
    }

    fn read_like<'n>(like: &Self, text: &'n str) -> Result<Document<'n>, RefusalReason> {
        Document::read(like.client, like.format, &like.servers, text)
    }
}

impl Process<'_> {
    /// Whether it is the recorder itself.
    fn is_recorder(&self) -> bool {
        let Some((program, arguments)) = self.words.split_first() else {
            return false;
        };
        let process = Transport::Process {
            program: program.clone(),
            arguments: arguments.to_vec(),
        };
        process.is_recorder()
    }
}
