//! Every single change of a capture, and its row of the table.

use serde_json::{Value, json};
use tapewright_baselines::{Answer, Baseline, Ended, Exchange, Outcome, config_hash};

/// An id, a category and a severity.
pub(crate) type Expected = (String, &'static str, &'static str);

pub(crate) struct Mutation {
    pub(crate) what: String,
    pub(crate) candidate: Baseline,
    pub(crate) expected: Vec<Expected>,
    is_invalid: bool,
}

impl Mutation {
    pub(crate) fn outcome(&self) -> Outcome {
        let has = |severity| self.expected.iter().any(|one| one.2 == severity);
        match () {
            () if self.is_invalid => Outcome::Invalid,
            () if has("FAIL") => Outcome::Fail,
            () if has("DRIFT") => Outcome::Drift,
            () => Outcome::Pass,
        }
    }
}

struct All<'b> {
    baseline: &'b Baseline,
    found: Vec<Mutation>,
}

impl All<'_> {
    fn add(&mut self, what: &str, expected: Vec<Expected>, change: impl FnOnce(&mut Baseline)) {
        let mut candidate = self.baseline.clone();
        change(&mut candidate);
        self.found.push(Mutation {
            what: what.to_owned(),
            candidate,
            expected,
            is_invalid: false,
        });
    }

    /// A change of one answer.
    fn answer(
        &mut self,
        at: usize,
        what: &str,
        expected: &[(&'static str, &'static str)],
        change: impl FnOnce(&mut Answer),
    ) {
        let id = &self.baseline.exchanges[at].id;
        let what = format!("{id}: {what}");
        let each = expected.iter();
        let expected = each.map(|(category, severity)| (id.clone(), *category, *severity));
        self.add(&what, expected.collect(), |candidate| {
            change(&mut candidate.exchanges[at].answer);
        });
    }
}

/// Every single change.
pub(crate) fn mutations(baseline: &Baseline) -> Vec<Mutation> {
    let mut all = All {
        baseline,
        found: Vec::new(),
    };
    identity(&mut all);
    for at in 0..baseline.exchanges.len() {
        exchange(&mut all, at);
        let answer = &baseline.exchanges[at].answer;
        for block in 0..answer.content.len() {
            content(&mut all, at, block);
        }
        for call in 0..answer.tool_calls.len() {
            tool(&mut all, at, call);
            arguments(&mut all, at, call);
        }
    }
    all.found
}

fn identity(all: &mut All<'_>) {
    let other = || "other".to_owned();
    all.add("model_id", vec![], |one| one.identity.model_id = other());
    all.add("model_version", vec![], |one| {
        one.identity.model_version = other();
    });
    all.add("mcptest_version", vec![], |one| {
        one.identity.mcptest_version = other();
    });
    all.add("server_version", vec![], |one| {
        one.identity.server_version = other();
    });
    all.add("config_fingerprint", vec![], |one| {
        one.rules.variances.clear();
    });
    all.add("unknown member", vec![], |one| {
        one.more.insert("new".to_owned(), json!(1));
    });
    all.add("server_config_hash", vec![], |one| {
        one.identity.server_config_hash = config_hash(&json!("other"));
    });
    if let Some(last) = all.found.last_mut() {
        last.is_invalid = true;
    }
}

fn exchange(all: &mut All<'_>, at: usize) {
    let id = all.baseline.exchanges[at].id.clone();
    let gone = (id.clone(), "tool_calls", "FAIL");
    if all.baseline.exchanges.len() > 1 {
        all.add("exchange gone", vec![gone.clone()], |one| {
            one.exchanges.remove(at);
        });
    }
    let new = format!("{id}-new");
    let told = (new.clone(), "tool_calls", "DRIFT");
    all.add("exchange renamed", vec![gone, told.clone()], |one| {
        one.exchanges[at].id.clone_from(&new);
    });
    all.add("exchange added", vec![told], |one| {
        let answer = one.exchanges[at].answer.clone();
        one.exchanges.push(Exchange::new(new.clone(), answer));
    });
    all.add("exchanges in another order", vec![], |one| {
        one.exchanges.reverse();
    });
    all.add("messages", vec![], |one| {
        one.exchanges[at]
            .mcp_messages
            .push(json!({"direction": "to_server"}));
    });
    let now = all.baseline.exchanges[at].answer.finish_reason;
    for ended in [Ended::Stop, Ended::ToolUse, Ended::MaxTokens, Ended::Other] {
        let expected: &[_] = if ended == now {
            &[]
        } else {
            &[("finish_reason", "FAIL")]
        };
        all.answer(at, "finish_reason", expected, |one| {
            one.finish_reason = ended;
        });
    }
    all.answer(at, "latency", &[], |one| one.latency_ms = Some(99_999));
    all.answer(at, "block added", &[("response_shape", "FAIL")], |one| {
        one.content.push(json!({"type": "text", "text": "more"}));
    });
    all.answer(at, "tool added", &[("tool_calls", "FAIL")], |one| {
        one.tool_calls.push(serde_like("never-called"));
    });
}

fn serde_like(name: &str) -> tapewright_baselines::ToolCall {
    tapewright_baselines::ToolCall {
        name: name.to_owned(),
        arguments: json!({}),
        raw_arguments: None,
        more: tapewright_baselines::Members::new(),
    }
}

