//! The two sides that the recorder connects.

use std::ffi::OsString;
use std::sync::Arc;

use anyhow::Context as _;
use tapewright_engine::fault::{FaultPolicy, FaultSet, TransportSupport};
use tapewright_proxy::bridge::{Remote, RemoteSettings};
use tapewright_proxy::clock::Clock;
use tapewright_proxy::front::{self, Behind};
use tapewright_proxy::http::gateway::Settings;
use tapewright_proxy::http::origin::{Origin, OriginUrl};
use tapewright_proxy::record::Recorder;
use tapewright_proxy::stdio::{self, ChildProcess};
use tapewright_proxy::upstream::Upstream;
use tapewright_schemas::event;

use super::http::HttpArguments;
use super::models::{self, ModelProxy, ModelRoute, ModelsArguments};
use super::part::Part;
use super::{config, gateway};
use crate::exit::Exit;
use crate::report::Mistake;

/// The two sides of a recorder.
pub(super) enum Endpoints<'a> {
    /// A stdio client and a child.
    Process {
        command: &'a [OsString],
        child: ChildProcess,
    },
    /// A stdio client and an HTTP server.
    Remote(OriginUrl),
    /// HTTP clients and an HTTP server.
    Gateway { listen: &'a str, url: OriginUrl },
    /// HTTP clients, and a child for each of them.
    Front {
        listen: &'a str,
        command: &'a [OsString],
    },
    /// HTTP clients and any server that they name.
    ForwardProxy { listen: &'a str },
    /// Agents and the providers of their models.
    Models {
        listen: Option<&'a str>,
        command: &'a [OsString],
        asked: ModelRoute,
    },
}

/// How a recording ended.
#[derive(Clone, Copy, Debug)]
pub(super) enum End {
    /// The server ended.
    Server(Option<event::Exit>),
    /// We ended.
    Ours(Exit),
}

impl<'a> Endpoints<'a> {
    /// The endpoints from the command line.
    pub(super) fn of(
        http: &'a HttpArguments,
        models: &ModelsArguments,
        command: &'a [OsString],
    ) -> anyhow::Result<Self> {
        if models.models {
            let proxy = http.forward_proxy.as_deref();
            let listen = proxy.or(http.listening.listen.as_deref());
            models::check(listen, command)?;
            return Ok(Self::Models {
                listen,
                command,
                asked: models.asked(http)?,
            });
        }
        if let Some(listen) = &http.forward_proxy {
            if !command.is_empty() {
                let what = "`--forward-proxy` cannot be used with a server command";
                let hint = "omit the command, or add `--models` if it starts an agent";
                return Err(Mistake::new(what, hint).into());
            }
            return Ok(Self::ForwardProxy { listen });
        }
        match (&http.listening.listen, http.server.url()?, command) {
            (None, None, [_, ..]) => Ok(Self::Process {
                command,
                child: child(command)?,
            }),
            (None, Some(url), _) => Ok(Self::Remote(url)),
            (Some(listen), Some(url), _) => Ok(Self::Gateway { listen, url }),
            (Some(listen), None, [_, ..]) => Ok(Self::Front { listen, command }),
            (_, None, []) => Err(Mistake::new(
                "no server to record",
                "give its command after `--`, or its URL with `--upstream`",
            )
            .into()),
        }
    }

    /// A name for the server.
    pub(super) fn label(&self) -> String {
        match self {
            Self::Process { command, .. } | Self::Front { command, .. } => config::label(command),
            Self::Gateway { url, .. } | Self::Remote(url) => url.authority().replace(':', "-"),
            Self::ForwardProxy { .. } => "forward-proxy".to_owned(),
            Self::Models { command, .. } => models::label(command),
        }
    }

    /// The client's transport, as named on the tape.
    pub(super) fn transport(&self) -> &'static str {
        match self {
            Self::Process { .. } | Self::Remote(_) => "stdio",
            Self::Front { .. }
            | Self::Gateway { .. }
            | Self::ForwardProxy { .. }
            | Self::Models { .. } => "http",
        }
    }

    /// The address for clients on HTTP.
    pub(super) fn listen(&self) -> Option<&'a str> {
        match self {
            Self::Process { .. } | Self::Remote(_) => None,
            Self::Models { listen, .. } => *listen,
            Self::Front { listen, .. }
            | Self::Gateway { listen, .. }
            | Self::ForwardProxy { listen } => Some(listen),
        }
    }

    /// The one server behind us.
    pub(super) fn upstream(
        &self,
        http: &HttpArguments,
        limit_bytes: usize,
    ) -> anyhow::Result<Arc<dyn Upstream>> {
        match self {
            Self::Process { child, .. } => Ok(Arc::new(child.clone())),
            Self::Front { command, .. } => Ok(Arc::new(child(command)?)),
            Self::Remote(url) | Self::Gateway { url, .. } => {
                Ok(Arc::new(remote(url.clone(), http, limit_bytes)?))
            }
            Self::ForwardProxy { .. } | Self::Models { .. } => {
                let what = "`--forward-proxy` cannot be used here: it has no single server";
                Err(Mistake::new(what, "give the server with `--upstream URL`").into())
            }
        }
    }

    /// The faults that can be injected.
    pub(super) fn reach(&self) -> TransportSupport {
        match self {
            Self::Process { .. } | Self::Remote(_) => TransportSupport::Stdio,
            // Clients use HTTP there, and their server lines.
            Self::Front { .. } => TransportSupport::Any,
            Self::Gateway { .. } | Self::ForwardProxy { .. } | Self::Models { .. } => {
                TransportSupport::Http
            }
        }
    }

    /// Whether there is one server behind us.
    pub(super) fn has_one_server(&self) -> bool {
        !matches!(self, Self::ForwardProxy { .. } | Self::Models { .. })
    }

    /// Whether there is one client, which can wait for the tape.
    pub(super) fn serves_one(&self) -> bool {
        matches!(self, Self::Process { .. } | Self::Remote(_))
    }

    /// Starts components that should start before there are threads.
    pub(super) fn start_ahead(&self) {
        if let Self::Process { child, .. } = self {
            child.start_guard();
        }
    }

    /// Records until the end. The recorder is started after everything that can be refused has been
    /// checked.
    pub(super) fn run(
        self,
        http: &HttpArguments,
        limit_bytes: usize,
        clock: Clock,
        fault_set: &Arc<FaultSet>,
        part: Option<&Part>,
        start: impl FnOnce() -> anyhow::Result<Arc<Recorder>>,
    ) -> anyhow::Result<(End, Arc<Recorder>)> {
        let faults = FaultPolicy::new(Arc::clone(fault_set));
        match self {
            Self::Models {
                listen,
                command,
                asked,
            } => {
                let between = ModelProxy {
                    http,
                    asked: &asked,
                    part: part.context("`--models` needs a folder in `-o`")?,
                    clock,
                    fault_set,
                };
                match (listen, command) {
                    (Some(listen), []) => between.serve(listen, start),
                    _ => between.run(listen, command, start),
                }
            }
            Self::Process { child, .. } => {
                let recorder = start()?;
                let end = session(&child, &faults, COMMAND_HINT, &recorder, clock)?;
                Ok((End::Server(end), recorder))
            }
            Self::Remote(url) => {
                let remote = remote(url, http, limit_bytes)?;
                let recorder = start()?;
                let remote = remote.with_notes(&recorder, clock);
                Ok((
                    End::Server(session(&remote, &faults, URL_HINT, &recorder, clock)?),
                    recorder,
                ))
            }
            Self::Gateway { listen, url } => {
                let path = url.path.clone();
                let settings = http.gateway(http.reverse(url)?, listen)?;
                serve(settings, &path, clock, fault_set, start)
            }
            Self::ForwardProxy { listen } => {
                let settings = http.gateway(http.forward(true)?, listen)?;
                serve(settings, "", clock, fault_set, start)
            }
            Self::Front { listen, command } => {
                front_of(listen, command, http, limit_bytes, clock, faults, start)
            }
        }
    }
}

