//! `tapewright wrap` and `unwrap`: put the recorder into a client's configuration, and remove it.

mod changed;
mod files;
mod secrets;
mod store;
mod unwrap;

use std::path::{Path, PathBuf, is_separator};

use anyhow::Context as _;
use clap::{Args, Parser as _, ValueEnum};
use tapewright_clients::{
    CLIENTS, Client, OriginalEntry, RecordOptions, RefusalReason, Scope, Transport, Wrapped, client,
};
use tapewright_proxy::http::origin::OriginUrl;
use tapewright_schemas::near::did_you_mean;
use tapewright_schemas::order::Order as _;

use super::format::FormatArguments;
use crate::exit::Exit;
use crate::report::wrap::{self as words, ListedFile, ServerOutcome};
use crate::report::{self, Mistake};

use self::changed::Changed;
use self::store::Store;

pub(crate) use self::files::ClientFile;
pub(crate) use self::unwrap::{UnwrapArguments, run as unwrap};

/// Put the recorder into a client's configuration
///
/// The named servers are then started through `tapewright record`. Only the values that
/// need it are changed, and `unwrap` restores them byte for byte.
#[derive(Debug, Args)]
#[command(after_long_help = EXAMPLES)]
pub(crate) struct Arguments {
    #[command(flatten)]
    which: EntrySelection,
    /// List the clients on this machine with their files and servers
    #[arg(long, conflicts_with_all = ["all", "dry_run", "servers"])]
    list: bool,
    #[command(flatten)]
    format: FormatArguments,
    /// Write recordings here, like `record -o` [default: the state folder]
    #[arg(short, long, value_name = "FILE|FOLDER/")]
    output: Option<PathBuf>,
    /// Point a remote server's entry at this URL of a running gateway
    ///
    /// Nothing else in the entry changes. Use this for a remote server that needs its
    /// headers or a login.
    #[arg(long, value_name = "URL", conflicts_with_all = ["all", "output", "options"])]
    gateway: Option<String>,
    /// More options for `record`
    #[arg(last = true, value_name = "OPTION")]
    options: Vec<String>,
}

const EXAMPLES: &str = "\
Examples:
  tapewright wrap --list
  tapewright wrap --list --json | jq '.servers[].name'
  tapewright wrap --all --client cursor --dry-run
  tapewright wrap fs --client cursor -o recordings/ -- --check";

/// The selected entries.
#[derive(Debug, Args)]
pub(crate) struct EntrySelection {
    /// Names of servers in the client's configuration
    #[arg(value_name = "SERVER", conflicts_with = "all")]
    servers: Vec<String>,
    /// All servers of the client
    #[arg(long)]
    all: bool,
    /// The client: claude-desktop, claude-code, cursor, vscode, windsurf, zed, codex, gemini,
    /// goose, cline, continue, opencode, kiro or lm-studio
    #[arg(long, value_name = "NAME", value_parser = known)]
    client: Option<ClientId>,
    /// Only entries of this scope
    #[arg(long, value_enum)]
    scope: Option<ScopeArgument>,
    /// Print the changes as a unified diff without making them
    #[arg(long)]
    dry_run: bool,
}

/// A client by its name.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ClientId(pub(crate) &'static Client);

/// The client with a name.
pub(crate) fn known(name: &str) -> Result<ClientId, String> {
    client(name).map(ClientId).ok_or_else(|| {
        let names: Vec<&str> = CLIENTS.iter().map(|client| client.id).collect();
        let hint = did_you_mean(name, names.iter().copied());
        let hint = hint.unwrap_or_else(|| format!("expected one of {}", names.join(", ")));
        format!("unknown client; {hint}")
    })
}

#[derive(Clone, Copy, Debug, ValueEnum)]
enum ScopeArgument {
    /// All projects of this user
    User,
    /// Everyone in a project: a file in this folder
    Project,
    /// This user in this folder's project
    Local,
}

impl EntrySelection {
    /// The client, and its existing files.
    fn files(&self) -> anyhow::Result<(&'static Client, Vec<ClientFile>)> {
        let Some(ClientId(client)) = self.client else {
            let hint = "choose one with `--client`; list them with `tapewright wrap --list`";
            return Err(Mistake::new("no client is named", hint).into());
        };
        if self.servers.is_empty() && !self.all {
            let hint = "give server names, or `--all`";
            return Err(Mistake::new("no server is named", hint).into());
        }
        let files = files::of(client, self.scope())?;
        if files.is_empty() {
            let what = format!("no configuration of {} found", client.name);
            let hint = files::looked_for(client)?;
            return Err(Mistake::new(what, hint).into());
        }
        Ok((client, files))
    }

