//! Asks a server in both eras, and keeps the conversation.

use std::sync::Arc;
use std::time::Duration;

use anyhow::Context as _;
use tapewright_corpus::migration::Doctor;
use tapewright_corpus::missing_resource::NO_SUCH_URI;
use tapewright_proxy::bridge::{Remote, RemoteSettings};
use tapewright_proxy::client::{
    Answer, Client, ClientError, FIRST_STATELESS, LATEST_HANDSHAKE, Opening, Revision,
    ServerRequest, Settings,
};
use tapewright_proxy::clock::Clock;
use tapewright_proxy::http::origin::Origin;
use tapewright_proxy::record::{self, Durability, Recorder, Tapped, WhenFull};
use tapewright_proxy::stdio::ChildProcess;
use tapewright_proxy::upstream::Upstream;
use tapewright_schemas::json;
use tapewright_schemas::redact::Rules;
use tapewright_schemas::tape::{Header, VERSION};

use super::{Arguments, Examined, fold, probe};
use crate::command::record::target;
use crate::command::redaction;
use crate::report::{self, Mistake};

/// The longest message to accept, in bytes.
const LONGEST_MESSAGE: usize = 64 << 20;
/// How many pages of a list to request.
const PAGES: usize = 20;

/// Asks the server, and examines the conversation.
pub(super) fn examine(arguments: &Arguments, target: &str) -> anyhow::Result<Examined> {
    let clock = Clock::start();
    let timeout = arguments.timeout;
    let mut settings = arguments.redaction.settings();
    settings.values.extend(arguments.server.secrets()?);
    let rules = Arc::new(redaction::rules(&settings)?);
    let recorder = Arc::new(recorder(arguments, &rules, clock)?);
    let (upstream, places, hint) = server(arguments, &recorder, clock)?;
    let tapped = Tapped::new(upstream, Arc::clone(&recorder), clock);
    let asking = Asking {
        settings: Settings::new(Arc::clone(&rules)),
        tapped: &tapped,
        clock,
        timeout,
    };
    let mut doctor = Doctor::new(true);
    let stateless = asking.stateless(&mut doctor);
    let handshake = asking.handshake();
    // An HTTP status is no answer of an MCP server: the URL may be wrong.
    if let (Err(_), Err(error)) = (&stateless, handshake) {
        recorder.abandon();
        return Err(error).context(Mistake::new("cannot query the server", hint));
    }
    if let Some(places) = &places {
        let fields = arguments.server.fields()?;
        if stateless.is_ok_and(|answers| answers) {
            probe::without_method(&mut doctor, &places.endpoint, fields, timeout);
        }
        probe::metadata(&mut doctor, &places.metadata, timeout);
    }
    let finished = recorder.finish();
    let tape = finished.tape.ok_or_else(|| {
        Mistake::new(
            "cannot save the conversation",
            "choose a writable file with `-o`",
        )
    })?;
    let (doctor, path, is_tape) = fold(&tape, doctor)?;
    let shown = report::safe(&path.display().to_string());
    report::note(&format!("the conversation is in `{shown}`"));
    Ok(Examined {
        path,
        is_tape,
        target: target.to_owned(),
        findings: doctor.finish(),
        official: None,
    })
}

fn recorder(arguments: &Arguments, rules: &Arc<Rules>, clock: Clock) -> anyhow::Result<Recorder> {
    let rules = Arc::clone(rules);
    let mut output = arguments.output.clone();
    // Only a tape has everything, and only a tape is requested.
    if let Some(path) = &mut output
        && !path.to_string_lossy().ends_with(".tape.jsonl")
    {
        let mut name = path.file_stem().unwrap_or_default().to_owned();
        name.push(".tape.jsonl");
        *path = path.with_file_name(name);
    }
    let settings = record::Settings {
        target: target::of(output.as_deref(), "doctor", clock.created)?,
        durability: Durability::Queue,
        when_full: WhenFull::Wait,
        limit_bytes: LONGEST_MESSAGE,
        header: Header {
            tape: VERSION.to_owned(),
            created: target::timestamp(clock.created),
            by: concat!("tapewright ", env!("CARGO_PKG_VERSION")).to_owned(),
            transport: "stdio".to_owned(),
            label: "doctor".to_owned(),
            made_in: crate::here::made_in(),
            pid: std::process::id(),
            durability: Durability::Queue.name().to_owned(),
            when_full: WhenFull::Wait.name().to_owned(),
            max_message_bytes: LONGEST_MESSAGE as u64,
            redacted: true,
            ..Header::default()
        },
        command: Vec::new(),
        rules: Box::new(move || rules),
        judging: None,
        operations: None,
    };
    Recorder::start(settings, clock).context("cannot start the recorder")
}

/// The URLs of a server on HTTP: its MCP endpoint, and where its authorization server would
/// describe itself.
struct Places {
    endpoint: Arc<Origin>,
    metadata: Arc<Origin>,
}

