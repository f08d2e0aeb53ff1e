//! Two known streams of lines of every awkward length, made and checked piece by piece.

use std::io::{self, Read, Write};

/// The seed of the client's data.
pub(crate) const CLIENT: u64 = 0x9e37_79b9_7f4a_7c15;
/// The seed of the server's data.
pub(crate) const SERVER: u64 = 0xd1b5_4a32_d192_ed03;

const KIB: usize = 1 << 10;
const MIB: usize = 1 << 20;

/// The lengths of the lines, without their line feeds: around the size of a pipe, around the
/// largest line that the SDKs accept, and far beyond.
pub(crate) const LENGTHS: [usize; 16] = [
    1,
    64 * KIB - 1,
    0,
    64 * KIB,
    1,
    64 * KIB + 1,
    100,
    MIB,
    7,
    10 * MIB - 1,
    10 * MIB,
    10 * MIB + 1,
    100 * MIB,
    3,
    150,
    64 * KIB,
];

/// Calls `each` with the pieces of a stream, in order. The last line has no line feed.
fn pieces(seed: u64, mut each: impl FnMut(&[u8]) -> io::Result<()>) -> io::Result<()> {
    let mut state = seed;
    let mut block = vec![0_u8; 64 * KIB];
    for (line, length) in LENGTHS.into_iter().enumerate() {
        let mut left = length;
        while left > 0 {
            let size = left.min(block.len());
            let piece = &mut block[..size];
            for chunk in piece.chunks_mut(8) {
                state = state
                    .wrapping_mul(6_364_136_223_846_793_005)
                    .wrapping_add(1_442_695_040_888_963_407);
                chunk.copy_from_slice(&state.to_le_bytes()[..chunk.len()]);
            }
            // Half of the lines are arbitrary bytes, the others could be text.
            for byte in piece.iter_mut() {
                *byte = if line % 2 == 0 {
                    b'!' + (*byte & 63)
                } else {
                    *byte
                };
                if *byte == b'\n' {
                    *byte = b'\r';
                }
            }
            each(piece)?;
            left -= size;
        }
        if line + 1 < LENGTHS.len() {
            each(if line % 3 == 0 { b"\r\n" } else { b"\n" })?;
        }
    }
    Ok(())
}

/// Writes a stream.
pub(crate) fn write(seed: u64, out: &mut impl Write) -> io::Result<()> {
    pieces(seed, |piece| out.write_all(piece))?;
    out.flush()
}

/// Reads to the end and fails at the first byte that differs from the stream.
pub(crate) fn check(seed: u64, input: &mut impl Read) -> io::Result<()> {
    let mut got = vec![0; 64 * KIB];
    let mut offset = 0;
    pieces(seed, |piece| {
        let got = &mut got[..piece.len()];
        input
            .read_exact(got)
            .map_err(|error| io::Error::other(format!("at byte {offset}: {error}")))?;
        if got != piece {
            let at = got
                .iter()
                .zip(piece)
                .position(|(a, b)| a != b)
                .unwrap_or_default();
            return Err(io::Error::other(format!("byte {} differs", offset + at)));
        }
        offset += piece.len();
        Ok(())
    })?;
    match input.read(&mut got)? {
        0 => Ok(()),
        _ => Err(io::Error::other(format!(
            "more than the {offset} bytes of the stream"
        ))),
    }
}