    fn scope(&self) -> Option<Scope> {
        self.scope.map(|scope| match scope {
            ScopeArgument::User => Scope::User,
            ScopeArgument::Project => Scope::Project,
            ScopeArgument::Local => Scope::Local,
        })
    }

    /// The selected names in a file.
    fn meant(&self, there: &[String]) -> Vec<String> {
        let is_meant = |name: &&String| self.all || self.servers.contains(name);
        there.iter().filter(is_meant).cloned().collect()
    }

    /// Refuses names that no file has, or that several have.
    fn check(&self, met: &[String]) -> anyhow::Result<()> {
        for name in &self.servers {
            let shown = report::safe(name);
            match met.iter().filter(|one| *one == name).count() {
                1 => {}
                0 => {
                    let what = format!("no server named `{shown}`");
                    let near = did_you_mean(name, met.iter().map(String::as_str));
                    let hint = near
                        .unwrap_or_else(|| "list servers with `tapewright wrap --list`".to_owned());
                    return Err(Mistake::new(what, hint).into());
                }
                _ => {
                    let what = format!("several servers named `{shown}`");
                    return Err(Mistake::new(what, "choose one with `--scope`").into());
                }
            }
        }
        Ok(())
    }
}

/// Wraps the servers, or lists them.
pub(crate) fn run(arguments: &Arguments) -> anyhow::Result<Exit> {
    if arguments.list {
        return list(arguments.which.client, arguments.format.is_json());
    }
    if arguments.format.is_json() {
        let what = "`--json` can only be used with `--list`";
        return Err(Mistake::new(what, "omit it").into());
    }
    arguments.fit()?;
    arguments.check_gateway()?;
    let (client, files) = arguments.which.files()?;
    let mut met = Vec::new();
    for file in &files {
        met.extend(file.names()?);
    }
    arguments.which.check(&met)?;
    let mut said = Vec::new();
    let mut changed = Vec::new();
    for file in files {
        changed.extend(arguments.file(client, file, &mut said)?);
    }
    let changed = Changed::combined(changed);
    let is_dry = arguments.which.dry_run;
    for change in &changed {
        if is_dry {
            report::out(&change.diff())?;
        } else {
            change.carry_out()?;
        }
    }
    report::out(&words::told(&said))?;
    if !is_dry && !changed.is_empty() {
        report::out(&changed::notes(client, &changed))?;
    }
    Ok(words::exit(&said))
}

impl Arguments {
    /// Refuses options that `record` would refuse.
    fn fit(&self) -> anyhow::Result<()> {
        let mut line = vec!["tapewright", "record"];
        line.extend(self.options.iter().map(String::as_str));
        line.extend(["--", "server"]);
        crate::cli::Arguments::try_parse_from(line).map_err(|error| {
            let text = error.to_string();
            let first = text.lines().next().unwrap_or_default();
            let what = format!("`record` does not take these options: {first}");
            Mistake::new(what, "only options of `record` can follow `--`")
        })?;
        Ok(())
    }

    /// Refuses what no client could connect to.
    fn check_gateway(&self) -> anyhow::Result<()> {
        let Some(url) = &self.gateway else {
            return Ok(());
        };
        OriginUrl::parse(url).map_err(|why| {
            // A bad URL may contain a secret, and is not repeated.
            let what = format!("invalid URL in `--gateway`: {why}");
            Mistake::new(what, "write it like `http://127.0.0.1:4000/mcp`")
        })?;
        Ok(())
    }

