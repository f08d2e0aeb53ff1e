//! Patterns over ids.

/// A pattern: `*` matches any text, `?` one character.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Glob(Vec<char>);

impl Glob {
    /// A pattern of this text.
    #[must_use]
    pub fn new(pattern: &str) -> Self {
        Self(pattern.chars().collect())
    }

    /// Whether it matches the whole text. The time is at most the product of both lengths.
    #[must_use]
    pub fn takes(&self, text: &str) -> bool {
        let text: Vec<char> = text.chars().collect();
        let (mut at, mut seen) = (0, 0);
        // The position of the last star, and how much it matches.
        let mut star: Option<(usize, usize)> = None;
        while seen < text.len() {
            match self.0.get(at) {
                Some('*') => {
                    star = Some((at, seen));
                    at += 1;
                }
                Some(&char) if char == '?' || text.get(seen) == Some(&char) => {
                    at += 1;
                    seen += 1;
                }
                _ => {
                    let Some((place, reached)) = star else {
                        return false;
                    };
                    star = Some((place, reached + 1));
                    at = place + 1;
                    seen = reached + 1;
                }
            }
        }
        let mut rest = self.0.iter().skip(at);
        rest.all(|char| *char == '*')
    }
}

impl std::str::FromStr for Glob {
    type Err = std::convert::Infallible;

    fn from_str(pattern: &str) -> Result<Self, Self::Err> {
        Ok(Self::new(pattern))
    }
}

#[cfg(test)]
mod tests {
    use super::Glob;

    #[test]
    fn stars_and_question_marks_stand_for_what_they_should() {
        for (pattern, text, takes) in [
            ("*", "", true),
            ("", "", true),
            ("", "a", false),
            ("a*::step-?", "a.yaml::b::step-1", true),
            ("a*::step-?", "a.yaml::b::step-12", false),
            ("*b*b*", "abcb", true),
            ("*b*b*c", "abcb", false),
            ("t?st", "tüst", true),
            ("**x", "x", true),
            ("x", "X", false),
        ] {
            assert_eq!(Glob::new(pattern).takes(text), takes, "{pattern} {text}");
        }
    }
}
