//! The built-in prices.
//!
//! Rows are taken from models.dev (anomalyco/models.dev, MIT), which has one file for each model. A
//! model with contradicting price sources has no row.

use super::{Price, Rates};

/// When the rows were read.
const DATE: &str = "2026-11-24";
const SOURCE: &str = "https://github.com/anomalyco/models.dev/blob/dev/providers/";

/// Model, provider and file, then dollars for a million tokens: input, output, from a cache,
/// to a cache.
type Row = (
    &'static str,
    &'static str,
    f64,
    f64,
    Option<f64>,
    Option<f64>,
);

const ROWS: &[Row] = &[
    (
        "claude-haiku-4-5",
        "anthropic",
        1.0,
        5.0,
        Some(0.1),
        Some(1.25),
    ),
    (
        "claude-opus-4-1",
        "anthropic",
        15.0,
        75.0,
        Some(1.5),
        Some(18.75),
    ),
    (
        "claude-opus-4-5",
        "anthropic",
        5.0,
        25.0,
        Some(0.5),
        Some(6.25),
    ),
    (
        "claude-opus-4-6",
        "anthropic",
        5.0,
        25.0,
        Some(0.5),
        Some(6.25),
    ),
    (
        "claude-sonnet-4-5",
        "anthropic",
        3.0,
        15.0,
        Some(0.3),
        Some(3.75),
    ),
    (
        "claude-sonnet-4-6",
        "anthropic",
        3.0,
        15.0,
        Some(0.3),
        Some(3.75),
    ),
    ("gpt-5", "openai", 1.25, 10.0, Some(0.125), None),
    ("gpt-5-mini", "openai", 0.25, 2.0, Some(0.025), None),
    ("gpt-5-nano", "openai", 0.05, 0.4, Some(0.005), None),
    ("gemini-2.5-flash", "google", 0.3, 2.5, Some(0.03), None),
    (
        "gemini-2.5-flash-lite",
        "google",
        0.1,
        0.4,
        Some(0.01),
        None,
    ),
    ("gemini-2.5-pro", "google", 1.25, 10.0, Some(0.125), None),
    (
        "gemini-3-flash-preview",
        "google",
        0.5,
        3.0,
        Some(0.05),
        None,
    ),
    ("mistral-large-latest", "mistral", 0.5, 1.5, None, None),
    ("mistral-small-latest", "mistral", 0.1, 0.3, None, None),
];

/// Models whose prices depend on the length of a request.
const LONG: &[(&str, u64, Rates)] = &[(
    "gemini-2.5-pro",
    200_000,
    Rates {
        input: 2_500_000,
        output: 15_000_000,
        cache_read: Some(250_000),
        cache_write: None,
    },
)];

/// Every row.
pub(super) fn rows() -> impl Iterator<Item = (String, Price)> {
    ROWS.iter()
        .map(|(model, provider, input, output, read, write)| {
            let long = LONG.iter().find(|(name, ..)| name == model);
            let price = Price {
                rates: Rates {
                    input: millionths(*input),
                    output: millionths(*output),
                    cache_read: read.map(millionths),
                    cache_write: write.map(millionths),
                },
                long: long.map(|(_, limit, rates)| (*limit, *rates)),
                source: format!("{SOURCE}{provider}/models/{model}.toml"),
                date: DATE.to_owned(),
            };
            ((*model).to_owned(), price)
        })
}

/// Converts dollars to millionths of a dollar.
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "prices are positive and small"
)]
pub(super) fn millionths(dollars: f64) -> u64 {
    (dollars * 1_000_000.0).round() as u64
}
