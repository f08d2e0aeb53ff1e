//! A provider of models with scripted answers: `peer provider SCRIPT [LOG]`.
//!
//! It supports four wires over HTTP/1.1, chosen by the path: Anthropic (`…/messages`), `OpenAI`
//! Chat Completions (`…/chat/completions`; as Mistral's where the model's name has `mistral`),
//! `OpenAI` Responses (`…/responses`) and Gemini (`…:generateContent`, `…:streamGenerateContent`,
//! with or without `alt=sse`); besides `…/models`, embeddings (`…/embeddings`, `…:embedContent`)
//! and counts of tokens. It implements them independently, to check what the product writes and
//! reads. Its address is the first line of its output; it ends at the end of its input.
//!
//! SCRIPT is a JSON file, or JSON itself (it begins with `{` or `[`): a list of turns, or an object
//! with
//!
//! | member | meaning |
//! |---|---|
//! | `turns` | the turns; the number of assistant turns in a request selects the next one, so that a repeated request gets the same answer |
//! | `key` | the key that each request must have in its wire's header, else 401; without it no key is required |
//! | `sides` | turns for requests outside the conversation: `when` is a text in the request; without it, one without tools |
//! | `repeat` | the last turn is repeated forever; without it a request beyond the last turn is refused with 400 |
//! | `embeddings` | answers to texts to embed: an object or a list of them, by time, with `when` (a text in it), `vector` and the members of errors below; without one a text is embedded as its length and first byte |
//! | `models` | the models in `/v1/models` |
//!
//! A turn is an object, or a list of objects: the answers for the first time, the second time, …
//! (an error, then an answer):
//!
//! | member | meaning |
//! |---|---|
//! | `text`, `thinking`, `refusal` | the model's message |
//! | `tools` | calls, each with `name`, `arguments` and optionally `id`; a name selects the offered tool that ends with it |
//! | `usage` | `input`, `output`, `cached`, `reasoning`: tokens; 100, 20, 0 and 0 without them; `cached` is part of `input` |
//! | `finish` | `max_tokens` or `filter`, if it does not follow from the other members |
//! | `status`, `retry_after`, `message` | an error in the wire's own format |
//! | `retry_date` | the same time as a date, this many seconds from now |
//! | `delay_ms`, `pause_ms` | the wait before the answer, and between the events of a stream |
//! | `hang`, `malformed` | no answer at all; an answer that is not JSON |
//! | `cut`, `fails` | a stream ends after this many events, silently or with the wire's error event |
//!
//! Invalid requests are refused as by the real providers: calls without results, results without
//! calls, thinking that was not returned with its calls. LOG gets a JSON line per request: `wire`,
//! `path`, `status`, `turn`, `key`, `body`.

mod anthropic;
mod chat;
mod embeddings;
mod gemini;
mod http;
mod others;
mod responses;
mod script;
mod turns;

