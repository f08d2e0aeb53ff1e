//! Reaches each form of server: a command, a URL, a cassette.

use std::collections::HashMap;
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use anyhow::Context as _;
use http::{HeaderMap, HeaderName, HeaderValue, Method};
use tapewright_config::suite::auth::Auth;
use tapewright_config::suite::http::{HeaderValue as Written, TlsVersion};
use tapewright_config::suite::server::{Server, Target, UrlServer};
use tapewright_proxy::bridge::{Remote, RemoteSettings};
use tapewright_proxy::clock::Clock;
use tapewright_proxy::http::fetch::{Ask, fetch};
use tapewright_proxy::http::origin::{
    Origin, OriginSettings, OriginUrl, TlsSettings, client_config,
};
use tapewright_proxy::stdio::ChildProcess;
use tapewright_proxy::upstream::{Link, OpenError, Upstream};
use tapewright_replay::{
    CassetteUpstream, Exhausted, Ignore, Index, MatchMode, Miss, Options as Playing, Ordering,
    Pace, PathMaps, Recorded, Script, Tally, Unanswered,
};
use tapewright_schemas::event::ResponseHead;

use super::Options;
use super::connection::{Fields, Slot};
use crate::command::replay;
use crate::report::{self, Mistake};

/// A server that can be connected to.
pub(super) struct Reach {
    upstream: Arc<Shape>,
    /// The time limit of one HTTP request.
    timeout: Option<Duration>,
    headers: Option<Slot<Vec<(String, String)>>>,
    /// Also receives the heads of responses.
    heads: Arc<OnceLock<HeadSink>>,
    /// What a recording has besides its messages.
    played: Option<Played>,
}

/// A recording that is played, and its misses.
struct Played {
    script: Arc<Script>,
    tally: Arc<Tally>,
    misses: Slot<String>,
}

/// Receives the head of every response that may carry an answer.
pub(super) type HeadSink = Box<dyn Fn(ResponseHead) + Send + Sync>;

/// One of the three forms.
pub(super) enum Shape {
    Cassette(CassetteUpstream),
    Process(ChildProcess),
    Remote(Box<Remote>),
}

/// The longest message to carry, in bytes.
pub(super) const LONGEST_MESSAGE: usize = 64 << 20;
/// How long to wait for a server to become ready, and the time limit of each check.
const READY: Duration = Duration::from_secs(60);
const LOOK: Duration = Duration::from_secs(5);

impl Upstream for Shape {
    fn open(&self) -> Result<Link, OpenError> {
        match self {
            Self::Cassette(cassette) => cassette.open(),
            Self::Process(process) => process.open(),
            Self::Remote(remote) => remote.open(),
        }
    }
}

impl Reach {
    pub(super) fn upstream(&self) -> &Arc<Shape> {
        &self.upstream
    }

    pub(super) fn is_replay(&self) -> bool {
        matches!(*self.upstream, Shape::Cassette(_))
    }

    pub(super) fn is_process(&self) -> bool {
        matches!(*self.upstream, Shape::Process(_))
    }

    pub(super) fn timeout(&self) -> Option<Duration> {
        self.timeout
    }

    /// The advice if it cannot be connected.
    pub(super) fn hint(&self) -> &'static str {
        match &*self.upstream {
            Shape::Cassette(_) => "check it with `tapewright inspect FILE`, or record it again",
            Shape::Process(_) => "run the command by hand to see its output",
            Shape::Remote(_) => "check that the server is running and the URL is correct",
        }
    }

    /// Sets the receiver of response heads.
    pub(super) fn tell_heads(&self, sink: HeadSink) {
        // A server is recorded once.
        let _already = self.heads.set(sink);
    }

    /// The headers of the last response.
    pub(super) fn headers(&self) -> Fields {
        match &self.headers {
            Some(headers) => Fields::Known(headers.take().unwrap_or_default()),
            None if self.is_replay() => Fields::NotKept,
            None => Fields::NotHttp,
        }
    }

    /// The last request that the recording did not have.
    pub(super) fn miss(&self) -> Option<String> {
        self.played.as_ref()?.misses.take()
    }

    /// The recorded details of the last request.
    pub(super) fn recorded(&self) -> Option<Recorded> {
        let played = self.played.as_ref()?;
        played.script.recorded(played.tally.take_last()?)
    }

    /// Clears the state of earlier requests.
    pub(super) fn forget(&self) {
        if let Some(headers) = &self.headers {
            headers.take();
        }
        if let Some(played) = &self.played {
            played.misses.take();
            played.tally.take_last();
        }
    }
}

