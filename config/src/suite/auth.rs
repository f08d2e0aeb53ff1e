//! `auth`: how to authenticate at an HTTP server.

use crate::issue::Code;
use crate::read::Cursor;

/// How to authenticate.
#[derive(Clone, Debug)]
pub enum Auth {
    /// `Authorization: Bearer` with the value of this environment variable.
    BearerEnv(String),
    /// OAuth 2.0 client credentials.
    OAuth(OAuth),
}

/// OAuth 2.0 client credentials (RFC 6749, section 4.4).
#[derive(Clone, Debug)]
pub struct OAuth {
    /// The environment variable with the identifier of the client.
    pub client_id_env: String,
    /// The environment variable with the secret of the client.
    pub client_secret_env: Option<String>,
    /// The authorization endpoint.
    pub authorization_url: String,
    /// The token endpoint.
    pub token_url: String,
    /// The requested scopes.
    pub scopes: Vec<String>,
}

impl Auth {
    pub(crate) fn read(at: &Cursor<'_>) -> Self {
        let mut fields = at.fields();
        let auth = match fields.exactly_one(&["bearer_token_env", "oauth"]) {
            Some(("oauth", oauth)) => Self::OAuth(OAuth::read(&oauth)),
            Some((_, name)) => Self::BearerEnv(name.name()),
            None => Self::BearerEnv(String::new()),
        };
        for key in ["headers", "mtls"] {
            if let Some(reserved) = fields.optional(key) {
                let help = match key {
                    "headers" => "put headers into `headers` next to `auth`",
                    _ => "client certificates are not part of version 1",
                };
                reserved.warn(
                    Code::Unused,
                    format!("`{key}` is reserved here and does nothing"),
                    help.to_owned(),
                );
            }
        }
        fields.finish();
        auth
    }
}

impl OAuth {
    fn read(at: &Cursor<'_>) -> Self {
        let mut fields = at.fields();
        let client_id_env = fields.name("client_id_env");
        let oauth = Self {
            client_id_env,
            authorization_url: fields.web_address("authorization_url"),
            token_url: fields.web_address("token_url"),
            client_secret_env: fields.optional_name("client_secret_env"),
            scopes: fields.names("scopes"),
        };
        fields.finish();
        oauth
    }
}