use std::fs::File;
use std::io::{self, BufReader, Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::Duration;

use serde_json::{Value, json};

use self::embeddings::Kind;
use self::http::{Answer, Body, ProviderRequest};
use self::script::{Moment, Script};
use self::turns::{Ask, ModelTurn};

/// One wire.
trait Wire: Sync {
    fn name(&self) -> &'static str;
    /// The key that a request brings.
    fn key(&self, asked: &ProviderRequest) -> Option<String>;
    /// Parses a request; the error is the provider's message about it.
    fn ask(&self, asked: &ProviderRequest, body: &Value) -> Result<Ask, String>;
    fn whole(&self, told: &ModelTurn) -> Value;
    /// The events of a stream, as they are sent.
    fn events(&self, told: &ModelTurn) -> Vec<String>;
    fn error(&self, status: u16, message: &str) -> Value;
    /// The error in the middle of a stream.
    fn error_event(&self) -> String;
}

/// The state that all connections share.
struct Provider {
    script: Script,
    log: Option<Mutex<File>>,
}

/// Serves until the end of input.
pub(super) fn serve(script: &str, log: Option<&&str>) -> io::Result<()> {
    let log = log.map(File::create).transpose()?.map(Mutex::new);
    let provider = Arc::new(Provider {
        script: Script::read(script)?,
        log,
    });
    let listener = TcpListener::bind("127.0.0.1:0")?;
    println!("http://{}", listener.local_addr()?);
    thread::spawn(move || {
        for socket in listener.incoming().flatten() {
            let provider = Arc::clone(&provider);
            thread::spawn(move || provider.connection(&socket));
        }
    });
    io::copy(&mut io::stdin().lock(), &mut io::sink()).map(drop)
}

impl Provider {
    fn connection(&self, socket: &TcpStream) -> io::Result<()> {
        socket.set_nodelay(true)?;
        let mut input = BufReader::new(socket.try_clone()?);
        let mut output = socket.try_clone()?;
        while let Some(asked) = http::read(&mut input, &mut output)? {
            let answer = self.answer(&asked)?;
            if matches!(answer.body, Body::Never) {
                // Until the client leaves.
                return input.read_to_end(&mut Vec::new()).map(drop);
            }
            let last = asked.field("connection") == Some("close");
            if !http::write(&mut output, &answer)? || last {
                break;
            }
        }
        Ok(())
    }

    fn answer(&self, asked: &ProviderRequest) -> io::Result<Answer> {
        if let Some(kind) = Kind::of(&asked.path) {
            let answer = self.embedded(kind, asked);
            self.note(asked, kind.name(), None, &answer)?;
            return Ok(answer);
        }
        let Some(wire) = wire(&asked.path) else {
            let answer = others::answer(asked, &self.script);
            self.note(asked, "none", None, &answer)?;
            return Ok(answer);
        };
        let (turn, answer) = match self.checked(wire, asked) {
            Err((status, message)) => (
                None,
                Answer::json(status, &wire.error(status, message.as_str())),
            ),
            Ok((ask, moment)) => {
                thread::sleep(Duration::from_millis(moment.delay_ms));
                (Some(ask.turn), said(wire, &ask, &moment))
            }
        };
        self.note(asked, wire.name(), turn, &answer)?;
        Ok(answer)
    }

    fn embedded(&self, kind: Kind, asked: &ProviderRequest) -> Answer {
        let wire = kind.wire();
        if let Err(message) = self.key_fits(wire, asked) {
            return Answer::json(401, &wire.error(401, &message));
        }
        match serde_json::from_slice::<Value>(&asked.body) {
            Ok(body) => kind.answer(asked, &body, &self.script),
            Err(error) => Answer::json(400, &wire.error(400, &error.to_string())),
        }
    }

    fn key_fits(&self, wire: &dyn Wire, asked: &ProviderRequest) -> Result<(), String> {
        match &self.script.key {
            Some(key) if wire.key(asked).as_ref() != Some(key) => {
                Err("no valid key was brought".to_owned())
            }
            _ => Ok(()),
        }
    }

    /// What a valid request asks for, and the script's answer to it.
    fn checked(
        &self,
        wire: &dyn Wire,
        asked: &ProviderRequest,
    ) -> Result<(Ask, Moment), (u16, String)> {
        self.key_fits(wire, asked)
            .map_err(|message| (401, message))?;
        let body: Value = serde_json::from_slice(&asked.body)
            .map_err(|error| (400, format!("the body is no JSON: {error}")))?;
        let ask = wire.ask(asked, &body).map_err(|message| (400, message))?;
        let text = String::from_utf8_lossy(&asked.body);
        self.script
            .thinking_came_back(&ask, wire.name(), &text)
            .and_then(|()| self.script.moment(&ask, &text))
            .map_err(|message| (400, message))
            .map(|moment| (ask, moment))
    }

    fn note(
        &self,
        asked: &ProviderRequest,
        wire: &str,
        turn: Option<usize>,
        answer: &Answer,
    ) -> io::Result<()> {
        let Some(log) = &self.log else { return Ok(()) };
        let body: Value = serde_json::from_slice(&asked.body).unwrap_or_default();
        let line = json!({
            "wire": wire, "method": asked.method, "path": asked.path, "status": answer.status, "turn": turn,
            "key": wire_key(&asked.path, asked), "body": body,
        });
        let mut log = log.lock().expect("no writer fails");
        writeln!(log, "{line}")?;
        log.flush()
    }
}

fn wire(path: &str) -> Option<&'static dyn Wire> {
    let wires: [(&str, &'static dyn Wire); 5] = [
        ("/messages", &anthropic::Anthropic),
        ("/chat/completions", &chat::Chat),
        ("/responses", &responses::Responses),
        (":generateContent", &gemini::Gemini),
        (":streamGenerateContent", &gemini::Gemini),
    ];
    let found = wires.into_iter().find(|(end, _)| path.ends_with(end));
    found.map(|(_, wire)| wire)
}

fn wire_key(path: &str, asked: &ProviderRequest) -> Option<String> {
    let wire = wire(path).or_else(|| Kind::of(path).map(Kind::wire))?;
    wire.key(asked)
}

/// The script's answer, in the form of the wire.
fn said(wire: &dyn Wire, ask: &Ask, moment: &Moment) -> Answer {
    if moment.hang {
        return Answer::never();
    }
    if let Some(status) = moment.status {
        let mut answer = Answer::json(status, &wire.error(status, &moment.message));
        if let Some(seconds) = &moment.retry_after {
            answer.fields.push(("retry-after", seconds.clone()));
        }
        if let Some([now, later]) = &moment.retry_date {
            answer.fields.push(("date", now.clone()));
            answer.fields.push(("retry-after", later.clone()));
        }
        return answer;
    }
    let told = ModelTurn::new(ask, moment);
    if !ask.stream {
        let mut text = wire.whole(&told).to_string();
        if moment.malformed {
            text.truncate(text.len() / 2);
        }
        return Answer::text("application/json", text);
    }
    let mut events = wire.events(&told);
    if moment.malformed {
        events.insert(1, "data: {\"half\": \n\n".to_owned());
    }
    if let Some(count) = moment.fails {
        events.truncate(count);
        events.push(wire.error_event());
    }
    Answer::events(ask, events, moment)
}
