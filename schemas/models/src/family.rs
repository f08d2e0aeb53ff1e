//! Which provider a model belongs to, and the names that its clients use.
//!
//! Names of environment variables are data here; reading them is up to the program.

use crate::Wire;

/// A provider whose models are recognized by their names.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Family {
    /// Anthropic.
    Anthropic,
    /// OpenAI.
    OpenAi,
    /// Google.
    Google,
    /// Mistral.
    Mistral,
}

const ANTHROPIC: &[&str] = &["claude-"];
const OPENAI: &[&str] = &["gpt-", "chatgpt-", "text-", "davinci-"];
const GOOGLE: &[&str] = &["gemini-", "models/gemini-"];
const MISTRAL: &[&str] = &[
    "mistral-",
    "codestral-",
    "magistral-",
    "ministral-",
    "devstral-",
    "pixtral-",
    "open-mistral-",
    "open-mixtral-",
];

impl Family {
    /// The family of a model; `None` if its name does not show it and a provider must be given.
    #[must_use]
    pub fn of_model(model: &str) -> Option<Self> {
        let begins = |prefixes: &[&str]| prefixes.iter().any(|prefix| model.starts_with(prefix));
        if begins(ANTHROPIC) {
            Some(Self::Anthropic)
        } else if begins(OPENAI) || is_o_series(model) {
            Some(Self::OpenAi)
        } else if begins(GOOGLE) {
            Some(Self::Google)
        } else if begins(MISTRAL) {
            Some(Self::Mistral)
        } else {
            None
        }
    }

    /// Its name in a message.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Anthropic => "Anthropic",
            Self::OpenAi => "OpenAI",
            Self::Google => "Google",
            Self::Mistral => "Mistral",
        }
    }

    /// The default model.
    #[must_use]
    pub fn default_model(self) -> &'static str {
        match self {
            Self::Anthropic => "claude-sonnet-4-5",
            Self::OpenAi => "gpt-5",
            Self::Google => "gemini-2.5-pro",
            Self::Mistral => "mistral-large-latest",
        }
    }

    /// The wire that tapewright's agents use.
    #[must_use]
    pub fn wire(self) -> Wire {
        match self {
            Self::Anthropic => Wire::Anthropic,
            Self::OpenAi | Self::Mistral => Wire::OpenAiChat,
            Self::Google => Wire::Gemini,
        }
    }

    /// The variables that may hold its key, the first that is set counts.
    #[must_use]
    pub fn key_variables(self) -> &'static [&'static str] {
        match self {
            Self::Anthropic => &["ANTHROPIC_API_KEY"],
            Self::OpenAi => &["OPENAI_API_KEY"],
            Self::Google => &["GEMINI_API_KEY", "GOOGLE_API_KEY"],
            Self::Mistral => &["MISTRAL_API_KEY"],
        }
    }

    /// The variable that may name an organization.
    #[must_use]
    pub fn organization_variable(self) -> Option<&'static str> {
        (self == Self::OpenAi).then_some("OPENAI_ORG_ID")
    }

    /// The variables by which its clients are pointed elsewhere.
    #[must_use]
    pub fn base_url_variables(self) -> &'static [&'static str] {
        match self {
            Self::Anthropic => &["ANTHROPIC_BASE_URL"],
            Self::OpenAi => &["OPENAI_BASE_URL"],
            Self::Google => &["GOOGLE_GEMINI_BASE_URL"],
            Self::Mistral => &["MISTRAL_BASE_URL"],
        }
    }

    /// The base URL, to which [`Wire::path`] is appended.
    #[must_use]
    pub fn base_url(self) -> &'static str {
        match self {
            Self::Anthropic => "https://api.anthropic.com",
            Self::OpenAi => "https://api.openai.com/v1",
            Self::Google => "https://generativelanguage.googleapis.com",
            Self::Mistral => "https://api.mistral.ai/v1",
        }
    }
}

/// `o1`, `o3-mini`, `o4-mini`.
fn is_o_series(model: &str) -> bool {
    let rest = model.strip_prefix('o');
    rest.is_some_and(|rest| rest.starts_with(|letter: char| letter.is_ascii_digit()))
}

impl Wire {
    /// The headers that a request needs, with the key of the provider in one of them.
    #[must_use]
    pub fn headers(self, key: &str) -> Vec<(&'static str, String)> {
        let mut headers = vec![("content-type", "application/json".to_owned())];
        match self {
            Self::Anthropic => {
                headers.push(("x-api-key", key.to_owned()));
                headers.push(("anthropic-version", "2023-06-01".to_owned()));
            }
            Self::OpenAiChat | Self::OpenAiResponses => {
                headers.push(("authorization", format!("Bearer {key}")));
            }
            Self::Gemini => headers.push(("x-goog-api-key", key.to_owned())),
        }
        headers
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_family_of_a_model_is_told_by_its_name() {
        for (model, family) in [
            ("claude-sonnet-4-5", Some(Family::Anthropic)),
            ("gpt-5", Some(Family::OpenAi)),
            ("chatgpt-4o-latest", Some(Family::OpenAi)),
            ("o3-mini", Some(Family::OpenAi)),
            ("text-davinci-003", Some(Family::OpenAi)),
            ("davinci-002", Some(Family::OpenAi)),
            ("gemini-2.5-pro", Some(Family::Google)),
            ("models/gemini-2.5-pro", Some(Family::Google)),
            ("mistral-small-latest", Some(Family::Mistral)),
            ("codestral-2501", Some(Family::Mistral)),
            ("open-mixtral-8x7b", Some(Family::Mistral)),
            ("openai/gpt-4o", None),
            ("ollama", None),
            ("opus", None),
            ("Claude-3", None),
            ("", None),
        ] {
            assert_eq!(Family::of_model(model), family, "{model}");
        }
    }

    #[test]
    fn a_key_stands_in_one_header_only() {
        for wire in Wire::ALL {
            let headers = wire.headers("k-123");
            let holding = headers.iter().filter(|(_, value)| value.contains("k-123"));
            assert_eq!(holding.count(), 1, "{}", wire.name());
        }
    }
}
