//! The server of a written suite.

use serde_json::{Map, Value, json};
use tapewright_schemas::tape::Header;

use super::{PLACEHOLDER, yaml};

/// How to reach the server.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Reach {
    /// This program with its arguments.
    Command(Vec<String>),
    /// This URL, with headers whose values are in environment variables: the name, and the
    /// variable.
    Url(String, Vec<(String, String)>),
    /// This recording, in place of the server.
    Cassette(String),
}

/// The server of a suite.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Server {
    pub(crate) name: String,
    pub(crate) reach: Reach,
}

impl Server {
    /// The server of a recording; `path` is used if the recording does not say how to reach it.
    pub(crate) fn of(header: &Header, path: &str) -> Self {
        let reach = if !header.command.is_empty() {
            Reach::Command(header.command.clone())
        } else if !header.upstream.is_empty() {
            Reach::Url(header.upstream.clone(), Vec::new())
        } else {
            Reach::Cassette(path.to_owned())
        };
        let label = [header.label.as_str(), "server"];
        let name = label.into_iter().find(|one| !one.is_empty());
        Self {
            name: name.unwrap_or_default().to_owned(),
            reach,
        }
    }

    /// Its members; secrets become variables.
    fn members(&self, variables: &mut Map<String, Value>) -> Map<String, Value> {
        let mut hidden = |text: &str| {
            if !text.contains(PLACEHOLDER) {
                return yaml::literal(&json!(text));
            }
            let name = format!("SECRET_{}", variables.len() + 1);
            variables.insert(name.clone(), json!({ "from_env": name }));
            Value::String(format!("${{{name}}}"))
        };
        let mut server = Map::new();
        match &self.reach {
            Reach::Command(command) => {
                let words = command.iter().map(|word| hidden(word)).collect();
                server.insert("command".to_owned(), words);
            }
            Reach::Url(url, headers) => {
                server.insert("url".to_owned(), hidden(url));
                fields(headers, &mut server);
            }
            Reach::Cassette(path) => {
                server.insert("cassette".to_owned(), yaml::literal(&json!(path)));
            }
        }
        server
    }
}

/// Appends the blocks `variables`, if there are any, and `servers`.
pub(super) fn write_all<'s>(servers: impl Iterator<Item = &'s Server>, out: &mut String) {
    let mut variables = Map::new();
    let members = servers.map(|one| (one, one.members(&mut variables)));
    let members: Vec<(&Server, Map<String, Value>)> = members.collect();
    if !variables.is_empty() {
        super::comment(
            "Redacted in the recording. Set these variables to run against the server.",
            0,
            out,
        );
        yaml::member("variables", &Value::Object(variables), 0, out);
        out.push('\n');
    }
    out.push_str("servers:\n");
    for (server, members) in &members {
        let mut name = String::new();
        yaml::member(&server.name, &Value::Null, 1, &mut name);
        out.push_str(name.trim_end().trim_end_matches("null").trim_end());
        out.push('\n');
        for (name, value) in members {
            yaml::member(name, value, 2, out);
        }
    }
}

/// Headers from the environment; a bearer token becomes `auth`.
fn fields(headers: &[(String, String)], server: &mut Map<String, Value>) {
    let mut others = Map::new();
    for (name, variable) in headers {
        if name.eq_ignore_ascii_case("authorization") {
            server.insert("auth".to_owned(), json!({ "bearer_token_env": variable }));
        } else {
            others.insert(name.clone(), json!({ "env": variable }));
        }
    }
    if !others.is_empty() {
        server.insert("headers".to_owned(), Value::Object(others));
    }
}
