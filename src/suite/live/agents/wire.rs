//! Servers behind faults on the wire, in real time.

use std::borrow::Cow;

use tapewright_config::suite::server::{CommandServer, Server, Target};

/// The server as an agent reaches it: as it is, or behind a recorder of ours that injects
/// these faults. What passed is on the tape of that recorder, where recordings go.
pub(super) fn faulty<'s>(server: &'s Server, faults: &[String]) -> Result<Cow<'s, Server>, String> {
    if faults.is_empty() {
        return Ok(Cow::Borrowed(server));
    }
    let name = server.name.clone();
    let ours = std::env::current_exe();
    let ours = ours.map_err(|error| format!("this program cannot be found again: {error}"))?;
    let ours = ours.to_string_lossy().into_owned();
    let words = |one: &String| ["--fault".to_owned(), one.clone()];
    let faults = faults.iter().flat_map(words);
    let (argv, env) = match &server.target {
        Target::Command(command) => {
            let before = [ours, "record".to_owned(), "--label".to_owned(), name];
            let argv = before.into_iter().chain(faults).chain(["--".to_owned()]);
            let argv = argv.chain(command.argv.iter().cloned()).collect();
            (argv, command.env.clone())
        }
        Target::Cassette(path) => {
            let path = path.to_string_lossy().into_owned();
            let argv = [ours, "replay".to_owned(), path].into_iter().chain(faults);
            (argv.collect(), Vec::new())
        }
        Target::Url(_) => {
            return Err(format!(
                "faults on the wire reach servers that are commands or cassettes, and `{name}` is a URL"
            ));
        }
    };
    Ok(Cow::Owned(Server {
        target: Target::Command(CommandServer { argv, env }),
        ..server.clone()
    }))
}