type Server = (Arc<dyn Upstream>, Option<Places>, &'static str);

fn server(arguments: &Arguments, recorder: &Arc<Recorder>, clock: Clock) -> anyhow::Result<Server> {
    if let Some(url) = arguments.server.url()? {
        let settings = arguments.server.origin_settings(false)?;
        let mut metadata = url.clone();
        probe::METADATA.clone_into(&mut metadata.path);
        let places = Places {
            endpoint: Origin::new(url, settings.clone()),
            metadata: Origin::new(metadata, settings),
        };
        let remote = Remote::new(RemoteSettings {
            origin: Arc::clone(&places.endpoint),
            fields: arguments.server.fields()?,
            limit_bytes: LONGEST_MESSAGE,
        });
        let remote = remote.with_notes(recorder, clock);
        return Ok((
            Arc::new(remote),
            Some(places),
            "check the URL of `--upstream`",
        ));
    }
    let Some((program, rest)) = arguments.command.split_first() else {
        return Err(Mistake::new(
            "no server or recording given",
            "give the server's command after `--`, its URL with `--upstream`, or a recording with `--capture`",
        )
        .into());
    };
    let child = ChildProcess::new(program.clone(), rest.to_vec());
    let hint = "check the command after `--`; it is started without a shell, as clients do";
    Ok((Arc::new(child), None, hint))
}

struct Asking<'a> {
    settings: Settings,
    tapped: &'a Tapped,
    clock: Clock,
    timeout: Duration,
}

impl Asking<'_> {
    /// Asks without a handshake, on a separate link. Returns whether the server answers such
    /// requests.
    fn stateless(&self, doctor: &mut Doctor) -> Result<bool, ClientError> {
        let mut client = Client::open(self.tapped, self.settings.clone(), self.clock)?;
        let opening = Opening {
            revision: Revision::Stateless {
                version: FIRST_STATELESS.to_owned(),
                discover: true,
            },
            ..Opening::default()
        };
        let opened = match client.greet(&opening, self.timeout) {
            Ok(_) => true,
            Err(ClientError::Refused { .. }) => false,
            Err(ClientError::Bridge { why, status }) => {
                // A server of the handshake era may refuse it by a status; whether there is a
                // server at all is shown by the handshake.
                if let Some(status) = status {
                    doctor.refused("server/discover", status);
                }
                return Err(ClientError::Bridge { why, status });
            }
            Err(error) => return Err(error),
        };
        // A server may answer stateless requests without supporting discovery.
        let answers = self.questions(&mut client);
        client.close();
        Ok(opened && answers)
    }

    /// Asks with a handshake. We offer every capability we can, so that a server that uses one
    /// shows it.
    fn handshake(&self) -> Result<(), ClientError> {
        let mut client = Client::open(self.tapped, self.settings.clone(), self.clock)?;
        client.answer_with(offered);
        let opening = Opening {
            revision: Revision::Handshake(LATEST_HANDSHAKE.to_owned()),
            capabilities: r#"{"roots":{"listChanged":true},"sampling":{},"elicitation":{}}"#
                .to_owned(),
            ..Opening::default()
        };
        match client.greet(&opening, self.timeout) {
            Ok(_) => {
                self.questions(&mut client);
            }
            // A server that only supports the stateless era refuses, which is correct.
            Err(ClientError::Refused { .. }) => {}
            Err(error) => return Err(error),
        }
        client.close();
        Ok(())
    }

    /// The requests for either era. Returns whether any of them was answered by a result.
    fn questions(&self, client: &mut Client) -> bool {
        let mut cursor: Option<String> = None;
        let mut answered = false;
        for _ in 0..PAGES {
            let params = cursor
                .as_ref()
                .map(|cursor| format!(r#"{{"cursor":{cursor}}}"#));
            let Ok(reply) = client.request("tools/list", params.as_deref(), self.timeout) else {
                return answered;
            };
            let Some(result) = reply.result() else { break };
            answered = true;
            let next =
                json::find(result, &["nextCursor"]).filter(|next| next.first() == Some(&b'"'));
            cursor = next.map(|next| String::from_utf8_lossy(next).into_owned());
            if cursor.is_none() {
                break;
            }
        }
        let params = format!(r#"{{"uri":"{NO_SUCH_URI}"}}"#);
        let reply = client.request("resources/read", Some(&params), self.timeout);
        answered | reply.is_ok_and(|reply| reply.result().is_some())
    }
}

/// Answers of a client that has no roots, no model and no user.
fn offered(asked: &ServerRequest<'_>) -> Answer {
    match asked.method {
        "roots/list" => Answer::Result(r#"{"roots":[]}"#.to_owned()),
        "elicitation/create" => Answer::Result(r#"{"action":"decline"}"#.to_owned()),
        "sampling/createMessage" => Answer::Error {
            code: -1,
            message: "no model available".to_owned(),
        },
        _ => Answer::Default,
    }
}
