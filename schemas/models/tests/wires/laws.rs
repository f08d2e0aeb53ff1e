//! Written data is read back unchanged.

use bytes::Bytes;
use proptest::prelude::*;
use serde_json::{Value, json};
use tapewright_models::conversation::{
    Answer, Block, Content, Finish, FinishReason, Input, Media, MediaKind, Message, Request,
    Response, Role, Source, StreamEnd, Thinking, Tool, ToolChoice, ToolResult, ToolSpec, ToolUse,
    Usage,
};
use tapewright_models::{Call, Ended, Frame, Framing, StreamReader, Wire, write_array};

use crate::support::exchanges;

fn streamed(wire: Wire, frames: &[Frame], framing: Framing, chunk: usize) -> Ended {
    let bytes = match framing {
        Framing::JsonArray => write_array(frames),
        Framing::Sse => {
            let mut out = Vec::new();
            for frame in frames {
                frame.write_sse(&mut out);
            }
            out
        }
    };
    let mut reader = StreamReader::new(wire, framing);
    for chunk in bytes.chunks(chunk.max(1)) {
        reader.feed(&Bytes::copy_from_slice(chunk)).unwrap();
    }
    reader.finish()
}

#[test]
fn a_recorded_request_written_is_read_as_the_same() {
    for exchange in exchanges() {
        let Some(call) = exchange.generated() else {
            continue;
        };
        let request = exchange.asked(&call);
        let body = call.wire.write_request(&request).to_string();
        let again = call.wire.read_request(&call, body.as_bytes());
        assert_eq!(again.as_ref(), Ok(&request), "{}", exchange.name);
    }
}

/// What a provider sees of a request that was read and written: the same, except for spelling
/// alternatives.
#[test]
fn a_recorded_request_written_says_the_same_to_the_provider() {
    for exchange in exchanges() {
        let Some(call) = exchange.generated() else {
            continue;
        };
        let before: Value = serde_json::from_str(&exchange.request).unwrap();
        let after = call.wire.write_request(&exchange.asked(&call));
        assert_eq!(plain(&after), plain(&before), "{}", exchange.name);
    }
}

/// Without `null`, `false` and empty values, and with one spelling for alternatives.
fn plain(value: &Value) -> Value {
    match value {
        Value::Object(map) => {
            let mut out = serde_json::Map::new();
            for (name, member) in map {
                let member = match (name.as_str(), member) {
                    ("content", Value::String(text)) if text.is_empty() => Value::Null,
                    ("content" | "system", Value::String(text)) => {
                        json!([{"type": "text", "text": text}])
                    }
                    ("arguments", Value::String(text)) => serde_json::from_str(text).unwrap(),
                    // Mistral's word, which takes the other as well.
                    ("tool_choice", Value::String(word)) if word == "any" => json!("required"),
                    (_, Value::Number(number)) => json!(number.as_f64()),
                    (_, member) => plain(member),
                };
                let name = match name.as_str() {
                    "max_completion_tokens" => "max_tokens",
                    "parametersJsonSchema" => "parameters",
                    "allowed_function_names" => "allowedFunctionNames",
                    name => name,
                };
                // The role of instructions is always the same.
                let says_nothing = member.is_null()
                    || member == json!(false)
                    || member == json!({})
                    || member == json!([])
                    || name == "role" && map.contains_key("parts") && member == json!("model");
                if !says_nothing {
                    out.insert(name.to_owned(), member);
                }
            }
            Value::Object(out)
        }
        Value::Array(list) => list.iter().map(plain).collect(),
        value => value.clone(),
    }
}

#[test]
fn a_recorded_response_written_is_read_as_the_same() {
    for exchange in exchanges() {
        let Some(call) = exchange.generated() else {
            continue;
        };
        if exchange.status != 200 {
            continue;
        }
        let response = exchange.answered(&call);
        let body = call.wire.write_response(&response).to_string();
        let again = call.wire.read_response(body.as_bytes());
        assert_eq!(again.as_ref(), Ok(&response), "{}", exchange.name);
        for piece in [3, 10_000] {
            let frames = call.wire.write_stream(&response, piece);
            let ended = streamed(call.wire, &frames, Framing::Sse, 50);
            assert_eq!(ended.end, StreamEnd::Complete, "{}", exchange.name);
            assert_eq!(
                folded(&ended.response),
                folded(&response),
                "{}",
                exchange.name
            );
        }
    }
}

