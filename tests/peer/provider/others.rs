//! The provider's endpoints other than generation: models, token counts.

use serde_json::{Value, json};

use super::http::{Answer, ProviderRequest};
use super::script::Script;

pub(super) fn answer(asked: &ProviderRequest, script: &Script) -> Answer {
    let path = asked.path.as_str();
    if path == "/" {
        return Answer::text("text/plain", String::new());
    }
    if path.ends_with("/models") {
        return Answer::json(200, &models(&script.models, path.contains("/v1beta/")));
    }
    if path.ends_with("/count_tokens") {
        return Answer::json(200, &json!({"input_tokens": 100}));
    }
    if path.ends_with(":countTokens") {
        return Answer::json(200, &json!({"totalTokens": 100}));
    }
    let message = format!("there is nothing at {path}");
    Answer::json(
        404,
        &json!({"error": {"message": message, "type": "not_found_error"}}),
    )
}

fn models(names: &[String], gemini: bool) -> Value {
    if gemini {
        let one = |name: &String| json!({"name": format!("models/{name}"), "displayName": name});
        return json!({"models": names.iter().map(one).collect::<Vec<_>>()});
    }
    let one = |name: &String| {
        json!({
            "id": name, "object": "model", "created": 1_700_000_000, "owned_by": "script", "type": "model",
            "display_name": name, "created_at": "2025-01-01T00:00:00Z",
        })
    };
    let data: Vec<_> = names.iter().map(one).collect();
    json!({"object": "list", "data": data, "has_more": false, "first_id": names.first(), "last_id": names.last()})
}