    fn file(
        &self,
        client: &'static Client,
        file: ClientFile,
        said: &mut Vec<ServerOutcome>,
    ) -> anyhow::Result<Option<Changed>> {
        let document = file.document()?;
        let mut store = Store::of(&file)?;
        let mut edits = Vec::new();
        let mut shown = secrets::Masked::default();
        for server in document.servers() {
            let name = server.name;
            if self.which.meant(std::slice::from_ref(&name)).is_empty() {
                continue;
            }
            // The URL alone does not show that it is a gateway's.
            let is_ours = store
                .kept(&name)
                .is_some_and(|kept| document.unwrap(kept).is_ok());
            let how = self.how(client, &file, &name)?;
            if is_ours && self.asks_for_options() && !how.are_of(&server.transport) {
                said.push(ServerOutcome::otherwise(&file, &name));
                continue;
            }
            let done = match &server.transport {
                _ if is_ours => Ok(Wrapped::Already),
                Transport::Remote { url } if how.gateway.is_none() && secrets::in_url(url) => {
                    Err(RefusalReason::Credentials("url".to_owned()).into())
                }
                _ => document.wrap(&name, &how),
            };
            said.push(match done {
                // `wrap --list` says the same of it.
                Ok(Wrapped::Already) => {
                    let can_restore = is_ours || !server.transport.is_recorder();
                    ServerOutcome::already(&file, &name, can_restore)
                }
                Ok(Wrapped::Changed(new, kept)) => {
                    edits.extend(new);
                    let is_secret = shown.learn(&server.transport);
                    store.keep(kept);
                    ServerOutcome::wrapped(&file, &name, is_secret, self.which.dry_run)
                }
                Err(refusal) => ServerOutcome::refused(&file, &name, &refusal),
            });
        }
        edits.order_by_key(|edit| edit.range.start);
        let hidden = document.hidden();
        drop(document);
        Ok((!edits.is_empty()).then(|| Changed::new(file, store, edits, hidden, shown)))
    }

    /// Whether an entry that is wrapped already may have to be wrapped otherwise.
    fn asks_for_options(&self) -> bool {
        self.output.is_some() || self.gateway.is_some() || !self.options.is_empty()
    }

    fn how(&self, client: &Client, file: &ClientFile, name: &str) -> anyhow::Result<RecordOptions> {
        let is_project = file.scope == Scope::Project;
        let mut options = vec!["--label".to_owned(), name.to_owned()];
        if let Some(output) = self.folder(is_project)? {
            options.extend(["-o".to_owned(), output]);
        }
        options.extend(self.options.iter().cloned());
        // An entry that a project shares must work on other machines.
        let program = if is_project && !client.is_gui {
            "tapewright".to_owned()
        } else {
            program()?
        };
        Ok(RecordOptions {
            program,
            options,
            gateway: self.gateway.clone(),
        })
    }

    /// The folder for recordings, independent of where the client starts us.
    fn folder(&self, is_project: bool) -> anyhow::Result<Option<String>> {
        let text = |path: &Path| path.to_string_lossy().into_owned();
        if let Some(output) = &self.output {
            return Ok(Some(if is_project {
                text(output)
            } else {
                absolute(&text(output))?
            }));
        }
        // Few clients pass on their environment.
        let home = std::env::var("TAPEWRIGHT_HOME").unwrap_or_default();
        let is_set = !home.is_empty() && !is_project;
        is_set.then(|| absolute(&format!("{home}/"))).transpose()
    }
}

/// This program.
pub(crate) fn program() -> anyhow::Result<String> {
    let program = std::env::current_exe().context("cannot find the path of this program")?;
    Ok(program.to_string_lossy().into_owned())
}

/// A path that is valid from any folder.
pub(crate) fn absolute(path: &str) -> anyhow::Result<String> {
    let whole = std::path::absolute(path).context("cannot find the path of this folder")?;
    let whole = whole.to_string_lossy().into_owned();
    let needs_slash = path.ends_with(is_separator) && !whole.ends_with(is_separator);
    Ok(if needs_slash { whole + "/" } else { whole })
}

fn list(only: Option<ClientId>, is_json: bool) -> anyhow::Result<Exit> {
    let mut listed = Vec::new();
    for client in CLIENTS {
        if only.is_some_and(|ClientId(only)| only.id != client.id) {
            continue;
        }
        for file in files::of(client, None)? {
            let store = Store::of(&file).ok();
            let kept = |name: &str| -> Option<&OriginalEntry> { store.as_ref()?.kept(name) };
            listed.push(match file.document() {
                Ok(document) => {
                    let state = |name: &str| kept(name).map(|kept| document.unwrap(kept).is_ok());
                    ListedFile::new(&file, &document.servers(), state)
                }
                Err(error) => ListedFile::unreadable(&file, &error),
            });
        }
    }
    let listed = ListedFile::combined(listed);
    report::out(&if is_json {
        listed.iter().map(ListedFile::json).collect()
    } else {
        words::list(&listed)
    })?;
    Ok(Exit::Pass)
}
