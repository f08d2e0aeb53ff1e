//! `providers`, `budget`, `performance` and `target_versions`.

use std::time::Duration;

use crate::read::Cursor;
use crate::source::SourceSpot;

/// An endpoint for models that supports the chat completions of OpenAI.
#[derive(Clone, Debug)]
pub struct Provider {
    /// The key by which models name it.
    pub name: String,
    /// Its URL.
    pub base_url: String,
    /// The environment variable with the key; without one, no key is needed.
    pub api_key_env: Option<String>,
    /// The header `OpenAI-Organization`.
    pub organization: Option<String>,
    /// Its position.
    pub place: SourceSpot,
}

/// The maximum cost of agent runs, in cents of a US dollar.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Budget {
    /// One test.
    pub per_test_usd_cents: Option<u64>,
    /// The whole suite.
    pub per_suite_usd_cents: Option<u64>,
}

/// Limits of time for the whole suite.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Performance {
    /// The timeout of a test that sets none.
    pub default_timeout: Option<Duration>,
    /// The target for the 95th percentile. Advisory.
    pub p95_latency: Option<Duration>,
}

/// The revisions of the protocol that a suite may name.
pub const TARGET_VERSIONS: &[&str] = &[
    "2024-11-05",
    "2025-03-26",
    "2025-06-18",
    "2025-11-25",
    "2026-03-26",
    "2026-07-28",
];

impl Provider {
    pub(crate) fn read(name: &str, at: &Cursor<'_>) -> Self {
        let mut fields = at.fields();
        if let Some(kind) = fields.required("type") {
            kind.word(&["openai"]);
        }
        let provider = Self {
            name: name.to_owned(),
            base_url: fields.web_address("base_url"),
            api_key_env: fields.optional_name("api_key_env"),
            organization: fields.optional_name("organization"),
            place: at.place(),
        };
        fields.finish_with(|key| {
            (key == "api_key")
                .then_some("name the variable that holds the key: `api_key_env: NAME`")
        });
        provider
    }
}

impl Budget {
    pub(crate) fn read(at: &Cursor<'_>) -> Self {
        let mut fields = at.fields();
        let mut cents = |key| fields.optional(key).map(|at| at.integer(0));
        let budget = Self {
            per_test_usd_cents: cents("per_test_usd_cents"),
            per_suite_usd_cents: cents("per_suite_usd_cents"),
        };
        fields.finish();
        budget
    }

    /// These caps, with missing ones taken from another file.
    pub(crate) fn or(self, below: Self) -> Self {
        Self {
            per_test_usd_cents: self.per_test_usd_cents.or(below.per_test_usd_cents),
            per_suite_usd_cents: self.per_suite_usd_cents.or(below.per_suite_usd_cents),
        }
    }
}

impl Performance {
    pub(crate) fn read(at: &Cursor<'_>) -> Self {
        let mut fields = at.fields();
        let mut limit = |key| fields.optional(key).map(|at| at.milliseconds());
        let performance = Self {
            default_timeout: limit("default_timeout_ms"),
            p95_latency: limit("p95_latency_ms"),
        };
        fields.finish();
        performance
    }

    /// These limits, with missing ones taken from another file.
    pub(crate) fn or(self, below: Self) -> Self {
        Self {
            default_timeout: self.default_timeout.or(below.default_timeout),
            p95_latency: self.p95_latency.or(below.p95_latency),
        }
    }
}

/// Reads `target_versions`: each once, in the order of their first occurrence.
pub(super) fn target_versions(at: &Cursor<'_>) -> Vec<&'static str> {
    let mut versions = Vec::new();
    for item in at.items() {
        if let Some(version) = item.word(TARGET_VERSIONS)
            && !versions.contains(&version)
        {
            versions.push(version);
        }
    }
    versions
}
