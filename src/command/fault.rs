//! `tapewright fault`: faults are added, listed and removed while messages flow.

use std::fmt::Write as _;
use std::io::{Read, Write};
use std::net::TcpStream;
use std::os::unix::net::UnixStream;
use std::time::Duration;

use anyhow::Context as _;
use clap::{Args, Subcommand};
use serde_json::{Value, json};
use tapewright_proxy::control::Place;

use crate::exit::Exit;
use crate::report::{self, Mistake};

/// Change the faults of a recorder or replay that runs with `--control`
#[derive(Debug, Args)]
#[command(after_long_help = EXAMPLES)]
pub(crate) struct Arguments {
    #[command(subcommand)]
    action: Action,
    /// Where its control is, as it was printed: `http://127.0.0.1:PORT` or `unix:PATH`
    /// [env: `TAPEWRIGHT_CONTROL`]
    #[arg(long, global = true, value_name = "ADDR")]
    control: Option<String>,
    /// The token that was printed beside it [env: `TAPEWRIGHT_CONTROL_TOKEN`]
    #[arg(long, global = true, value_name = "TOKEN")]
    token: Option<String>,
}

const EXAMPLES: &str = "\
Examples:
  tapewright fault list --control unix:/tmp/fs.sock
  tapewright fault add 'hang tool=search' --control unix:/tmp/fs.sock
  tapewright fault remove hang-1 --control unix:/tmp/fs.sock";

#[derive(Debug, Subcommand)]
enum Action {
    /// Put a fault in force; prints its name
    Add {
        /// The fault, such as `hang tool=search nth=3`
        spec: String,
    },
    /// Put another fault in the place of one; what that one holds is passed on
    Change {
        /// The name of the fault
        name: String,
        /// The new fault
        spec: String,
    },
    /// Print the faults in force, one JSON object per line
    List,
    /// Take a fault away; what it holds is passed on
    Remove {
        /// The name of the fault
        name: String,
    },
}

/// Asks the control.
pub(crate) fn run(arguments: &Arguments) -> anyhow::Result<Exit> {
    let of_env = |given: &Option<String>, name| given.clone().or_else(|| std::env::var(name).ok());
    let token = of_env(&arguments.token, "TAPEWRIGHT_CONTROL_TOKEN");
    let Some(control) = &of_env(&arguments.control, "TAPEWRIGHT_CONTROL") else {
        let hint = "start the recorder with `--control unix:PATH`, and name the same here";
        return Err(Mistake::new("it is not said which recorder", hint).into());
    };
    let place = Place::parse(control).map_err(|error| {
        Mistake::new(
            format!("`--control`: {error}"),
            "use the address that the recorder printed",
        )
    })?;
    let ask =
        |method, path: &str, body: Option<Value>| ask(&place, token.as_deref(), method, path, body);
    match &arguments.action {
        Action::Add { spec } => {
            let answer = ask("POST", "/faults", Some(json!({ "spec": spec })))?;
            let name = text(&answer, "name").unwrap_or_default();
            report::out(&format!("{}\n", report::safe(name)))?;
        }
        Action::Change { name, spec } => {
            ask("PUT", &path_of(name), Some(json!({ "spec": spec })))?;
        }
        Action::List => {
            let answer = ask("GET", "/faults", None)?;
            let faults = answer.get("faults").and_then(Value::as_array);
            for fault in faults.into_iter().flatten() {
                report::out(&format!("{fault}\n"))?;
            }
        }
        Action::Remove { name } => {
            ask("DELETE", &path_of(name), None)?;
        }
    }
    Ok(Exit::Pass)
}

fn text<'a>(value: &'a Value, name: &str) -> Option<&'a str> {
    value.get(name).and_then(Value::as_str)
}

fn path_of(name: &str) -> String {
    let mut path = "/faults/".to_owned();
    for byte in name.bytes() {
        if byte.is_ascii_alphanumeric() || b"-_.~".contains(&byte) {
            path.push(byte.into());
        } else {
            // Writing to a string cannot fail.
            write!(path, "%{byte:02X}").ok();
        }
    }
    path
}

/// How long a control may take to answer.
const PATIENCE: Duration = Duration::from_secs(10);
/// The longest answer, in bytes.
const LIMIT_BYTES: u64 = 4 << 20;

/// One request to the control.
fn ask(
    place: &Place,
    token: Option<&str>,
    method: &str,
    path: &str,
    body: Option<Value>,
) -> anyhow::Result<Value> {
    let body = body.map(|body| body.to_string()).unwrap_or_default();
    let mut request = format!(
        "{method} {path} HTTP/1.1\r\nHost: control\r\nConnection: close\r\nContent-Length: {}\r\n",
        body.len()
    );
    if let Some(token) = token.filter(|token| token.bytes().all(|byte| byte.is_ascii_graphic())) {
        write!(request, "Authorization: Bearer {token}\r\n").ok();
    }
    request.push_str("\r\n");
    request.push_str(&body);
    let answer = exchange(place, &request).with_context(|| {
        Mistake::new(
            "the control does not answer",
            "see whether the recorder still runs, and compare the address with the one it printed",
        )
    })?;
    let (head, body) = answer.split_once("\r\n\r\n").unwrap_or_default();
    let status: u16 = head
        .split(' ')
        .nth(1)
        .and_then(|status| status.parse().ok())
        .unwrap_or_default();
    let value: Value = serde_json::from_str(body).unwrap_or_default();
    if (200..300).contains(&status) {
        return Ok(value);
    }
    let why = text(&value, "error").unwrap_or("the answer is not the control's");
    let hint = match status {
        401 => "give the token that was printed beside the address: `--token TOKEN`",
        404 => "see the faults in force: `tapewright fault list`",
        _ => "see docs/faults.md for what a fault can be",
    };
    Err(Mistake::new(report::safe(why), hint).into())
}

fn exchange(place: &Place, request: &str) -> std::io::Result<String> {
    match place {
        Place::Tcp(address) => {
            let stream = TcpStream::connect_timeout(address, PATIENCE)?;
            stream.set_read_timeout(Some(PATIENCE))?;
            converse(stream, request)
        }
        Place::Unix(path) => {
            let stream = UnixStream::connect(path)?;
            stream.set_read_timeout(Some(PATIENCE))?;
            converse(stream, request)
        }
    }
}

fn converse(mut stream: impl Read + Write, request: &str) -> std::io::Result<String> {
    stream.write_all(request.as_bytes())?;
    let mut answer = String::new();
    stream.take(LIMIT_BYTES).read_to_string(&mut answer)?;
    Ok(answer)
}
