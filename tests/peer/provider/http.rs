//! The parts of HTTP/1.1 that a provider needs.

use std::io::{self, BufRead, BufReader, Read as _, Write};
use std::net::TcpStream;
use std::thread;
use std::time::Duration;

use serde_json::Value;

use super::script::Moment;
use super::turns::Ask;

/// A request.
pub(super) struct ProviderRequest {
    pub(super) method: String,
    pub(super) path: String,
    pub(super) query: String,
    /// Names in small letters.
    fields: Vec<(String, String)>,
    pub(super) body: Vec<u8>,
}

impl ProviderRequest {
    pub(super) fn field(&self, name: &str) -> Option<&str> {
        let found = self.fields.iter().find(|(own, _)| own == name);
        found.map(|(_, value)| value.as_str())
    }

    pub(super) fn bearer(&self) -> Option<String> {
        let value = self.field("authorization")?;
        value.strip_prefix("Bearer ").map(str::to_owned)
    }
}

/// A response.
pub(super) struct Answer {
    pub(super) status: u16,
    pub(super) fields: Vec<(&'static str, String)>,
    pub(super) body: Body,
}

pub(super) enum Body {
    Whole(String),
    Events {
        events: Vec<String>,
        pause: Duration,
        /// Whether the connection breaks before the end.
        cut: bool,
    },
    Never,
}

impl Answer {
    pub(super) fn json(status: u16, value: &Value) -> Self {
        Self {
            status,
            ..Self::text("application/json", value.to_string())
        }
    }

    pub(super) fn text(kind: &str, text: String) -> Self {
        Self {
            status: 200,
            fields: vec![("content-type", kind.to_owned())],
            body: Body::Whole(text),
        }
    }

    pub(super) fn never() -> Self {
        Self {
            status: 0,
            fields: Vec::new(),
            body: Body::Never,
        }
    }

    pub(super) fn events(ask: &Ask, mut events: Vec<String>, moment: &Moment) -> Self {
        if let Some(count) = moment.cut {
            events.truncate(count);
        }
        let kind = if ask.sse {
            "text/event-stream"
        } else {
            "application/json"
        };
        Self {
            status: 200,
            fields: vec![("content-type", kind.to_owned())],
            body: Body::Events {
                events,
                pause: Duration::from_millis(moment.pause_ms),
                cut: moment.cut.is_some(),
            },
        }
    }
}

/// The next request; `None` if the client has left.
pub(super) fn read(
    input: &mut BufReader<TcpStream>,
    output: &mut TcpStream,
) -> io::Result<Option<ProviderRequest>> {
    let first = line(input)?;
    let mut words = first.split(' ');
    let (Some(method), Some(target)) = (words.next(), words.next()) else {
        return Ok(None);
    };
    let (path, query) = target.split_once('?').unwrap_or((target, ""));
    let mut asked = ProviderRequest {
        method: method.to_owned(),
        path: path.to_owned(),
        query: query.to_owned(),
        fields: Vec::new(),
        body: Vec::new(),
    };
    loop {
        let field = line(input)?;
        let Some((name, value)) = field.split_once(':') else {
            break;
        };
        asked
            .fields
            .push((name.to_ascii_lowercase(), value.trim().to_owned()));
    }
    if asked.field("expect").is_some() {
        output.write_all(b"HTTP/1.1 100 Continue\r\n\r\n")?;
    }
    asked.body = body(input, &asked)?;
    Ok(Some(asked))
}

fn body(input: &mut BufReader<TcpStream>, asked: &ProviderRequest) -> io::Result<Vec<u8>> {
    let mut body = Vec::new();
    if asked.field("transfer-encoding").is_some() {
        loop {
            let size = u64::from_str_radix(&line(input)?, 16).map_err(io::Error::other)?;
            input.by_ref().take(size).read_to_end(&mut body)?;
            line(input)?;
            if size == 0 {
                return Ok(body);
            }
        }
    }
    let length = asked.field("content-length").unwrap_or("0");
    let length = length.parse().map_err(io::Error::other)?;
    input.take(length).read_to_end(&mut body)?;
    Ok(body)
}

fn line(input: &mut BufReader<TcpStream>) -> io::Result<String> {
    let mut line = String::new();
    input.read_line(&mut line)?;
    line.truncate(line.trim_end().len());
    Ok(line)
}

/// Sends a response; false when the connection ends with it.
pub(super) fn write(output: &mut TcpStream, answer: &Answer) -> io::Result<bool> {
    let mut head = format!("HTTP/1.1 {} Scripted\r\n", answer.status);
    for (name, value) in &answer.fields {
        head.push_str(&[name, ": ", value, "\r\n"].concat());
    }
    match &answer.body {
        Body::Never => Ok(false),
        Body::Whole(text) => {
            let length = text.len();
            write!(output, "{head}content-length: {length}\r\n\r\n{text}")?;
            Ok(true)
        }
        Body::Events { events, pause, cut } => {
            write!(output, "{head}transfer-encoding: chunked\r\n\r\n")?;
            for event in events {
                write!(output, "{:x}\r\n{event}\r\n", event.len())?;
                output.flush()?;
                thread::sleep(*pause);
            }
            if !cut {
                output.write_all(b"0\r\n\r\n")?;
            }
            Ok(!cut)
        }
    }
}
