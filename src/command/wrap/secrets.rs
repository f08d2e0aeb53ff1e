//! The secret parts of an entry, which are never shown.

use std::sync::Arc;

use tapewright_clients::Transport;
use tapewright_schemas::redact::{Redactor, Settings};

use crate::command::redaction;

fn redactor() -> Redactor {
    Redactor::new(Arc::new(redaction::built_in(&Settings::default())))
}

/// Whether a URL contains a secret. As an argument it would be visible in the list of processes.
pub(super) fn in_url(url: &str) -> bool {
    redactor().url(url) != url
}

/// Secrets in commands, and what is shown in their place.
#[derive(Default)]
pub(super) struct Masked(Vec<(String, String)>);

impl Masked {
    /// Looks for secrets in a command. Returns whether there is one.
    pub(super) fn learn(&mut self, transport: &Transport) -> bool {
        let Transport::Process { program, arguments } = transport else {
            return false;
        };
        let words: Vec<Vec<u8>> = std::iter::once(program)
            .chain(arguments)
            .map(|word| word.as_bytes().to_vec())
            .collect();
        let redacted = redactor().argv(&words);
        let before = self.0.len();
        for (word, shown) in words.iter().zip(&redacted) {
            if word != shown {
                let inside = |bytes: &[u8]| {
                    let text = String::from_utf8_lossy(bytes).into_owned();
                    let quoted = serde_json::Value::from(text).to_string();
                    quoted.trim_matches('"').to_owned()
                };
                self.0.push((inside(word), inside(shown)));
                let plain = String::from_utf8_lossy(word).into_owned();
                self.0.push((plain, inside(shown)));
            }
        }
        self.0.len() > before
    }

    /// Adds those of other commands.
    pub(super) fn extend(&mut self, other: Self) {
        self.0.extend(other.0);
    }

    /// A text without them, and without anything that looks like a secret.
    pub(super) fn hide(&self, text: &str) -> String {
        let mut text = text.to_owned();
        for (secret, shown) in &self.0 {
            text = text.replace(secret, shown);
        }
        let mut redactor = redactor();
        String::from_utf8_lossy(&redactor.text(text.as_bytes())).into_owned()
    }
}
