//! `servers`: the servers under test.

use std::path::PathBuf;

use super::auth::Auth;
use super::http::{Header, Http, headers};
use crate::read::Cursor;
use crate::source::SourceSpot;

/// A server under test.
#[derive(Clone, Debug)]
pub struct Server {
    /// The key by which tests name it.
    pub name: String,
    /// How to connect to it.
    pub target: Target,
    /// Its position.
    pub place: SourceSpot,
}

/// How to connect to a server.
#[derive(Clone, Debug)]
pub enum Target {
    /// A child process that communicates over its standard streams.
    Command(CommandServer),
    /// An HTTP server that runs already.
    Url(Box<UrlServer>),
    /// A recording, served in place of its server. The path is the one to open: relative ones are
    /// resolved against the folder of the file that contains them.
    Cassette(PathBuf),
}

/// A child process.
#[derive(Clone, Debug)]
pub struct CommandServer {
    /// The executable and its arguments; no shell sees them.
    pub argv: Vec<String>,
    /// Variables in addition to the environment that the child inherits.
    pub env: Vec<(String, String)>,
}

/// An HTTP server.
#[derive(Clone, Debug)]
pub struct UrlServer {
    /// The endpoint.
    pub url: String,
    /// How to authenticate.
    pub auth: Option<Auth>,
    /// A URL, or a path on the same host, that answers 2xx once the server is ready.
    pub wait_for_ready: Option<String>,
    /// Headers of every request.
    pub headers: Vec<Header>,
    /// Settings of the client.
    pub http: Http,
}

impl Server {
    pub(crate) fn read(name: &str, at: &Cursor<'_>) -> Self {
        let mut fields = at.fields();
        let found = fields.exactly_one(&["command", "url", "cassette"]);
        let target = match found {
            Some(("url", url)) => Target::Url(Box::new(UrlServer {
                url: url.web_address(),
                auth: fields.optional("auth").map(|auth| Auth::read(&auth)),
                wait_for_ready: fields.optional_name("wait_for_ready"),
                headers: fields
                    .optional("headers")
                    .map(|at| headers(&at))
                    .unwrap_or_default(),
                http: fields
                    .optional("http")
                    .map(|at| Http::read(&at))
                    .unwrap_or_default(),
            })),
            Some(("cassette", path)) => Target::Cassette(PathBuf::from(path.name())),
            Some((_, command)) => Target::Command(CommandServer {
                argv: command_argv(&command),
                env: fields
                    .optional("env")
                    .map(|env| env.text_map())
                    .unwrap_or_default(),
            }),
            None => Target::Cassette(PathBuf::new()),
        };
        fields.finish_with(|key| explain(key, &target));
        Self {
            name: name.to_owned(),
            target,
            place: at.place(),
        }
    }
}

fn command_argv(at: &Cursor<'_>) -> Vec<String> {
    if at.is_text() {
        let help = "write a list, one entry per argument: [\"npx\", \"-y\", \"server\"]; no shell splits it";
        at.wrong_type_with("an array of strings", help);
        return Vec::new();
    }
    at.some_items().iter().map(Cursor::name).collect()
}

/// Hints about keys of other formats, and of other kinds of servers.
fn explain(key: &str, target: &Target) -> Option<&'static str> {
    match (key, target) {
        (
            "auth" | "headers" | "http" | "wait_for_ready",
            Target::Command(_) | Target::Cassette(_),
        ) => Some("it belongs to a server with `url`"),
        ("env", Target::Url(_) | Target::Cassette(_)) => {
            Some("it belongs to a server with `command`")
        }
        ("args", _) => Some("write arguments into `command`, after the executable"),
        ("cwd", _) => Some("a command starts in the folder in which tapewright runs"),
        ("transport", _) => Some("the transport follows from `command`, `url` or `cassette`"),
        _ => None,
    }
}
