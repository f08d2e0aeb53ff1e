//! Content encodings, undone on the copy that is recorded. What passes stays as it is.

use std::io::{self, Write};

use bytes::Bytes;
use http::{HeaderMap, header};

/// Undoes the encodings of one body, as far as it has come: a flushed part of a
/// compressed stream is seen at once.
pub(super) struct Decoder {
    // The last one applied first.
    stages: Vec<Stage>,
    failed: bool,
}

enum Stage {
    Brotli(Box<brotli_decompressor::DecompressorWriter<Capped>>),
    Deflate(flate2::write::DeflateDecoder<Capped>),
    Gzip(flate2::write::MultiGzDecoder<Capped>),
    Zlib(flate2::write::ZlibDecoder<Capped>),
    Zstd(zstd::stream::write::Decoder<'static, Capped>),
}

/// Takes so much and no more: what decodes to more than a body may hold is given up.
#[derive(Debug)]
struct Capped {
    bytes: Vec<u8>,
    // How much may still come, in all.
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
    fn of(name: &str, limit: usize) -> Option<Self> {
        let out = Capped {
            bytes: Vec::new(),
            room: limit,
        };
        Some(match name {
            "br" => Self::Brotli(Box::new(brotli_decompressor::DecompressorWriter::new(
                out, 4096,
            ))),
            // RFC 9110 §8.4.1.2 means zlib; some send raw deflate, told apart by its first
            // byte.
            "deflate" => Self::Zlib(flate2::write::ZlibDecoder::new(out)),
            "gzip" | "x-gzip" => Self::Gzip(flate2::write::MultiGzDecoder::new(out)),
            "zstd" => Self::Zstd(zstd::stream::write::Decoder::new(out).ok()?),
            _ => return None,
        })
    }

    fn push(&mut self, bytes: &[u8]) -> io::Result<Vec<u8>> {
        if let Self::Zlib(decoder) = self
            && decoder.total_in() == 0
            && bytes.first().is_some_and(|first| first & 0x0f != 8)
        {
            let room = decoder.get_ref().room;
            let out = Capped {
                bytes: Vec::new(),
                room,
            };
            *self = Self::Deflate(flate2::write::DeflateDecoder::new(out));
        }
        let written = match self {
            Self::Brotli(decoder) => decoder.write_all(bytes).and_then(|()| decoder.flush()),
            Self::Deflate(decoder) => decoder.write_all(bytes).and_then(|()| decoder.flush()),
            Self::Gzip(decoder) => decoder.write_all(bytes).and_then(|()| decoder.flush()),
            Self::Zlib(decoder) => decoder.write_all(bytes).and_then(|()| decoder.flush()),
            Self::Zstd(decoder) => decoder.write_all(bytes).and_then(|()| decoder.flush()),
        };
        let out = match self {
            Self::Brotli(decoder) => decoder.get_mut(),
            Self::Deflate(decoder) => decoder.get_mut(),
            Self::Gzip(decoder) => decoder.get_mut(),
            Self::Zlib(decoder) => decoder.get_mut(),
            Self::Zstd(decoder) => decoder.get_mut(),
        };
        let decoded = std::mem::take(&mut out.bytes);
        written.map(|()| decoded)
    }
}

impl Decoder {
    /// The decoder for the encodings that a head names; `None` for none. A body in an
    /// encoding that we do not know is recorded as it is.
    pub(super) fn of(head: &HeaderMap, limit: usize) -> Option<Self> {
        let names = head
            .get_all(header::CONTENT_ENCODING)
            .iter()
            .filter_map(|value| value.to_str().ok())
            .flat_map(|value| value.split(','))
            .map(|name| name.trim().to_ascii_lowercase())
            .filter(|name| !name.is_empty() && name != "identity");
        let mut stages: Vec<Stage> = names
            .map(|name| Stage::of(&name, limit))
            .collect::<Option<_>>()?;
        stages.reverse();
        (!stages.is_empty() && stages.len() <= MOST_STAGES).then_some(Self {
            stages,
            failed: false,
        })
    }

    /// What the next bytes of the body mean. Nothing after what cannot be decoded.
    pub(super) fn push(&mut self, bytes: &[u8]) -> Bytes {
        if self.failed {
            return Bytes::new();
        }
        let mut bytes = bytes.to_vec();
        for stage in &mut self.stages {
            let Ok(decoded) = stage.push(&bytes) else {
                self.failed = true;
                return Bytes::new();
            };
            bytes = decoded;
        }
        bytes.into()
    }

    /// What a decoder still holds at the end.
    pub(super) fn finish(mut self) -> Bytes {
        self.push(&[])
    }
}

/// More encodings than two, one upon the other, are an attack.
const MOST_STAGES: usize = 3;
