//! Every recorded exchange is read whole.

use std::sync::Arc;

use std::fmt::Write as _;
use tapewright_schemas::redact::{Redactor, Rules, Settings};

use serde_json::Value;
use tapewright_models::conversation::{Block, Content, Response, StreamEnd, Usage};
use tapewright_models::{Operation, Wire, read_error};

use crate::support::{Exchange, exchanges};

#[test]
fn every_exchange_is_recognised() {
    let mut others = Vec::new();
    for exchange in exchanges() {
        let call = exchange
            .call()
            .unwrap_or_else(|| panic!("{}", exchange.name));
        let wire = match exchange.name.split('/').next() {
            Some("anthropic") => Wire::Anthropic,
            Some("gemini") => Wire::Gemini,
            _ => Wire::OpenAiChat,
        };
        assert_eq!(call.wire, wire, "{}", exchange.name);
        if call.operation != Operation::Generate {
            others.push(exchange.target);
        }
    }
    // Files of one provider, caches of another.
    assert_eq!(others.len(), 6, "{others:?}");
    let is_other =
        |target: &String| target.contains("/files") || target.contains("/cachedContents");
    assert!(others.iter().all(is_other));
}

/// A tool that a provider ran itself has no equivalent here.
fn is_of_provider(value: &Value) -> bool {
    value.get("executableCode").is_some() || value.get("codeExecutionResult").is_some()
}

fn assert_known(name: &str, blocks: &[Block]) {
    for block in blocks {
        match &block.content {
            Content::Other(value) => assert!(is_of_provider(value), "{name}: {value}"),
            Content::ToolResult(result) => assert_known(name, &result.content),
            _ => {}
        }
    }
}

#[test]
fn nothing_of_a_known_kind_is_passed_over() {
    for exchange in exchanges() {
        let Some(call) = exchange.generated() else {
            continue;
        };
        let request = exchange.asked(&call);
        assert_known(&exchange.name, &request.system);
        for message in &request.messages {
            assert!(
                !message.blocks.is_empty() || message.role.name() == "assistant",
                "{}",
                exchange.name
            );
            assert_known(&exchange.name, &message.blocks);
        }
        if exchange.status == 200 {
            for answer in &exchange.answered(&call).answers {
                assert_known(&exchange.name, &answer.blocks);
                assert!(answer.finish.is_some(), "{}", exchange.name);
            }
        }
    }
}

/// The known members of a request that have no equivalent here.
#[test]
fn members_without_a_word_are_few_and_kept() {
    let known = [
        "cache_control",
        "output_config",
        "thinking",
        "logprobs",
        "n",
        "response_format",
        "stream_options",
        "top_logprobs",
        "cachedContent",
        "generationConfig",
        "safetySettings",
    ];
    for exchange in exchanges() {
        let Some(call) = exchange.generated() else {
            continue;
        };
        let body: Value = serde_json::from_str(&exchange.request).unwrap();
        for (name, value) in &exchange.asked(&call).more {
            assert!(known.contains(&name.as_str()), "{}: {name}", exchange.name);
            if name != "generationConfig" {
                assert_eq!(Some(value), body.get(name), "{}", exchange.name);
            }
        }
    }
}

#[test]
fn streams_say_the_same_however_they_are_cut() {
    for exchange in exchanges() {
        let Some(call) = exchange.generated() else {
            continue;
        };
        if !exchange.is_stream() || exchange.status != 200 {
            continue;
        }
        let whole = exchange.streamed(&call, exchange.response.len());
        assert_eq!(whole.end, StreamEnd::Complete, "{}", exchange.name);
        for chunk in [1, 7, 100] {
            assert_eq!(
                exchange.streamed(&call, chunk),
                whole,
                "{} {chunk}",
                exchange.name
            );
        }
    }
}

#[test]
fn a_stream_that_ends_early_is_told_as_such() {
    for exchange in exchanges() {
        let Some(call) = exchange.generated() else {
            continue;
        };
        if !exchange.is_stream() || exchange.status != 200 {
            continue;
        }
        let mut exchange = exchange;
        let mut events: Vec<String> = exchange
            .response
            .replace("\r\n", "\n")
            .split_inclusive("\n\n")
            .map(str::to_owned)
            .collect();
        events.retain(|event| !event.trim().is_empty());
        let full = std::mem::take(&mut exchange.response);
        // Without everything that shows why it ended.
        let says_end = |event: &String| {
            [
                "finishReason\":\"",
                "finish_reason\":\"",
                "stop_reason\":\"",
            ]
            .iter()
            .any(|mark| event.contains(mark))
        };
        let at = events.iter().position(says_end).unwrap();
        exchange.response = events[..at].concat();
        let early = exchange.streamed(&call, 64);
        assert_eq!(early.end, StreamEnd::Truncated, "{}", exchange.name);
        exchange.response = full;
    }
}

