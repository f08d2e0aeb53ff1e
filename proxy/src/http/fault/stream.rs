//! An event stream of which a fault acts on the answer alone.

use std::sync::Arc;

use bytes::{Bytes, BytesMut};
use http_body::Frame;
use http_body_util::BodyExt as _;

use super::outcome::Outcome;
use super::play::{Player, Sender, channel};
use super::{Aimed, CutOff, Scene};
use crate::http::body::Outbound;
use crate::http::listen::Phase;

/// Cuts a stream into its events, byte for byte.
#[derive(Debug, Default)]
struct Cutter {
    buffer: BytesMut,
    // How far it was looked at, and whether a line begins there.
    looked: usize,
    begins: bool,
    after_return: bool,
}

impl Cutter {
    /// The next event, with the blank line that ends it (HTML standard, §9.2.6).
    fn next(&mut self) -> Option<Bytes> {
        while let Some(byte) = self.buffer.get(self.looked).copied() {
            self.looked += 1;
            // The line feed of a line end that began with a carriage return.
            let second = byte == b'\n' && std::mem::take(&mut self.after_return);
            self.after_return = byte == b'\r';
            if second {
                continue;
            }
            let ends = matches!(byte, b'\n' | b'\r');
            if ends && std::mem::replace(&mut self.begins, ends) {
                if byte == b'\r' && self.is_after_line_feed() {
                    // Where lines end in both, the line feed is part of the event.
                    match self.buffer.get(self.looked) {
                        Some(b'\n') => self.looked += 1,
                        Some(_) => {}
                        None => {
                            self.looked -= 1;
                            self.after_return = false;
                            return None;
                        }
                    }
                    self.after_return = false;
                }
                let end = std::mem::take(&mut self.looked);
                return Some(self.buffer.split_to(end).freeze());
            }
            self.begins = ends;
        }
        None
    }

    /// Whether the byte before the one that was looked at last is a line feed.
    fn is_after_line_feed(&self) -> bool {
        let before = self.looked.checked_sub(2);
        before.is_some_and(|at| self.buffer.get(at) == Some(&b'\n'))
    }

    /// All that is left.
    fn rest(&mut self) -> Bytes {
        self.looked = 0;
        self.buffer.split().freeze()
    }
}

impl Scene {
    /// The body that the client gets of an event stream; it is made on a task of its own,
    /// until the client leaves.
    pub(super) fn stream(self, aimed: Aimed, body: Outbound) -> Outbound {
        let (sender, out) = channel();
        let gateway = Arc::clone(&self.gateway);
        gateway.tasks.clone().spawn(async move {
            let mut phase = gateway.phase.clone();
            tokio::select! {
                _ = self.pass_events(&aimed, body, &sender) => {}
                () = sender.closed() => {}
                _ = phase.wait_for(|phase| *phase == Phase::Stopping) => {}
            }
        });
        out
    }

    /// Passes events on until the answer comes, acts on it, and passes on the rest. None
    /// when nobody listens any more, or the stream was cut.
    async fn pass_events(&self, aimed: &Aimed, mut body: Outbound, out: &Sender) -> Option<()> {
        let limit_bytes = self.log.limit_bytes();
        let mut cutter = Cutter {
            begins: true,
            ..Cutter::default()
        };
        let mut acted = false;
        while let Some(frame) = body.frame().await {
            let data = match frame {
                Ok(frame) => frame.into_data(),
                Err(error) => {
                    send(out, cutter.rest()).await?;
                    out.send(Err(error)).await.ok()?;
                    return None;
                }
            };
            // Trailers of a stream that a fault met are lost; they are on the tape.
            let Ok(data) = data else { continue };
            if acted {
                send(out, data).await?;
                continue;
            }
            cutter.buffer.extend_from_slice(&data);
            while !acted && let Some(event) = cutter.next() {
                acted = self.pass_event(aimed, event, out).await?;
            }
            if !acted && cutter.buffer.len() > limit_bytes {
                acted = true;
                self.tell(aimed, "passed on: an event is too long to be changed");
            }
            if acted {
                send(out, cutter.rest()).await?;
            }
        }
        send(out, cutter.rest()).await
    }

    /// Passes one event on, or acts on it; whether it was the answer.
    async fn pass_event(&self, aimed: &Aimed, event: Bytes, out: &Sender) -> Option<bool> {
        let Some(answer) = aimed.find(&event) else {
            send(out, event).await?;
            return Some(false);
        };
        match self.act(aimed, &answer).await {
            Outcome::Cut => {
                drop(out.send(Err(Box::new(CutOff))).await);
                return None;
            }
            Outcome::Nothing => {}
            Outcome::Pass | Outcome::Status(..) => send(out, event).await?,
            Outcome::Play(moves) => {
                let player = Player::new(&self.gateway, aimed.hit.clone());
                player.play(moves, out).await?;
            }
        }
        Some(true)
    }
}

async fn send(out: &Sender, bytes: Bytes) -> Option<()> {
    if bytes.is_empty() {
        return Some(());
    }
    out.send(Ok(Frame::data(bytes))).await.ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The events of a stream that comes in pieces of this size.
    fn cut(text: &str, size: usize) -> (Vec<String>, String) {
        let mut cutter = Cutter {
            begins: true,
            ..Cutter::default()
        };
        let mut events = Vec::new();
        let shown = |bytes: Bytes| String::from_utf8(bytes.to_vec()).unwrap();
        for piece in text.as_bytes().chunks(size) {
            cutter.buffer.extend_from_slice(piece);
            events.extend(std::iter::from_fn(|| cutter.next().map(shown)));
        }
        (events, shown(cutter.rest()))
    }

    #[test]
    fn events_end_with_a_blank_line_however_lines_end() {
        for (text, wanted, rest) in [
            ("data: a\n\ndata: b\n\n: c\n", 2, ": c\n"),
            ("data: a\r\n\r\ndata: b\r\rid: 1\n\n", 3, ""),
            ("data: a\r\n\r\n\r\n", 1, ""),
        ] {
            for size in 1..=text.len() {
                let (events, left) = cut(text, size);
                assert_eq!(events.concat() + &left, text);
                let whole = events.iter().filter(|one| one.trim() != "").count();
                assert_eq!(whole, wanted, "{events:?}");
                assert_eq!(left.trim_start_matches('\n'), rest.trim_start_matches('\n'));
            }
        }
    }
}
