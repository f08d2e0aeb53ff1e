//! Servers behind faults on the wire, in real time.

pub(in crate::suite::live) mod gateway;

use std::borrow::Cow;
use std::sync::Arc;

use tapewright_config::suite::server::{CommandServer, Server, Target, UrlServer};
use tapewright_engine::fault::{FaultSet, TransportSupport};

use self::gateway::Faulty;
use crate::report;
use crate::suite::live::Options;
use crate::suite::live::servers;
use crate::suite::plan::Wire;

/// A server in the form that an agent connects to.
pub(super) struct Reached<'s> {
    pub(super) server: Cow<'s, Server>,
    /// The gateway in front of it, which must live as long as the connection.
    pub(super) gateway: Option<Faulty>,
}

/// The server in the form that an agent connects to: unchanged, or behind a recorder that injects
/// these faults. The traffic is on the tape of that recorder, in the folder of recordings.
pub(super) fn faulty<'s>(
    server: &'s Server,
    faults: &[Arc<Wire>],
    options: &Options,
) -> Result<Reached<'s>, String> {
    let as_it_is = |server| Reached {
        server,
        gateway: None,
    };
    if faults.is_empty() {
        return Ok(as_it_is(Cow::Borrowed(server)));
    }
    let all: Vec<&str> = faults.iter().map(|one| one.spec.as_str()).collect();
    let command = match &server.target {
        Target::Command(command) => CommandServer {
            argv: [recorder(server, &all)?, vec!["--".to_owned()]]
                .concat()
                .into_iter()
                .chain(command.argv.iter().cloned())
                .collect(),
            env: command.env.clone(),
        },
        Target::Cassette(path) => CommandServer {
            argv: ours("replay", [path.to_string_lossy().into_owned()], &all)?,
            env: Vec::new(),
        },
        Target::Url(url) => return remote(server, url, faults, options),
    };
    Ok(as_it_is(Cow::Owned(Server {
        target: Target::Command(command),
        ..server.clone()
    })))
}

/// A server on HTTP, behind a gateway that injects the faults possible there. Faults that only
/// apply to lines are injected by a recorder that uses lines, in front of that gateway.
fn remote<'s>(
    server: &'s Server,
    url: &UrlServer,
    faults: &[Arc<Wire>],
    options: &Options,
) -> Result<Reached<'s>, String> {
    let told = |error: anyhow::Error| format!("{error:#}");
    let gateway = gateway::Making::new(&server.name);
    let lines = FaultSet::new(0, &server.name, TransportSupport::Stdio);
    let mut on_lines = Vec::new();
    for one in faults {
        let Err(why) = gateway.fault_set.add(one.fault.clone()) else {
            continue;
        };
        if let Err(other) = lines.add(one.fault.clone()) {
            let why = match one.fault.kind.reach {
                TransportSupport::Stdio => other,
                _ => why,
            };
            let (spec, name) = (report::safe(&one.spec), report::safe(&server.name));
            return Err(format!(
                "the fault `{spec}` cannot act on the server `{name}`: {why}"
            ));
        }
        on_lines.push(one.spec.as_str());
    }
    let gateway = gateway.start(url, options).map_err(told)?;
    let target = if on_lines.is_empty() {
        Target::Url(Box::new(gateway.server(url)))
    } else {
        let mut argv = recorder(server, &on_lines)?;
        argv.extend(["--upstream".to_owned(), gateway.url()]);
        let fields = servers::fields(server, url, options).map_err(told)?;
        let mut env = Vec::new();
        for (number, (name, value)) in fields.iter().enumerate() {
            let variable = format!("TAPEWRIGHT_FIELD_{number}");
            argv.extend(["--header-env".to_owned(), format!("{name}={variable}")]);
            let value = String::from_utf8_lossy(value.as_bytes());
            env.push((variable, value.into_owned()));
        }
        Target::Command(CommandServer { argv, env })
    };
    Ok(Reached {
        server: Cow::Owned(Server {
            target,
            ..server.clone()
        }),
        gateway: Some(gateway),
    })
}

/// The command of a recorder.
fn recorder(server: &Server, faults: &[&str]) -> Result<Vec<String>, String> {
    ours(
        "record",
        ["--label".to_owned(), server.name.clone()],
        faults,
    )
}

fn ours<const N: usize>(
    command: &str,
    words: [String; N],
    faults: &[&str],
) -> Result<Vec<String>, String> {
    let ours = std::env::current_exe();
    let ours = ours.map_err(|error| format!("this program cannot be found again: {error}"))?;
    let ours = ours.to_string_lossy().into_owned();
    let faults = faults.iter();
    let faults = faults.flat_map(|one| ["--fault".to_owned(), (*one).to_owned()]);
    let argv = [ours, command.to_owned()].into_iter().chain(words);
    Ok(argv.chain(faults).collect())
}