/// A stream has no texts that follow each other without a mark, and no empty ones.
fn folded(response: &Response) -> Response {
    let mut response = response.clone();
    for answer in &mut response.answers {
        let mut blocks: Vec<Block> = Vec::new();
        for block in answer.blocks.drain(..) {
            match (blocks.last_mut(), block.as_text()) {
                (_, Some("")) if block.more.is_empty() => {}
                (
                    Some(Block {
                        content: Content::Text(before),
                        more,
                    }),
                    Some(text),
                ) if more.is_empty()
                    && block.more.is_empty()
                    && response.wire != Wire::Anthropic =>
                {
                    before.push_str(text);
                }
                _ => blocks.push(block),
            }
        }
        answer.blocks = blocks;
    }
    response
}

fn words() -> impl Strategy<Value = String> {
    "[a-zA-Z0-9 .,\\n\"\\\\/üß→🙂]{1,40}"
}

fn name() -> impl Strategy<Value = String> {
    "[a-z_]{1,12}"
}

fn arguments() -> impl Strategy<Value = Value> {
    prop_oneof![
        Just(json!({})),
        (name(), words()).prop_map(|(name, text)| json!({name: text})),
        (name(), any::<i32>(), any::<bool>())
            .prop_map(|(name, number, flag)| json!({name: [number, {"b": flag, "n": null}]})),
    ]
}

fn tool_use(wire: Wire) -> impl Strategy<Value = Block> {
    let id = name().prop_map(move |id| (wire != Wire::Gemini || id.len() > 6).then_some(id));
    (id, name(), arguments()).prop_map(|(id, name, input)| {
        let input = Input::Json(input);
        Block::new(Content::ToolUse(ToolUse { id, name, input }))
    })
}

fn thinking(wire: Wire) -> impl Strategy<Value = Block> {
    (words(), proptest::option::of(name())).prop_map(move |(text, signature)| {
        let signature = if wire == Wire::OpenAiChat {
            None
        } else {
            signature
        };
        Block::new(Content::Thinking(Thinking {
            text,
            signature,
            is_redacted: false,
        }))
    })
}

/// A model's message, in the order that every wire preserves.
fn said(wire: Wire) -> impl Strategy<Value = Vec<Block>> {
    let thought = proptest::option::of(thinking(wire));
    let text = proptest::option::of(words().prop_map(Block::text));
    let uses = proptest::collection::vec(tool_use(wire), 0..3);
    (thought, text, uses)
        .prop_map(|(thought, text, uses)| thought.into_iter().chain(text).chain(uses).collect())
}

fn usage(wire: Wire) -> impl Strategy<Value = Usage> {
    (
        0..1_000_u64,
        0..1_000_u64,
        0..1_000_u64,
        0..500_u64,
        0..500_u64,
    )
        .prop_map(move |(fresh, read, written, output, reasoning)| Usage {
            input: Some(fresh + read + written),
            output: Some(output + reasoning),
            cache_read: Some(read),
            cache_write: (wire != Wire::Gemini).then_some(written),
            reasoning: Some(reasoning),
            more: serde_json::Map::new(),
        })
}

fn finish(wire: Wire, has_use: bool, is_cut: bool) -> Finish {
    let (reason, word) = match (wire, is_cut, has_use) {
        (Wire::Anthropic, true, _) => (FinishReason::MaxTokens, "max_tokens"),
        (Wire::Anthropic, false, true) => (FinishReason::ToolUse, "tool_use"),
        (Wire::Anthropic, false, false) => (FinishReason::Stop, "end_turn"),
        (Wire::OpenAiChat, true, _) => (FinishReason::MaxTokens, "length"),
        (Wire::OpenAiChat, false, true) => (FinishReason::ToolUse, "tool_calls"),
        (Wire::OpenAiChat, false, false) => (FinishReason::Stop, "stop"),
        (Wire::OpenAiResponses, true, _) => (FinishReason::MaxTokens, "max_output_tokens"),
        (Wire::OpenAiResponses, false, true) => (FinishReason::ToolUse, "completed"),
        (Wire::OpenAiResponses, false, false) => (FinishReason::Stop, "completed"),
        (Wire::Gemini, true, _) => (FinishReason::MaxTokens, "MAX_TOKENS"),
        (Wire::Gemini, false, true) => (FinishReason::ToolUse, "STOP"),
        (Wire::Gemini, false, false) => (FinishReason::Stop, "STOP"),
    };
    Finish {
        reason,
        word: word.to_owned(),
        sequence: None,
    }
}

