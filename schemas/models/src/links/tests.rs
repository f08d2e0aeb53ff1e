use proptest::prelude::*;
use serde_json::{Value, json};
use tapewright_schemas::envelope::Envelope;
use tapewright_schemas::event::{LineEnd, Payload};

use super::*;
use crate::Wire;
use crate::calls::{CallEnd, UseSeen};
use crate::links::done::digest;
use tapewright_schemas::event::{Direction, EventBody};

fn model(seq: u64, at: u64, uses: &[(Option<&str>, &str, Value)]) -> ModelCall {
    ModelCall {
        seq,
        session: 0,
        conduit: 1,
        at: Offset(at),
        provider: None,
        id: None,
        wire: Wire::Anthropic,
        model: None,
        status: Some(200),
        is_stream: false,
        usage: None,
        finish: None,
        tool_uses: Vec::new(),
        uses: uses
            .iter()
            .map(|(id, name, arguments)| UseSeen {
                id: id.map(str::to_owned),
                name: (*name).to_owned(),
                arguments: Some(digest(arguments)),
            })
            .collect(),
        results: Vec::new(),
        first_token: None,
        took: None,
        end: CallEnd::Answered,
    }
}

/// A call that passes results to the model.
fn telling(seq: u64, at: u64, results: &[(Option<&str>, Option<&str>)]) -> ModelCall {
    let owned = |text: Option<&str>| text.map(str::to_owned);
    ModelCall {
        results: results
            .iter()
            .map(|(id, name)| (owned(*id), owned(*name)))
            .collect(),
        ..model(seq, at, &[])
    }
}

fn called(seq: u64, at: u64, tool: &str, arguments: &Value, meta: &Value) -> Event {
    let text = json!({"jsonrpc": "2.0", "id": seq, "method": "tools/call",
        "params": {"name": tool, "arguments": arguments, "_meta": meta}})
    .to_string();
    let body = EventBody::message(Payload::Whole(text.into()), LineEnd::Lf);
    let mut event = Event::new(Offset(at), Direction::ToServer, body);
    event.seq = seq;
    event
}

fn linked(models: &[ModelCall], servers: &[(&str, Vec<Event>)]) -> Links {
    let with = |taken_apart: bool| {
        let mut linker = Linker::default();
        linker.begin("agent", 1_000_000);
        linker.models(models);
        for (label, events) in servers {
            linker.begin(label, 1_000_000);
            for event in events {
                let message = match &event.body {
                    EventBody::Message { payload, .. } => Envelope::parse(payload.kept()),
                    _ => continue,
                };
                linker.observe_message(event, taken_apart.then_some(&message));
            }
        }
        linker.finish()
    };
    let links = with(false);
    // A caller that passes parsed messages gets the same result.
    assert_eq!(with(true), links);
    links
}

#[test]
fn of_more_calls_than_are_looked_at_the_rest_is_counted() {
    let mut events: Vec<_> = (0..5_000)
        .map(|seq| called(seq, seq, "read", &json!({"a": seq}), &json!({})))
        .collect();
    let mut other = |text: &str, dir| {
        let body = EventBody::message(Payload::Whole(text.to_owned().into()), LineEnd::Lf);
        events.push(Event::new(Offset(9_000), dir, body));
    };
    for text in [
        r#"[{"id":1,"method":"tools/call","params":{"name":"a"}},{"method":"tools/call","params":{"name":"a"}}]"#,
        r#"{"id":1,"method":"tools\/call","params":{"name":"a"}}"#,
        r#"{"id":1,"method":"tools/call","params":{"name":1}}"#,
        r#"{"id":1,"method":"tools/call"}"#,
        r#"{"method":"tools/call","params":{"name":"a"}}"#,
        r#"{"id":1,"method":"tools/list","params":{"name":"tools/call"}}"#,
        r#"{"id":1,"result":{"name":"tools/call"}}"#,
    ] {
        other(text, Direction::ToServer);
        other(text, Direction::ToClient);
    }
    let links = linked(&[], &[("fs", events)]);
    assert_eq!(links.unasked.len(), MOST);
    // One in the batch, and one with an escaped slash.
    assert_eq!(links.passed_over, 5_000 - MOST as u64 + 2);
}

/// How each use was carried out, and by which request.
fn told(links: &Links) -> Vec<String> {
    let all = links.asked.iter().map(|one| match &one.fate {
        ToolUseOutcome::Called { by, how } => format!("{} {}#{}", how.name(), by.server, by.seq),
        ToolUseOutcome::Elsewhere => "elsewhere".to_owned(),
        ToolUseOutcome::Never => "never".to_owned(),
    });
    all.collect()
}

#[test]
fn an_id_in_meta_proves_it_whatever_else_fits() {
    let asked = [
        (Some("t1"), "read", json!({"a": 1})),
        (Some("t2"), "read", json!({"a": 1})),
    ];
    let meta = |id: &str| json!({"x/toolUseId": id, "progressToken": 3});
    let events = vec![
        called(1, 9_000, "read", &json!({"a": 1}), &meta("t2")),
        called(2, 9_500, "read", &json!({"other": 2}), &meta("t1")),
    ];
    let links = linked(&[model(1, 0, &asked)], &[("fs", events)]);
    assert_eq!(told(&links), ["id fs#2", "id fs#1"]);
    assert!(links.unasked.is_empty());
}

