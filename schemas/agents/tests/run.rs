//! The loop of an agent, played without a model and without servers.

use std::time::Duration;

use serde_json::{Value, json};
use tapewright_agents::{
    Catalogue, Fault, FaultKind, Faults, Finished, Limits, Run, Step, Stub, Task, Trip, User,
};
use tapewright_models::Wire;
use tapewright_models::agent_cassette::StopReason;
use tapewright_models::conversation::{Content, Message, Request, Response, Role};

fn limits() -> Limits {
    Limits {
        max_turns: 10,
        max_tokens: 1_024,
        token_budget: None,
        max_tool_calls: None,
        time_budget: None,
    }
}

fn task(user: User, limits: Limits) -> Task {
    Task {
        wire: Wire::Anthropic,
        model: "claude-x".to_owned(),
        system_prompt: Some("be brief".to_owned()),
        user,
        limits,
    }
}

fn prompt(text: &str) -> User {
    User::Prompt(text.to_owned())
}

fn catalogue() -> Catalogue {
    let tool = |name: &str| json!({"name": name, "inputSchema": {"type": "object"}});
    Catalogue::new(&[
        ("maps".to_owned(), vec![tool("find"), tool("go")]),
        ("mail".to_owned(), vec![tool("send")]),
    ])
}

/// A model's answer: its text, and the tools that it asks for.
fn answer(text: &str, uses: &[(&str, Value)]) -> Response {
    let mut content = vec![json!({"type": "text", "text": text})];
    for (index, (name, input)) in uses.iter().enumerate() {
        content.push(
            json!({"type": "tool_use", "id": format!("t{index}"), "name": name, "input": input}),
        );
    }
    let stop = if uses.is_empty() {
        "end_turn"
    } else {
        "tool_use"
    };
    let body = json!({"id": "m", "type": "message", "role": "assistant", "model": "claude-x",
        "content": content, "stop_reason": stop, "usage": {"input_tokens": 100, "output_tokens": 10}});
    Wire::Anthropic
        .read_response(body.to_string().as_bytes())
        .expect("an answer")
}

/// Plays a run with these answers; tools answer with their names. Returns all requests.
fn play(mut run: Run, answers: &[Response]) -> (Finished, Vec<Request>) {
    let mut answers = answers.iter();
    let mut asked = Vec::new();
    for _ in 0..100 {
        match run.next(Duration::ZERO) {
            Step::Ask(request) | Step::Simulate(request) => {
                asked.push(*request);
                run.answered(answers.next().expect("an answer is left"));
            }
            Step::Call(call) => {
                run.called(Ok(
                    json!({"content": [{"type": "text", "text": format!("{} did", call.tool)}]}),
                ));
            }
            Step::Done => return (run.finish(Duration::from_millis(7)), asked),
        }
    }
    panic!("the run does not end");
}

fn new(user: User, limits: Limits) -> Run {
    Run::new(
        task(user, limits),
        catalogue(),
        Faults::new(Vec::new(), None),
    )
}

#[test]
fn several_tools_of_one_answer_are_called_in_order_and_told_at_once() {
    let uses = [
        ("maps__find", json!({"q": "x"})),
        ("mail__send", json!({})),
        ("maps__find", json!({"q": "x"})),
    ];
    let (finished, asked) = play(
        new(prompt("go"), limits()),
        &[answer("so", &uses), answer("done", &[])],
    );
    let view = finished.trace.view();
    assert_eq!(view["tool_names"], json!(["find", "send", "find"]));
    assert_eq!(view["redundant_tool_calls"], 1);
    assert_eq!(view["tool_calls"][1]["server"], "mail");
    assert_eq!(view["tool_calls"][1]["hop_index"], 1);
    assert_eq!(view["tool_results"][2]["isError"], false);
    assert_eq!(view["final_response"], "done");
    assert_eq!(view["conversation"]["stop_reason"], "completed");
    assert_eq!(view["conversation"]["message_count"], 6);
    assert_eq!(
        view["conversation"]["tokens"],
        json!({"prompt": 200, "completion": 20, "total": 220})
    );
    assert_eq!(view["conversation"]["duration_ms"], 7);
    let roles =
        |request: &Request| -> Vec<Role> { request.messages.iter().map(|one| one.role).collect() };
    assert_eq!(roles(&asked[1]), [Role::User, Role::Assistant, Role::User]);
    let results: &Message = &asked[1].messages[2];
    assert_eq!(results.blocks.len(), 3);
    assert_eq!(asked[0].tools.len(), 3);
    assert_eq!(asked[0].sampling.max_tokens, Some(1_024));
}