/// Prepares a server for connections. Only sends what must come first: requests for a token, and
/// readiness checks.
pub(super) fn reach(server: &Server, options: &Options, clock: Clock) -> anyhow::Result<Reach> {
    match &server.target {
        Target::Command(command) => {
            let (program, arguments) = command.argv.split_first().ok_or_else(|| {
                let what = format!("the command of `{}` is empty", server.name);
                Mistake::new(what, "name a program")
            })?;
            let arguments = arguments.iter().map(Into::into).collect();
            let process = ChildProcess::new(program.into(), arguments);
            Ok(Reach {
                upstream: Arc::new(Shape::Process(process.with_env(command.env.clone()))),
                timeout: None,
                headers: None,
                heads: Arc::default(),
                played: None,
            })
        }
        Target::Cassette(path) => {
            let script = Arc::new(replay::load(path)?);
            let misses = Slot::default();
            let told: Slot<String> = misses.clone();
            let tell = move |miss: &Miss| told.put(miss.message());
            let tally = Arc::new(Tally::new(Some(Box::new(tell))));
            let playing = Arc::new(Playing {
                mode: MatchMode::Semantic,
                ordering: Ordering::None,
                exhausted: Exhausted::Error,
                // There is nothing to wait for.
                unanswered: Unanswered::Error,
                pace: Pace::default(),
                ignore: Ignore::default(),
                paths: PathMaps::default(),
                session: None,
                rules: Arc::clone(&options.rules),
            });
            let index = Arc::new(Index::new(Arc::clone(&script), playing));
            let played = Arc::clone(&tally);
            Ok(Reach {
                upstream: Arc::new(Shape::Cassette(CassetteUpstream::new(index, played, clock))),
                timeout: None,
                headers: None,
                heads: Arc::default(),
                played: Some(Played {
                    script,
                    tally,
                    misses,
                }),
            })
        }
        Target::Url(url) => remote(server, url, options),
    }
}

/// The URL of a server and its connection settings, once it is ready.
pub(super) fn ready(name: &str, url: &UrlServer) -> anyhow::Result<(OriginUrl, OriginSettings)> {
    let parse = |text: &str| {
        OriginUrl::parse(text).map_err(|why| {
            // A bad URL may contain a secret, and is not repeated.
            let what = format!("invalid URL of the server `{name}`: {why}");
            Mistake::new(what, "write it like `http://localhost:3001/mcp`")
        })
    };
    let place = parse(&url.url)?;
    if url.http.tls.insecure_skip_verify {
        report::note(&format!(
            "WARNING: `insecure_skip_verify`: the server is not authenticated `{name}`"
        ));
    }
    let settings = origin_settings(name, url)?;
    if let Some(ready) = &url.wait_for_ready {
        let look = if ready.starts_with('/') {
            OriginUrl {
                path: ready.clone(),
                ..place.clone()
            }
        } else {
            parse(ready)?
        };
        wait_for_ready(name, look, settings.clone())?;
    }
    Ok((place, settings))
}

fn remote(server: &Server, url: &UrlServer, options: &Options) -> anyhow::Result<Reach> {
    let (place, settings) = ready(&report::safe(&server.name), url)?;
    let headers: Slot<Vec<(String, String)>> = Slot::default();
    let heads: Arc<OnceLock<HeadSink>> = Arc::default();
    let (sink, tapped) = (Arc::clone(&heads), headers.clone());
    let remote = Remote::new(RemoteSettings {
        origin: Origin::new(place, settings),
        fields: fields(server, url, options)?,
        limit_bytes: LONGEST_MESSAGE,
    })
    .with_heads(Arc::new(move |status, head| {
        let fields = listed(head);
        if let Some(sink) = sink.get() {
            sink(ResponseHead {
                status: status.as_u16(),
                fields: fields.iter().map(|(name, value)| (name, value)).collect(),
                ..ResponseHead::default()
            });
        }
        tapped.put(fields);
    }))
    .with_redirects(url.http.max_redirects);
    let remote = if url.http.user_agent_override {
        remote
    } else {
        remote.without_agent()
    };
    Ok(Reach {
        upstream: Arc::new(Shape::Remote(Box::new(remote))),
        timeout: Some(url.http.timeout),
        headers: Some(headers),
        heads,
        played: None,
    })
}

