//! A digest of everything that an agent knew.

/// FNV-1a of 64 bits over texts, each set apart from the next.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Digest(u64);

impl Digest {
    pub(crate) fn new() -> Self {
        Self(0xcbf2_9ce4_8422_2325)
    }

    pub(crate) fn add(&mut self, text: &str) {
        for byte in text.bytes().chain([0x1f]) {
            self.0 ^= u64::from(byte);
            self.0 = self.0.wrapping_mul(0x0000_0100_0000_01b3);
        }
    }

    /// The digest as sixteen hexadecimal digits.
    pub(crate) fn text(self) -> String {
        format!("{:016x}", self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn where_a_text_ends_counts() {
        let of = |texts: &[&str]| {
            let mut digest = Digest::new();
            for text in texts {
                digest.add(text);
            }
            digest.text()
        };
        assert_eq!(of(&[]), "cbf29ce484222325");
        assert_ne!(of(&["ab", "c"]), of(&["a", "bc"]));
        assert_eq!(of(&["ab", "c"]), of(&["ab", "c"]));
    }
}
