//! What `wrap` and `unwrap` report about clients' configurations.

use std::fmt::Write as _;
use std::path::Path;

use serde_json::{Value, json};
use tapewright_clients::{Note, Refusal, RefusalReason, Server, Transport};

use crate::command::wrap::ClientFile;
use crate::exit::Exit;
use crate::report::safe;

/// The outcome for one server.
pub(crate) struct ServerOutcome {
    line: String,
    below: Vec<String>,
    is_refusal: bool,
}

impl ServerOutcome {
    fn of(what: &str, file: &ClientFile, name: &str) -> Self {
        let (scope, shown) = (file.scope.name(), file.shown());
        Self {
            line: format!("{what} `{}` in {shown} ({scope})", safe(name)),
            below: Vec::new(),
            is_refusal: false,
        }
    }

    /// It is recorded from now on.
    pub(crate) fn wrapped(file: &ClientFile, name: &str, is_secret: bool, is_dry: bool) -> Self {
        let what = if is_dry { "would wrap" } else { "wrapped" };
        let mut said = Self::of(what, file, name);
        if is_secret {
            said.below.push(
                "its arguments seem to contain a secret; the data for `unwrap` is in a private file (mode 0600)"
                    .to_owned(),
            );
        }
        said
    }

    /// It was recorded before.
    pub(crate) fn already(file: &ClientFile, name: &str, can_restore: bool) -> Self {
        if can_restore {
            return Self::of("already wrapped:", file, name);
        }
        Self::of(
            "already wrapped elsewhere, and cannot be restored from here:",
            file,
            name,
        )
    }

    /// It is recorded with other options than those asked for.
    pub(crate) fn otherwise(file: &ClientFile, name: &str) -> Self {
        let mut said = Self::of("already wrapped with other options:", file, name);
        let how = "to change them, `tapewright unwrap` it first, and wrap it again";
        said.below.push(how.to_owned());
        said.is_refusal = true;
        said
    }

    /// It is restored.
    pub(crate) fn unwrapped(file: &ClientFile, name: &str, is_dry: bool) -> Self {
        let what = if is_dry { "would unwrap" } else { "unwrapped" };
        Self::of(what, file, name)
    }

    /// It is no longer in the file.
    pub(crate) fn gone(file: &ClientFile, name: &str, is_dry: bool) -> Self {
        let what = if is_dry { "would forget" } else { "forgot" };
        let mut said = Self::of(what, file, name);
        let why =
            "it is no longer in the file; its original values are deleted from our state folder";
        said.below.push(why.to_owned());
        said
    }

    /// Nothing is stored for it.
    pub(crate) fn unknown(file: &ClientFile, name: &str, is_recorder: bool) -> Self {
        let mut said = Self::of("not wrapped here:", file, name);
        if is_recorder {
            let how = "the original is stored on the machine and in the `TAPEWRIGHT_HOME` where it was wrapped; to restore it by hand, keep only what follows `--`";
            said.below.push(how.to_owned());
            said.is_refusal = true;
        }
        said
    }

    /// It stays unchanged.
    pub(crate) fn refused(file: &ClientFile, name: &str, refusal: &Refusal) -> Self {
        let mut said = Self::of("left alone:", file, name);
        said.below.push(safe(&refusal.why.to_string()));
        said.below.extend(way_out(&refusal.why));
        if !refusal.by_hand.is_empty() {
            said.below.push("by hand:".to_owned());
            let lines = refusal
                .by_hand
                .iter()
                .map(|line| format!("  {}", safe(line)));
            said.below.extend(lines);
        }
        said.is_refusal = true;
        said
    }

    /// Names the file with what was there before.
    pub(crate) fn with_backup(mut self, backup: &Path) -> Self {
        if backup.is_file() {
            let path = safe(&backup.display().to_string());
            let how = format!("restore it by hand from the backup: {path}");
            self.below.push(how);
        }
        self
    }
}

fn way_out(why: &RefusalReason) -> Option<String> {
    let text = match why {
        RefusalReason::Credentials(_) => {
            "run a gateway, `tapewright record --listen 4000 --upstream URL`, and wrap with `--gateway http://127.0.0.1:4000/PATH`, the path being the URL's"
        }
        _ => return None,
    };
    Some(text.to_owned())
}

/// The report on all servers.
pub(crate) fn told(said: &[ServerOutcome]) -> String {
    let mut lines = Vec::new();
    for one in said {
        lines.push(one.line.clone());
        lines.extend(one.below.iter().map(|line| format!("  {line}")));
    }
    if lines.is_empty() {
        lines.push("nothing to do".to_owned());
    }
    lines.join("\n") + "\n"
}

/// What the user of a client must know.
pub(crate) fn notes(notes: &[Note], client: &str) -> String {
    let say = |note: &Note| match note {
        Note::Restart => format!("restart {client}: it reads the file only when it starts"),
        Note::Quit => format!("quit and restart {client}; closing its window is not enough"),
        Note::RewritesWhileRunning => {
            format!(
                "{client} rewrites its file while it is running and may undo this; close it first"
            )
        }
        Note::AsksAgain => format!("{client} may ask you to approve the changed server"),
        Note::TrustedProject => {
            format!("{client} reads a project's file only if the project is trusted")
        }
    };
    let lines: Vec<String> = notes
        .iter()
        .map(|note| format!("note: {}\n", say(note)))
        .collect();
    lines.concat()
}