const COMMAND_HINT: &str =
    "check the command after `--`; it is started without a shell, as clients do";
const URL_HINT: &str = "check the URL of `--upstream`";

fn child(command: &[OsString]) -> anyhow::Result<ChildProcess> {
    let Some((program, rest)) = command.split_first() else {
        return Err(Mistake::new("no command was given", "put it after `--`").into());
    };
    Ok(ChildProcess::new(program.clone(), rest.to_vec()))
}

fn remote(url: OriginUrl, http: &HttpArguments, limit_bytes: usize) -> anyhow::Result<Remote> {
    Ok(Remote::new(RemoteSettings {
        origin: Origin::new(url, http.origin_settings()?),
        fields: http.server.fields()?,
        limit_bytes,
    }))
}

/// HTTP clients in front, a child for each of them behind.
fn front_of(
    listen: &str,
    command: &[OsString],
    http: &HttpArguments,
    limit_bytes: usize,
    clock: Clock,
    policy: FaultPolicy,
    start: impl FnOnce() -> anyhow::Result<Arc<Recorder>>,
) -> anyhow::Result<(End, Arc<Recorder>)> {
    let upstream = Arc::new(child(command)?);
    let settings = http.listening.front(limit_bytes)?;
    let (place, tls) = http.listening.place(listen)?;
    let path = settings.path.clone();
    let recorder = start()?;
    let behind = Behind {
        upstream,
        policy,
        recorder: Arc::clone(&recorder),
        clock,
    };
    let served = front::run(settings, place, tls, behind, |reached| {
        gateway::announce(reached, &path, None);
    });
    let exit = gateway::conclude(served, &recorder, "nothing was recorded")?;
    Ok((End::Ours(exit), recorder))
}

/// HTTP on both sides.
fn serve(
    mut settings: Settings,
    path: &str,
    clock: Clock,
    fault_set: &Arc<FaultSet>,
    start: impl FnOnce() -> anyhow::Result<Arc<Recorder>>,
) -> anyhow::Result<(End, Arc<Recorder>)> {
    settings.faults = Arc::clone(fault_set);
    let recorder = start()?;
    let exit = gateway::run(settings, path, &recorder, clock)?;
    Ok((End::Ours(exit), recorder))
}

/// A stdio client in front, `upstream` behind.
fn session<U: Upstream>(
    upstream: &U,
    faults: &FaultPolicy,
    hint: &str,
    recorder: &Arc<Recorder>,
    clock: Clock,
) -> anyhow::Result<Option<event::Exit>> {
    match stdio::run(upstream, faults, recorder, clock) {
        Ok(outcome) => Ok(outcome.exit),
        Err(error) => {
            recorder.abandon();
            Err(error).context(Mistake::new("nothing was recorded", hint))
        }
    }
}