#[test]
fn name_and_arguments_prove_it_where_nothing_else_fits_and_are_a_guess_where_it_does() {
    let asked = [
        (
            Some("t1"),
            "mcp__fs__read",
            json!({"b": 2.0, "a": "<REDACTED:password#1>"}),
        ),
        (Some("t2"), "list", json!({})),
        (Some("t3"), "list", json!({})),
        (Some("t4"), "write", json!({"x": 1})),
    ];
    let events = vec![
        called(4, 9_000, "write", &json!({"x": 2}), &json!({})),
        called(
            1,
            9_000,
            "read",
            &json!({"a": "<REDACTED:password#7>", "b": 2}),
            &json!({}),
        ),
        called(2, 9_100, "list", &json!({}), &json!({})),
        called(3, 9_200, "list", &json!({}), &json!({})),
        called(5, 9_300, "list", &json!({"never": "asked"}), &json!({})),
    ];
    let links = linked(&[model(1, 0, &asked)], &[("fs", events)]);
    assert_eq!(
        told(&links),
        ["arguments fs#1", "order fs#2", "order fs#3", "name fs#4"]
    );
    let guesses = links.asked.iter().map(|one| match &one.fate {
        ToolUseOutcome::Called { how, .. } => how.is_guess(),
        _ => false,
    });
    assert_eq!(guesses.collect::<Vec<_>>(), [false, true, true, true]);
    assert_eq!(links.unasked.len(), 1);
    assert_eq!(
        (links.unasked[0].seq, links.unasked[0].tool.as_str()),
        (5, "list")
    );
}

#[test]
fn a_server_that_is_named_is_preferred() {
    let asked = [(Some("t"), "mcp__two__read", json!({}))];
    let events = || vec![called(1, 9_000, "read", &json!({}), &json!({}))];
    let links = linked(
        &[model(1, 0, &asked)],
        &[("one", events()), ("two", events())],
    );
    assert_eq!(told(&links), ["order two#1"]);
    assert_eq!(links.unasked[0].server, "one");
}

#[test]
fn what_was_done_before_it_was_asked_or_after_its_result_is_something_else() {
    let asked = [
        (Some("t1"), "read", json!({})),
        (Some("t2"), "Bash", json!({})),
    ];
    let models = [
        model(1, 100_000, &asked),
        telling(2, 200_000, &[(Some("t1"), None), (Some("t2"), None)]),
        model(3, 300_000, &[(None, "read", json!({}))]),
    ];
    let events = vec![
        called(1, 50_000, "read", &json!({}), &json!({})),
        called(2, 250_000, "read", &json!({}), &json!({})),
    ];
    let links = linked(&models, &[("fs", events)]);
    assert_eq!(told(&links), ["elsewhere", "elsewhere", "never"]);
    assert_eq!(links.unasked.len(), 2);
}

#[test]
fn results_without_ids_belong_to_uses_by_name_and_in_order() {
    let asked = [
        (None, "read", json!({"n": 1})),
        (None, "read", json!({"n": 2})),
    ];
    let models = [
        model(1, 0, &asked),
        telling(2, 50_000, &[(None, Some("read"))]),
    ];
    let links = linked(&models, &[]);
    assert_eq!(told(&links), ["elsewhere", "never"]);
}

proptest! {
    /// Every use and every request is reported exactly once, whatever is on the tapes.
    #[test]
    fn every_use_and_every_request_is_told_once(
        uses in prop::collection::vec((0_u8..4, 0_u8..3, 0_u64..40, any::<bool>()), 0..20),
        done in prop::collection::vec((0_u8..4, 0_u8..3, 0_u64..40, prop::option::of(0_usize..20)), 0..20),
    ) {
        let models: Vec<ModelCall> = (1..).zip(&uses).map(|(seq, (tool, argument, at, has_id))| {
            let id = format!("t{seq}");
            let id = has_id.then_some(id.as_str());
            model(seq, at * 1_000, &[(id, &format!("s__tool{tool}"), json!({"a": argument}))])
        }).collect();
        let events: Vec<Event> = (1..).zip(&done).map(|(seq, (tool, argument, at, meant))| {
            let meta = meant.map_or(json!({}), |meant| json!({"id": format!("t{meant}")}));
            called(seq, at * 1_000, &format!("tool{tool}"), &json!({"a": argument}), &meta)
        }).collect();
        let links = linked(&models, &[("s", events)]);
        prop_assert_eq!(links.asked.len(), uses.len());
        let mut seen: Vec<u64> = links.unasked.iter().map(|call| call.seq).collect();
        for (one, asked) in links.asked.iter().zip(&models) {
            prop_assert_eq!(one.call_seq, asked.seq);
            if let ToolUseOutcome::Called { by, how } = &one.fate {
                seen.push(by.seq);
                let meant = by.marks.iter().any(|mark| Some(mark) == one.id.as_ref());
                prop_assert_eq!(meant, *how == How::Id);
                if *how != How::Id {
                    prop_assert!(name::means(&one.name, &by.tool));
                    prop_assert!(by.at_us + TOLERANCE_US >= 1_000_000 + asked.at.0);
                }
            }
        }
        seen.sort_unstable();
        let all: Vec<u64> = (1..=done.len() as u64).collect();
        prop_assert_eq!(seen, all);
    }
}
