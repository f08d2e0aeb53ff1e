//! Random ids that cannot be guessed.

use std::fmt::Write as _;

/// A new id of 128 random bits, in visible ASCII; `None` if the system provides no randomness.
pub(crate) fn mint() -> Option<String> {
    let mut bytes = [0; 16];
    getrandom::fill(&mut bytes).ok()?;
    let mut name = String::with_capacity(32);
    for byte in bytes {
        write!(name, "{byte:02x}").ok()?;
    }
    Some(name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_two_names_are_the_same() {
        let names: std::collections::HashSet<String> = (0..1_000).filter_map(|_| mint()).collect();
        assert_eq!(names.len(), 1_000);
        assert!(names.iter().all(|name| name.len() == 32));
    }
}
