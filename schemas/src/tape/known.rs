//! Caches repeated HTTP heads: a client sends the same with each of its requests, and a server with
//! its answers.

use std::borrow::Cow;

use crate::event::Head;

/// The heads that were read last, by their source text: a repeated one is neither validated nor
/// parsed again.
///
/// A new head replaces the oldest one, so that the memory is bounded and arbitrary heads only cost
/// time.
#[derive(Debug, Default)]
pub(super) struct KnownHeads {
    requests: Places,
    responses: Places,
}

#[derive(Debug, Default)]
struct Places {
    places: Vec<(Vec<u8>, Head)>,
    // The place that the next one takes.
    next: usize,
}

/// A client's few kinds of requests, or the answers to them.
const PLACES: usize = 8;
/// Longer heads are parsed each time, in bytes.
const LONGEST: usize = 2_048;

impl KnownHeads {
    /// The length of the member's value at the start of `rest`, if it is a head that was read
    /// before. It is an object, so it ends where its text does.
    pub(super) fn length(&self, name: &[u8], rest: &[u8]) -> Option<usize> {
        let places = self.places(name)?;
        let mut texts = places.places.iter().map(|(text, _)| text);
        texts.find(|text| rest.starts_with(text)).map(Vec::len)
    }

    /// The head with this name and text, if it was read before.
    pub(super) fn get(&self, name: &[u8], text: &[u8]) -> Option<Head> {
        let mut known = self.places(name)?.places.iter();
        let (_, head) = known.find(|(known, _)| known == text)?;
        Some(head.clone())
    }

    /// Keeps a head that was read.
    pub(super) fn insert(&mut self, text: &[u8], head: &Head) {
        if text.len() > LONGEST {
            return;
        }
        let mut head = head.clone();
        let places = match &mut head {
            Head::Request(request) => {
                lend(&mut request.method);
                lend(&mut request.version);
                &mut self.requests
            }
            Head::Response(response) => {
                lend(&mut response.version);
                &mut self.responses
            }
            Head::Interim(_) => return,
        };
        let known = (text.to_vec(), head);
        if let Some(place) = places.places.get_mut(places.next) {
            *place = known;
        } else {
            places.places.push(known);
        }
        places.next = (places.next + 1) % PLACES;
    }

    fn places(&self, name: &[u8]) -> Option<&Places> {
        match name {
            b"request" => Some(&self.requests),
            b"response" => Some(&self.responses),
            _ => None,
        }
    }
}

/// Words that nearly all heads have, so that copying them needs no allocation.
const WORDS: [&str; 6] = ["POST", "GET", "DELETE", "HTTP/1.1", "HTTP/1.0", "HTTP/2.0"];

fn lend(word: &mut Cow<'static, str>) {
    if let Some(known) = WORDS.iter().find(|known| *known == word) {
        *word = Cow::Borrowed(known);
    }
}

#[cfg(test)]
mod tests {
    use super::super::Reader;
    use std::fmt::Write as _;

    use super::*;
    use crate::event::{EventBody, RequestHead, ResponseHead};

    fn tape(lines: &[String]) -> String {
        let mut text = "{\"tape\":\"2.0\"}\n".to_owned();
        for (seq, line) in (1..).zip(lines) {
            writeln!(text, "{{\"seq\":{seq},\"at_us\":1,\"conduit\":1{line}}}").unwrap();
        }
        text
    }

    fn heads(text: &str) -> Vec<Result<Head, String>> {
        let mut reader = Reader::open(text.as_bytes()).unwrap();
        let mut found = Vec::new();
        loop {
            match reader.next_event() {
                Ok(Some(event)) => match event.body {
                    EventBody::Head(head) => found.push(Ok(*head)),
                    other => found.push(Err(format!("{other:?}"))),
                },
                Ok(None) => return found,
                Err(error) => {
                    found.push(Err(error.to_string()));
                    return found;
                }
            }
        }
    }

    fn request(target: &str) -> (String, Head) {
        let head = RequestHead {
            method: "POST".into(),
            target: target.to_owned(),
            version: "HTTP/1.1".into(),
            fields: [("accept", "a/b")].into_iter().collect(),
        };
        let text = serde_json::to_string(&head).unwrap();
        (format!(",\"request\":{text}"), Head::Request(head))
    }

    fn response(status: u16) -> (String, Head) {
        let head = ResponseHead {
            status,
            version: "HTTP/1.1".into(),
            ..ResponseHead::default()
        };
        let text = serde_json::to_string(&head).unwrap();
        (format!(",\"response\":{text}"), Head::Response(head))
    }

    #[test]
    fn a_head_that_comes_again_is_the_same_head() {
        let all = [
            request("/a"),
            response(200),
            request("/b"),
            request("/a"),
            response(200),
            response(404),
        ];
        let lines: Vec<_> = all.iter().map(|(line, _)| line.clone()).collect();
        let wanted: Vec<_> = all.into_iter().map(|(_, head)| Ok(head)).collect();
        assert_eq!(heads(&tape(&lines)), wanted);
    }

    #[test]
    fn more_kinds_than_there_are_places_are_read_as_well() {
        let all: Vec<_> = (0..3 * PLACES)
            .chain(0..PLACES)
            .map(|at| request(&format!("/{at}")))
            .collect();
        let lines: Vec<_> = all.iter().map(|(line, _)| line.clone()).collect();
        let wanted: Vec<_> = all.into_iter().map(|(_, head)| Ok(head)).collect();
        assert_eq!(heads(&tape(&lines)), wanted);
    }

    #[test]
    fn what_stands_behind_a_known_head_is_proved() {
        let (line, head) = request("/a");
        for behind in ["]", ",", "1", "{}", "\"", ",\"era\"", ",\"era\":1"] {
            let found = heads(&tape(&[line.clone(), format!("{line}{behind}")]));
            assert_eq!(found.first(), Some(&Ok(head.clone())));
            let alone = heads(&tape(&[response(200).0, format!("{line}{behind}")]));
            assert_eq!(found.get(1), alone.get(1), "{behind}");
            assert!(found.get(1).is_some_and(Result::is_err), "{behind}");
        }
    }

    #[test]
    fn a_head_is_known_under_its_own_name_only() {
        let (line, head) = response(200);
        let other = line.replace("response", "interim");
        let again = line.replace("response", "r\\u0065sponse");
        let found = heads(&tape(&[line, other, again]));
        assert_eq!(found.first(), Some(&Ok(head.clone())));
        assert!(matches!(found.get(1), Some(Ok(Head::Interim(_)))));
        assert_eq!(found.get(2), Some(&Ok(head)));
    }

    #[test]
    fn long_heads_take_no_place() {
        let mut known = KnownHeads::default();
        let (_, head) = request(&"x".repeat(LONGEST));
        known.insert(&vec![b'x'; LONGEST + 1], &head);
        assert!(known.requests.places.is_empty());
        for at in 0..100 {
            known.insert(at.to_string().as_bytes(), &head);
        }
        assert_eq!(known.requests.places.len(), PLACES);
    }
}
