//! Captures of any shape.

use proptest::prelude::*;
use serde_json::{Map, Value, json};
use tapewright_baselines::{
    Answer, Baseline, Ended, Exchange, Identity, Members, ToolCall, config_hash,
};

pub(crate) fn identity() -> Identity {
    Identity {
        model_id: "anthropic:claude-sonnet-4.5".to_owned(),
        model_version: "20251022".to_owned(),
        mcptest_version: "0.1.0".to_owned(),
        server_version: "1.0.0".to_owned(),
        server_config_hash: config_hash(&Value::Null),
    }
}

/// Captures with up to five exchanges.
pub(crate) fn baseline() -> impl Strategy<Value = Baseline> {
    let answers = prop::collection::vec((answer(), extra()), 1..5);
    (answers, extra()).prop_map(|(answers, more)| {
        let answers = answers.into_iter().enumerate();
        let exchanges = answers.map(|(at, (answer, extra))| Exchange {
            more: extra,
            ..Exchange::new(format!("tests/a.yml::t::step-{}", at + 1), answer)
        });
        Baseline {
            more,
            ..Baseline::new(identity(), exchanges.collect())
        }
    })
}

fn answer() -> impl Strategy<Value = Answer> {
    let content = prop::collection::vec(block(), 0..4);
    let calls = prop::collection::vec(call(), 0..4);
    let finish = prop::sample::select(vec![
        Ended::Stop,
        Ended::ToolUse,
        Ended::MaxTokens,
        Ended::Other,
    ]);
    let latency = prop::option::of(0_u64..5_000);
    (content, calls, finish, latency).prop_map(
        |(content, tool_calls, finish_reason, latency_ms)| Answer {
            content,
            tool_calls,
            finish_reason,
            latency_ms,
        },
    )
}

fn block() -> impl Strategy<Value = Value> {
    prop_oneof![
        "[A-Z][a-z]{1,8} [a-z]{1,8}".prop_map(|text| json!({"type": "text", "text": text})),
        "[a-z]{1,8} [a-z]{1,8}"
            .prop_map(|text| json!({"type": "thinking", "thinking": text, "signature": "s"})),
        "[A-Za-z0-9]{4}"
            .prop_map(|data| json!({"type": "image", "data": data, "mimeType": "image/png"})),
        value().prop_map(|value| json!({"type": "server_tool_use", "input": value})),
    ]
}

fn call() -> impl Strategy<Value = ToolCall> {
    let name = prop::sample::select(vec!["lookup", "create", "search"]);
    let arguments = prop::collection::btree_map("[a-d/~]{1,3}", value(), 0..4);
    (name, arguments, any::<bool>(), extra()).prop_map(|(name, arguments, has_raw, more)| {
        let arguments = Value::Object(arguments.into_iter().collect::<Map<_, _>>());
        ToolCall {
            name: name.to_owned(),
            raw_arguments: has_raw.then(|| arguments.to_string()),
            arguments,
            more,
        }
    })
}

fn value() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        (-1e9..1e9_f64).prop_map(Value::from),
        "\\PC{0,6}".prop_map(Value::from),
    ];
    leaf.prop_recursive(2, 8, 3, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..3).prop_map(Value::from),
            prop::collection::btree_map("[a-z]{1,3}", inner, 0..3)
                .prop_map(|map| Value::Object(map.into_iter().collect())),
        ]
    })
}

/// Members that the format does not name.
fn extra() -> impl Strategy<Value = Members> {
    let members = prop::collection::btree_map("x_[a-z]{1,3}", value(), 0..2);
    members.prop_map(|map| map.into_iter().collect())
}

/// The same value with the members of every object in reverse order.
pub(crate) fn reversed(value: &Value) -> Value {
    match value {
        Value::Object(map) => {
            let members = map.iter().rev();
            let members = members.map(|(name, value)| (name.clone(), reversed(value)));
            Value::Object(members.collect())
        }
        Value::Array(list) => list.iter().map(reversed).collect(),
        value => value.clone(),
    }
}