fn response() -> impl Strategy<Value = Response> {
    proptest::sample::select(Wire::ALL.to_vec()).prop_flat_map(|wire| {
        (said(wire), usage(wire), name(), any::<bool>()).prop_map(
            move |(blocks, usage, id, is_cut)| {
                let has_use = blocks.iter().any(|block| block.as_tool_use().is_some());
                let mut response = Response::new(wire);
                response.id = Some(id);
                response.model = Some("m-1".to_owned());
                response.usage = Some(usage);
                response.answers = vec![Answer {
                    blocks,
                    finish: Some(finish(wire, has_use, is_cut)),
                    ..Answer::default()
                }];
                response
            },
        )
    })
}

fn image() -> Block {
    Block::new(Content::Media(Media {
        kind: MediaKind::Image,
        mime: Some("image/png".to_owned()),
        source: Source::Base64("aGFsbG8=".to_owned()),
    }))
}

fn results(wire: Wire) -> impl Strategy<Value = Vec<Block>> {
    let one = (name(), words(), any::<bool>(), any::<bool>()).prop_map(
        move |(id, text, failed, shown)| {
            // Content that a wire does not support is put into words, and not read back.
            let is_error = failed && matches!(wire, Wire::Anthropic | Wire::Gemini);
            let mut content = vec![Block::text(text)];
            if shown && wire != Wire::OpenAiChat {
                content.push(image());
            }
            let name = (wire == Wire::Gemini).then(|| id.clone());
            Block::new(Content::ToolResult(ToolResult {
                id: Some(id),
                name,
                is_error,
                content,
            }))
        },
    );
    proptest::collection::vec(one, 1..3)
}

fn request() -> impl Strategy<Value = Request> {
    proptest::sample::select(Wire::ALL.to_vec()).prop_flat_map(|wire| {
        let asked = (words(), any::<bool>()).prop_map(|(text, shown)| {
            let mut blocks = vec![Block::text(text)];
            blocks.extend(shown.then(image));
            blocks
        });
        let choice = prop_oneof![
            Just(None),
            Just(Some(ToolChoice::Auto)),
            Just(Some(ToolChoice::None)),
            Just(Some(ToolChoice::Required)),
            name().prop_map(|name| Some(ToolChoice::Tool(name))),
        ];
        let parts = (asked, said(wire), results(wire), choice, words());
        (parts, 1..5_000_u64, any::<bool>()).prop_map(
            move |((asked, said, results, choice, system), tokens, stream)| {
                let mut request = Request::new(wire, "gpt-4o");
                request.system = vec![Block::text(system)];
                request.messages.push(Message::new(Role::User, asked));
                if !said.is_empty() {
                    request.messages.push(Message::new(Role::Assistant, said));
                    request.messages.push(Message::new(Role::User, results));
                }
                request.tools.push(ToolSpec::Function(Tool {
                    name: "look_up".to_owned(),
                    description: Some("Looks something up".to_owned()),
                    schema: Some(
                        json!({"type": "object", "properties": {"a": {"type": "string"}}}),
                    ),
                    more: serde_json::Map::new(),
                }));
                request.tool_choice = choice;
                request.sampling.max_tokens = Some(tokens);
                request.sampling.temperature = Some(0.5);
                request.stream = stream;
                request
            },
        )
    })
}

