//! What a fault did, in the words of the tape.

use std::fmt;

use super::Offset;

/// What a fault did to a message: `NAME (KIND): WHAT`. What is done without a fault of its
/// own, such as waiting behind what one holds, has no name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Effect<'a> {
    /// The fault: its name, and its kind in parentheses.
    pub fault: Option<&'a str>,
    /// What was done.
    pub what: &'a str,
}

impl<'a> Effect<'a> {
    /// A message waits for what a fault holds.
    pub const BEHIND: &'static str = "waits behind";
    /// A request or an answer goes no further.
    pub const DROPPED: &'static str = "dropped";
    /// A message is passed on by nothing but the end of its fault.
    pub const HELD: &'static str = "held";
    /// The client left while its answer was held; how long that was follows.
    pub const LEFT: &'static str = "the client left after ";
    /// What was held is passed on; how long it was follows.
    pub const PASSED_ON: &'static str = "passed on after ";

    /// Takes the words of the tape apart.
    #[must_use]
    pub fn parse(effect: &'a str) -> Self {
        let named = effect.find("): ").and_then(|end| {
            let fault = effect.get(..=end)?;
            let what = effect.get(end + 3..)?;
            fault.contains(" (").then_some((fault, what))
        });
        match named {
            Some((fault, what)) => Self {
                fault: Some(fault),
                what,
            },
            None => Self {
                fault: None,
                what: effect,
            },
        }
    }

    /// Whether the receiver gets nothing that it could take for this message, until the
    /// fault is taken away.
    #[must_use]
    pub fn keeps_back(&self) -> bool {
        let begins = [Self::BEHIND, Self::DROPPED, Self::HELD];
        let kind = self.fault.unwrap_or_default();
        begins.iter().any(|word| self.what.starts_with(word))
            || self.what.contains("then held")
            || kind.ends_with("(wrong-id)")
            || kind.ends_with("(truncate)")
    }

    /// How much later the message is passed on, where that is known.
    #[must_use]
    pub fn delay(&self) -> Option<Offset> {
        let millis = self.what.strip_prefix("delayed ")?.strip_suffix(" ms")?;
        let millis: f64 = millis.parse().ok()?;
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "a cast of a float saturates, and nothing waits for longer than a day"
        )]
        Some(Offset((millis * 1_000.0) as u64))
    }

    /// Whether what was held is passed on; with it the id of the request, in its source
    /// text, where it is but one.
    #[must_use]
    pub fn release(&self) -> Option<Option<&'a str>> {
        let rest = self.what.strip_prefix(Self::PASSED_ON)?;
        Some(rest.split_once(" ms, id ").map(|(_, id)| id))
    }

    /// Whether the client left, or was cut off, while its answer was held.
    #[must_use]
    pub fn left(&self) -> bool {
        self.what.starts_with(Self::LEFT) || self.what.starts_with("the connection is cut after ")
    }
}

impl fmt::Display for Effect<'_> {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(fault) = self.fault {
            write!(out, "{fault}: ")?;
        }
        out.write_str(self.what)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_taken_apart() {
        let effect = Effect::parse("hang-1 (hang): held");
        assert_eq!(effect.fault, Some("hang-1 (hang)"));
        assert!(effect.keeps_back());
        assert_eq!(effect.to_string(), "hang-1 (hang): held");
        let released = Effect::parse("hang-1 (hang): passed on after 1200 ms, id \"a\"");
        assert_eq!(released.release(), Some(Some("\"a\"")));
        assert!(!released.keeps_back());
        let all = Effect::parse("wedged-1 (wedged): passed on after 7 ms, with all behind it");
        assert_eq!(all.release(), Some(None));
        let slow = Effect::parse("slow-1 (slow): delayed 1500 ms");
        assert_eq!(slow.delay(), Some(Offset(1_500_000)));
        let behind = Effect::parse("waits behind an earlier message that a fault holds");
        assert_eq!(behind.fault, None);
        assert!(behind.keeps_back());
        assert!(Effect::parse("x (wrong-id): another message in its place").keeps_back());
        assert!(!Effect::parse("x (error): another message in its place").keeps_back());
    }
}
