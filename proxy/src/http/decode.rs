//! Decodes content encodings: of the recorded copy, and of a stream that has to be changed.

use std::io::{self, Write};

use bytes::Bytes;
use http::{HeaderMap, header};

use crate::http::fields::items;

/// Decodes the encodings of one body incrementally: a flushed part of a compressed stream is
/// available immediately.
pub(crate) struct Decoder {
    // In the order of decoding: the last applied encoding first.
    stages: Vec<Stage>,
    failed: bool,
    lost: u64,
}

/// The content encoding of a body.
pub(crate) enum Encoding {
    /// Not at all.
    Plain,
    /// Encodings that can be decoded.
    Known(Decoder),
    /// Others: the body is recorded encoded.
    Unknown,
}

/// How much is decoded at a time, in bytes.
pub(crate) const SLICE: usize = 4 * 1024;

/// The maximum decoded size of a slice. Real content shrinks to a tenth or a hundredth; content
/// that grows to more than two thousand times its size is meant to exhaust its decoder.
const MOST_OF_A_SLICE: usize = 8 * 1024 * 1024;

/// The largest window of zstd over HTTP is 8 MiB (RFC 9659 §3).
const ZSTD_WINDOW_LOG: u32 = 23;

enum Stage {
    Brotli(Box<brotli_decompressor::DecompressorWriter<Capped>>),
    Deflate(flate2::write::DeflateDecoder<Capped>),
    Gzip(flate2::write::MultiGzDecoder<Capped>),
    Zlib(flate2::write::ZlibDecoder<Capped>),
    Zstd(zstd::stream::write::Decoder<'static, Capped>),
}

/// An output with a limited size.
#[derive(Debug, Default)]
struct Capped {
    bytes: Vec<u8>,
    room: usize,
}

impl Write for Capped {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if bytes.len() > self.room {
            return Err(io::ErrorKind::FileTooLarge.into());
        }
        self.room -= bytes.len();
        self.bytes.extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl Stage {
    fn of(name: &str) -> Option<Self> {
        let out = Capped::default();
        Some(match name {
            "br" => Self::Brotli(Box::new(brotli_decompressor::DecompressorWriter::new(
                out, 4096,
            ))),
            // RFC 9110 §8.4.1.2 means zlib; some send raw deflate, which differs in its first byte.
            "deflate" => Self::Zlib(flate2::write::ZlibDecoder::new(out)),
            "gzip" | "x-gzip" => Self::Gzip(flate2::write::MultiGzDecoder::new(out)),
            "zstd" => {
                let mut decoder = zstd::stream::write::Decoder::new(out).ok()?;
                decoder.window_log_max(ZSTD_WINDOW_LOG).ok()?;
                Self::Zstd(decoder)
            }
            _ => return None,
        })
    }

    fn push(&mut self, bytes: &[u8]) -> io::Result<Vec<u8>> {
        if let Self::Zlib(decoder) = self
            && decoder.total_in() == 0
            && bytes.first().is_some_and(|first| first & 0x0f != 8)
        {
            *self = Self::Deflate(flate2::write::DeflateDecoder::new(Capped::default()));
        }
        self.out().room = MOST_OF_A_SLICE;
        match self {
            Self::Brotli(decoder) => decoder.write_all(bytes).and_then(|()| decoder.flush()),
            Self::Deflate(decoder) => decoder.write_all(bytes).and_then(|()| decoder.flush()),
            Self::Gzip(decoder) => decoder.write_all(bytes).and_then(|()| decoder.flush()),
            Self::Zlib(decoder) => decoder.write_all(bytes).and_then(|()| decoder.flush()),
            Self::Zstd(decoder) => decoder.write_all(bytes).and_then(|()| decoder.flush()),
        }?;
        Ok(std::mem::take(&mut self.out().bytes))
    }

    fn out(&mut self) -> &mut Capped {
        match self {
            Self::Brotli(decoder) => decoder.get_mut(),
            Self::Deflate(decoder) => decoder.get_mut(),
            Self::Gzip(decoder) => decoder.get_mut(),
            Self::Zlib(decoder) => decoder.get_mut(),
            Self::Zstd(decoder) => decoder.get_mut(),
        }
    }
}

impl Encoding {
    /// The encoding according to a head.
    pub(crate) fn of(head: &HeaderMap) -> Self {
        let names = items(head, &header::CONTENT_ENCODING)
            .map(str::to_ascii_lowercase)
            .filter(|name| !name.is_empty() && name != "identity");
        let stages: Option<Vec<Stage>> = names
            .take(MOST_STAGES + 1)
            .map(|name| Stage::of(&name))
            .collect();
        match stages {
            Some(stages) if stages.is_empty() => Self::Plain,
            Some(mut stages) if stages.len() <= MOST_STAGES => {
                stages.reverse();
                Self::Known(Decoder {
                    stages,
                    failed: false,
                    lost: 0,
                })
            }
            _ => Self::Unknown,
        }
    }
}

impl Decoder {
    /// The decoded next bytes, of at most a [`SLICE`]. Empty after an error.
    pub(crate) fn push(&mut self, bytes: &[u8]) -> Bytes {
        let length = bytes.len() as u64;
        let mut bytes = bytes.to_vec();
        for stage in &mut self.stages {
            let decoded = if self.failed {
                None
            } else {
                stage.push(&bytes).ok()
            };
            let Some(decoded) = decoded else {
                self.failed = true;
                self.lost += length;
                return Bytes::new();
            };
            bytes = decoded;
        }
        bytes.into()
    }

    /// The rest that a decoder still holds at the end.
    pub(crate) fn finish(&mut self) -> Bytes {
        self.push(&[])
    }

    /// The number of bytes that could not be decoded, after an error.
    pub(crate) fn lost(&self) -> Option<u64> {
        self.failed.then_some(self.lost)
    }
}

/// Why a whole body cannot be decoded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Undecodable {
    /// Its content does not match its head, or is meant to exhaust its decoder.
    Broken,
    /// There is not enough memory at present.
    NoRoom,
    /// Its decoded size exceeds the limit.
    TooLong,
    /// Its encoding is not supported.
    Unknown,
}

/// A decoded body; `None` if it has no encoding. `has_room` returns whether that many bytes may be
/// held.
pub(crate) fn decoded(
    head: &HeaderMap,
    body: &[u8],
    most: usize,
    mut has_room: impl FnMut(usize) -> bool,
) -> Result<Option<Bytes>, Undecodable> {
    let mut decoder = match Encoding::of(head) {
        Encoding::Plain => return Ok(None),
        Encoding::Known(decoder) => decoder,
        Encoding::Unknown => return Err(Undecodable::Unknown),
    };
    let mut all = Vec::new();
    for slice in body.chunks(SLICE).chain(std::iter::once(&[][..])) {
        let part = decoder.push(slice);
        if decoder.lost().is_some() {
            return Err(Undecodable::Broken);
        }
        if all.len() + part.len() > most {
            return Err(Undecodable::TooLong);
        }
        if !has_room(all.len() + part.len()) {
            return Err(Undecodable::NoRoom);
        }
        all.extend_from_slice(&part);
    }
    if all.is_empty() && !body.is_empty() {
        // The body is truncated, or has trailing data.
        return Err(Undecodable::Broken);
    }
    Ok(Some(all.into()))
}

/// More than a few nested encodings are an attack.
const MOST_STAGES: usize = 3;