#[test]
fn errors_are_told_with_their_kind() {
    let mut told = Vec::new();
    for exchange in exchanges() {
        let Some(call) = exchange.generated() else {
            continue;
        };
        if exchange.status != 200 {
            let error = read_error(
                call.wire,
                exchange.status,
                |_| None,
                exchange.response.as_bytes(),
            );
            told.push(format!("{}: {}", error.kind.name(), error));
        }
    }
    let heads: Vec<&str> = told
        .iter()
        .map(|text| text.get(..60).unwrap_or(text))
        .collect();
    assert_eq!(
        heads,
        [
            "authentication: Anthropic answered 401 (authentication_error",
            "invalid request: Anthropic answered 400 (invalid_request_err",
            "not found: Gemini answered 404 (NOT_FOUND): models/gemini-no",
            "invalid request: OpenAI answered 400 (invalid_request_invali",
            "invalid request: OpenAI answered 400 (decimal_above_max_valu",
        ]
    );
}

fn count(value: Option<u64>) -> String {
    value.map_or_else(|| "-".to_owned(), |value| value.to_string())
}

fn usage(usage: Option<&Usage>) -> String {
    let Some(usage) = usage else {
        return "none".to_owned();
    };
    let counts = [
        usage.input,
        usage.output,
        usage.cache_read,
        usage.cache_write,
        usage.reasoning,
    ];
    counts.map(count).join("/")
}

fn kinds(blocks: &[Block]) -> String {
    let kind = |block: &Block| match &block.content {
        Content::Text(_) => "text".to_owned(),
        Content::Refusal(_) => "refusal".to_owned(),
        Content::Media(media) => format!("{:?}", media.kind).to_lowercase(),
        Content::Json(_) => "json".to_owned(),
        Content::ToolUse(tool) => format!("use:{}", tool.name),
        Content::ToolResult(_) => "result".to_owned(),
        Content::Thinking(_) => "thinking".to_owned(),
        Content::Other(_) => "other".to_owned(),
    };
    blocks.iter().map(kind).collect::<Vec<_>>().join(" ")
}

fn line(exchange: &Exchange) -> String {
    let mut line = format!("{} {}", exchange.name, exchange.status);
    let Some(call) = exchange.generated() else {
        return line + " other";
    };
    let request = exchange.asked(&call);
    let messages: Vec<String> = request
        .messages
        .iter()
        .map(|message| format!("{}({})", message.role.name(), kinds(&message.blocks)))
        .collect();
    write!(
        line,
        " {} tools={} | {}",
        request.model,
        request.tools.len(),
        messages.join(" ")
    )
    .unwrap();
    if exchange.status == 200 {
        let response = exchange.answered(&call);
        write!(line, " | {}", answers(&response)).unwrap();
    }
    line
}

fn answers(response: &Response) -> String {
    let answer = |answer: &tapewright_models::conversation::Answer| {
        let finish = answer.finish.as_ref().map_or_else(String::new, |finish| {
            format!("{}={}", finish.word, finish.reason.name())
        });
        format!("{finish} [{}]", kinds(&answer.blocks))
    };
    let answers: Vec<String> = response.answers.iter().map(answer).collect();
    format!(
        "{} usage={}",
        answers.join(" "),
        usage(response.usage.as_ref())
    )
}

#[test]
fn what_is_read_in_each_exchange_stands_in_the_table() {
    let told: String = exchanges()
        .iter()
        .map(|exchange| line(exchange) + "\n")
        .collect();
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/recorded/expected.txt");
    if std::env::var_os("TAPEWRIGHT_BLESS").is_some() {
        std::fs::write(path, &told).unwrap();
    }
    let expected = std::fs::read_to_string(path).unwrap();
    for (told, expected) in told.lines().zip(expected.lines()) {
        assert_eq!(told, expected);
    }
    assert_eq!(told.lines().count(), expected.lines().count());
}

#[test]
fn every_body_can_be_redacted_and_stays_what_it_was() {
    let rules = Rules::new(&Settings::default()).unwrap();
    let mut redactor = Redactor::new(Arc::new(rules));
    for exchange in exchanges() {
        let response = exchange.response.replace("\r\n", "\n");
        let events = response.split("\n\n").flat_map(str::lines);
        let data = events.filter_map(|line| line.strip_prefix("data: "));
        for body in [exchange.request.as_str()].into_iter().chain(data) {
            let written = redactor.body(body.as_bytes());
            let is_json = |text: &[u8]| serde_json::from_slice::<Value>(text).is_ok();
            assert_eq!(
                is_json(body.as_bytes()),
                is_json(&written),
                "{}: {body}",
                exchange.name
            );
        }
    }
}
