//! The store: a folder or a bucket with entries and segments.

mod error;
#[cfg(test)]
pub(crate) mod failing;
mod open;
mod s3;
mod stray;

use std::fmt;
use std::ops::Range;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use futures_util::TryStreamExt as _;
use object_store::path::Path;
use object_store::{
    Error, GetResult, ObjectMeta, ObjectStore, ObjectStoreExt as _, PutMode, PutPayload,
};

pub(crate) use self::error::Secrets;
pub use self::error::{Problem, StoreError};
pub use self::open::StoreLocation;
use crate::entry::{self, Entry};
use crate::names::{EntryName, Gateway, Kind, MANIFESTS, PROBES, TapeName};

/// A folder or a bucket. Cheap to clone.
#[derive(Clone)]
pub struct Store {
    inner: Arc<dyn ObjectStore>,
    secrets: Arc<Secrets>,
    /// Time limit for one request.
    patience: Duration,
    /// Its path, if it is a folder.
    folder: Option<Arc<std::path::Path>>,
}

impl fmt::Debug for Store {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        // The debug output of the other members may contain credentials.
        out.debug_struct("Store").finish_non_exhaustive()
    }
}

/// The contents of a probe.
const PROBE: &[u8] = b"tapewright-fleet\n";

/// The result of creating an entry.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Created {
    /// It was created.
    Ours,
    /// Another entry has its name.
    Theirs(Box<Entry>),
}

/// A listed object.
#[derive(Clone, Debug)]
pub struct Listed {
    /// Its path.
    pub path: String,
    /// Its length.
    pub bytes: u64,
    /// When it was last written, in milliseconds since 1970.
    pub modified_ms: i64,
}

impl Store {
    /// Wraps another store, for tests.
    #[must_use]
    pub fn over(inner: Arc<dyn ObjectStore>, patience: Duration) -> Self {
        Self {
            inner,
            secrets: Arc::default(),
            patience,
            folder: None,
        }
    }

    /// Creates an entry, unless its name is taken.
    pub async fn create(&self, name: &EntryName, entry: &Entry) -> Result<Created, StoreError> {
        match self.put(&name.path(), entry.write(), PutMode::Create).await {
            Ok(()) => Ok(Created::Ours),
            Err(error) if error.problem == Problem::Taken => {
                let theirs = self.entry(name).await?;
                // After a request whose answer was lost, the existing entry is our own.
                Ok(if theirs == *entry {
                    Created::Ours
                } else {
                    Created::Theirs(Box::new(theirs))
                })
            }
            Err(error) => Err(error),
        }
    }

    /// Proves that the store accepts a name only once: some ignore the condition and overwrite
    /// existing objects.
    pub async fn prove(&self, gateway: &Gateway) -> Result<(), StoreError> {
        let path = format!("{PROBES}/{gateway}");
        for _ in 0..2 {
            match self.put(&path, PROBE.to_vec(), PutMode::Create).await {
                Err(error) if error.problem == Problem::Taken => return Ok(()),
                result => result?,
            }
        }
        let text = "the store does not refuse a name that is taken; it cannot be used";
        Err(StoreError::unusable(text.to_owned()))
    }

    /// Replaces the entry with this name.
    pub async fn replace(&self, name: &EntryName, entry: &Entry) -> Result<(), StoreError> {
        self.put(&name.path(), entry.write(), PutMode::Overwrite)
            .await
    }

    /// Writes an object whole.
    pub async fn put(&self, path: &str, bytes: Vec<u8>, mode: PutMode) -> Result<(), StoreError> {
        let (path, payload) = (location(path)?, PutPayload::from(bytes));
        let put = self.inner.put_opts(&path, payload, mode.into());
        self.within(put).await.map(drop)
    }

    /// An entry.
    pub async fn entry(&self, name: &EntryName) -> Result<Entry, StoreError> {
        let path = name.path();
        let bytes = self.read(&path, entry::LIMIT).await?;
        Entry::read(name, &bytes).map_err(|error| StoreError::bad(&path, &error.to_string()))
    }

    /// An object of at most `limit` bytes.
    pub async fn read(&self, path: &str, limit: u64) -> Result<Bytes, StoreError> {
        let got = self.get(path).await?;
        if got.meta.size > limit {
            return Err(StoreError::bad(path, "it is too long"));
        }
        self.within(got.bytes()).await
    }

