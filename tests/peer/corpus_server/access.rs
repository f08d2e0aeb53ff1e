//! Authorization, with `authorizes`: requests must have the token [`TOKEN`]. Without it, the
//! response shows where to get one.
//!
//! Words that break something here: `any-token`, `trusts-sessions`, `no-metadata-named`,
//! `no-metadata`, `no-issuer`, `no-pkce`, `no-registration`, `no-scopes`.

use serde_json::{Value, json};

use super::faults::drop_member;
use super::http::{Request, Response, Site};

/// The token that is good.
const TOKEN: &str = "Bearer good-token-of-the-tests";

impl Site {
    /// The refusal of an unauthorized request.
    pub(super) fn without_access(&self, request: &Request) -> Option<Response> {
        let said = request.field("authorization");
        let in_session = request.field("mcp-session-id").is_some();
        let is_good = match said {
            Some(said) => said == TOKEN || self.is("any-token"),
            None => in_session && self.is("trusts-sessions"),
        };
        if is_good || !self.is("authorizes") {
            return None;
        }
        let mut challenge = "Bearer realm=\"tests\"".to_owned();
        if !self.is("no-metadata-named") {
            let at = format!(
                "http://{}/.well-known/oauth-protected-resource/mcp",
                self.address
            );
            challenge.extend([", resource_metadata=\"", &at, "\""]);
        }
        if !self.is("no-scopes") {
            challenge += ", scope=\"mcp\"";
        }
        if said.is_some() {
            challenge += ", error=\"invalid_token\"";
        }
        let mut refusal = Response::new(401);
        refusal.fields.push(("WWW-Authenticate", challenge));
        Some(refusal)
    }

    /// The documents by which a client finds out how to get a token.
    pub(super) fn document(&self, request: &Request) -> Response {
        let issuer = format!("http://{}", self.address);
        let mut document = match request.path.as_str() {
            _ if !self.is("authorizes") || self.is("no-metadata") || request.method != "GET" => {
                return Response::new(404);
            }
            "/.well-known/oauth-protected-resource/mcp" => json!({
                "resource": format!("{issuer}/mcp"),
                "authorization_servers": [issuer],
                "scopes_supported": ["mcp"],
            }),
            "/.well-known/oauth-authorization-server" => json!({
                "issuer": issuer,
                "authorization_endpoint": format!("{issuer}/authorize"),
                "token_endpoint": format!("{issuer}/token"),
                "registration_endpoint": format!("{issuer}/register"),
                "response_types_supported": ["code"],
                "code_challenge_methods_supported": ["S256"],
            }),
            _ => return Response::new(404),
        };
        self.without(&mut document);
        Response::json(200, &document)
    }

    fn without(&self, document: &mut Value) {
        for (word, member) in [
            ("no-issuer", "/authorization_servers"),
            ("no-issuer", "/issuer"),
            ("no-pkce", "/code_challenge_methods_supported"),
            ("no-registration", "/registration_endpoint"),
        ] {
            if self.is(word) {
                drop_member(document, member);
            }
        }
    }
}
