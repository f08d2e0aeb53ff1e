//! Model baselines: any bytes can be read, what was read is written canonically and comes back,
//! and a capture does not differ from itself but where its own invariants break.
#![no_main]

use libfuzzer_sys::fuzz_target;
use serde_json::Value;
use tapewright_baselines::{Baseline, Category, Options, Severity, compare};

fuzz_target!(|data: &[u8]| {
    let Ok(baseline) = Baseline::read(data) else {
        return;
    };
    // serde_json reads a fraction of 17 digits to the last bit or next to it.
    if serde_json::from_slice(data).is_ok_and(|value| has_fraction(&value)) {
        return;
    }
    let text = baseline.write();
    let again = Baseline::read(text.as_bytes()).expect("what we wrote");
    assert_eq!(again.write(), text);
    let found = compare(&baseline, &again, &Options::default());
    for entry in &found.entries {
        let is_own = entry.is_noise || entry.category == Category::Invariant;
        assert!(is_own || entry.severity == Severity::Pass, "{entry:?}");
    }
});

fn has_fraction(value: &Value) -> bool {
    match value {
        Value::Number(number) => number.is_f64(),
        Value::Array(list) => list.iter().any(has_fraction),
        Value::Object(map) => map.values().any(has_fraction),
        _ => false,
    }
}