#[test]
fn what_went_wrong_with_a_tool_is_told_to_the_model() {
    let mut run = new(prompt("go"), limits());
    let uses = [
        ("maps__find", json!([])),
        ("nope", json!({})),
        ("maps__go", json!({})),
    ];
    assert!(matches!(run.next(Duration::ZERO), Step::Ask(_)));
    run.answered(&answer("", &uses));
    let Step::Call(call) = run.next(Duration::ZERO) else {
        panic!("the third is called")
    };
    assert_eq!((call.server.as_str(), call.tool.as_str()), ("maps", "go"));
    run.called(Err("no answer within 5 ms".to_owned()));
    let Step::Ask(request) = run.next(Duration::ZERO) else {
        panic!("the model is asked")
    };
    let told: Vec<(bool, String)> = request.messages[2]
        .blocks
        .iter()
        .map(|block| match &block.content {
            Content::ToolResult(result) => {
                let text = result.content[0].as_text().unwrap();
                (result.is_error, text.to_owned())
            }
            other => panic!("{other:?}"),
        })
        .collect();
    assert_eq!(
        told,
        [
            (true, "the arguments are not a JSON object".to_owned()),
            (true, "unknown tool `nope`".to_owned()),
            (true, "no answer within 5 ms".to_owned()),
        ]
    );
    run.answered(&answer("sorry", &[]));
    assert!(matches!(run.next(Duration::ZERO), Step::Done));
    let view = run.finish(Duration::ZERO).trace.view();
    assert_eq!(view["tool_results"][1]["is_error"], true);
    assert_eq!(view["tool_calls"][1]["server"], "maps");
}

#[test]
fn each_cap_stops_the_run_and_says_so() {
    let tool = || answer("hm", &[("maps__go", json!({}))]);
    let both = || answer("hm", &[("maps__go", json!({})), ("maps__find", json!({}))]);
    let stopped = |limits: Limits, answers: &[Response]| play(new(prompt("go"), limits), answers).0;

    let finished = stopped(
        Limits {
            max_turns: 2,
            ..limits()
        },
        &[tool(), tool()],
    );
    assert_eq!(finished.trip, Some(Trip::Turns(2)));
    assert_eq!(
        finished.trace.conversation.stop_reason,
        StopReason::TurnBudget
    );
    assert_eq!(finished.trace.final_response, "");
    assert_eq!(finished.trace.tool_results.len(), 2);

    let finished = stopped(
        Limits {
            token_budget: Some(109),
            ..limits()
        },
        &[tool()],
    );
    assert_eq!(
        finished.trip,
        Some(Trip::Tokens {
            limit: 109,
            used: 110
        })
    );
    assert_eq!(finished.trace.tool_calls.len(), 0);
    let enough = stopped(
        Limits {
            token_budget: Some(220),
            ..limits()
        },
        &[tool(), answer("ok", &[])],
    );
    assert_eq!(enough.trip, None);

    let finished = stopped(
        Limits {
            max_tool_calls: Some(1),
            ..limits()
        },
        &[both()],
    );
    assert_eq!(finished.trip, Some(Trip::ToolCalls(1)));
    assert_eq!(finished.trace.tool_calls.len(), 1);
    assert_eq!(
        finished.trace.conversation.stop_reason,
        StopReason::ToolCallBudget
    );
}

