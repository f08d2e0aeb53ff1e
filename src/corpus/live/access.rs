//! Finds out whether a server on HTTP requires authorization, and where it describes that.
//!
//! Only the server itself is asked. An authorization server of another origin is not ours to test.

use std::time::Duration;

use bytes::Bytes;
use http::{HeaderMap, HeaderValue, Method, StatusCode, header};
use serde_json::{Value, json};
use tapewright_corpus::observation::{Observation, Reply};
use tapewright_corpus::rule::Applies;
use tapewright_corpus::verdict::Untested;
use tapewright_proxy::http::direct::{Question, Response};
use tapewright_proxy::http::origin::OriginUrl;
use tapewright_schemas::era::Era;
use tapewright_schemas::slices::Part as _;

use super::direct::{RequestLine, answered, ended, head};
use super::many::envelope;
use super::{Asker, convert, opening};

/// The paths of metadata (RFC 9728 §3.1, RFC 8414 §3.1, `OpenID` Connect Discovery 1.0 §4).
const RESOURCE: &str = "/.well-known/oauth-protected-resource";
const SERVER: &str = "/.well-known/oauth-authorization-server";
const OPENID: &str = "/.well-known/openid-configuration";

impl Asker {
    /// Asks without a token, and finds the documents that say where to get one.
    pub(super) fn learn_access(&mut self) {
        // A server that does not answer here is reported by the rules that ask it.
        if self.enter().is_err() {
            return;
        }
        let Ok(refusal) = self.without_token() else {
            return;
        };
        if refusal.status != StatusCode::UNAUTHORIZED {
            return;
        }
        self.facts.known.shown.authorization = true;
        self.facts.known.shown.resource = self.resource(&refusal.head);
        self.facts.known.shown.server = self.authorization_server();
    }

    /// The server's response to an opening without a token.
    fn without_token(&self) -> Result<Response, Untested> {
        let handshake = self.era() == Era::Handshake;
        let params = handshake.then(|| opening::initialize(&self.revision));
        let method = self.opening_method();
        let text = convert::text(params.as_ref());
        let mut head = self.head(Some(method), text.as_deref(), handshake);
        head.insert(header::AUTHORIZATION, HeaderValue::from_static(""));
        let body = envelope(&json!("tapewright-0"), method, params, &self.meta());
        self.respond(Question {
            method: Method::POST,
            path: None,
            head,
            body: body.into(),
            timeout: self.target.timeout,
            only_head: true,
        })
    }

    /// The path of the resource's metadata; `None` if the server names an address of another
    /// origin.
    fn resource(&self, refusal: &HeaderMap) -> Option<String> {
        let named = refusal
            .get_all(header::WWW_AUTHENTICATE)
            .iter()
            .filter_map(|value| value.to_str().ok())
            .find_map(|value| parameter(value, "resource_metadata"));
        if let Some(named) = named {
            return self.own_path(&named);
        }
        let path = self.own_endpoint().trim_end_matches('/').to_owned();
        let exact = format!("{RESOURCE}{path}");
        let known = [exact.clone(), RESOURCE.to_owned()];
        let found = known.into_iter().find(|path| self.has_document(path));
        // If there is none, the rule that requests it must see that.
        Some(found.unwrap_or(exact))
    }

    /// The path of the authorization server's metadata, if it exists.
    fn authorization_server(&self) -> Option<String> {
        let path = self.facts.known.shown.resource.as_deref();
        let document = path.and_then(|path| self.fetch(path));
        let issuer = document.as_ref().and_then(|document| {
            let servers = document.get("authorization_servers")?;
            servers.get(0)?.as_str()
        });
        // Before 2025-06-18 it is the server itself (2025-03-26, basic/authorization §Server Metadata Discovery).
        let path = match issuer {
            Some(issuer) => self.own_path(issuer)?,
            None => String::new(),
        };
        let path = path.trim_end_matches('/');
        let known = [
            format!("{SERVER}{path}"),
            format!("{OPENID}{path}"),
            format!("{path}{OPENID}"),
        ];
        known.into_iter().find(|path| self.has_document(path))
    }

