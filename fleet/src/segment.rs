//! Segments: compressed ranges of a tape, and their way into the store and back.

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

/// How many bytes of a tape are read at once.
const CHUNK: usize = 256 << 10;
/// How many compressed bytes are collected for a part of an upload. S3 requires at least 5 MiB,
/// except for the last part.
const PART: usize = 8 << 20;
/// The compression level.
pub(crate) const LEVEL: i32 = 3;

/// Why a range did not become a segment.
#[derive(Debug, thiserror::Error)]
pub enum PackError {
    /// The tape could not be read: it was changed at the same time.
    #[error("cannot read the tape")]
    Tape(#[source] io::Error),
    /// The store failed.
    #[error(transparent)]
    Store(#[from] StoreError),
}

/// A range as a segment.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Packed {
    /// SHA-256 of the range.
    pub sha256: String,
    /// Its object.
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

/// Sends all parts but the last. Returns the hash of the range.
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

/// An object that is written at once, or in parts if it is long.
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
            // The store's own rules remove what is left.
            drop(self.store.within(parts.abort()).await);
        }
    }
}

/// Why a segment cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum UnpackError {
    /// It is missing, or differs from its entry.
    #[error("{0}")]
    Damaged(String),
    /// The store could not be reached.
    #[error(transparent)]
    Store(StoreError),
    /// The range could not be written.
    #[error("cannot write")]
    Write(#[source] io::Error),
}

/// Receives the range of a segment.
pub trait Sink {
    /// Takes the next piece.
    fn take(&mut self, bytes: &[u8]) -> io::Result<()>;
}

impl<F: FnMut(&[u8]) -> io::Result<()>> Sink for F {
    fn take(&mut self, bytes: &[u8]) -> io::Result<()> {
        self(bytes)
    }
}

/// Reads the range of an entry, and verifies that it is unchanged. Output before an error must not
/// be used.
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

/// Errors of decompression.
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

/// A segment that is decompressed piece by piece, up to the length of its range.
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
        // A small input can decompress to much output, which is passed on before the next input.
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

/// How many bytes of a segment are decompressed at once: this bounds the output of a forged one.
const SMALL: usize = 1 << 10;
