//! Agent cassettes: the documented form, and the handling of other forms.

#![expect(clippy::unwrap_used, reason = "a test may fail")]

use serde_json::{Value, json};
use tapewright_models::agent_cassette::{
    AgentCassette, AgentInputs, StopReason, file_names, fingerprint,
};
use tapewright_models::tool_of_mcp;

/// The example in the documentation of the format.
fn documented() -> Value {
    json!({
        "schema_version": "v1",
        "agent_name": "weather query routes to get_weather",
        "model": "claude-sonnet-4-5",
        "user_prompt": "What is the weather in Sacramento?",
        "system_prompt": "You are a weather assistant. ...",
        "recorded_at": "2026-05-19T01:23:45Z",
        "trace": {
            "tool_calls": [{"name": "get_weather", "server": "weather", "args": {"city": "Sacramento"}}],
            "tool_results": [{
                "call_index": 0, "server": "weather", "is_error": false,
                "result": {"content": [{"type": "text", "text": "72 F, sunny"}]},
            }],
            "final_response": "It is 72 F and sunny in Sacramento.",
            "conversation": {
                "tokens": {"prompt": 80, "completion": 25, "total": 105},
                "duration_ms": 1234,
                "message_count": 4,
                "turns": [],
            },
        },
    })
}

fn read(value: &Value) -> AgentCassette {
    AgentCassette::read(value.to_string().as_bytes()).unwrap()
}

#[test]
fn the_documented_shape_is_read_and_written_again() {
    let cassette = read(&documented());
    assert_eq!(
        cassette.trace.conversation.stop_reason,
        StopReason::Completed
    );
    let text = cassette.write();
    assert_eq!(AgentCassette::read(text.as_bytes()), Ok(cassette));
    let mut expected = documented();
    expected["trace"]["tool_calls"][0]["hop_index"] = json!(0);
    expected["trace"]["conversation"]["stop_reason"] = json!("completed");
    let written: Value = serde_json::from_str(&text).unwrap();
    assert_eq!(written, expected);
    let names: Vec<&str> = written
        .as_object()
        .unwrap()
        .keys()
        .map(String::as_str)
        .collect();
    let documented = documented();
    assert!(documented.as_object().unwrap().keys().eq(names));
    assert!(text.starts_with("{\n  \"schema_version\": \"v1\",\n") && text.ends_with("}\n"));
}

#[test]
fn no_instructions_are_written_as_such() {
    let mut value = documented();
    value["system_prompt"] = Value::Null;
    let text = read(&value).write();
    assert!(text.contains("\"system_prompt\": null"));
}

#[test]
fn mistakes_are_told_with_their_place() {
    for (pointer, value, told) in [
        (
            "/schema_version",
            json!("v2"),
            "expected `v1` at `/schema_version`",
        ),
        ("/model", json!(4), "expected a string at `/model`"),
        (
            "/recorded_at",
            Value::Null,
            "missing member at `/recorded_at`",
        ),
        (
            "/trace/tool_calls",
            Value::Null,
            "missing member at `/trace/tool_calls`",
        ),
        (
            "/trace/tool_results/0/call_index",
            json!(1),
            "expected the place of a tool call at `/trace/tool_results/0/call_index`",
        ),
        (
            "/trace/tool_results/0/is_error",
            json!("no"),
            "expected a boolean at `/trace/tool_results/0/is_error`",
        ),
        (
            "/trace/conversation/tokens/total",
            json!(-1),
            "expected a count at `/trace/conversation/tokens/total`",
        ),
        (
            "/trace/conversation",
            json!([]),
            "expected an object at `/trace/conversation`",
        ),
    ] {
        let mut changed = documented();
        *changed.pointer_mut(pointer).unwrap() = value;
        let error = AgentCassette::read(changed.to_string().as_bytes()).unwrap_err();
        assert_eq!(error.to_string(), told);
    }
    assert!(
        AgentCassette::read(b"{")
            .unwrap_err()
            .to_string()
            .starts_with("not JSON")
    );
}

fn asked() -> AgentInputs<'static> {
    AgentInputs {
        agent: "weather query",
        model: "claude-sonnet-4-5",
        user_prompt: "What is the weather in Sacramento?",
        system_prompt: Some("You are a weather assistant. ..."),
    }
}

