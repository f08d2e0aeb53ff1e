//! Measures redaction: `cargo run --release -p tapewright-schemas --example redact_speed`.

use std::hint::black_box;
use std::sync::Arc;
use std::time::Instant;

use tapewright_schemas::redact::{Redactor, Rules, Settings};

#[expect(
    clippy::disallowed_methods,
    reason = "a measuring program needs the clock"
)]
fn now() -> Instant {
    Instant::now()
}

/// The fastest of several rounds, in nanoseconds per payload.
fn measure(redactor: &mut Redactor, payload: &[u8]) -> f64 {
    let rounds = u32::try_from(2_000_000 / payload.len().max(20))
        .unwrap_or(u32::MAX)
        .max(20);
    let mut best = f64::MAX;
    for _ in 0..20 {
        let start = now();
        for _ in 0..rounds {
            black_box(redactor.json(black_box(payload)).is_ok());
        }
        best = best.min(start.elapsed().as_secs_f64() * 1e9 / f64::from(rounds));
    }
    best
}

fn main() {
    let values = vec![("GITHUB_TOKEN".to_owned(), "hunter2-hunter2".to_owned())];
    for (title, settings) in [
        ("no secrets configured", Settings::default()),
        (
            "one value configured",
            Settings {
                values,
                ..Settings::default()
            },
        ),
    ] {
        let Ok(rules) = Rules::new(&settings) else {
            return;
        };
        let mut redactor = Redactor::new(Arc::new(rules));
        print(title, &mut redactor);
    }
    for count in [1, 16, 256] {
        let Ok(rules) = Rules::new(&Settings::default()) else {
            return;
        };
        let mut redactor = Redactor::new(Arc::new(rules));
        let start = now();
        for number in 0..count {
            let told = format!(
                "{{\"password\":\"hunter2-{:08x}-x\"}}",
                number * 0x0935_1c87_u32
            );
            black_box(redactor.json(told.as_bytes()).is_ok());
        }
        let ns = start.elapsed().as_secs_f64() * 1e9 / f64::from(count);
        print(
            &format!("{count} learned, each in {ns:.0} ns"),
            &mut redactor,
        );
    }
}

#[expect(
    clippy::print_stdout,
    reason = "the figures are what this program is for"
)]
#[expect(clippy::cast_precision_loss, reason = "sizes are far below 2^52")]
fn print(title: &str, redactor: &mut Redactor) {
    println!("{title}");
    for (name, payload) in payloads() {
        let ns = measure(redactor, payload.as_bytes());
        let len = payload.len() as f64;
        println!(
            "  {name:28} {:8} bytes {ns:12.1} ns {:7.2} GB/s",
            payload.len(),
            len / ns
        );
    }
}

fn payloads() -> Vec<(&'static str, String)> {
    let word = "the quick brown fox, who was 3 years old, jumped over https://example.com/a-b_c; ";
    let base64 = "iVBORw0KGgoAAAANSUhEUgAAAAUA/+AAFCAYAAACNbyblAAAAHElEQVQI12P4";
    let text = |text: String| {
        format!(
            "{{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{{\"content\":[{{\"type\":\"text\",\"text\":\"{text}\"}}]}}}}"
        )
    };
    let tool = r#"{"name":"get_weather","description":"Current weather for a city","inputSchema":{"type":"object","properties":{"city":{"type":"string","description":"City name"}},"required":["city"]}},"#;
    let tools = tool.repeat(20);
    vec![
        ("tools/call", r#"{"jsonrpc":"2.0","id":42,"method":"tools/call","params":{"name":"get_weather","arguments":{"city":"San Francisco","units":"metric","days":3}}}"#.to_owned()),
        ("result", r#"{"jsonrpc":"2.0","id":42,"result":{"content":[{"type":"text","text":"Temperature is 22 degrees, partly cloudy, light wind"}],"isError":false}}"#.to_owned()),
        ("result, JSON in text", r#"{"jsonrpc":"2.0","id":42,"result":{"content":[{"type":"text","text":"{\"temperature\":22.5,\"unit\":\"celsius\",\"time\":\"12:00\"}"}],"isError":false}}"#.to_owned()),
        ("notification", r#"{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":7,"progress":50,"total":100}}"#.to_owned()),
        ("ping", r#"{"jsonrpc":"2.0","id":7,"method":"ping"}"#.to_owned()),
        ("one secret", r#"{"jsonrpc":"2.0","id":42,"method":"tools/call","params":{"name":"login","arguments":{"password":"hunter2","user":"bob"}}}"#.to_owned()),
        ("tools/list", format!("{{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{{\"tools\":[{tools}{{}}]}}}}")),
        ("1 MB of y", format!("{{\"msg\":\"{}\"}}", "y".repeat(1 << 20))),
        ("1 MB of base64", text(base64.repeat((1 << 20) / 64))),
        ("1 MB of prose", text(word.repeat((1 << 20) / word.len()))),
        ("1 MB of prose, escaped", text(format!("{word}\\n").repeat((1 << 20) / word.len()))),
    ]
}
