//! How a conversation starts, by era and revision.

use std::time::Duration;

use tapewright_schemas::envelope::RequestId;
pub use tapewright_schemas::era::FIRST_STATELESS;
use tapewright_schemas::era::{Era, PROTOCOL_VERSION_KEY};
use tapewright_schemas::json;
use tapewright_schemas::redact::Redactor;
use tapewright_schemas::slices::Front as _;

use super::{Client, ClientError, Reply};

/// A client's description of itself at the start of a conversation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Opening {
    /// The revision to use.
    pub revision: Revision,
    /// `clientInfo`, as source text of a JSON object.
    pub client_info: String,
    /// `capabilities`, as source text of a JSON object. The client's [`Answers`](super::Answers)
    /// must support what is declared here.
    pub capabilities: String,
}

/// The revision of a conversation.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Revision {
    /// `initialize` with the latest revision with a handshake; if the server refuses it,
    /// `server/discover` with the first stateless revision.
    Auto,
    /// `initialize`, with this revision.
    Handshake(String),
    /// No handshake: each request contains this revision.
    Stateless {
        /// The revision.
        version: String,
        /// Send `server/discover` first. Optional for clients (2026-07-28, server/discover).
        discover: bool,
    },
}

/// The result of an opening.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Greeting {
    /// The era of the conversation.
    pub era: Era,
    /// The revision in use: the server's choice, or the client's if the server was not asked.
    pub revision: String,
    /// The server's answer to `initialize` or `server/discover`, if there was such a request.
    pub reply: Option<Reply>,
}

/// The latest revision with a handshake.
pub const LATEST_HANDSHAKE: &str = "2025-11-25";

impl Default for Opening {
    /// This program's name and version, and no capabilities.
    fn default() -> Self {
        Self {
            revision: Revision::Auto,
            client_info: concat!(
                r#"{"name":"tapewright","version":""#,
                env!("CARGO_PKG_VERSION"),
                r#""}"#
            )
            .to_owned(),
            capabilities: "{}".to_owned(),
        }
    }
}

impl Client {
    /// Starts the conversation: sends `initialize` and `notifications/initialized`, or
    /// `server/discover`, or just notes what every request must contain.
    ///
    /// `timeout` is for each of these requests.
    pub fn greet(
        &mut self,
        opening: &Opening,
        timeout: Duration,
    ) -> Result<&Greeting, ClientError> {
        let greeting = match &opening.revision {
            Revision::Handshake(version) => self.initialize(opening, version, timeout)?,
            Revision::Stateless { version, discover } => {
                self.discover(opening, version, *discover, timeout)?
            }
            Revision::Auto => match self.initialize(opening, LATEST_HANDSHAKE, timeout) {
                Err(ClientError::Refused {
                    method,
                    code: Some(code),
                    error,
                }) if FALL_BACK.contains(&code) => self
                    .discover(opening, FIRST_STATELESS, true, timeout)
                    // The first refusal is the informative one.
                    .map_err(|_| ClientError::Refused {
                        method,
                        code: Some(code),
                        error,
                    })?,
                other => other?,
            },
        };
        Ok(self.greeting.insert(greeting))
    }

    fn initialize(
        &mut self,
        opening: &Opening,
        version: &str,
        timeout: Duration,
    ) -> Result<Greeting, ClientError> {
        const METHOD: &str = "initialize";
        self.meta.clear();
        let params = format!(
            r#"{{"protocolVersion":{},"capabilities":{},"clientInfo":{}}}"#,
            text(version),
            opening.capabilities,
            opening.client_info,
        );
        let reply = self.request(METHOD, Some(&params), timeout)?;
        let result = self.result_of(METHOD, &reply)?;
        let chosen = match json::find(result, &["protocolVersion"]).map(RequestId::of_source) {
            Some(RequestId::Text(version)) => version.into_owned(),
            _ => {
                return Err(ClientError::BadOpening {
                    method: METHOD,
                    why: "no `protocolVersion`",
                });
            }
        };
        self.notify("notifications/initialized", None)?;
        Ok(Greeting {
            era: Era::Handshake,
            revision: chosen,
            reply: Some(reply),
        })
    }

    fn discover(
        &mut self,
        opening: &Opening,
        version: &str,
        discover: bool,
        timeout: Duration,
    ) -> Result<Greeting, ClientError> {
        const METHOD: &str = "server/discover";
        self.meta = vec![
            (PROTOCOL_VERSION_KEY.to_owned(), text(version)),
            (INFO_KEY.to_owned(), opening.client_info.clone()),
            (CAPABILITIES_KEY.to_owned(), opening.capabilities.clone()),
        ];
        let mut reply = None;
        if discover {
            let answer = self.request(METHOD, None, timeout)?;
            self.result_of(METHOD, &answer)?;
            reply = Some(answer);
        }
        Ok(Greeting {
            era: Era::Stateless,
            revision: version.to_owned(),
            reply,
        })
    }

    fn result_of<'r>(
        &self,
        method: &'static str,
        reply: &'r Reply,
    ) -> Result<&'r [u8], ClientError> {
        if let Some(error) = reply.error() {
            let code = json::find(error, &["code"])
                .and_then(|code| std::str::from_utf8(code).ok()?.parse().ok());
            let mut redactor = Redactor::new(std::sync::Arc::clone(&self.settings.rules));
            let error = redactor.text(error);
            let shown = error.front(SHOWN);
            return Err(ClientError::Refused {
                method,
                code,
                error: String::from_utf8_lossy(shown).into_owned(),
            });
        }
        reply.result().ok_or(ClientError::BadOpening {
            method,
            why: "it has neither `result` nor `error`",
        })
    }
}

/// A string as JSON.
fn text(plain: &str) -> String {
    let mut out = vec![b'"'];
    json::escape(plain, &mut out);
    out.push(b'"');
    String::from_utf8(out).unwrap_or_default()
}

/// Error codes of `initialize` after which the stateless era is tried: unknown method, bad
/// parameters (no `_meta`), bad request, unsupported revision.
const FALL_BACK: [i64; 4] = [-32_601, -32_602, -32_600, -32_022];

const INFO_KEY: &str = "io.modelcontextprotocol/clientInfo";
const CAPABILITIES_KEY: &str = "io.modelcontextprotocol/clientCapabilities";

/// The maximum length of a refusal in an error, in bytes.
const SHOWN: usize = 2_000;
