//! An MCP server within this process, as an upstream: what a child process would be to a front.
//!
//! The thread that writes a line also parses it. Quick requests are answered right there; others
//! are answered by worker threads, which all links share.

use std::time::Duration;
use std::{io, mem};

use tapewright_proxy::upstream::{ChunkSink, ChunkSource, Link, OpenError, ReadResult, Upstream};
use tapewright_schemas::event::Peer;
use tokio::runtime::Handle;

use super::LONGEST_MESSAGE;
use super::conversation::{Conversation, Heard};
use super::desk::Desk;
use super::refusal::Refusal;
use super::server::Server;

/// A server whose every link is a conversation of its own.
pub(super) struct LinkServer {
    server: Server,
    /// Its blocking threads do the work.
    workers: Handle,
}

impl LinkServer {
    /// Answers slow requests on the blocking threads of `workers`.
    pub(super) fn new(server: Server, workers: Handle) -> Self {
        Self { server, workers }
    }
}

impl Upstream for LinkServer {
    fn open(&self) -> Result<Link, OpenError> {
        let desk = Desk::default();
        let waiting = desk.clone();
        Ok(Link {
            // There is no other process than this one.
            peer: Peer::Process {
                pid: std::process::id(),
            },
            to_server: Box::new(Input {
                conversation: Conversation::new(self.server.clone()),
                workers: self.workers.clone(),
                desk: desk.clone(),
                partial: Vec::new(),
                is_skipping: false,
            }),
            to_client: Box::new(Output(desk.clone())),
            log: None,
            ended: Box::new(move || Ok(waiting.exit())),
            life: Box::new(desk),
        })
    }
}

/// The input of the server. Dropping it closes the input.
struct Input {
    conversation: Conversation,
    workers: Handle,
    desk: Desk,
    /// The beginning of a line whose end is missing.
    partial: Vec<u8>,
    /// The rest of the line is dropped: it is too long.
    is_skipping: bool,
}

impl Input {
    fn hear(&mut self, line: &[u8]) {
        self.desk.wait_for_room();
        match self.conversation.hear(line) {
            Heard::Nothing => {}
            Heard::Answer(line) => self.desk.say(&line),
            Heard::Cancelled { id } => self.desk.cancel(&id),
            Heard::Work { id, work } => {
                let owed = self.desk.owe(id, line.len());
                drop(self.workers.spawn_blocking(move || owed.work(work)));
            }
        }
    }

    /// Takes the next part of a line.
    fn part(&mut self, part: &[u8], is_last: bool) {
        if self.partial.len() + part.len() > LONGEST_MESSAGE && !self.is_skipping {
            self.is_skipping = true;
            self.partial = Vec::new();
            self.desk.say(&Refusal::too_long().line(None));
        }
        if !self.is_skipping {
            self.partial.extend_from_slice(part);
        }
        if is_last && !mem::take(&mut self.is_skipping) {
            let line = mem::take(&mut self.partial);
            // At the end of the input there may be none; a blank line needs no room.
            if !line.is_empty() {
                self.hear(&line);
            }
        }
    }
}

impl ChunkSink for Input {
    fn write(&mut self, chunk: &[u8]) -> io::Result<()> {
        for part in chunk.split_inclusive(|byte| *byte == b'\n') {
            let line = part.strip_suffix(b"\n");
            self.part(line.unwrap_or(part), line.is_some());
        }
        if self.desk.is_ended() {
            return Err(io::ErrorKind::BrokenPipe.into());
        }
        Ok(())
    }
}

impl Drop for Input {
    fn drop(&mut self) {
        // The last line may lack its line feed.
        self.part(&[], true);
        self.desk.end_input();
    }
}

/// The output of the server.
struct Output(Desk);

/// How much is read at once where there is no room yet, in bytes.
const CHUNK: usize = 64 << 10;

impl ChunkSource for Output {
    fn read(&mut self, space: &mut Vec<u8>, timeout: Option<Duration>) -> io::Result<ReadResult> {
        let room = space.capacity() - space.len();
        let room = if room == 0 { CHUNK } else { room };
        Ok(self.0.read(space, room, timeout))
    }
}

impl Drop for Output {
    fn drop(&mut self) {
        self.0.hang_up();
    }
}

#[cfg(test)]
mod tests {
    use tapewright_schemas::event::Exit;

    use super::super::tests::{rest, server};
    use super::*;

    #[test]
    fn what_is_asked_is_answered_before_the_end() {
        let (_folder, server) = server();
        let runtime = tokio::runtime::Builder::new_current_thread().build();
        let runtime = runtime.unwrap();
        let link = LinkServer::new(server, runtime.handle().clone()).open();
        let Link {
            mut to_server,
            mut to_client,
            ended,
            ..
        } = link.unwrap();
        let opening = r#"{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"x","version":"1"}}}"#;
        let call =
            r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"list_recordings"}}"#;
        let lines = format!("{opening}\n{call}\n{call}\n");
        for piece in lines.as_bytes().chunks(11) {
            to_server.write(piece).unwrap();
        }
        let long = vec![b' '; LONGEST_MESSAGE];
        to_server.write(&long).unwrap();
        to_server.write(b"[]\n").unwrap();
        // The last line may lack its line feed.
        to_server
            .write(br#"{"jsonrpc":"2.0","id":2,"method":"ping"}"#)
            .unwrap();
        drop(to_server);
        let said = rest(|space| to_client.read(space, None).unwrap());
        let count = |part: &str| said.matches(part).count();
        assert_eq!(count("\n"), 5, "{said}");
        assert_eq!(count(r#""id":1,"result""#), 2, "{said}");
        assert_eq!(count("too long"), 1, "{said}");
        assert_eq!(count(r#""id":2,"result":{}"#), 1, "{said}");
        assert_eq!(ended().unwrap(), Exit::Code(0));
    }
}
