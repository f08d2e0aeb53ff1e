//! The files of clients on this machine.

use std::fs;
use std::path::{Path, PathBuf};

use tapewright_clients::{
    Candidate, Client, Document, Format, PathEnvironment, Scope, System, candidates,
};
use tapewright_proxy::system::folders;
use tapewright_schemas::order::Order as _;

use crate::files;
use crate::report::{self, Mistake};

/// The longest file that is read.
const MAX_BYTES: u64 = 64 << 20;

/// A client's file in its current state.
#[derive(Debug)]
pub(crate) struct ClientFile {
    pub(crate) client: &'static Client,
    pub(crate) path: PathBuf,
    pub(crate) scope: Scope,
    pub(super) servers: Vec<Vec<String>>,
    /// Its text when it was read.
    pub(super) text: String,
}

impl ClientFile {
    /// Its path, for people.
    pub(crate) fn shown(&self) -> String {
        report::safe(&self.path.display().to_string())
    }

    /// The parsed file.
    pub(super) fn document(&self) -> anyhow::Result<Document<'_>> {
        let format = Format::of(&self.path.to_string_lossy());
        let read = Document::read(self.client, format, &self.servers, &self.text);
        read.map_err(|why| {
            let hint = "fix it first: the client cannot read it either";
            files::unreadable(&self.path, &why.to_string(), hint)
        })
    }

    /// The names of its servers.
    pub(super) fn names(&self) -> anyhow::Result<Vec<String>> {
        let servers = self.document()?.servers();
        Ok(servers.into_iter().map(|server| server.name).collect())
    }
}

/// The existing files of a client.
pub(super) fn of(client: &'static Client, scope: Option<Scope>) -> anyhow::Result<Vec<ClientFile>> {
    let mut found = Vec::new();
    for candidate in places(client)? {
        if scope.is_some_and(|scope| scope != candidate.scope) {
            continue;
        }
        for path in expanded(&candidate.path) {
            let is_known = |ending: &str| path.to_string_lossy().ends_with(ending);
            let is_config = [".json", ".jsonc", ".toml", ".yaml", ".yml"];
            if !path.is_file() || !is_config.iter().any(|ending| is_known(ending)) {
                continue;
            }
            // In the home folder, a project's file may be the user's.
            let is_same = |one: &ClientFile| {
                one.servers == candidate.servers
                    && fs::canonicalize(&one.path).ok() == fs::canonicalize(&path).ok()
            };
            if found.iter().any(is_same) {
                continue;
            }
            found.push(ClientFile {
                client,
                text: read(&path)?,
                path,
                scope: candidate.scope,
                servers: candidate.servers.clone(),
            });
        }
    }
    Ok(found)
}

/// Where the files of a client would be, for the error if there are none.
pub(super) fn looked_for(client: &Client) -> anyhow::Result<String> {
    let places = places(client)?;
    let mut paths: Vec<String> = places.iter().map(|one| report::safe(&one.path)).collect();
    paths.dedup();
    Ok(format!("looked for `{}`", paths.join("`, `")))
}

fn places(client: &Client) -> anyhow::Result<Vec<Candidate>> {
    let system = match std::env::consts::OS {
        "macos" => System::MacOs,
        "windows" => System::Windows,
        _ => System::Linux,
    };
    let variable = |name: &str| std::env::var(name).ok();
    let Some(home) = folders::home() else {
        let hint = format!(
            "set `{}` to the folder with the client's files",
            folders::HOME
        );
        return Err(Mistake::new("no home folder", hint).into());
    };
    let project = std::env::current_dir()?.to_string_lossy().into_owned();
    let world = PathEnvironment {
        system,
        home: &home.to_string_lossy(),
        project: &project,
        variable: &variable,
    };
    Ok(candidates(client, &world))
}

/// The text of a file.
pub(super) fn read(path: &Path) -> anyhow::Result<String> {
    let fail = |error: std::io::Error| {
        let hint = "check the path and its permissions";
        files::unreadable(path, &error.to_string(), hint)
    };
    if fs::metadata(path).map_err(fail)?.len() > MAX_BYTES {
        let hint = "not a client's configuration";
        return Err(files::unreadable(path, "longer than 64 MiB", hint));
    }
    fs::read_to_string(path).map_err(fail)
}

/// The paths that match a pattern with `*`, in order.
fn expanded(pattern: &str) -> Vec<PathBuf> {
    let mut paths = vec![PathBuf::new()];
    for part in Path::new(pattern) {
        let Some((front, back)) = part.to_str().and_then(|part| part.split_once('*')) else {
            for path in &mut paths {
                path.push(part);
            }
            continue;
        };
        let inside = |folder: &PathBuf| {
            let entries = fs::read_dir(folder).into_iter().flatten().flatten();
            let fits = |name: &str| name.starts_with(front) && name.ends_with(back);
            let named = entries.filter(|entry| entry.file_name().to_str().is_some_and(fits));
            named.map(|entry| entry.path()).collect::<Vec<_>>()
        };
        paths = paths.iter().flat_map(inside).collect();
        paths.order();
    }
    paths
}
