//! Segments: ranges of a tape, compressed, on their way into the store and back.

use std::fs::File;
use std::io::{self, Write as _};
use std::os::unix::fs::FileExt as _;

use bytes::Bytes;
use futures_util::TryStreamExt as _;
use object_store::{MultipartUpload, PutMode};

use crate::entry::{Entry, Segment};
use crate::hash::Hasher;
use crate::names::ObjectName;
use crate::store::{Problem, Store, StoreError};

/// How much of a tape is read at once.
const CHUNK: usize = 256 << 10;
/// How much is kept until it is sent, in compressed bytes. S3 takes no shorter parts than 5 MiB but the last.
const PART: usize = 8 << 20;
/// How hard it is tried to make segments small.
pub(crate) const LEVEL: i32 = 3;

/// Why a range did not become a segment.
#[derive(Debug, thiserror::Error)]
pub enum PackError {
    /// The tape could not be read: it was changed under our hands.
    #[error("cannot read the tape")]
    Tape(#[source] io::Error),
    /// The store did not take it.
    #[error(transparent)]
    Store(#[from] StoreError),
}

/// What became of a range.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Packed {
    /// SHA-256 of the range.
    pub sha256: String,
    /// The object that holds it.
    pub segment: Segment,
}

/// Compresses a range of a tape and writes it under a new name. At most [`PART`] compressed bytes are held.
pub async fn pack(
    store: &Store,
    file: &File,
    start: u64,
    end: u64,
    name: &ObjectName,
) -> Result<Packed, PackError> {
    let mut upload = Upload::new(store, name.path());
    match pack_parts(&mut upload, file, start, end).await {
        Ok(sha256) => Ok(Packed {
            sha256,
            segment: upload.finish().await?,
        }),
        Err(error) => {
            upload.abort().await;
            Err(error)
        }
    }
}

/// Sends all but the last part; the hash of the range.
async fn pack_parts(
    upload: &mut Upload<'_>,
    file: &File,
    start: u64,
    end: u64,
) -> Result<String, PackError> {
    let mut hasher = Hasher::default();
    let mut encoder =
        zstd::stream::write::Encoder::new(Vec::new(), LEVEL).map_err(PackError::Tape)?;
    let mut chunk = vec![0; CHUNK];
    let mut at = start;
    while at < end {
        let most = usize::try_from(end - at).unwrap_or(CHUNK).min(CHUNK);
        let part = chunk.get_mut(..most).unwrap_or_default();
        file.read_exact_at(part, at).map_err(PackError::Tape)?;
        hasher.update(part);
        encoder.write_all(part).map_err(PackError::Tape)?;
        at += most as u64;
        if encoder.get_ref().len() >= PART {
            upload.part(std::mem::take(encoder.get_mut())).await?;
        }
    }
    upload.last = encoder.finish().map_err(PackError::Tape)?;
    Ok(hasher.finish())
}

/// An object that is written in one piece, or in parts when it is long.
struct Upload<'a> {
    store: &'a Store,
    path: String,
    parts: Option<Box<dyn MultipartUpload>>,
    last: Vec<u8>,
    hasher: Hasher,
    bytes: u64,
}

impl<'a> Upload<'a> {
    fn new(store: &'a Store, path: String) -> Self {
        Self {
            store,
            path,
            parts: None,
            last: Vec::new(),
            hasher: Hasher::default(),
            bytes: 0,
        }
    }

    async fn part(&mut self, bytes: Vec<u8>) -> Result<(), StoreError> {
        self.count(&bytes);
        if self.parts.is_none() {
            self.parts = Some(self.store.begin(&self.path).await?);
        }
        if let Some(parts) = &mut self.parts {
            let sent = parts.put_part(bytes.into());
            self.store.within(sent).await?;
        }
        Ok(())
    }

    fn count(&mut self, bytes: &[u8]) {
        self.hasher.update(bytes);
        self.bytes += bytes.len() as u64;
    }

    async fn finish(mut self) -> Result<Segment, StoreError> {
        let last = std::mem::take(&mut self.last);
        if self.parts.is_some() {
            self.part(last).await?;
        } else {
            self.count(&last);
            self.store.put(&self.path, last, PutMode::Overwrite).await?;
        }
        if let Some(parts) = &mut self.parts {
            self.store.within(parts.complete()).await?;
        }
        Ok(Segment {
            name: self.path,
            bytes: self.bytes,
            sha256: self.hasher.finish(),
        })
    }

