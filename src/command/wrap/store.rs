//! Stores what `unwrap` needs, in our state folder.
//!
//! Each file of a client has one file here for each place in it, readable by its owner only. It has
//! the original `command`, `args` and `url`, which may contain a secret; that is why they are not
//! kept in the client's file, which may be under version control. The backup has the whole file
//! before the first change; both are removed once nothing is wrapped any more.

use std::fs;
use std::io::Write as _;
use std::path::{Path, PathBuf};

use anyhow::Context as _;
use serde::{Deserialize, Serialize};
use tapewright_clients::OriginalEntry;

use crate::command::record::target;
use crate::files::{NewFile, unreadable};

use super::files::ClientFile;

/// What is stored for a file.
pub(super) struct Store {
    path: PathBuf,
    backup: PathBuf,
    contents: Contents,
}

#[derive(Serialize, Deserialize)]
struct Contents {
    version: u32,
    client: String,
    file: String,
    servers: Vec<OriginalEntry>,
    /// The hash of the servers, so that nothing damaged is written to a client's file.
    hash: String,
}

const VERSION: u32 = 1;

impl Store {
    /// Reads what is stored for a file.
    pub(super) fn of(file: &ClientFile) -> anyhow::Result<Self> {
        let folder = target::home()?.join("wrapped");
        let named = file.path.display().to_string();
        let place = file.servers.concat().join("/");
        let hash = hash(format!("{named}\n{place}").as_bytes());
        let name = format!("{}-{}-{hash}", file.client.id, file.scope.name());
        let path = folder.join(format!("{name}.json"));
        let contents = match fs::read(&path) {
            Ok(bytes) => read(&bytes).ok_or_else(|| {
                let hint = "it is damaged or from a later version; restore the entries by hand and delete it";
                unreadable(&path, "not written by `wrap`", hint)
            })?,
            Err(_) => Contents {
                version: VERSION,
                client: file.client.id.to_owned(),
                file: named,
                servers: Vec::new(),
                hash: String::new(),
            },
        };
        Ok(Self {
            backup: folder.join(format!("{name}.backup")),
            path,
            contents,
        })
    }

    /// The stored entry of a server.
    pub(super) fn kept(&self, name: &str) -> Option<&OriginalEntry> {
        let mut servers = self.contents.servers.iter();
        servers.find(|kept| kept.name == name)
    }

    /// The servers for which something is stored, without these.
    pub(super) fn without(&self, names: &[String]) -> Vec<String> {
        let kept = self.contents.servers.iter().map(|kept| &kept.name);
        kept.filter(|name| !names.contains(name)).cloned().collect()
    }

    /// The client's file as it was before the first change.
    pub(super) fn backup(&self) -> &Path {
        &self.backup
    }

    /// Whether nothing is stored.
    pub(super) fn is_empty(&self) -> bool {
        self.contents.servers.is_empty()
    }

    pub(super) fn keep(&mut self, kept: OriginalEntry) {
        self.forget(&kept.name);
        self.contents.servers.push(kept);
    }

    pub(super) fn forget(&mut self, name: &str) {
        self.contents.servers.retain(|kept| kept.name != name);
    }

    /// Saves the file as it was before the first change.
    pub(super) fn back_up(&self, text: &str) -> anyhow::Result<()> {
        if self.path.exists() || self.is_empty() {
            return Ok(());
        }
        self.folder()?;
        write(&self.backup, text.as_bytes())
    }

    /// Writes it.
    pub(super) fn save(&self) -> anyhow::Result<()> {
        self.folder()?;
        let contents = Contents {
            version: VERSION,
            client: self.contents.client.clone(),
            file: self.contents.file.clone(),
            servers: self.contents.servers.clone(),
            hash: hash(&serde_json::to_vec(&self.contents.servers)?),
        };
        let text = serde_json::to_string_pretty(&contents)?;
        write(&self.path, text.as_bytes())
    }

    /// Removes the store once nothing is wrapped any more.
    pub(super) fn remove(&self) {
        // Missing files need no removal.
        fs::remove_file(&self.path).ok();
        fs::remove_file(&self.backup).ok();
    }

    fn folder(&self) -> anyhow::Result<()> {
        let folder = self.path.parent().unwrap_or(&self.path);
        fs::create_dir_all(folder).context("cannot create the state folder")
    }
}

fn write(path: &Path, bytes: &[u8]) -> anyhow::Result<()> {
    let mut file = NewFile::create(path)?;
    file.writer().write_all(bytes)?;
    file.commit(None)
}

fn read(bytes: &[u8]) -> Option<Contents> {
    let contents: Contents = serde_json::from_slice(bytes).ok()?;
    let servers = serde_json::to_vec(&contents.servers).ok()?;
    (contents.version == VERSION && contents.hash == hash(&servers)).then_some(contents)
}

/// FNV-1a of 64 bits: detects damage, not manipulation.
fn hash(bytes: &[u8]) -> String {
    let mut hash: u64 = 0xcbf2_9ce4_8422_2325;
    for byte in bytes {
        hash = (hash ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3);
    }
    format!("{hash:016x}")
}
