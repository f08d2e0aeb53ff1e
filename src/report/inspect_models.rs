//! The model calls in `inspect`.

use serde::Serialize;
use tapewright_models::calls::ModelCall;
use tapewright_models::prices::Prices;
use tapewright_schemas::event::Offset;

use super::figures::{duration, plural};
use super::inspect::{Page, SHOWN};
use super::safe;

/// The model calls on a recording.
#[derive(Debug, Default, Serialize)]
pub(crate) struct ModelCalls {
    #[serde(skip_serializing_if = "Vec::is_empty", rename = "model_calls")]
    rows: Vec<Row>,
    #[serde(skip_serializing_if = "is_none", rename = "model_calls_more")]
    more: u64,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde asks so")]
fn is_none(count: &u64) -> bool {
    *count == 0
}

/// One call.
#[derive(Debug, Serialize)]
struct Row {
    seq: u64,
    wire: &'static str,
    model: Option<String>,
    status: Option<u16>,
    stream: bool,
    input_tokens: Option<u64>,
    output_tokens: Option<u64>,
    cache_read_tokens: Option<u64>,
    cache_write_tokens: Option<u64>,
    reasoning_tokens: Option<u64>,
    cost_usd_microcents: Option<u64>,
    finish: Option<&'static str>,
    finish_word: Option<String>,
    tool_uses: Vec<String>,
    first_token_ms: Option<f64>,
    duration_ms: Option<f64>,
    end: &'static str,
    error: Option<String>,
}

impl ModelCalls {
    /// The calls, and how many more were not kept.
    pub(crate) fn new(calls: Vec<ModelCall>, more: u64, prices: &Prices) -> Self {
        let rows = calls.into_iter().map(|call| row(call, prices)).collect();
        Self { rows, more }
    }
}

fn row(call: ModelCall, prices: &Prices) -> Row {
    let (end, error) = (call.end.name(), call.end.why());
    let cost = call.model.as_deref().zip(call.usage.as_ref());
    let cost = cost.and_then(|(model, usage)| prices.cost(model, usage).ok());
    let usage = call.usage.unwrap_or_default();
    Row {
        seq: call.seq,
        wire: call.wire.name(),
        model: call.model,
        status: call.status,
        stream: call.is_stream,
        input_tokens: usage.input,
        output_tokens: usage.output,
        cache_read_tokens: usage.cache_read,
        cache_write_tokens: usage.cache_write,
        reasoning_tokens: usage.reasoning,
        cost_usd_microcents: cost,
        finish: call.finish.as_ref().map(|finish| finish.reason.name()),
        finish_word: call.finish.map(|finish| finish.word),
        tool_uses: call.tool_uses,
        first_token_ms: call.first_token.map(Offset::millis),
        duration_ms: call.took.map(Offset::millis),
        end,
        error,
    }
}

/// The calls, if there are any.
pub(super) fn calls(calls: &ModelCalls, out: &mut Page) {
    let all = calls.rows.len() as u64 + calls.more;
    if all == 0 {
        return;
    }
    out.line("");
    out.line(&format!("  models: {all} {}", plural(all, "call")));
    for row in calls.rows.iter().take(SHOWN) {
        out.line(&format!("    {}", line(row)));
    }
    out.rest(all);
    if calls.rows.len() > 1 {
        out.line(&format!("    in all: {}", sum(&calls.rows)));
    }
}

/// The cost of all calls; unknown costs are not included, and are mentioned.
fn sum(rows: &[Row]) -> String {
    let known: Vec<u64> = rows
        .iter()
        .filter_map(|row| row.cost_usd_microcents)
        .collect();
    let unknown = (rows.len() - known.len()) as u64;
    let calls = plural(unknown, "call");
    let costs = cost(known.iter().fold(0, |sum, one| sum.saturating_add(*one)));
    match (known.is_empty(), unknown) {
        (true, _) => "cost unknown".to_owned(),
        (false, 0) => costs,
        _ => format!("{costs}, excluding {unknown} {calls} of unknown cost"),
    }
}

fn line(row: &Row) -> String {
    let model = row.model.as_deref().unwrap_or("(model not named)");
    let mut said = vec![safe(model)];
    said.extend(tokens(
        row.input_tokens,
        row.output_tokens,
        row.cache_read_tokens,
    ));
    match row.cost_usd_microcents {
        Some(microcents) => said.push(cost(microcents)),
        None if row.end == "answered" => said.push("cost unknown".to_owned()),
        None => {}
    }
    if !row.tool_uses.is_empty() {
        said.push(format!("asks for {}", safe(&row.tool_uses.join(", "))));
    } else if let Some(finish) = row.finish.filter(|finish| *finish != "stop") {
        said.push(format!("ended: {finish}"));
    }
    match (row.end, &row.error) {
        ("cut_short", _) => said.push("cut short".to_owned()),
        (_, Some(error)) => said.push(safe(error)),
        _ => {}
    }
    let first = row.first_token_ms.filter(|_| row.stream);
    said.extend(first.map(|ms| format!("first token after {}", duration(ms))));
    said.extend(row.duration_ms.map(|ms| format!("took {}", duration(ms))));
    said.join(", ")
}

/// Input tokens, those of them from a cache, and output tokens.
pub(super) fn tokens(
    input: Option<u64>,
    output: Option<u64>,
    cached: Option<u64>,
) -> Option<String> {
    let (input, output) = (input?, output?);
    let cached = match cached {
        Some(cached) if cached > 0 => format!(" ({cached} cached)"),
        _ => String::new(),
    };
    Some(format!("{input} tokens in{cached}, {output} out"))
}

/// In cents, to a hundredth; smaller costs are shown as less than that, not as zero.
pub(super) fn cost(microcents: u64) -> String {
    let hundredths = microcents.div_ceil(10_000);
    match hundredths {
        0 => "0 ct".to_owned(),
        1 => "at most 0.01 ct".to_owned(),
        _ => format!("{}.{:02} ct", hundredths / 100, hundredths % 100),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cost_is_never_rounded_down_to_nothing() {
        assert_eq!(cost(0), "0 ct");
        assert_eq!(cost(1), "at most 0.01 ct");
        assert_eq!(cost(10_001), "0.02 ct");
        assert_eq!(cost(123_450_000), "123.45 ct");
    }
}