    async fn abort(&mut self) {
        if let Some(parts) = &mut self.parts {
            // What is left of it is nobody's, and the store's own rules remove it.
            drop(self.store.within(parts.abort()).await);
        }
    }
}

/// Why a segment cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum UnpackError {
    /// It is missing, or not what its entry says.
    #[error("{0}")]
    Damaged(String),
    /// The store could not be reached.
    #[error(transparent)]
    Store(StoreError),
    /// What came out could not be written.
    #[error("cannot write")]
    Write(#[source] io::Error),
}

/// Where the range of a segment goes.
pub trait Sink {
    /// Takes the next piece.
    fn take(&mut self, bytes: &[u8]) -> io::Result<()>;
}

impl<F: FnMut(&[u8]) -> io::Result<()>> Sink for F {
    fn take(&mut self, bytes: &[u8]) -> io::Result<()> {
        self(bytes)
    }
}

/// Reads the range of an entry back, and proves that it is what was shipped. What came out before an error is no evidence.
pub async fn unpack(store: &Store, entry: &Entry, sink: &mut impl Sink) -> Result<(), UnpackError> {
    let Some(segment) = &entry.segment else {
        return Ok(());
    };
    let damaged = |what: &str| UnpackError::Damaged(format!("segment `{}` {what}", segment.name));
    let got = match store.get(&segment.name).await {
        Err(error) if error.problem == Problem::Missing => return Err(damaged("is missing")),
        got => got.map_err(UnpackError::Store)?,
    };
    if got.meta.size != segment.bytes {
        return Err(damaged("does not have its length"));
    }
    let (length, sha256) = entry.held();
    let opened = Opened::new(length, sink);
    let mut opened = opened.map_err(UnpackError::Write)?;
    let mut pieces = got.into_stream();
    while let Some(piece) = store
        .within(pieces.try_next())
        .await
        .map_err(UnpackError::Store)?
    {
        opened
            .take(&piece)
            .map_err(|error| error.into_unpack(&damaged))?;
    }
    let (packed, plain) = opened
        .finish()
        .map_err(|error| error.into_unpack(&damaged))?;
    if packed != segment.sha256 || plain != sha256 {
        return Err(damaged("does not have its SHA-256"));
    }
    Ok(())
}

/// What decompressing ran into.
enum OpenError {
    Zstd,
    Length,
    Write(io::Error),
}

impl OpenError {
    fn into_unpack(self, damaged: &dyn Fn(&str) -> UnpackError) -> UnpackError {
        match self {
            Self::Zstd => damaged("cannot be decompressed"),
            Self::Length => damaged("does not have the length of its range"),
            Self::Write(error) => UnpackError::Write(error),
        }
    }
}

/// A segment that is decompressed piece by piece. No more comes out than its range is long.
struct Opened<'a, S> {
    decoder: zstd::stream::write::Decoder<'static, Vec<u8>>,
    sink: &'a mut S,
    left: u64,
    packed: Hasher,
    plain: Hasher,
}

impl<'a, S: Sink> Opened<'a, S> {
    fn new(length: u64, sink: &'a mut S) -> io::Result<Self> {
        Ok(Self {
            decoder: zstd::stream::write::Decoder::new(Vec::new())?,
            sink,
            left: length,
            packed: Hasher::default(),
            plain: Hasher::default(),
        })
    }

    fn take(&mut self, piece: &Bytes) -> Result<(), OpenError> {
        self.packed.update(piece);
        // A small piece can hold much; what it holds is passed on before the next one is opened.
        for small in piece.chunks(SMALL) {
            self.decoder.write_all(small).map_err(|_| OpenError::Zstd)?;
            self.pass_on()?;
        }
        Ok(())
    }

    fn pass_on(&mut self) -> Result<(), OpenError> {
        let plain = std::mem::take(self.decoder.get_mut());
        let left = self.left.checked_sub(plain.len() as u64);
        self.left = left.ok_or(OpenError::Length)?;
        self.plain.update(&plain);
        self.sink.take(&plain).map_err(OpenError::Write)
    }

    fn finish(mut self) -> Result<(String, String), OpenError> {
        self.decoder.flush().map_err(|_| OpenError::Zstd)?;
        self.pass_on()?;
        if self.left > 0 {
            return Err(OpenError::Length);
        }
        Ok((self.packed.finish(), self.plain.finish()))
    }
}

/// How much of a segment is decompressed at once: what comes out stays small, whatever a forged one holds.
const SMALL: usize = 1 << 10;