#[test]
fn time_is_looked_at_before_every_step() {
    let limit = Duration::from_secs(1);
    let mut run = new(
        prompt("go"),
        Limits {
            time_budget: Some(limit),
            ..limits()
        },
    );
    assert!(matches!(run.next(Duration::ZERO), Step::Ask(_)));
    run.answered(&answer(
        "",
        &[("maps__go", json!({})), ("maps__go", json!({}))],
    ));
    assert!(matches!(
        run.next(Duration::from_millis(999)),
        Step::Call(_)
    ));
    run.called(Ok(json!({"content": []})));
    assert!(matches!(run.next(limit), Step::Done));
    let finished = run.finish(limit);
    assert_eq!(finished.trip, Some(Trip::Time(limit)));
    assert_eq!(finished.trace.tool_calls.len(), 1);
}

#[test]
fn a_final_answer_in_time_is_an_answer() {
    let limit = Duration::from_secs(1);
    let mut run = new(
        prompt("go"),
        Limits {
            time_budget: Some(limit),
            ..limits()
        },
    );
    run.next(Duration::ZERO);
    run.answered(&answer("done", &[]));
    assert!(matches!(run.next(Duration::from_millis(999)), Step::Done));
    assert_eq!(run.finish(limit).trip, None);
}

#[test]
fn scripted_turns_carry_the_conversation_and_are_told_one_by_one() {
    let user = User::Scripted(vec!["find".to_owned(), "send".to_owned()]);
    assert_eq!(user.prompt(), "find\n\nsend");
    let answers = [
        answer("", &[("maps__find", json!({}))]),
        answer("found", &[]),
        answer("", &[("mail__send", json!({"to": "b"}))]),
        answer("sent", &[]),
    ];
    let (finished, asked) = play(new(user, limits()), &answers);
    assert_eq!(asked[3].messages.len(), 7, "all that was said before");
    let view = finished.trace.view();
    assert_eq!(view["final_response"], "sent");
    assert_eq!(view["tool_names"], json!(["find", "send"]));
    let turns = &view["conversation"]["per_turn"];
    assert_eq!(turns[0]["user"], "find");
    assert_eq!(turns[0]["final_response"], "found");
    assert_eq!(turns[1]["tool_calls"][0]["name"], "send");
    assert_eq!(turns[1]["tool_results"][0]["call_index"], 0);
    assert_eq!(turns[1]["tool_results"][0]["isError"], false);
}

#[test]
fn a_simulated_user_speaks_until_it_is_done() {
    let user = User::Simulated {
        first: None,
        goal: "book a flight".to_owned(),
        persona: Some("terse".to_owned()),
        max_turns: 6,
    };
    let answers = [
        answer("a flight, please", &[]),
        answer("", &[("maps__find", json!({}))]),
        answer("booked", &[]),
        answer("DONE", &[]),
    ];
    let (finished, asked) = play(new(user, limits()), &answers);
    let system = asked[0].system[0].as_text().unwrap();
    assert!(
        system.contains("book a flight") && system.contains("terse"),
        "{system}"
    );
    assert!(asked[0].tools.is_empty());
    let roles: Vec<Role> = asked[3].messages.iter().map(|one| one.role).collect();
    assert_eq!(roles, [Role::User, Role::Assistant, Role::User]);
    assert_eq!(finished.trace.conversation.per_turn.len(), 1);
    assert_eq!(
        finished.trace.conversation.tokens.total, 440,
        "its tokens count"
    );
    assert_eq!(finished.trace.final_response, "booked");
}

