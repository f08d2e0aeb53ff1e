//! The server over HTTP: heads, statuses, sessions, streams.
//!
//! Words that break something here: `any-origin`, `strict-fields`, `any-session`, `no-session-needed`, `version-needed`,
//! `any-version`, `takes-batches`, `no-stream`, `any-head` and its kin (see [`Server::head_is_wrong`]), `issues-sessions`,
//! `minds-sessions`, `streams-for-all`, `deletes-for-all`.

use std::collections::HashMap;
use std::io::{self, BufRead as _, BufReader, Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::sync::{Arc, Mutex};
use std::thread;

use serde_json::{Value, json};

use super::{Fault, HANDSHAKES, STATELESS, Server, VERSION_KEY};

/// A request.
pub(super) struct Request {
    pub(super) method: String,
    pub(super) path: String,
    pub(super) fields: Vec<(String, String)>,
    pub(super) body: String,
}

/// A response.
pub(super) struct Response {
    pub(super) status: u16,
    pub(super) fields: Vec<(&'static str, String)>,
    pub(super) body: String,
    /// Its stream stays open until the client leaves.
    stays: bool,
}

/// The server, and its sessions with the revision of each.
pub(super) struct Site {
    pub(super) server: Server,
    pub(super) address: String,
    sessions: HashMap<String, String>,
}

const SESSION: &str = "mcp-session-id";

impl Request {
    pub(super) fn field(&self, name: &str) -> Option<&str> {
        let mut all = self.fields.iter();
        all.find(|(one, _)| one == name)
            .map(|(_, value)| value.as_str())
    }
}

impl Response {
    pub(super) fn new(status: u16) -> Self {
        Self {
            status,
            fields: Vec::new(),
            body: String::new(),
            stays: false,
        }
    }

    pub(super) fn json(status: u16, body: &Value) -> Self {
        Self {
            fields: vec![("Content-Type", "application/json".to_owned())],
            body: body.to_string(),
            ..Self::new(status)
        }
    }

    fn stream(messages: &[Value], stays: bool) -> Self {
        let event = |message: &Value| format!("event: message\ndata: {message}\n\n");
        Self {
            fields: vec![("Content-Type", "text/event-stream".to_owned())],
            body: messages.iter().map(event).collect(),
            stays,
            ..Self::new(200)
        }
    }
}

/// Serves until the standard input ends; prints its address on standard output.
pub(crate) fn serve(words: &[&str]) -> io::Result<()> {
    let listener = TcpListener::bind("127.0.0.1:0")?;
    let address = listener.local_addr()?.to_string();
    println!(
        "{}",
        json!({ "listening": format!("http://{address}/mcp") })
    );
    io::stdout().flush()?;
    let site = Arc::new(Mutex::new(Site {
        server: Server::new(words),
        address,
        sessions: HashMap::new(),
    }));
    thread::spawn(move || {
        for stream in listener.incoming().flatten() {
            let site = Arc::clone(&site);
            thread::spawn(move || connection(stream, &site));
        }
    });
    io::copy(&mut io::stdin(), &mut io::sink()).map(drop)
}

fn connection(stream: TcpStream, site: &Mutex<Site>) -> io::Result<()> {
    let mut output = stream.try_clone()?;
    let mut input = BufReader::new(stream);
    while let Some(request) = read(&mut input)? {
        let response = site.lock().expect("nobody panicked").respond(&request);
        write(&response, &mut output)?;
        if response.stays {
            return io::copy(&mut input, &mut io::sink()).map(drop);
        }
    }
    Ok(())
}

fn read(input: &mut BufReader<TcpStream>) -> io::Result<Option<Request>> {
    let mut line = String::new();
    if input.read_line(&mut line)? == 0 {
        return Ok(None);
    }
    let mut words = line.split_whitespace().map(str::to_owned);
    let (method, path) = (words.next(), words.next());
    let mut fields = Vec::new();
    loop {
        let mut line = String::new();
        input.read_line(&mut line)?;
        let Some((name, value)) = line.trim_end().split_once(':') else {
            break;
        };
        fields.push((name.to_ascii_lowercase(), value.trim().to_owned()));
    }
    let mut request = Request {
        method: method.unwrap_or_default(),
        path: path.unwrap_or_default(),
        fields,
        body: String::new(),
    };
    let length = request.field("content-length").map(str::parse);
    let length = length.transpose().expect("a length").unwrap_or(0);
    let mut body = vec![0; length];
    input.read_exact(&mut body)?;
    request.body = String::from_utf8(body).expect("text");
    Ok(Some(request))
}

fn write(response: &Response, output: &mut TcpStream) -> io::Result<()> {
    let mut head = format!("HTTP/1.1 {} Said\r\n", response.status);
    for (name, value) in &response.fields {
        head.extend([name, ": ", value, "\r\n"]);
    }
    if response.stays {
        head.push_str("Connection: close\r\n");
    } else {
        let length = response.body.len().to_string();
        head.extend(["Content-Length: ", &length, "\r\n"]);
    }
    output.write_all(format!("{head}\r\n{}", response.body).as_bytes())
}

impl Site {
    fn respond(&mut self, request: &Request) -> Response {
        let mut response = self.answer(request);
        for fault in &self.server.faults {
            if let Fault::Status(from, to) = fault
                && *from == response.status
            {
                response.status = *to;
            }
        }
        response
    }

    fn answer(&mut self, request: &Request) -> Response {
        if request.path.starts_with("/.well-known/") {
            return self.document(request);
        }
        if let Some(refusal) = self.without_access(request) {
            return refusal;
        }
        if request.field("origin").is_some() && !self.is("any-origin") {
            return Response::new(403);
        }
        if request.field("x-tapewright-unknown").is_some() && self.is("strict-fields") {
            return Response::new(400);
        }
        let stateless = request.field("mcp-protocol-version") == Some(STATELESS);
        match request.method.as_str() {
            "GET" if stateless && !self.is("streams-for-all") => Response::new(405),
            "GET" if self.is("no-stream") => Response::new(405),
            "GET" => Response::stream(&[], true),
            "DELETE" if stateless && !self.is("deletes-for-all") => Response::new(405),
            "DELETE" => Response::new(200),
            _ => self.post(request),
        }
    }

    pub(super) fn is(&self, word: &str) -> bool {
        self.server.is(word)
    }

    fn post(&mut self, request: &Request) -> Response {
        let message: Value = serde_json::from_str(&request.body).unwrap_or_default();
        let batches = self.server.version == "2024-11-05" || self.server.version == "2025-03-26";
        if message.is_array() && !batches && !self.is("takes-batches") {
            return Response::new(400);
        }
        let method = message["method"].as_str().unwrap_or_default();
        let meta = &message["params"]["_meta"];
        let stateless = meta.get(VERSION_KEY).is_some()
            || method == "server/discover"
            || request.field("mcp-protocol-version") == Some(STATELESS);
        if stateless {
            self.of_stateless(request, &message)
        } else {
            self.of_handshake(request, &message)
        }
    }

    fn of_handshake(&mut self, request: &Request, message: &Value) -> Response {
        let opens = message["method"] == "initialize";
        let session = request.field(SESSION);
        let known = session.and_then(|id| self.sessions.get(id)).cloned();
        let version = request.field("mcp-protocol-version");
        if !opens {
            if session.is_none() && !self.is("no-session-needed") {
                return Response::new(400);
            }
            if session.is_some() && known.is_none() && !self.is("any-session") {
                return Response::new(404);
            }
            if version.is_none() && self.is("version-needed") {
                return Response::new(400);
            }
            let is_known = version.is_none_or(|version| HANDSHAKES.contains(&version));
            if !is_known && !self.is("any-version") {
                return Response::new(400);
            }
        }
        if let Some(version) = known {
            self.server.version = version;
        }
        let said = self.server.line(&request.body);
        let mut response = Self::carry(message, said);
        if opens {
            let id = format!("session-{}", self.sessions.len());
            let version = self.server.version.clone();
            self.sessions.insert(id.clone(), version);
            response.fields.push(("Mcp-Session-Id", id));
        }
        response
    }

    fn of_stateless(&mut self, request: &Request, message: &Value) -> Response {
        let is_request = message.get("id").is_some() && message.get("method").is_some();
        let mut said = self.server.line(&request.body);
        let code = |said: &[Value]| said.last().and_then(|one| one["error"]["code"].as_i64());
        let described =
            !matches!(code(&said), Some(-32_022)) && message["params"].get("_meta").is_some();
        let mut status = match code(&said) {
            Some(-32_022 | -32_700 | -32_600) => 400,
            Some(-32_602) if message["params"]["_meta"].get(VERSION_KEY).is_none() => 400,
            Some(-32_602)
                if message["params"]["_meta"]
                    .get(super::CAPABILITIES_KEY)
                    .is_none() =>
            {
                400
            }
            Some(-32_601) => 404,
            _ => 200,
        };
        if is_request && described && self.head_is_wrong(request, message) {
            status = 400;
            let error = (
                -32_020,
                "the head does not say what the body says".into(),
                None,
            );
            said = vec![self.server.error(&message["id"], error)];
        }
        if self.is("minds-sessions") && request.field(SESSION).is_some() {
            return Response::new(404);
        }
        let mut response = Self::carry(message, said);
        if response.status == 200 {
            response.status = status;
        }
        if self.is("issues-sessions") {
            response.fields.push(("Mcp-Session-Id", "one".to_owned()));
        }
        response
    }

    /// Whether the head of a stateless request differs from its body: `no-method-needed`, `any-method`, `any-name`,
    /// `any-head-version`, `plain-names` and `folded-values` break it in parts.
    fn head_is_wrong(&self, request: &Request, message: &Value) -> bool {
        let method = message["method"].as_str().unwrap_or_default();
        let version = message["params"]["_meta"][VERSION_KEY].as_str();
        let said = request.field("mcp-method");
        let same_method = match said {
            None => self.is("no-method-needed"),
            Some(said) if self.is("folded-values") => said.eq_ignore_ascii_case(method),
            Some(said) => said == method || self.is("any-method"),
        };
        let named = match method {
            "tools/call" | "prompts/get" => message["params"]["name"].as_str(),
            "resources/read" => message["params"]["uri"].as_str(),
            _ => None,
        };
        let found = request.field("mcp-name");
        let found = found.map(|found| {
            if self.is("plain-names") {
                found.to_owned()
            } else {
                decoded(found)
            }
        });
        let same_name = named.is_none() || found.as_deref() == named || self.is("any-name");
        let same_version = version.is_none()
            || request.field("mcp-protocol-version") == version
            || self.is("any-head-version");
        !(same_method && same_name && same_version)
    }

    /// Messages as a response.
    fn carry(message: &Value, mut said: Vec<Value>) -> Response {
        let lasts = message["method"] == "subscriptions/listen"
            && said.iter().all(|one| one.get("method").is_some());
        match said.len() {
            0 if message.get("id").is_none() || message.get("method").is_none() => {
                Response::new(202)
            }
            1 if !lasts => Response::json(200, &said.remove(0)),
            _ => Response::stream(&said, lasts),
        }
    }
}

/// A field whose value is encoded (2026-07-28, basic/transports/streamable-http §Value Encoding).
fn decoded(value: &str) -> String {
    use base64::Engine as _;
    let inner = value.strip_prefix("=?base64?");
    let inner = inner.and_then(|inner| inner.strip_suffix("?="));
    let Some(inner) = inner else {
        return value.to_owned();
    };
    let bytes = base64::engine::general_purpose::STANDARD.decode(inner);
    String::from_utf8(bytes.expect("base64")).expect("text")
}