/// The connection settings of a server.
pub(super) fn origin_settings(name: &str, url: &UrlServer) -> anyhow::Result<OriginSettings> {
    let tls = client_config(&TlsSettings {
        ca_bundle: url.http.tls.ca_bundle.clone(),
        skip_verify: url.http.tls.insecure_skip_verify,
        only_1_3: url.http.tls.min_version == TlsVersion::V1_3,
    })
    .with_context(|| {
        let what = format!("cannot load trusted certificates for the server `{name}`");
        Mistake::new(what, "check `ca_bundle_path`, or the system's certificates")
    })?;
    Ok(OriginSettings {
        tls,
        connect_timeout: url.http.connect_timeout,
        http2_prior_knowledge: false,
        destinations: None,
    })
}

fn listed(head: &HeaderMap) -> Vec<(String, String)> {
    let text = |value: &HeaderValue| String::from_utf8_lossy(value.as_bytes()).into_owned();
    head.iter()
        .map(|(name, value)| (name.to_string(), text(value)))
        .collect()
}

/// The fields of every request: the suite's headers and the credentials.
pub(super) fn fields(
    server: &Server,
    url: &UrlServer,
    options: &Options,
) -> anyhow::Result<Vec<(HeaderName, HeaderValue)>> {
    let name = &report::safe(&server.name);
    let mut fields = Vec::new();
    for one in &url.headers {
        let value = match &one.value {
            Written::Literal(text) => text.clone(),
            Written::Env(variable) => variable_of(name, variable, &options.variables)?,
        };
        fields.push(field(name, &one.name, &value)?);
    }
    match &url.auth {
        None => {}
        Some(Auth::BearerEnv(variable)) => {
            let token = variable_of(name, variable, &options.variables)?;
            fields.push(field(name, "authorization", &format!("Bearer {token}"))?);
        }
        Some(Auth::OAuth(_)) => {
            let token = options.tokens.get(&server.name).ok_or_else(|| {
                let what = format!("cannot get a token for the server `{name}`");
                Mistake::new(what, "check `auth.oauth`")
            })?;
            fields.push(field(name, "authorization", &format!("Bearer {token}"))?);
        }
    }
    Ok(fields)
}

pub(super) fn variable_of(
    server: &str,
    variable: &str,
    variables: &HashMap<String, String>,
) -> anyhow::Result<String> {
    variables.get(variable).cloned().ok_or_else(|| {
        let what = format!("the server `{server}` needs the variable {variable}, which is not set");
        Mistake::new(
            what,
            "set it in the environment, or in `.env` next to the suite",
        )
        .into()
    })
}

fn field(server: &str, name: &str, value: &str) -> anyhow::Result<(HeaderName, HeaderValue)> {
    let mistake = || {
        // The value may be a secret, and is not repeated.
        let what = format!("invalid header `{name}` for the server `{server}`");
        Mistake::new(
            what,
            "its value must not contain line breaks or control characters",
        )
    };
    let mut value = HeaderValue::from_str(value).map_err(|_| mistake())?;
    value.set_sensitive(true);
    let name = HeaderName::try_from(name).map_err(|_| mistake())?;
    Ok((name, value))
}

/// Repeats a request until the server is ready.
fn wait_for_ready(name: &str, url: OriginUrl, settings: OriginSettings) -> anyhow::Result<()> {
    let clock = Clock::start();
    let origin = Origin::new(url, settings);
    let mut pause = Duration::from_millis(100);
    loop {
        let ask = Ask {
            method: Method::GET,
            fields: Vec::new(),
            body: bytes::Bytes::new(),
            timeout: LOOK,
        };
        let why = match fetch(&origin, ask) {
            Ok(fetched) if fetched.status.is_success() => return Ok(()),
            Ok(fetched) => format!("it answers {}", fetched.status),
            Err(error) => report::causes(&error),
        };
        if clock.elapsed() + pause > READY {
            let what = format!(
                "the server `{name}` was not ready within {} s: {why}",
                READY.as_secs()
            );
            return Err(Mistake::new(what, "check the URL of `wait_for_ready`").into());
        }
        std::thread::sleep(pause);
        pause = (pause * 2).min(Duration::from_secs(2));
    }
}
