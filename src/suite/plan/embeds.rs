//! Checks that `similar` uses a model with embeddings.

use serde_json::Value;
use tapewright_config::{SourceSpot, Suite};
use tapewright_judges::Model;
use tapewright_models::Family;
use tapewright_models::embeddings::EmbedWire;

use super::compile::Compiler;

/// Refuses a model of a family without embeddings. `place` is that of `assertion`.
pub(super) fn check(
    compiler: &mut Compiler<'_>,
    suite: &Suite,
    place: &SourceSpot,
    assertion: &Value,
) {
    let model = assertion.pointer("/matcher/similar/model");
    let Some(text) = model.and_then(Value::as_str) else {
        return;
    };
    let names = suite.providers.iter().map(|one| one.name.as_str());
    let model = Model::read(text, names);
    if model.provider.is_some() {
        return;
    }
    let family = Family::of_model(&model.id);
    let Some(family) = family.filter(|family| EmbedWire::of(family.wire()).is_none()) else {
        return;
    };
    let message = format!(
        "`{text}` is a model of {}, which has no embeddings",
        family.name()
    );
    compiler.refuse(place, "/matcher/similar/model", message, HELP);
}

const HELP: &str = "name an embedding model of OpenAI (`text-embedding-3-small`), Google (`gemini-embedding-001`) or Mistral (`mistral-embed`), or `NAME/MODEL` of one of `providers`";
