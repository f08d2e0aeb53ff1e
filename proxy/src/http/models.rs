//! Several providers of models behind one gateway.
//!
//! The first segment of a path is the name of the provider, as in `/anthropic/v1/messages`, and is
//! removed before the request is forwarded. If the path begins like one of an API, the wire
//! determines the provider, so that an agent only needs the gateway's address. Any other first
//! segment is the name of an unknown provider, whose key no other one may get.

use std::sync::Arc;

use http::Request;
use tapewright_models::{Wire, recognise};
use tapewright_schemas::event::{InPlace, InPlaceCause};

use super::gateway::LocalAnswer;
use super::origin::Origin;

/// A provider of models.
#[derive(Debug)]
pub struct Provider {
    /// The prefix of the path, `/anthropic`.
    mount: Arc<str>,
    origin: Arc<Origin>,
}

/// The providers behind one gateway.
#[derive(Debug, Default)]
pub struct Providers(Vec<Provider>);

/// The names of the providers with known wires.
const OF_WIRES: [(Wire, &str); 4] = [
    (Wire::Anthropic, "anthropic"),
    (Wire::OpenAiChat, "openai"),
    (Wire::OpenAiResponses, "openai"),
    (Wire::Gemini, "gemini"),
];

impl Providers {
    /// Adds a provider under its name; if two have the same name, the first one is used.
    #[must_use]
    pub fn with(mut self, name: &str, origin: Arc<Origin>) -> Self {
        self.0.push(Provider {
            mount: format!("/{name}").into(),
            origin,
        });
        self
    }

    /// The destination of a request, and the prefix to remove from its path.
    pub(crate) fn find<B>(
        &self,
        request: &Request<B>,
    ) -> Result<(Arc<Origin>, Option<Arc<str>>), LocalAnswer> {
        let path = request.uri().path();
        let is_below = |provider: &&Provider| {
            let rest = path.strip_prefix(&*provider.mount);
            rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
        };
        if let Some(found) = self.0.iter().find(is_below) {
            return Ok((Arc::clone(&found.origin), Some(Arc::clone(&found.mount))));
        }
        let named = begins_like_an_api(path)
            .then(|| by_wire(request))
            .flatten()
            .and_then(|name| self.0.iter().find(|it| it.mount.get(1..) == Some(name)));
        let found = named.ok_or_else(|| self.unknown())?;
        Ok((Arc::clone(&found.origin), None))
    }

    fn unknown(&self) -> LocalAnswer {
        let mounts: Vec<&str> = self.0.iter().map(|provider| &*provider.mount).collect();
        let why = format!(
            "unknown provider; begin the path with {}",
            mounts.join(" or ")
        );
        LocalAnswer::new(
            http::StatusCode::NOT_FOUND,
            InPlace::NotFound,
            InPlaceCause::NoProvider,
            why,
        )
    }
}

/// The first segments of paths of the known wires, besides versions.
const OF_APIS: [&str; 4] = ["chat", "messages", "models", "responses"];

/// Whether a path begins with a version, such as `v1` or `v1beta`, or like the path of a known wire.
fn begins_like_an_api(path: &str) -> bool {
    let first = path.split('/').nth(1).unwrap_or_default();
    let is_version = first
        .strip_prefix('v')
        .is_some_and(|number| number.starts_with(|digit: char| digit.is_ascii_digit()));
    is_version || OF_APIS.contains(&first)
}

/// The provider of a request, judging by its wire, or by the version at the start of its path.
fn by_wire<B>(request: &Request<B>) -> Option<&'static str> {
    let head = |name: &str| request.headers().get(name)?.to_str().ok();
    let target = request.uri().path_and_query().map_or("/", |it| it.as_str());
    if let Some(call) = recognise(request.method().as_str(), target, head, None) {
        let found = OF_WIRES.iter().find(|(wire, _)| *wire == call.wire);
        return found.map(|(_, name)| *name);
    }
    let versions = [("/v1beta/", "gemini"), ("/v1/", "openai")];
    let found = versions
        .iter()
        .find(|(version, _)| target.starts_with(version));
    found.map(|(_, name)| *name)
}

#[cfg(test)]
mod tests {
    use rustls::{ClientConfig, RootCertStore};
    use std::time::Duration;

    use super::super::origin::{OriginSettings, OriginUrl};
    use super::*;

    fn providers() -> Providers {
        let tls = ClientConfig::builder().with_root_certificates(RootCertStore::empty());
        let settings = OriginSettings {
            tls: Arc::new(tls.with_no_client_auth()),
            connect_timeout: Duration::from_secs(1),
            http2_prior_knowledge: false,
            destinations: None,
        };
        ["anthropic", "openai", "gemini", "own"]
            .iter()
            .fold(Providers::default(), |all, name| {
                let url = OriginUrl::parse(&format!("http://{name}.example/x")).unwrap();
                all.with(name, Origin::new(url, settings.clone()))
            })
    }

    /// The host of the provider, and the removed prefix.
    fn found(target: &str, field: Option<(&str, &str)>) -> Option<(String, Option<String>)> {
        let mut request = Request::post(target);
        if let Some((name, value)) = field {
            request = request.header(name, value);
        }
        let (origin, mount) = providers().find(&request.body(()).unwrap()).ok()?;
        let host = origin.url().host.clone();
        Some((host, mount.map(|mount| mount.to_string())))
    }

    #[test]
    fn a_path_names_its_provider_and_otherwise_the_wire_does() {
        for (target, field, host, mount) in [
            (
                "/anthropic/v1/messages",
                None,
                "anthropic",
                Some("/anthropic"),
            ),
            ("/own/api/chat", None, "own", Some("/own")),
            ("/openai", None, "openai", Some("/openai")),
            // A path with the name of one provider and the wire of another goes to the named one.
            ("/own/v1/messages", None, "own", Some("/own")),
            ("/v1/messages", None, "anthropic", None),
            ("/v1/chat/completions", None, "openai", None),
            ("/v1/responses", None, "openai", None),
            (
                "/v1beta/models/m:generateContent?key=k",
                None,
                "gemini",
                None,
            ),
            ("/v1/models", None, "openai", None),
            ("/chat/completions", None, "openai", None),
            (
                "/v1/models",
                Some(("anthropic-version", "2023-06-01")),
                "anthropic",
                None,
            ),
            ("/v1beta/models", None, "gemini", None),
        ] {
            let wanted = (format!("{host}.example"), mount.map(str::to_owned));
            assert_eq!(found(target, field), Some(wanted), "{target}");
        }
        for target in [
            "/",
            "/anthropics/v1",
            "/mcp",
            "/healthz",
            // Not configured: the key in it is not for the provider of the wire.
            "/groq/openai/v1/chat/completions",
            "/openrouter/api/v1/messages",
            "/vendor/v1/responses",
        ] {
            assert_eq!(found(target, None), None, "{target}");
        }
    }
}
