//! Selects the cases to run.

use regex::Regex;

use tapewright_schemas::near::did_you_mean;

use super::plan::{Case, Kind};

/// Which cases to run: by tags first, then by names.
#[derive(Debug, Default)]
pub(crate) struct Selection {
    /// At least one of these tags is required, if there are any.
    pub(crate) tags: Vec<String>,
    /// None of these tags is allowed.
    pub(crate) skip_tags: Vec<String>,
    /// At least one of these patterns must match the name, if there are any.
    pub(crate) include: Vec<Pattern>,
    /// None of these patterns may match the name.
    pub(crate) exclude: Vec<Pattern>,
    /// All of these must match.
    pub(crate) words: Vec<Word>,
    /// The names of the tests that failed last time, if only these are to run.
    pub(crate) names: Option<Vec<String>>,
}

/// A part of a name: literal text, or after `re:` a regular expression.
#[derive(Clone, Debug)]
pub(crate) enum Pattern {
    Part(String),
    Regex(Box<Regex>),
}

impl Pattern {
    /// Parses a pattern.
    pub(crate) fn parse(text: &str) -> Result<Self, String> {
        match text.strip_prefix("re:") {
            None => Ok(Self::Part(text.to_owned())),
            Some(pattern) => Regex::new(pattern)
                .map(|regex| Self::Regex(Box::new(regex)))
                .map_err(|error| {
                    let text = error.to_string();
                    let cause = text.lines().last().unwrap_or_default();
                    format!("invalid regular expression: {cause}")
                }),
        }
    }

    fn fits(&self, name: &str) -> bool {
        match self {
            Self::Part(part) => name.contains(part.as_str()),
            Self::Regex(regex) => regex.is_match(name),
        }
    }
}

/// A condition for a test.
#[derive(Clone, Debug)]
pub(crate) enum Word {
    Kind(String),
    Name(Pattern),
    Server(String),
    Tag(String),
    Tool(String),
}

impl Word {
    /// Parses a condition.
    pub(crate) fn parse(text: &str) -> Result<Self, String> {
        match text.split_once(':') {
            Some(("kind", kind)) if Kind::ALL.iter().any(|one| one.name() == kind) => {
                Ok(Self::Kind(kind.to_owned()))
            }
            Some(("kind", _)) => {
                let names: Vec<_> = Kind::ALL.iter().map(|one| one.name()).collect();
                Err(format!("the kinds are {}", names.join(", ")))
            }
            Some(("server", name)) => Ok(Self::Server(name.to_owned())),
            Some(("tag", tag)) => Ok(Self::Tag(tag.to_owned())),
            Some(("tool", name)) => Ok(Self::Tool(name.to_owned())),
            _ => Pattern::parse(text).map(Self::Name),
        }
    }

    fn fits(&self, case: &Case) -> bool {
        match self {
            Self::Kind(kind) => case.kind.name() == kind,
            Self::Name(pattern) => pattern.fits(&case.name),
            Self::Server(name) => case.named_servers().contains(&name.as_str()),
            Self::Tag(tag) => case.tags.contains(tag),
            Self::Tool(name) => case.tools().contains(&name.as_str()),
        }
    }
}

/// One of several parts of all tests. Each part is a contiguous range, since tests of one server
/// may depend on earlier ones.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Shard {
    /// Counted from 1.
    number: usize,
    of: usize,
}

impl Shard {
    /// Reads `I/N`.
    pub(crate) fn parse(text: &str) -> Result<Self, String> {
        let parts = text.split_once('/');
        let parsed = parts.and_then(|(number, of)| {
            let (number, of) = (number.parse().ok()?, of.parse().ok()?);
            Some(Self { number, of })
        });
        parsed
            .filter(|shard| (1..=shard.of).contains(&shard.number))
            .ok_or_else(|| "expected I/N, with I from 1 to N".to_owned())
    }

    /// The range of this part among `total` tests.
    pub(crate) fn range(self, total: usize) -> std::ops::Range<usize> {
        let end = |number: usize| total * number / self.of;
        end(self.number - 1)..end(self.number)
    }
}

impl Selection {
    /// Whether a case runs. A case without tags, such as a check of the protocol, only runs if no
    /// tag is requested.
    pub(crate) fn takes(&self, case: &Case) -> bool {
        let has = |tags: &[String]| case.tags.iter().any(|tag| tags.contains(tag));
        let fits = |patterns: &[Pattern]| patterns.iter().any(|one| one.fits(&case.name));
        (self.tags.is_empty() || has(&self.tags))
            && !has(&self.skip_tags)
            && (self.include.is_empty() || fits(&self.include))
            && !fits(&self.exclude)
            && self.words.iter().all(|word| word.fits(case))
            && self
                .names
                .as_ref()
                .is_none_or(|names| names.contains(&case.name))
    }
}

impl Selection {
    /// A suggestion for an unknown name: ``did you mean `x`?``.
    pub(crate) fn near(&self, cases: &[Case]) -> Option<String> {
        let tags = || cases.iter().flat_map(|case| &case.tags).map(String::as_str);
        let names = || cases.iter().map(|case| case.name.as_str());
        let of_tag = |tag: &String| did_you_mean(tag, tags().filter(|one| one != tag));
        let of_name = |pattern: &Pattern| match pattern {
            Pattern::Part(part) => did_you_mean(part, names()),
            Pattern::Regex(_) => None,
        };
        let of_word = |word: &Word| match word {
            Word::Tag(tag) => of_tag(tag),
            Word::Name(pattern) => of_name(pattern),
            Word::Tool(name) => did_you_mean(name, cases.iter().flat_map(Case::tools)),
            Word::Server(name) => did_you_mean(name, cases.iter().flat_map(Case::named_servers)),
            Word::Kind(_) => None,
        };
        let mut words = self
            .words
            .iter()
            .filter(|word| !cases.iter().any(|case| word.fits(case)));
        let mut patterns = self
            .include
            .iter()
            .filter(|one| !names().any(|name| one.fits(name)));
        self.tags
            .iter()
            .find_map(of_tag)
            .or_else(|| words.find_map(of_word))
            .or_else(|| patterns.find_map(of_name))
    }
}

#[cfg(test)]
mod tests {
    use super::Shard;

    #[test]
    fn the_parts_are_the_whole_and_share_nothing() {
        for total in 0..20 {
            for of in 1..7 {
                let part = |number| Shard { number, of }.range(total);
                let all: Vec<usize> = (1..=of).flat_map(part).collect();
                assert_eq!(all, (0..total).collect::<Vec<_>>(), "{total} in {of}");
                assert!((1..=of).all(|number| part(number).len() <= total.div_ceil(of)));
            }
        }
    }

    #[test]
    fn what_is_no_part_is_refused() {
        for text in ["", "1", "0/2", "3/2", "a/b", "1/0", "-1/2"] {
            assert!(Shard::parse(text).is_err(), "{text}");
        }
        assert_eq!(Shard::parse("2/3"), Ok(Shard { number: 2, of: 3 }));
    }
}
