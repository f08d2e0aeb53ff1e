//! Fetches a tape: the same bytes, verified by their hashes, in a file for `tapewright replay`.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Write as _};
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::{Path, PathBuf};

use serde::Serialize;

use crate::chain::Chain;
use crate::entry::Ended;
use crate::list::State;
use crate::names::{EntryName, TapeName};
use crate::segment::{UnpackError, unpack};
use crate::store::{Store, StoreError};

/// A fetched tape.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Fetched {
    /// Its gateway.
    pub gateway: String,
    /// Its name.
    pub tape: String,
    /// The file that it was written to.
    pub file: String,
    /// Its length in bytes.
    pub bytes: u64,
    /// Its state in the store.
    pub state: State,
    /// How it ended, if it did.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ended: Option<Ended>,
    /// What is missing after the fetched part, as text.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub missing: Option<String>,
}

impl Fetched {
    /// Whether the file has everything that its recorder has written so far.
    #[must_use]
    pub fn is_whole(&self) -> bool {
        self.missing.is_none() && self.ended.is_none_or(|ended| ended.lost_bytes == 0)
    }
}

/// Why a tape was not fetched.
#[derive(Debug, thiserror::Error)]
pub enum FetchError {
    /// The store failed.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// The file could not be written.
    #[error("cannot write `{}`: {why}", path.display())]
    Write {
        /// The path.
        path: PathBuf,
        /// The system's error.
        #[source]
        why: io::Error,
    },
    /// It was removed from the store.
    #[error("the tape was swept from the store on {0}")]
    Swept(String),
    /// No part of it can be read.
    #[error("nothing of the tape can be fetched: {0}")]
    Nothing(String),
}

/// Fetches a tape into a folder, as `TAPE.tape.jsonl`. Everything after a missing part is left out.
pub async fn fetch(
    store: &Store,
    name: &TapeName,
    entries: &[EntryName],
    folder: &Path,
) -> Result<Fetched, FetchError> {
    let chain = Chain::of_names(store, entries).await?;
    if let Some(when) = chain.swept() {
        return Err(FetchError::Swept(when.to_owned()));
    }
    let path = folder.join(format!("{}.tape.jsonl", name.id));
    let mut file = Unnamed::create(folder, &path)?;
    let mut missing = chain.missing.as_ref().map(crate::chain::Missing::text);
    for entry in &chain.entries {
        let at = file.len;
        let mut sink = |bytes: &[u8]| file.write(bytes);
        match unpack(store, entry, &mut sink).await {
            Ok(()) => {}
            Err(UnpackError::Damaged(why)) => {
                file.cut(at)?;
                missing = Some(why);
                break;
            }
            Err(UnpackError::Store(error)) => return Err(error.into()),
            Err(UnpackError::Write(why)) => return Err(FetchError::Write { path, why }),
        }
    }
    if file.len == 0 {
        let why = missing.unwrap_or_else(|| "it has no bytes in the store".to_owned());
        return Err(FetchError::Nothing(why));
    }
    Ok(Fetched {
        gateway: name.gateway.to_string(),
        tape: name.id.to_string(),
        bytes: file.len,
        file: file.name()?.display().to_string(),
        state: if missing.is_some() {
            State::Damaged
        } else {
            State::of(&chain)
        },
        ended: chain.ended(),
        missing,
    })
}

/// A file that gets its name once it is complete, and never replaces an existing file.
struct Unnamed {
    file: File,
    part: PathBuf,
    path: PathBuf,
    len: u64,
    is_named: bool,
}

impl Unnamed {
    fn create(folder: &Path, path: &Path) -> Result<Self, FetchError> {
        let part = folder.join(format!(".{}.part", uuid::Uuid::now_v7()));
        let error = |why| FetchError::Write {
            path: path.to_owned(),
            why,
        };
        if path.symlink_metadata().is_ok() {
            return Err(error(io::ErrorKind::AlreadyExists.into()));
        }
        fs::create_dir_all(folder).map_err(error)?;
        let file = OpenOptions::new()
            .write(true)
            .create_new(true)
            .mode(0o600)
            .open(&part)
            .map_err(error)?;
        Ok(Self {
            file,
            part,
            path: path.to_owned(),
            len: 0,
            is_named: false,
        })
    }

    fn write(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.file.write_all(bytes)?;
        self.len += bytes.len() as u64;
        Ok(())
    }

    /// Truncates the file.
    fn cut(&mut self, len: u64) -> Result<(), FetchError> {
        use std::io::Seek as _;
        let cut = self.file.set_len(len);
        let cut = cut.and_then(|()| self.file.seek(io::SeekFrom::Start(len)));
        self.len = len;
        cut.map(drop).map_err(|why| self.error(why))
    }

    fn name(mut self) -> Result<PathBuf, FetchError> {
        // Unlike a rename, a link does not replace an existing file.
        let named = self
            .file
            .sync_all()
            .and_then(|()| fs::hard_link(&self.part, &self.path));
        named.map_err(|why| self.error(why))?;
        self.is_named = true;
        Ok(self.path.clone())
    }

    fn error(&self, why: io::Error) -> FetchError {
        FetchError::Write {
            path: self.path.clone(),
            why,
        }
    }
}

impl Drop for Unnamed {
    fn drop(&mut self) {
        // The other name stays, if the file has it.
        drop(fs::remove_file(&self.part));
    }
}
