//! Values that a recording hides.

use tapewright_schemas::redact::hidden;

use super::Json;

impl Json {
    /// Whether a text in it may be a placeholder for a secret.
    #[must_use]
    pub fn hides(&self) -> bool {
        match self {
            Self::String(text) => hidden::is_likely(text.as_bytes()),
            Self::Array(elements) => elements.iter().any(Self::hides),
            Self::Object(members) => {
                let name_hides = |name: &String| hidden::is_likely(name.as_bytes());
                members
                    .iter()
                    .any(|(name, value)| name_hides(name) || value.hides())
            }
            _ => false,
        }
    }
}