fn content(all: &mut All<'_>, at: usize, block: usize) {
    let shape = &[("response_shape", "FAIL")];
    let additive = &[("response_shape", "DRIFT")];
    let said = &[("response_semantics", "DRIFT")];
    all.answer(at, "block gone", shape, |one| {
        one.content.remove(block);
    });
    all.answer(at, "block of another type", shape, |one| {
        one.content[block]["type"] = json!("audio");
    });
    all.answer(at, "member of a block added", additive, |one| {
        one.content[block]["x_new"] = json!(1);
    });
    let value = all.baseline.exchanges[at].answer.content[block].clone();
    let name = match value["type"].as_str() {
        Some("text") => "text",
        Some("thinking") => "thinking",
        Some("image") => {
            return all.answer(at, "another image", shape, |one| {
                one.content[block]["data"] = json!("another one");
            });
        }
        _ => {
            return all.answer(at, "other data", shape, |one| {
                one.content[block]["input"] = json!({"never": "seen"});
            });
        }
    };
    let text = value[name].as_str().unwrap_or_default().to_owned();
    let put = |text: String| move |one: &mut Answer| one.content[block][name] = json!(text);
    all.answer(at, "text in capitals", said, put(text.to_uppercase()));
    all.answer(
        at,
        "text in other space",
        said,
        put(text.replace(' ', "\n  ")),
    );
    all.answer(at, "another text", said, put(format!("{text} and more")));
    if name == "thinking" {
        all.answer(at, "another signature", &[], |one| {
            one.content[block]["signature"] = json!("another");
        });
    }
}

fn tool(all: &mut All<'_>, at: usize, call: usize) {
    let calls = &all.baseline.exchanges[at].answer.tool_calls;
    let name = calls[call].name.clone();
    let is_only = calls.iter().filter(|one| one.name == name).count() == 1;
    let next = calls.get(call + 1).map(|one| one.name.clone());
    let severity = if is_only { "FAIL" } else { "DRIFT" };
    all.answer(at, "tool gone", &[("tool_calls", severity)], |one| {
        one.tool_calls.remove(call);
    });
    all.answer(
        at,
        "tool called once more",
        &[("tool_calls", "DRIFT")],
        |one| {
            let again = one.tool_calls[call].clone();
            one.tool_calls.push(again);
        },
    );
    let renamed = [("tool_calls", severity), ("tool_calls", "FAIL")];
    all.answer(at, "another tool", &renamed, |one| {
        "never-called".clone_into(&mut one.tool_calls[call].name);
    });
    if next.is_some_and(|next| next != name) {
        all.answer(
            at,
            "tools in another order",
            &[("tool_calls", "FAIL")],
            |one| {
                one.tool_calls.swap(call, call + 1);
            },
        );
    }
    all.answer(at, "unknown member of a call", &[], |one| {
        one.tool_calls[call].more.insert("new".to_owned(), json!(1));
    });
}

fn arguments(all: &mut All<'_>, at: usize, call: usize) {
    let fails = &[("tool_args", "FAIL")];
    let drifts = &[("tool_args", "DRIFT")];
    let own = all.baseline.exchanges[at].answer.tool_calls[call].clone();
    let names: Vec<String> = own
        .arguments
        .as_object()
        .into_iter()
        .flat_map(|map| map.keys().cloned())
        .collect();
    all.answer(at, "argument added", drifts, |one| {
        one.tool_calls[call].arguments["x_new"] = json!(null);
    });
    all.answer(at, "arguments that are none", fails, |one| {
        one.tool_calls[call].arguments = json!(["a list"]);
    });
    let raw: &[_] = if own.raw_arguments.is_some() {
        drifts
    } else {
        &[]
    };
    all.answer(at, "arguments written otherwise", raw, |one| {
        one.tool_calls[call].raw_arguments = Some("{ }".to_owned());
    });
    all.answer(at, "arguments as they were written are gone", &[], |one| {
        one.tool_calls[call].raw_arguments = None;
    });
    for name in names {
        all.answer(at, "argument gone", fails, |one| {
            if let Value::Object(map) = &mut one.tool_calls[call].arguments {
                map.remove(&name);
            }
        });
        let before = own.arguments[&name].clone();
        all.answer(at, "argument of another value", fails, |one| {
            one.tool_calls[call].arguments[&name] = another(&before);
        });
        all.answer(at, "argument of another type", fails, |one| {
            one.tool_calls[call].arguments[&name] = match &before {
                Value::String(_) => json!(7),
                other => json!(other.to_string()),
            };
        });
    }
}

/// Another value of the same type, if there is one.
fn another(value: &Value) -> Value {
    match value {
        Value::Null => json!(false),
        Value::Bool(value) => json!(!value),
        Value::Number(number) => json!(number.as_f64().unwrap_or_default() / 2.0 + 1.5e12),
        Value::String(text) => json!(format!("{text}.")),
        Value::Array(list) => {
            let mut list = list.clone();
            list.push(json!("more"));
            list.into()
        }
        Value::Object(map) => {
            let mut map = map.clone();
            map.insert("more".to_owned(), json!(1));
            map.into()
        }
    }
}