    /// A part of an object.
    pub async fn range(&self, path: &str, range: Range<u64>) -> Result<Bytes, StoreError> {
        let path = location(path)?;
        self.within(self.inner.get_range(&path, range)).await
    }

    /// An object, in pieces.
    pub async fn get(&self, path: &str) -> Result<GetResult, StoreError> {
        let path = location(path)?;
        self.within(self.inner.get(&path)).await
    }

    /// Waits for a chunk, up to the time limit of a request.
    pub async fn within<T>(
        &self,
        work: impl Future<Output = object_store::Result<T>>,
    ) -> Result<T, StoreError> {
        match tokio::time::timeout(self.patience, work).await {
            Ok(done) => done.map_err(|error| self.secrets.error(&error)),
            Err(_) => Err(StoreError::slow(self.patience)),
        }
    }

    /// Begins an upload in parts.
    pub async fn begin(
        &self,
        path: &str,
    ) -> Result<Box<dyn object_store::MultipartUpload>, StoreError> {
        let path = location(path)?;
        self.within(self.inner.put_multipart(&path)).await
    }

    /// Whether an object with this length exists.
    pub async fn holds(&self, path: &str, bytes: u64) -> Result<bool, StoreError> {
        let path = location(path)?;
        match self.within(self.inner.head(&path)).await {
            Ok(meta) => Ok(meta.size == bytes),
            Err(error) if error.problem == Problem::Missing => Ok(false),
            Err(error) => Err(error),
        }
    }

    /// Removes an object; a missing one counts as removed.
    pub async fn delete(&self, path: &str) -> Result<(), StoreError> {
        let path = location(path)?;
        match self.within(self.inner.delete(&path)).await {
            Err(error) if error.problem != Problem::Missing => Err(error),
            _ => Ok(()),
        }
    }

    /// The latest entries of a tape, by their offsets.
    pub async fn entries(&self, tape: &TapeName) -> Result<Vec<EntryName>, StoreError> {
        let mut names = self.versions(tape).await?;
        EntryName::keep_latest(&mut names);
        Ok(names)
    }

    /// The entries of a tape, including superseded ones.
    pub async fn versions(&self, tape: &TapeName) -> Result<Vec<EntryName>, StoreError> {
        let mut names = Vec::new();
        let every = |one: Listed| names.extend(EntryName::read(&one.path).ok());
        self.list(&tape.folder(), every).await?;
        names.sort();
        Ok(names)
    }

    /// Every entry, of one gateway or of all.
    pub async fn manifests(
        &self,
        gateway: Option<&str>,
        each: impl FnMut(Listed),
    ) -> Result<(), StoreError> {
        let folder = match gateway {
            Some(gateway) => format!("{MANIFESTS}/{gateway}"),
            None => MANIFESTS.to_owned(),
        };
        self.list(&folder, each).await
    }

    /// Every segment and every file of rows, including those without an entry.
    pub async fn objects(&self, mut each: impl FnMut(Listed)) -> Result<(), StoreError> {
        for kind in Kind::ALL {
            self.list(kind.folder(), &mut each).await?;
        }
        Ok(())
    }

    async fn list(&self, folder: &str, mut each: impl FnMut(Listed)) -> Result<(), StoreError> {
        let mut listed = self.inner.list(Some(&location(folder)?));
        loop {
            match self.within(listed.try_next()).await {
                Ok(Some(meta)) => each(Listed::of(&meta)),
                Ok(None) => return Ok(()),
                // Nothing was ever written to this folder.
                Err(error) if error.problem == Problem::Missing => return Ok(()),
                Err(error) => return Err(error),
            }
        }
    }
}

impl Listed {
    fn of(meta: &ObjectMeta) -> Self {
        Self {
            path: meta.location.to_string(),
            bytes: meta.size,
            modified_ms: meta.last_modified.timestamp_millis(),
        }
    }
}

/// A name in the store's form. Ours need no escapes; listed names have them already.
fn location(path: &str) -> Result<Path, StoreError> {
    Path::parse(path).map_err(|error| StoreError::bad(path, &Error::from(error).to_string()))
}
