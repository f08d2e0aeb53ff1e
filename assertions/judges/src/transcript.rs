//! The run of an agent as a text for a judge.

use tapewright_models::agent_cassette::{ToolCall, ToolOutcome, Trace, UserTurn};

/// The maximum length of a result that is shown, in characters.
const RESULT: usize = 16_000;

/// The whole run: the user's messages, the calls and their results, the replies.
#[must_use]
pub fn of_trace(trace: &Trace, prompt: &str) -> String {
    let turns = &trace.conversation.per_turn;
    if turns.is_empty() {
        let reply = &trace.final_response;
        return one(prompt, &trace.tool_calls, &trace.tool_results, reply);
    }
    let turns: Vec<String> = turns.iter().map(of_turn).collect();
    turns.join("\n\n")
}

/// An answer without tool calls.
#[must_use]
pub fn of_answer(user: &str, reply: &str) -> String {
    one(user, &[], &[], reply)
}

/// One turn of the user.
#[must_use]
pub fn of_turn(turn: &UserTurn) -> String {
    let reply = &turn.final_response;
    one(&turn.user, &turn.tool_calls, &turn.tool_results, reply)
}

fn one(user: &str, calls: &[ToolCall], results: &[ToolOutcome], reply: &str) -> String {
    let mut parts = vec![format!("[user]\n{user}")];
    for (at, call) in calls.iter().enumerate() {
        let number = at + 1;
        let (server, name, arguments) = (&call.server, &call.name, &call.args);
        parts.push(format!(
            "[tool call {number}] `{name}` of the server `{server}` with {arguments}"
        ));
        let of_this = |one: &&ToolOutcome| usize::try_from(one.call_index) == Ok(at);
        parts.push(match results.iter().find(of_this) {
            Some(outcome) => {
                let failed = if outcome.is_error { " (it failed)" } else { "" };
                let result = cut(&outcome.result.to_string());
                format!("[result {number}]{failed} {result}")
            }
            None => format!("[result {number}] (none came)"),
        });
    }
    let reply = if reply.is_empty() {
        "(no reply)"
    } else {
        reply
    };
    parts.push(format!("[agent]\n{reply}"));
    parts.join("\n\n")
}

/// The beginning of a long result, with a note on how much was omitted.
fn cut(text: &str) -> String {
    match text.char_indices().nth(RESULT) {
        None => text.to_owned(),
        Some((at, _)) => {
            let (shown, rest) = text.split_at(at);
            format!("{shown} […{} more bytes, left out here]", rest.len())
        }
    }
}
