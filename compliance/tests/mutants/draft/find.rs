//! Finding events in a session.
//!
//! | selector          | event                                                     |
//! |-------------------|-----------------------------------------------------------|
//! | `>tools/call:2`   | the second such request or notification to the server     |
//! | `<roots/list`     | the first such request or notification to the client      |
//! | `=tools/call:2`   | the response to the second such request                   |
//! | `?tools/call:2`   | the request's HTTP head; `?GET:1` that of the first GET   |
//! | `!tools/call:2`   | the HTTP head of the response                             |
//! | `~tools/call:2/3` | the third event of the response's stream                  |
//! | `end>`, `end<`    | the last end of a direction                               |
//! | `exit`            | the end of the process                                    |
//! | `last`            | the last event                                            |

use serde_json::Value;
use tapewright_schemas::event::{ConduitId, Direction, Event, EventBody, Head};

use super::Draft;

impl Draft {
    /// The position of a selector's event.
    pub(super) fn find(&self, selector: &str) -> usize {
        self.look(selector)
            .unwrap_or_else(|| panic!("no event is `{selector}`"))
    }

    fn look(&self, selector: &str) -> Option<usize> {
        match selector {
            "last" => return self.events.len().checked_sub(1),
            "exit" => return self.last(|event| matches!(event.body, EventBody::Exited(_))),
            "end>" | "end<" => {
                let dir = direction(selector.trim_start_matches("end"));
                let ends =
                    |event: &Event| event.dir == dir && matches!(event.body, EventBody::Closed(_));
                return self.last(ends);
            }
            _ => {}
        }
        let (sort, rest) = selector.split_at(1);
        let (rest, within) = match rest.rsplit_once('/') {
            Some((rest, number)) if sort == "~" => (rest, number.parse().ok()?),
            _ => (rest, 1_usize),
        };
        let (name, number) = match rest.rsplit_once(':') {
            Some((name, number)) => (name, number.parse().ok()?),
            None => (rest, 1_usize),
        };
        match sort {
            ">" | "<" => self.named(name, Some(direction(sort)), number),
            "=" => self.response(self.named(name, None, number)?),
            "?" => self.head(self.exchange(name, number)?, Direction::ToServer),
            "!" => self.head(self.exchange(name, number)?, Direction::ToClient),
            "~" => self.note(self.exchange(name, number)?, within),
            _ => None,
        }
    }

    fn last(&self, is_it: impl Fn(&Event) -> bool) -> Option<usize> {
        self.events.iter().rposition(is_it)
    }

    /// The messages with a method, by direction or both.
    fn named(&self, method: &str, dir: Option<Direction>, number: usize) -> Option<usize> {
        let mut all = (0..self.events.len()).filter(|place| {
            let event = &self.events[*place];
            dir.is_none_or(|dir| event.dir == dir)
                && self.read(*place).is_some_and(|one| one["method"] == method)
        });
        all.nth(number - 1)
    }

    fn response(&self, request: usize) -> Option<usize> {
        let (asked, dir) = (self.read(request)?, self.events[request].dir);
        (request + 1..self.events.len()).find(|place| {
            let event = &self.events[*place];
            event.dir != dir
                && self.read(*place).is_some_and(|one| {
                    let answers = one.get("result").is_some() || one.get("error").is_some();
                    answers && one["id"] == asked["id"]
                })
        })
    }

    /// The exchange that carries a message to the server, or the n-th of an HTTP method.
    fn exchange(&self, name: &str, number: usize) -> Option<ConduitId> {
        if name.chars().all(|char| char.is_ascii_uppercase()) {
            let asks = |event: &&Event| match &event.body {
                EventBody::Head(head) => {
                    matches!(&**head, Head::Request(head) if &*head.method == name)
                }
                _ => false,
            };
            let mut all = self.events.iter().filter(asks);
            return all.nth(number - 1).map(|event| event.conduit);
        }
        let place = self.named(name, Some(Direction::ToServer), number)?;
        Some(self.events[place].conduit)
    }

    fn head(&self, conduit: ConduitId, dir: Direction) -> Option<usize> {
        self.events.iter().position(|event| {
            let head = matches!(event.body, EventBody::Head(_));
            head && event.conduit == conduit && event.dir == dir
        })
    }

    fn note(&self, conduit: ConduitId, number: usize) -> Option<usize> {
        let all = self.events.iter().enumerate().filter(|(_, event)| {
            event.conduit == conduit && matches!(event.body, EventBody::Sse(_))
        });
        all.map(|(place, _)| place).nth(number - 1)
    }

    fn read(&self, place: usize) -> Option<Value> {
        match &self.events[place].body {
            EventBody::Message { payload, .. } => serde_json::from_slice(payload.kept()).ok(),
            _ => None,
        }
    }

    /// Every message with this method that travels this way.
    pub(super) fn all(&self, selector: &str) -> Vec<usize> {
        let (sort, method) = selector.split_at(1);
        let numbers = 1..=self.events.len();
        numbers
            .map_while(|number| self.named(method, Some(direction(sort)), number))
            .collect()
    }
}

fn direction(way: &str) -> Direction {
    match way {
        ">" => Direction::ToServer,
        _ => Direction::ToClient,
    }
}
