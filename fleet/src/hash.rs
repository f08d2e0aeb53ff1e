//! SHA-256, in hexadecimal digits.

use std::fmt::Write as _;

use sha2::{Digest as _, Sha256};

/// An incremental hash.
#[derive(Clone, Default)]
pub struct Hasher(Sha256);

impl Hasher {
    /// Takes the next piece.
    pub fn update(&mut self, bytes: &[u8]) {
        self.0.update(bytes);
    }

    /// The hash of all pieces.
    #[must_use]
    pub fn finish(self) -> String {
        let mut text = String::with_capacity(64);
        for byte in self.0.finalize() {
            // Writing to a string does not fail.
            let _never_fails = write!(text, "{byte:02x}");
        }
        text
    }
}

/// The hash of some bytes.
#[must_use]
pub fn of(bytes: &[u8]) -> String {
    let mut hasher = Hasher::default();
    hasher.update(bytes);
    hasher.finish()
}

#[cfg(test)]
mod tests {
    #[test]
    fn it_is_sha_256() {
        let abc = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad";
        assert_eq!(super::of(b"abc"), abc);
    }
}
