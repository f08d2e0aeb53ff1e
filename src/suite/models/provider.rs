//! Chooses the provider and the key for a model.

use std::collections::HashMap;
use std::fmt::Write as _;

use tapewright_config::Suite;
use tapewright_config::suite::settings::Provider;
use tapewright_judges::Model;
use tapewright_models::{Family, Wire};
use tapewright_proxy::provider::Endpoint;

/// What answers for a model.
#[derive(Debug)]
pub(crate) enum Choice {
    Provider(Endpoint),
    /// No provider, with the reason: the stub is used.
    Stub {
        wire: Wire,
        why: String,
    },
}

/// A key for servers that need none.
const NO_KEY: &str = "EMPTY";

/// Chooses the provider of a model; the error says why there is none.
pub(crate) fn choose(
    model: &Model,
    providers: &[Provider],
    variables: &HashMap<String, String>,
) -> Result<Choice, String> {
    match &model.provider {
        Some(name) => named(name, providers, variables),
        None => of_family(&model.id, variables),
    }
}

fn named(
    name: &str,
    providers: &[Provider],
    variables: &HashMap<String, String>,
) -> Result<Choice, String> {
    let wire = Wire::OpenAiChat;
    let found = providers.iter().find(|one| one.name == name);
    let provider = found.ok_or_else(|| format!("the suite has no provider `{name}`"))?;
    let key = match &provider.api_key_env {
        None => NO_KEY.to_owned(),
        Some(variable) => match set(variables, variable) {
            Some(key) => key,
            None => return Ok(stub(wire, &[variable.as_str()])),
        },
    };
    let organization = provider.organization.iter();
    Ok(Choice::Provider(Endpoint {
        name: name.to_owned(),
        wire,
        base_url: provider.base_url.clone(),
        key,
        fields: organization
            .map(|one| ("openai-organization", one.clone()))
            .collect(),
    }))
}

fn of_family(model: &str, variables: &HashMap<String, String>) -> Result<Choice, String> {
    let Some(family) = Family::of_model(model) else {
        return Err(format!(
            "cannot tell the provider of `{model}` from its name; write `{{ provider: NAME, id: {model} }}` and name its provider under `providers`"
        ));
    };
    let first = |names: &[&str]| names.iter().find_map(|name| set(variables, name));
    let Some(key) = first(family.key_variables()) else {
        return Ok(stub(family.wire(), family.key_variables()));
    };
    let organization = family.organization_variable();
    let organization = organization.and_then(|name| set(variables, name));
    Ok(Choice::Provider(Endpoint {
        name: family.name().to_owned(),
        wire: family.wire(),
        base_url: first(family.base_url_variables()).unwrap_or(family.base_url().to_owned()),
        key,
        fields: organization
            .map(|one| ("openai-organization", one))
            .into_iter()
            .collect(),
    }))
}

/// The default model: that of the first family whose key is
/// set.
pub(crate) fn default_model(variables: &HashMap<String, String>) -> Option<Model> {
    let has_key = |family: &&Family| {
        let mut names = family.key_variables().iter();
        names.any(|name| set(variables, name).is_some())
    };
    let family = FAMILIES.iter().find(has_key)?;
    Some(Model::named(family.default_model()))
}

/// The variables of which [`default_model`] needs one.
pub(crate) fn default_keys() -> String {
    let names = FAMILIES
        .iter()
        .filter_map(|one| one.key_variables().first());
    let names: Vec<&str> = names.copied().collect();
    names.join(", ")
}

/// The families in the order of the default.
const FAMILIES: [Family; 4] = [
    Family::Anthropic,
    Family::OpenAi,
    Family::Google,
    Family::Mistral,
];

/// The value of a variable, unless it is empty.
fn set(variables: &HashMap<String, String>, name: &str) -> Option<String> {
    let value = variables.get(name).map(|value| value.trim());
    value.filter(|value| !value.is_empty()).map(str::to_owned)
}

fn stub(wire: Wire, names: &[&str]) -> Choice {
    let mut why = names.join(" or ");
    let _never_fails = write!(why, " is not set");
    Choice::Stub { wire, why }
}

/// The keys that a suite may use, by the names of their variables, so that they can be hidden.
pub(crate) fn keys(suite: &Suite, variables: &HashMap<String, String>) -> HashMap<String, String> {
    let known = FAMILIES.iter().flat_map(|family| family.key_variables());
    let own = suite.providers.iter();
    let own = own.filter_map(|provider| provider.api_key_env.as_deref());
    known
        .copied()
        .chain(own)
        .filter_map(|name| Some((name.to_owned(), set(variables, name)?)))
        .collect()
}
