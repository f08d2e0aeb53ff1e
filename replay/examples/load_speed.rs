//! Measures how long a cassette takes to load and to index, compared with `serde_json` parsing it
//! into `RawValue`s.
//!
//! `load_speed FILE [ROUNDS]` prints the best of the rounds in milliseconds, and the ratios.

#![expect(
    clippy::print_stdout,
    clippy::disallowed_methods,
    reason = "a measurement prints what it measured, and needs a clock"
)]

use std::hint::black_box;
use std::sync::Arc;
use std::time::Instant;

use bytes::Bytes;
use serde::Deserialize;
use serde_json::value::RawValue;
use tapewright_replay::{Index, Options, Script};
use tapewright_schemas::redact::{Rules, Settings};

#[derive(Deserialize)]
struct Cassette<'t> {
    #[serde(borrow)]
    exchanges: Vec<Pair<'t>>,
}

#[derive(Deserialize)]
struct Pair<'t> {
    #[serde(borrow)]
    request: &'t RawValue,
    #[serde(borrow)]
    response: &'t RawValue,
}

fn main() {
    let mut arguments = std::env::args().skip(1);
    let file = arguments.next().expect("a cassette");
    let rounds: u32 = arguments
        .next()
        .map_or(5, |rounds| rounds.parse().expect("a number"));
    let text = Bytes::from(std::fs::read(file).expect("a readable file"));
    let rules = Arc::new(Rules::new(&Settings::default()).expect("the built-in rules"));
    let options = Arc::new(Options::new(rules));
    let (mut loaded, mut indexed, mut theirs) = (f64::MAX, f64::MAX, f64::MAX);
    for _ in 0..rounds {
        let begin = Instant::now();
        let cassette: Cassette<'_> = serde_json::from_slice(&text).expect("a cassette");
        for exchange in &cassette.exchanges {
            black_box((exchange.request.get().len(), exchange.response.get().len()));
        }
        theirs = theirs.min(begin.elapsed().as_secs_f64());
        let begin = Instant::now();
        let script = Script::load(text.clone()).expect("a cassette");
        loaded = loaded.min(begin.elapsed().as_secs_f64());
        let index = Index::new(Arc::new(script), Arc::clone(&options));
        indexed = indexed.min(begin.elapsed().as_secs_f64());
        black_box(index);
    }
    println!(
        "{{\"bytes\":{},\"load_ms\":{:.1},\"load_and_index_ms\":{:.1},\"raw_values_ms\":{:.1},\"load_ratio\":{:.2},\"ratio\":{:.2}}}",
        text.len(),
        loaded * 1e3,
        indexed * 1e3,
        theirs * 1e3,
        loaded / theirs,
        indexed / theirs
    );
}