/// A skipped server is a failure, since the user asked for it.
pub(crate) fn exit(said: &[ServerOutcome]) -> Exit {
    if said.iter().any(|said| said.is_refusal) {
        Exit::Fail
    } else {
        Exit::Pass
    }
}

/// A file of a client, as `wrap --list` shows it.
pub(crate) struct ListedFile {
    client: &'static str,
    scope: &'static str,
    path: String,
    servers: Result<Vec<ListedServer>, String>,
}

struct ListedServer {
    name: String,
    state: ServerState,
}

#[derive(Clone, Copy)]
enum ServerState {
    Process,
    Remote,
    Unsupported,
    Wrapped,
    WrappedElsewhere,
}

impl ListedFile {
    /// A file with its servers. `state` returns `None` for a server that was not wrapped here, and
    /// otherwise whether it can be restored.
    pub(crate) fn new(
        file: &ClientFile,
        servers: &[Server],
        state: impl Fn(&str) -> Option<bool>,
    ) -> Self {
        let listed = |server: &Server| ListedServer {
            name: server.name.clone(),
            state: match (state(&server.name), &server.transport) {
                (Some(true), _) => ServerState::Wrapped,
                (_, transport) if transport.is_recorder() => ServerState::WrappedElsewhere,
                (_, Transport::Process { .. }) => ServerState::Process,
                (_, Transport::Remote { .. }) => ServerState::Remote,
                (_, Transport::Other) => ServerState::Unsupported,
            },
        };
        Self::of(file, Ok(servers.iter().map(listed).collect()))
    }

    /// A file that cannot be read.
    pub(crate) fn unreadable(file: &ClientFile, error: &anyhow::Error) -> Self {
        Self::of(file, Err(error.to_string()))
    }

    fn of(file: &ClientFile, servers: Result<Vec<ListedServer>, String>) -> Self {
        Self {
            client: file.client.id,
            scope: file.scope.name(),
            path: file.path.display().to_string(),
            servers,
        }
    }

    /// One entry for each file and scope, although its servers may be at several places in it.
    pub(crate) fn combined(all: Vec<Self>) -> Vec<Self> {
        let mut combined: Vec<Self> = Vec::new();
        for one in all {
            let last = combined.last_mut().filter(|last| {
                (last.client, last.scope, &last.path) == (one.client, one.scope, &one.path)
            });
            match (last.map(|last| &mut last.servers), one.servers) {
                (Some(Ok(there)), Ok(servers)) => there.extend(servers),
                (_, servers) => combined.push(Self { servers, ..one }),
            }
        }
        combined
    }

    fn text(&self) -> String {
        let mut text = format!("{} ({}): {}\n", self.client, self.scope, safe(&self.path));
        match &self.servers {
            Ok(servers) if servers.is_empty() => text += "  no servers\n",
            Ok(servers) => {
                for server in servers {
                    _ = writeln!(text, "  {}: {}", safe(&server.name), server.state.words());
                }
            }
            Err(error) => _ = writeln!(text, "  {}", safe(error)),
        }
        text
    }

    /// One line of JSON, as described by the schema `clients`.
    pub(crate) fn json(&self) -> String {
        let server = |one: &ListedServer| json!({ "name": one.name, "state": one.state.token() });
        let (key, value): (_, Value) = match &self.servers {
            Ok(servers) => ("servers", servers.iter().map(server).collect()),
            Err(error) => ("error", error.as_str().into()),
        };
        let line = json!({
            "client": self.client,
            "scope": self.scope,
            "file": self.path,
            key: value,
        });
        format!("{line}\n")
    }
}

impl ServerState {
    fn words(self) -> &'static str {
        match self {
            Self::Process => "process",
            Self::Remote => "remote",
            Self::Unsupported => "cannot be wrapped",
            Self::Wrapped => "wrapped",
            Self::WrappedElsewhere => "wrapped elsewhere; cannot be restored from here",
        }
    }

    fn token(self) -> &'static str {
        match self {
            Self::Process => "process",
            Self::Remote => "remote",
            Self::Unsupported => "unsupported",
            Self::Wrapped => "wrapped",
            Self::WrappedElsewhere => "wrapped_elsewhere",
        }
    }
}

/// All files.
pub(crate) fn list(files: &[ListedFile]) -> String {
    if files.is_empty() {
        "no client configuration found\n".to_owned()
    } else {
        files.iter().map(ListedFile::text).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_with_servers_at_several_places_is_listed_once() {
        let file = |scope, path: &str, names: &[&str]| ListedFile {
            client: "claude-code",
            scope,
            path: path.to_owned(),
            servers: Ok(names
                .iter()
                .map(|name| ListedServer {
                    name: (*name).to_owned(),
                    state: ServerState::Process,
                })
                .collect()),
        };
        let listed = ListedFile::combined(vec![
            file("user", "/a", &["u"]),
            file("local", "/a", &[]),
            file("local", "/a", &["one"]),
            file("local", "/a", &["two"]),
            file("local", "/b", &[]),
        ]);
        let text = "\
claude-code (user): /a
  u: process
claude-code (local): /a
  one: process
  two: process
claude-code (local): /b
  no servers
";
        assert_eq!(list(&listed), text);
    }
}