#[test]
fn a_simulated_user_has_a_last_turn() {
    let user = User::Simulated {
        first: Some("hello".to_owned()),
        goal: "chat".to_owned(),
        persona: None,
        max_turns: 2,
    };
    let answers = [answer("hi", &[]), answer("more", &[]), answer("yes", &[])];
    let (finished, asked) = play(new(user, limits()), &answers);
    assert_eq!(asked.len(), 3);
    let users: Vec<_> = finished
        .trace
        .conversation
        .per_turn
        .iter()
        .map(|one| one.user.as_str())
        .collect();
    assert_eq!(users, ["hello", "more"]);
}

#[test]
fn a_call_that_hangs_is_not_made() {
    let hang = Fault {
        name: "hung".to_owned(),
        tool: Some("find".to_owned()),
        server: None,
        kind: FaultKind::RecoverAfter(1),
    };
    let faults = Faults::new(vec![hang.clone()], Some(Duration::from_secs(3)));
    let run = Run::new(task(prompt("go"), limits()), catalogue(), faults);
    let find = || answer("", &[("maps__find", json!({}))]);
    let (finished, _) = play(run, &[find(), find(), answer("at last", &[])]);
    assert_eq!(finished.hung, 1);
    let view = finished.trace.view();
    assert_eq!(
        view["tool_results"][0]["result"]["content"][0]["text"],
        "the tool `find` did not answer within 3000 ms"
    );
    assert_eq!(view["tool_results"][1]["isError"], false);
    // The same result from the recorded trace alone.
    assert_eq!(Faults::new(vec![hang], None).met(&finished.trace), 1);
}

#[test]
fn the_digest_is_that_of_what_was_known() {
    let answers = || {
        [
            answer("", &[("maps__find", json!({}))]),
            answer("", &[("maps__go", json!({}))]),
            answer("x", &[]),
        ]
    };
    let digests = |text: &str| -> Vec<Value> {
        let (finished, _) = play(new(prompt(text), limits()), &answers());
        let view = finished.trace.view();
        let calls = view["tool_calls"].as_array().unwrap();
        calls
            .iter()
            .map(|call| call["inputs_digest"].clone())
            .collect()
    };
    assert_eq!(digests("go"), digests("go"));
    assert_ne!(digests("go")[0], digests("go")[1]);
    assert_ne!(digests("go")[0], digests("stay")[0]);
}

#[test]
fn thoughts_are_carried_back_unread() {
    let body = json!({"id": "m", "type": "message", "role": "assistant", "model": "claude-x", "content": [
        {"type": "thinking", "thinking": "hm", "signature": "s1g"},
        {"type": "tool_use", "id": "t", "name": "maps__go", "input": {}},
    ], "stop_reason": "tool_use", "usage": {"input_tokens": 1, "output_tokens": 1}});
    let thought = Wire::Anthropic
        .read_response(body.to_string().as_bytes())
        .unwrap();
    let (_, asked) = play(new(prompt("go"), limits()), &[thought, answer("done", &[])]);
    let sent = Wire::Anthropic.write_request(&asked[1]);
    assert_eq!(
        sent["messages"][1]["content"][0]["signature"], "s1g",
        "{sent:#}"
    );
}

#[test]
fn the_stub_is_known_by_its_trace() {
    for user in [
        prompt("go"),
        User::Simulated {
            first: None,
            goal: "g".to_owned(),
            persona: None,
            max_turns: 6,
        },
    ] {
        let mut run = new(user, limits());
        let mut simulated = 0;
        loop {
            match run.next(Duration::ZERO) {
                Step::Ask(_) => run.answered(&Stub::answer(Wire::Anthropic)),
                Step::Simulate(_) => {
                    run.answered(&Stub::user(Wire::Anthropic, simulated == 0));
                    simulated += 1;
                }
                Step::Call(_) => panic!("the stub calls no tool"),
                Step::Done => break,
            }
        }
        let finished = run.finish(Duration::ZERO);
        assert!(Stub::made(&finished.trace));
        assert_eq!(finished.trip, None);
        assert!(finished.warnings.is_empty(), "{:?}", finished.warnings);
    }
}