proptest! {
    #[test]
    fn a_response_written_whole_is_read_as_the_same(response in response()) {
        let body = response.wire.write_response(&response).to_string();
        prop_assert_eq!(response.wire.read_response(body.as_bytes()), Ok(response));
    }

    #[test]
    fn a_response_written_as_a_stream_is_folded_to_the_same(
        response in response(), piece in 1..50_usize, chunk in 1..200_usize,
    ) {
        let frames = response.wire.write_stream(&response, piece);
        let framings = match response.wire {
            Wire::Gemini => vec![Framing::Sse, Framing::JsonArray],
            _ => vec![Framing::Sse],
        };
        for framing in framings {
            let ended = streamed(response.wire, &frames, framing, chunk);
            prop_assert_eq!(&ended.end, &StreamEnd::Complete);
            prop_assert_eq!(&ended.response, &response);
        }
    }

    #[test]
    fn a_request_written_is_read_as_the_same(request in request()) {
        let mut call = Call::generate(request.wire);
        if request.wire == Wire::Gemini {
            call.model = Some(request.model.clone());
            call.stream = Some(request.stream);
        }
        let body = request.wire.write_request(&request).to_string();
        prop_assert_eq!(request.wire.read_request(&call, body.as_bytes()), Ok(request));
    }

    #[test]
    fn bodies_that_were_cut_or_changed_stop_nobody(
        pick in any::<prop::sample::Index>(), cut in any::<prop::sample::Index>(),
        at in any::<prop::sample::Index>(), byte in any::<u8>(), wire in 0..4_usize,
    ) {
        let all = exchanges();
        let exchange = pick.get(&all);
        let wire = Wire::ALL[wire];
        for body in [&exchange.request, &exchange.response] {
            let mut body = body.clone().into_bytes();
            if body.is_empty() {
                continue;
            }
            let position = at.index(body.len());
            body[position] = byte;
            let ends = cut.index(body.len());
            for body in [&body[..], &body[..ends]] {
                let call = Call { model: Some("m".to_owned()), ..Call::generate(wire) };
                drop(wire.read_request(&call, body));
                drop(wire.read_response(body));
                drop(tapewright_models::read_error(wire, 500, |_| None, body));
                for framing in [Framing::Sse, Framing::JsonArray] {
                    let mut reader = StreamReader::new(wire, framing);
                    drop(reader.feed(&Bytes::copy_from_slice(body)));
                    drop(reader.finish());
                }
            }
        }
    }

    #[test]
    fn any_json_is_read_or_refused(value in any_json(), wire in 0..4_usize) {
        let wire = Wire::ALL[wire];
        let call = Call { model: Some("m".to_owned()), ..Call::generate(wire) };
        let body = value.to_string();
        if let Ok(request) = wire.read_request(&call, body.as_bytes()) {
            drop(wire.write_request(&request));
        }
        if let Ok(response) = wire.read_response(body.as_bytes()) {
            for wire in Wire::ALL {
                drop(wire.write_response(&response));
                drop(wire.write_stream(&response, 5));
            }
        }
        let mut fold = tapewright_models::Fold::new(wire);
        drop(fold.event(body.as_bytes()));
        drop(fold.finish());
    }
}

/// JSON with the names that wires use, in places where they do not belong.
fn any_json() -> impl Strategy<Value = Value> {
    let word = proptest::sample::select(vec![
        "type",
        "text",
        "content",
        "messages",
        "role",
        "user",
        "assistant",
        "tool",
        "tool_use",
        "tool_result",
        "input",
        "output",
        "message",
        "choices",
        "delta",
        "tool_calls",
        "function",
        "arguments",
        "name",
        "index",
        "candidates",
        "parts",
        "functionCall",
        "functionResponse",
        "response",
        "response.completed",
        "response.output_item.done",
        "output_index",
        "item",
        "function_call",
        "reasoning",
        "summary",
        "content_block_delta",
        "content_block",
        "message_delta",
        "usage",
        "usageMetadata",
        "contents",
        "source",
        "image",
        "thinking",
        "error",
        "finish_reason",
        "stop_reason",
        "system",
        "tools",
        "tool_choice",
    ]);
    let leaf = prop_oneof![
        word.clone().prop_map(Value::from),
        any::<u64>().prop_map(Value::from),
        any::<f64>().prop_map(Value::from),
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
    ];
    leaf.prop_recursive(5, 40, 6, move |inner| {
        prop_oneof![
            proptest::collection::vec(inner.clone(), 0..5).prop_map(Value::from),
            proptest::collection::vec((word.clone(), inner), 0..6).prop_map(|pairs| Value::Object(
                pairs
                    .into_iter()
                    .map(|(name, value)| (name.to_owned(), value))
                    .collect()
            )),
        ]
    })
}