    fn own_endpoint(&self) -> &str {
        let origin = self.target.origin.as_ref();
        let path = origin.map_or("", |(origin, _)| origin.url().path.as_str());
        path.split('?').next().unwrap_or_default()
    }

    /// The path of an address, if it is on the server itself.
    fn own_path(&self, address: &str) -> Option<String> {
        let (origin, _) = self.target.origin.as_ref()?;
        let own = origin.url();
        let named = OriginUrl::parse(address).ok()?;
        let same = (named.scheme, &named.host, named.port) == (own.scheme, &own.host, own.port);
        same.then_some(named.path)
    }

    fn has_document(&self, path: &str) -> bool {
        self.fetch(path).is_some()
    }

    /// The JSON document at a path.
    fn fetch(&self, path: &str) -> Option<Value> {
        let line = RequestLine {
            method: Method::GET,
            path: Some(path.to_owned()),
        };
        let seen = self.document(line, HeaderMap::new(), self.target.timeout);
        match seen.ok()?.answers.into_iter().next()?.reply {
            Reply::Result(document) => Some(document),
            _ => None,
        }
    }

    /// Requests a document at another path of the server. It is public: no token is sent.
    pub(super) fn document(
        &self,
        line: RequestLine,
        mut fields: HeaderMap,
        timeout: Duration,
    ) -> Result<Observation, Untested> {
        fields.insert(header::AUTHORIZATION, HeaderValue::from_static(""));
        fields.insert(header::ACCEPT, HeaderValue::from_static("application/json"));
        let response = self.respond(Question {
            method: line.method,
            path: line.path,
            head: fields,
            body: Bytes::new(),
            timeout,
            only_head: false,
        })?;
        let is_there = response.status.is_success();
        let document = response.messages.first().filter(|_| is_there);
        let document = document.and_then(|text| serde_json::from_slice(text).ok());
        Ok(Observation {
            transport: Some(Applies::Http),
            in_place: head(&response).is_in_place(),
            answers: vec![answered(
                &response,
                document.map_or(Reply::None, Reply::Result),
            )],
            ..Observation::default()
        })
    }

    fn respond(&self, question: Question) -> Result<Response, Untested> {
        let Some(direct) = &self.direct else {
            return Err(Untested::NoHead);
        };
        direct
            .ask(question, |_| false)
            .map_err(|error| ended(&error))
    }
}

/// The value of a parameter of a challenge (RFC 9110 §11.2), quoted or not.
fn parameter(challenge: &str, name: &str) -> Option<String> {
    let mut rest = challenge;
    loop {
        let at = rest.find(name)?;
        let before = rest.part(..at).chars().next_back();
        rest = rest.part(at + name.len()..);
        let Some(value) = rest.trim_start().strip_prefix('=') else {
            continue;
        };
        if before.is_some_and(|one| !matches!(one, ' ' | ',' | '\t')) {
            continue;
        }
        let value = value.trim_start();
        let value = match value.strip_prefix('"') {
            Some(quoted) => quoted.split('"').next(),
            None => value.split([',', ' ']).next(),
        };
        return value.map(str::to_owned);
    }
}

#[cfg(test)]
mod tests {
    use super::parameter;

    #[test]
    fn a_parameter_of_a_challenge_is_found_by_its_whole_name() {
        let find = |challenge| parameter(challenge, "resource_metadata");
        let url = Some("https://a/.well-known/x".to_owned());
        assert_eq!(
            find(r#"Bearer resource_metadata="https://a/.well-known/x""#),
            url
        );
        assert_eq!(
            find("Bearer realm=x, resource_metadata=https://a/.well-known/x, scope=y"),
            url
        );
        assert_eq!(find(r#"Bearer my_resource_metadata="other""#), None);
        assert_eq!(find(r#"Bearer realm="resource_metadata""#), None);
        assert_eq!(find("Bearer"), None);
    }
}
