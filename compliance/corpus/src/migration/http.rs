//! HTTP exchanges, with the data that the cases need.

use std::collections::{HashMap, VecDeque};

use tapewright_schemas::event::{
    ConduitId, Direction, Event, EventBody, Head, RequestHead, ResponseHead,
};

use super::fold::{AskedHttp, HttpSeen};

/// The HTTP exchanges in progress.
#[derive(Debug, Default)]
pub(super) struct Exchanges {
    asked: HashMap<ConduitId, AskedHttp>,
    order: VecDeque<ConduitId>,
}

/// A part of an exchange.
pub(super) enum Part<'a> {
    Request(&'a RequestHead),
    Response(&'a ResponseHead),
    Body(&'a [u8]),
}

/// The maximum number that are remembered.
const MOST: usize = 4_096;

impl Exchanges {
    /// Handles the next event, and shows the HTTP exchange that it belongs to.
    pub(super) fn observe(
        &mut self,
        event: &Event,
        mut each: impl FnMut(&HttpSeen<'_>, &Part<'_>),
    ) {
        let mut tell = |asked: Option<&AskedHttp>, part: &Part<'_>| {
            let seen = HttpSeen {
                seq: event.seq,
                dir: event.dir,
                asked,
            };
            each(&seen, part);
        };
        match &event.body {
            EventBody::Head(head) => match &**head {
                Head::Request(head) => {
                    let asked = self.begin(event, head);
                    tell(Some(asked), &Part::Request(head));
                }
                Head::Response(head) if head.ours.is_none() => {
                    tell(self.asked.get(&event.conduit), &Part::Response(head));
                }
                Head::Interim(_) | Head::Response(_) => {}
            },
            EventBody::Body { payload } => {
                tell(self.asked.get(&event.conduit), &Part::Body(payload.kept()));
            }
            EventBody::Closed(_) if event.dir == Direction::ToClient => {
                self.asked.remove(&event.conduit);
            }
            _ => {}
        }
    }

    /// The head of the request of an exchange in progress.
    pub(super) fn get(&self, conduit: ConduitId) -> Option<&AskedHttp> {
        self.asked.get(&conduit)
    }

    fn begin(&mut self, event: &Event, head: &RequestHead) -> &AskedHttp {
        if self.order.len() >= MOST
            && let Some(oldest) = self.order.pop_front()
        {
            self.asked.remove(&oldest);
        }
        self.order.push_back(event.conduit);
        let (host, path) = place(head);
        let asked = AskedHttp {
            seq: event.seq,
            method: head.method.clone().into_owned(),
            host,
            path,
            fields: head.fields.clone(),
        };
        self.asked
            .entry(event.conduit)
            .insert_entry(asked)
            .into_mut()
    }
}

/// The host and the path that a request is for.
fn place(head: &RequestHead) -> (String, String) {
    let target = head.target.as_str();
    let whole = target.split_once("://").map(|(_, rest)| rest);
    let (host, path) = match whole {
        Some(rest) => rest.split_at(rest.find(['/', '?']).unwrap_or(rest.len())),
        None => (head.fields.get("host").unwrap_or_default(), target),
    };
    let path = path.split_once('?').map_or(path, |(path, _)| path);
    (host.to_ascii_lowercase(), path.to_owned())
}
