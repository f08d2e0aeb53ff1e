//! Looking through strings many bytes at a time.

/// The number of bytes at the start of `text` that are string content without a quote, a backslash
/// or a control character.
///
/// Member names and most values end within a few bytes: these are tested word by word. In longer
/// runs whole blocks are tested without a branch per byte, which the compiler turns into vector
/// code: a megabyte of base64 is one such run.
#[inline]
pub(super) fn plain_run(text: &[u8]) -> usize {
    let mut rest = text;
    for words in 0..WORDS {
        let Some((word, tail)) = rest.split_first_chunk::<8>() else {
            break;
        };
        let found = special_bytes(u64::from_le_bytes(*word));
        if found != 0 {
            return words * 8 + (found.trailing_zeros() / 8) as usize;
        }
        rest = tail;
    }
    plain_blocks(text)
}

/// The number of words that are tested before it counts as a long run.
const WORDS: usize = 4;

/// Like `plain_run`, for a text that may be long.
fn plain_blocks(text: &[u8]) -> usize {
    let mut rest = text;
    let mut run = 0;
    while let Some((block, tail)) = rest.split_first_chunk::<BLOCK>() {
        if has_special(block) {
            break;
        }
        run += BLOCK;
        rest = tail;
    }
    run + plain_words(rest)
}

/// Like `plain_run`, eight bytes at a time.
fn plain_words(text: &[u8]) -> usize {
    let (words, tail) = text.as_chunks::<8>();
    for (number, word) in words.iter().enumerate() {
        let found = special_bytes(u64::from_le_bytes(*word));
        if found != 0 {
            return number * 8 + (found.trailing_zeros() / 8) as usize;
        }
    }
    let special = |byte: &u8| *byte < 0x20 || *byte == b'"' || *byte == b'\\';
    let found = tail.iter().position(special);
    words.len() * 8 + found.unwrap_or(tail.len())
}

/// Whether all of `text` is string content that needs no escape. Most texts are short: their last
/// bytes are tested as a word that overlaps the one before.
#[inline]
pub(super) fn is_plain(text: &[u8]) -> bool {
    let Some(last) = text.last_chunk::<8>() else {
        return plain_words(text) == text.len();
    };
    if special_bytes(u64::from_le_bytes(*last)) != 0 {
        return false;
    }
    let (words, _) = text.as_chunks::<8>();
    let special = |word: &[u8; 8]| special_bytes(u64::from_le_bytes(*word));
    words.iter().fold(0, |found, word| found | special(word)) == 0
}

/// The high bit of every byte of `word` that is a quote, a backslash or a control character.
/// Borrows may also set bits above the lowest of these, never below.
#[inline]
fn special_bytes(word: u64) -> u64 {
    const ONES: u64 = u64::MAX / 0xff;
    const HIGH: u64 = ONES << 7;
    // Flipping a bit turns a quote into the byte that follows the control characters.
    let below = (word ^ (ONES * 0x02)).wrapping_sub(ONES * 0x21);
    let backslash = (word ^ (ONES * u64::from(b'\\'))).wrapping_sub(ONES);
    (below | backslash) & !word & HIGH
}

#[expect(
    clippy::needless_bitwise_bool,
    reason = "a branch per byte would keep the loop scalar"
)]
fn has_special(block: &[u8; BLOCK]) -> bool {
    let special = |byte: u8| (byte < 0x20) | (byte == b'"') | (byte == b'\\');
    block.iter().fold(false, |hit, byte| hit | special(*byte))
}

const BLOCK: usize = 32;

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn slowly(text: &[u8]) -> usize {
        let special = |byte: &u8| *byte < 0x20 || *byte == b'"' || *byte == b'\\';
        text.iter().position(special).unwrap_or(text.len())
    }

    #[test]
    fn every_byte_is_known_at_every_place() {
        for byte in 0..=u8::MAX {
            for length in [1, 7, 8, 9, 15, 16, 17, 31, 32, 33, 40, 70] {
                for at in 0..length {
                    let mut text = vec![b'y'; length];
                    text[at] = byte;
                    let wanted = slowly(&text) == length;
                    assert_eq!(is_plain(&text), wanted, "{byte:#x} at {at} of {length}");
                    assert_eq!(
                        plain_run(&text),
                        slowly(&text),
                        "{byte:#x} at {at} of {length}"
                    );
                }
            }
        }
    }

    proptest! {
        #[test]
        fn the_first_of_several_counts(text in prop::collection::vec(prop_oneof![Just(b'y'), any::<u8>()], 0..120)) {
            prop_assert_eq!(plain_run(&text), slowly(&text));
            prop_assert_eq!(is_plain(&text), slowly(&text) == text.len());
        }
    }
}