#[test]
fn a_stale_cassette_is_told_in_the_documented_words() {
    let mut cassette = read(&documented());
    assert_eq!(cassette.check(&asked()), Ok(()));
    cassette.model = "gpt-4o".to_owned();
    let other = AgentInputs {
        model: "gpt-5",
        ..asked()
    };
    assert_eq!(
        cassette.check(&other).unwrap_err().to_string(),
        "cassette for agent `weather query` model `gpt-5` is stale on field `model` (cassette=`gpt-4o`, yaml=`gpt-5`); \
         rerun with --record"
    );
    let cassette = read(&documented());
    let stale = cassette
        .check(&AgentInputs {
            system_prompt: None,
            ..asked()
        })
        .unwrap_err();
    assert_eq!((stale.field, stale.yaml.as_str()), ("system_prompt", ""));
    let stale = cassette
        .check(&AgentInputs {
            user_prompt: "And now?",
            ..asked()
        })
        .unwrap_err();
    assert_eq!(
        (stale.field, stale.yaml.as_str()),
        ("user_prompt", "And now?")
    );
}

#[test]
fn a_prompt_with_a_key_is_written_without_and_not_stale() {
    let prompt = format!("use {}A1b2C3d4E5f6, task-force", "sk-ant-");
    let mut cassette = read(&documented());
    cassette.user_prompt.clone_from(&prompt);
    let text = cassette.write();
    assert!(
        text.contains("use <ANTHROPIC_API_KEY>, task-force"),
        "{text}"
    );
    let again = AgentCassette::read(text.as_bytes()).unwrap();
    assert_eq!(
        again.check(&AgentInputs {
            user_prompt: &prompt,
            ..asked()
        }),
        Ok(())
    );
}

#[test]
fn matchers_see_both_spellings_and_what_is_derived() {
    let mut value = documented();
    let call = value["trace"]["tool_calls"][0].clone();
    value["trace"]["tool_calls"] = json!([
        call, {"name": "look", "server": "a", "args": {"x": 1, "y": 2}}, {"name": "look", "server": "a", "args": {"y": 2, "x": 1}},
    ]);
    value["trace"]["conversation"]["per_turn"] = json!([{"user": "u", "tool_calls": [], "tool_results":
        [{"call_index": 0, "is_error": true, "result": {}}], "final_response": "f"}]);
    let view = read(&value).trace.view();
    assert_eq!(view["tool_names"], json!(["get_weather", "look", "look"]));
    assert_eq!(view["redundant_tool_calls"], json!(1));
    for name in ["isError", "is_error"] {
        assert_eq!(view["tool_results"][0][name], json!(false));
        assert_eq!(
            view["conversation"]["per_turn"][0]["tool_results"][0][name],
            json!(true)
        );
    }
    assert_eq!(view["conversation"]["tokens"]["total"], json!(105));
    assert_eq!(view["tool_calls"][1]["args"]["y"], json!(2));
}

#[test]
fn files_are_named_as_the_documentation_names_them() {
    let name = |agent, provider, model| file_names(agent, provider, model);
    assert_eq!(
        name("weather_query", None, "claude-sonnet-4-5"),
        ("weather_query__claude-sonnet-4-5.json".to_owned(), None)
    );
    assert_eq!(
        name("weather_query", None, "gemini-2.5-pro"),
        (
            "weather_query__gemini-2.5-pro.json".to_owned(),
            Some("weather_query__gemini-2_5-pro.json".to_owned())
        )
    );
    assert_eq!(
        name("weather_query", Some("openrouter"), "openai/gpt-4o").0,
        "weather_query__openrouter__openai_gpt-4o.json"
    );
    assert_eq!(
        name("weather query!", None, "m").0,
        "weather_query___m.json"
    );
    assert_eq!(name("../../etc", None, "a/b").0, ".._.._etc__a_b.json");
}

#[test]
fn a_fingerprint_depends_on_tools_and_on_no_order() {
    let tool = |name: &str, schema: Value| {
        let tool = json!({"name": name, "description": "d", "inputSchema": schema});
        tool_of_mcp(name, &tool).unwrap()
    };
    let one = tool(
        "a",
        json!({"type": "object", "properties": {"x": {}, "y": {}}}),
    );
    let same = tool(
        "a",
        json!({"properties": {"y": {}, "x": {}}, "type": "object"}),
    );
    let other = tool("b", json!({"type": "object"}));
    let print = |tools: &[&tapewright_models::conversation::Tool]| {
        fingerprint(&tools.iter().map(|tool| (*tool).clone()).collect::<Vec<_>>())
    };
    assert_eq!(print(&[&one, &other]), print(&[&other, &same]));
    assert_ne!(print(&[&one]), print(&[&other]));
    // Reckoned by another program.
    let weather = json!({"name": "get_weather", "description": "Gets it",
        "inputSchema": {"type": "object", "properties": {"city": {"type": "string"}}}});
    assert_eq!(
        print(&[&tool_of_mcp("get_weather", &weather).unwrap()]),
        "d35f82369c4531b3"
    );
    // The offset of FNV-1a: nothing was added.
    assert_eq!(print(&[]), "cbf29ce484222325");
    let without = tapewright_models::conversation::Tool {
        schema: None,
        ..other.clone()
    };
    assert_eq!(print(&[&without]), print(&[&other]));
}
