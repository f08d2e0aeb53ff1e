//! A token by OAuth 2.0 client credentials (RFC 6749, section 4.4).

use std::collections::{HashMap, HashSet};
use std::fmt::Write as _;
use std::time::Duration;

use http::{HeaderValue, Method, header};
use tapewright_assertions::Json;
use tapewright_config::Suite;
use tapewright_config::suite::auth::{Auth, OAuth};
use tapewright_config::suite::server::Target;
use tapewright_proxy::http::fetch::{Ask, fetch};
use tapewright_proxy::http::origin::{Origin, OriginSettings, OriginUrl};

use super::servers;
use crate::report::{self, Mistake};
use crate::suite::plan::{Case, Plan};

/// Time limit for the token endpoint.
const TIME: Duration = Duration::from_secs(30);

/// Tokens by server, for the selected cases whose servers use client credentials. They are secrets.
pub(crate) fn tokens(
    suite: &Suite,
    plan: &Plan,
    chosen: &[usize],
    variables: &HashMap<String, String>,
) -> anyhow::Result<HashMap<String, String>> {
    let cases = chosen.iter().filter_map(|number| plan.cases.get(*number));
    let needed: HashSet<&str> = cases.flat_map(Case::servers).collect();
    let mut tokens = HashMap::new();
    for server in &suite.servers {
        if let Target::Url(url) = &server.target
            && let Some(Auth::OAuth(oauth)) = &url.auth
            && needed.contains(server.name.as_str())
        {
            let name = report::safe(&server.name);
            let settings = servers::origin_settings(&name, url)?;
            let token = token(&name, oauth, &settings, variables)?;
            tokens.insert(server.name.clone(), token);
        }
    }
    Ok(tokens)
}

/// Fetches a token for a server. Of the endpoint's answer, errors only repeat the error code.
fn token(
    server: &str,
    oauth: &OAuth,
    settings: &OriginSettings,
    variables: &HashMap<String, String>,
) -> anyhow::Result<String> {
    let variable = |name: &str| servers::variable_of(server, name, variables);
    let mistake = |why: &str| {
        let what = format!("cannot get a token for the server `{server}`: {why}");
        Mistake::new(
            what,
            "check `auth.oauth` and the credentials in the environment",
        )
    };
    let url = OriginUrl::parse(&oauth.token_url)
        .map_err(|why| mistake(&format!("invalid `token_url`: {why}")))?;
    let mut form = format!(
        "grant_type=client_credentials&client_id={}",
        encoded(&variable(&oauth.client_id_env)?)
    );
    if let Some(secret) = &oauth.client_secret_env {
        form.push_str("&client_secret=");
        form.push_str(&encoded(&variable(secret)?));
    }
    if !oauth.scopes.is_empty() {
        form.push_str("&scope=");
        form.push_str(&encoded(&oauth.scopes.join(" ")));
    }
    let kind = HeaderValue::from_static("application/x-www-form-urlencoded");
    let ask = Ask {
        method: Method::POST,
        fields: vec![
            (header::CONTENT_TYPE, kind),
            (header::ACCEPT, HeaderValue::from_static("application/json")),
        ],
        body: form.into(),
        timeout: TIME,
    };
    let fetched = fetch(&Origin::new(url, settings.clone()), ask)
        .map_err(|error| mistake(&report::causes(&error)))?;
    let body = Json::read(&fetched.body).ok();
    let text = |name: &str| body.as_ref()?.get(name)?.as_str().map(str::to_owned);
    if !fetched.status.is_success() {
        let code =
            text("error").map_or(String::new(), |code| format!(" ({})", report::safe(&code)));
        return Err(mistake(&format!("the endpoint answers {}{code}", fetched.status)).into());
    }
    text("access_token")
        .ok_or_else(|| mistake("the endpoint's answer has no `access_token`").into())
}

/// A value of a form (WHATWG URL, application/x-www-form-urlencoded).
fn encoded(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for byte in text.bytes() {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'*' | b'-' | b'.' | b'_' => {
                out.push(char::from(byte));
            }
            b' ' => out.push('+'),
            _ => {
                // Writing to a string does not fail.
                let _never_fails = write!(out, "%{byte:02X}");
            }
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::encoded;

    #[test]
    fn what_is_special_is_encoded() {
        assert_eq!(encoded("a b&c=d/é"), "a+b%26c%3Dd%2F%C3%A9");
    }
}
