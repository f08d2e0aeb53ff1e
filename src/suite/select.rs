//! Which cases run.

use regex::Regex;

use super::plan::Case;

/// Which cases run: tags first, then names.
#[derive(Debug, Default)]
pub(crate) struct Selection {
    /// One of these tags is needed, if there are any.
    pub(crate) tags: Vec<String>,
    /// None of these tags may be there.
    pub(crate) skip_tags: Vec<String>,
    /// One of these patterns has to be in the name, if there are any.
    pub(crate) include: Vec<Pattern>,
    /// None of these may be in the name.
    pub(crate) exclude: Vec<Pattern>,
    /// The names of what failed last, when only that is to run.
    pub(crate) names: Option<Vec<String>>,
}

/// Something in a name: text as it stands, or behind `re:` a regular expression.
#[derive(Clone, Debug)]
pub(crate) enum Pattern {
    Part(String),
    Regex(Box<Regex>),
}

impl Pattern {
    /// Reads a pattern as it was typed.
    pub(crate) fn parse(text: &str) -> Result<Self, String> {
        match text.strip_prefix("re:") {
            None => Ok(Self::Part(text.to_owned())),
            Some(pattern) => Regex::new(pattern)
                .map(|regex| Self::Regex(Box::new(regex)))
                .map_err(|error| {
                    let text = error.to_string();
                    let cause = text.lines().last().unwrap_or_default();
                    format!("no regular expression: {cause}")
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

impl Selection {
    /// Whether a case runs. What has no tags, such as a check of the protocol, runs only
    /// when no tag is asked for.
    pub(crate) fn takes(&self, case: &Case) -> bool {
        let has = |tags: &[String]| case.tags.iter().any(|tag| tags.contains(tag));
        let fits = |patterns: &[Pattern]| patterns.iter().any(|one| one.fits(&case.name));
        (self.tags.is_empty() || has(&self.tags))
            && !has(&self.skip_tags)
            && (self.include.is_empty() || fits(&self.include))
            && !fits(&self.exclude)
            && self
                .names
                .as_ref()
                .is_none_or(|names| names.contains(&case.name))
    }

    /// Whether anything was asked for at all.
    pub(crate) fn is_everything(&self) -> bool {
        self.tags.is_empty()
            && self.skip_tags.is_empty()
            && self.include.is_empty()
            && self.exclude.is_empty()
            && self.names.is_none()
    }
}
