//! The client of a control: how `fault`, `sessions` and `tail` reach a running recorder.

use std::fmt::Write as _;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::time::Duration;

use anyhow::Context as _;
use clap::Args;
use serde_json::Value;
use tapewright_proxy::control::ListenAddress;
use tapewright_proxy::system::sockets;

use crate::report::{self, Mistake};

/// Which recorder to ask.
#[derive(Debug, Args)]
pub(crate) struct ControlArguments {
    /// Control address of the recorder: `http://127.0.0.1:PORT` or `unix:PATH` [env:
    /// `TAPEWRIGHT_CONTROL`]
    #[arg(long, global = true, value_name = "ADDR")]
    control: Option<String>,
    /// Token that the recorder printed next to its control address [env:
    /// `TAPEWRIGHT_CONTROL_TOKEN`]
    #[arg(long, global = true, value_name = "TOKEN")]
    token: Option<String>,
}

/// The control of a recorder.
pub(crate) struct Remote {
    place: ListenAddress,
    token: Option<String>,
}

/// Time limit for an answer of the control.
const PATIENCE: Duration = Duration::from_secs(10);
/// Time limit for silence on a stream, which has a heartbeat every 15 s.
const SILENCE: Duration = Duration::from_secs(60);
/// The longest answer, and the longest line of a stream, in bytes.
const LIMIT_BYTES: u64 = 16 << 20;

impl ControlArguments {
    /// The address of the control, if one is given.
    pub(crate) fn named(&self) -> Option<String> {
        let named = self.control.clone();
        named.or_else(|| std::env::var("TAPEWRIGHT_CONTROL").ok())
    }

    /// The chosen control.
    pub(crate) fn remote(&self) -> anyhow::Result<Remote> {
        let token = self.token.clone();
        let token = token.or_else(|| std::env::var("TAPEWRIGHT_CONTROL_TOKEN").ok());
        let Some(control) = &self.named() else {
            let hint =
                "start the recorder with `--control unix:PATH`, and use the same address here";
            return Err(Mistake::new("no recorder given", hint).into());
        };
        Remote::at(control, token)
    }
}

impl Remote {
    /// The control at an address, and its token.
    pub(crate) fn at(control: &str, token: Option<String>) -> anyhow::Result<Self> {
        let place = ListenAddress::parse(control).map_err(|error| {
            Mistake::new(
                format!("`--control`: {error}"),
                "use the address that the recorder printed",
            )
        })?;
        Ok(Self { place, token })
    }

    /// Sends one request, and returns its answer.
    pub(crate) fn ask(
        &self,
        method: &str,
        path: &str,
        body: Option<&Value>,
    ) -> anyhow::Result<Value> {
        let mut stream = self.send(method, path, body, PATIENCE)?;
        let mut answer = String::new();
        let read = (&mut stream).take(LIMIT_BYTES).read_to_string(&mut answer);
        read.with_context(|| self.silent())?;
        let (head, body) = answer.split_once("\r\n\r\n").unwrap_or_default();
        judged(status_of(head), body)
    }

    /// Calls `each` with the data of every event of a stream, until it ends.
    pub(crate) fn follow(
        &self,
        path: &str,
        mut each: impl FnMut(&str) -> anyhow::Result<()>,
    ) -> anyhow::Result<()> {
        let mut stream = BufReader::new(self.send("GET", path, None, SILENCE)?);
        let status = status_of(&self.line(&mut stream)?.unwrap_or_default());
        while self
            .line(&mut stream)?
            .is_some_and(|field| !field.is_empty())
        {}
        if status != 200 {
            let mut body = String::new();
            let read = stream.take(LIMIT_BYTES).read_to_string(&mut body);
            read.with_context(|| self.silent())?;
            return judged(status, &body).map(drop);
        }
        while let Some(line) = self.line(&mut stream)? {
            if let Some(data) = line.strip_prefix("data: ") {
                each(data)?;
            }
        }
        Ok(())
    }

    fn send(
        &self,
        method: &str,
        path: &str,
        body: Option<&Value>,
        patience: Duration,
    ) -> anyhow::Result<Box<dyn Read>> {
        let body = body.map(Value::to_string).unwrap_or_default();
        // HTTP/1.0, so that an answer ends with the connection.
        let mut request = format!(
            "{method} {path} HTTP/1.0\r\nHost: control\r\nContent-Length: {}\r\n",
            body.len()
        );
        let token = self.token.as_ref();
        if let Some(token) = token.filter(|token| token.bytes().all(|byte| byte.is_ascii_graphic()))
        {
            // Writing to a string cannot fail.
            write!(request, "Authorization: Bearer {token}\r\n").ok();
        }
        request.push_str("\r\n");
        request.push_str(&body);
        self.open(&request, patience).with_context(|| self.silent())
    }

    fn open(&self, request: &str, patience: Duration) -> std::io::Result<Box<dyn Read>> {
        match &self.place {
            ListenAddress::Tcp(address) => {
                let mut stream = TcpStream::connect_timeout(address, PATIENCE)?;
                stream.set_read_timeout(Some(patience))?;
                stream.write_all(request.as_bytes())?;
                Ok(Box::new(stream))
            }
            ListenAddress::Unix(path) => {
                let mut stream = sockets::connect(path, patience)?;
                stream.write_all(request.as_bytes())?;
                Ok(Box::new(stream))
            }
        }
    }

    /// The next line, without its end; `None` at the end of the stream.
    fn line(&self, stream: &mut impl BufRead) -> anyhow::Result<Option<String>> {
        let mut line = String::new();
        let read = stream.take(LIMIT_BYTES).read_line(&mut line);
        if read.with_context(|| self.silent())? == 0 {
            return Ok(None);
        }
        line.truncate(line.trim_end_matches(['\r', '\n']).len());
        Ok(Some(line))
    }

    fn silent(&self) -> Mistake {
        let place = match &self.place {
            ListenAddress::Tcp(address) => format!("http://{address}"),
            ListenAddress::Unix(path) => format!("unix:{}", path.display()),
        };
        Mistake::new(
            format!("cannot reach the control API at `{}`", report::safe(&place)),
            "check that the recorder is running, and compare the address with the one it printed",
        )
    }
}

/// The text of a member.
pub(crate) fn text<'a>(value: &'a Value, name: &str) -> Option<&'a str> {
    value.get(name).and_then(Value::as_str)
}

fn status_of(head: &str) -> u16 {
    let status = head.split(' ').nth(1);
    status
        .and_then(|status| status.parse().ok())
        .unwrap_or_default()
}

fn judged(status: u16, body: &str) -> anyhow::Result<Value> {
    let value: Value = serde_json::from_str(body).unwrap_or_default();
    if (200..300).contains(&status) {
        return Ok(value);
    }
    let why = text(&value, "error")
        .unwrap_or("unexpected response; is this the address of a control API?");
    let hint = match status {
        401 => "use the token printed next to the address: `--token TOKEN`",
        404 => "list the faults with `tapewright fault list`",
        _ => "see docs/faults.md",
    };
    Err(Mistake::new(report::safe(why), hint).into())
}
