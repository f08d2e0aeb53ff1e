//! A call that has not ended.

use tapewright_schemas::event::{
    Direction, Edit, EditTarget, Event, EventBody, Fields, Head, Offset, Payload, ResponseHead,
};
use tapewright_schemas::listing::Body;

use super::{CallBodies, CallEnd, ModelCall, UseSeen};
use crate::conversation::{Content, Request, Response, Role, StreamEvent, ToolUse};
use crate::links::digest;
use crate::read::ReadError;
use crate::read_error;
use crate::recognise::{Call, Framing};
use crate::stream::{Fold, StreamReader};

/// A call in progress.
#[derive(Debug)]
pub(super) struct Open {
    call: Call,
    began: Offset,
    told: ModelCall,
    response: Reading,
    // The body is JSON-RPC, on a path of a model.
    is_mcp: bool,
    // The message contents, if they are kept.
    said: Option<CallBodies>,
}

/// How the response is read.
#[derive(Debug)]
enum Reading {
    Nothing,
    Events(Box<Fold>),
    List(Box<StreamReader>),
    Whole,
    Error(Fields),
    Over,
}

impl Open {
    pub(super) fn new(call: Call, event: &Event, with_bodies: bool) -> Self {
        let told = ModelCall {
            seq: event.seq,
            session: event.session.0,
            conduit: event.conduit.0,
            at: event.at,
            provider: None,
            id: None,
            wire: call.wire,
            model: call.model.clone(),
            status: None,
            is_stream: false,
            usage: None,
            finish: None,
            tool_uses: Vec::new(),
            uses: Vec::new(),
            results: Vec::new(),
            first_token: None,
            took: None,
            end: CallEnd::CutShort,
        };
        Self {
            call,
            began: event.at,
            told,
            response: Reading::Nothing,
            is_mcp: false,
            said: with_bodies.then(CallBodies::default),
        }
    }

    /// The number of bytes of message contents that it holds.
    pub(super) fn held(&self) -> usize {
        let all = self
            .said
            .iter()
            .flat_map(|said| [&said.request, &said.answer]);
        all.filter_map(Body::text).map(<[u8]>::len).sum()
    }

    pub(super) fn seq(&self) -> u64 {
        self.told.seq
    }

    /// Handles the next event of the exchange; returns whether it is over. Without room message
    /// contents are not kept.
    pub(super) fn observe(&mut self, event: &Event, has_room: bool) -> bool {
        let is_answer = event.dir == Direction::ToClient;
        match &event.body {
            EventBody::Head(head) => {
                if let Head::Response(head) = &**head {
                    self.head(head);
                }
            }
            EventBody::Body { payload } | EventBody::Message { payload, .. } if is_answer => {
                self.answered(payload, event.at, has_room);
            }
            EventBody::Body { payload } => self.asked(payload, has_room),
            // The recorder only treats JSON-RPC as messages here.
            EventBody::Message { payload, .. } => {
                self.is_mcp = true;
                self.asked(payload, has_room);
            }
            EventBody::Edited(edit) if !is_answer => self.told.provider = provider(edit),
            EventBody::Closed(_) if is_answer => {
                self.told.took = Some(event.at.since(self.began));
                self.close();
                return true;
            }
            _ => {}
        }
        false
    }

    fn asked(&mut self, payload: &Payload, has_room: bool) {
        if let Some(said) = &mut self.said {
            said.request = kept(payload, has_room);
        }
        let Payload::Whole(body) = payload else {
            return;
        };
        if let Ok(request) = self.call.wire.read_request(&self.call, body) {
            self.is_mcp = false;
            self.told.results = results(&request);
            self.told.model = Some(request.model);
        }
    }

    fn head(&mut self, head: &ResponseHead) {
        // An interim response is not the answer.
        if head.status < 200 {
            return;
        }
        self.told.status = Some(head.status);
        let mut fields = head.fields.iter();
        let kind = fields.find(|(name, _)| name.eq_ignore_ascii_case("content-type"));
        let kind = kind.map_or("", |(_, value)| value).trim_start();
        let is_events = kind
            .get(..17)
            .is_some_and(|kind| kind.eq_ignore_ascii_case("text/event-stream"));
        let is_list = self.call.stream == Some(true) && self.call.framing == Framing::JsonArray;
        self.told.is_stream = is_events || is_list;
        self.response = if head.status >= 400 {
            Reading::Error(head.fields.clone())
        } else if is_events {
            Reading::Events(Box::new(Fold::new(self.call.wire)))
        } else if is_list {
            Reading::List(Box::new(StreamReader::new(
                self.call.wire,
                Framing::JsonArray,
            )))
        } else {
            Reading::Whole
        };
    }

    fn answered(&mut self, payload: &Payload, at: Offset, has_room: bool) {
        let is_whole = matches!(self.response, Reading::Whole | Reading::Error(_));
        if let Some(said) = self.said.as_mut().filter(|_| is_whole) {
            said.answer = kept(payload, has_room);
        }
        let Payload::Whole(body) = payload else {
            self.unreadable("it was longer than is recorded");
            return;
        };
        let added = match &mut self.response {
            Reading::Events(fold) => fold.event(body),
            Reading::List(reader) => reader.feed(body),
            Reading::Whole => return self.whole(body, at),
            Reading::Error(fields) => {
                let head = |name: &str| {
                    let mut all = fields.iter();
                    let found = all.find(|(known, _)| known.eq_ignore_ascii_case(name));
                    found.map(|(_, value)| value)
                };
                let status = self.told.status.unwrap_or_default();
                let error = read_error(self.call.wire, status, head, body);
                self.told.end = CallEnd::Failed(error);
                self.response = Reading::Over;
                return;
            }
            Reading::Nothing | Reading::Over => return,
        };
        match added {
            Ok(events) if events.iter().any(StreamEvent::is_said) => self.said(at),
            Ok(_) => {}
            Err(error) => self.broken(&error),
        }
    }

    fn whole(&mut self, body: &[u8], at: Offset) {
        match self.call.wire.read_response(body) {
            Ok(response) => {
                self.said(at);
                self.take(response);
                self.told.end = CallEnd::Answered;
                self.response = Reading::Over;
            }
            Err(error) => self.broken(&error),
        }
    }

    fn said(&mut self, at: Offset) {
        let since = at.since(self.began);
        self.told.first_token.get_or_insert(since);
    }

    fn take(&mut self, response: Response) {
        let uses = response.tool_uses();
        self.told.tool_uses = uses.map(|tool| tool.name.clone()).collect();
        self.told.uses = response.tool_uses().map(seen).collect();
        self.told.finish = response.finish().cloned();
        self.told.usage = response.usage;
        self.told.id = response.id;
        if response.model.is_some() {
            self.told.model = response.model;
        }
    }

    /// What was read before remains.
    fn broken(&mut self, error: &ReadError) {
        self.close();
        self.unreadable(&error.to_string());
    }

    fn unreadable(&mut self, why: &str) {
        self.told.end = CallEnd::Unreadable(why.to_owned());
        self.response = Reading::Over;
    }

    fn close(&mut self) {
        let ended = match std::mem::replace(&mut self.response, Reading::Over) {
            Reading::Events(fold) => fold.finish(),
            Reading::List(reader) => reader.finish(),
            _ => return,
        };
        if let Some(said) = &mut self.said {
            let text = self.call.wire.write_response(&ended.response).to_string();
            said.answer = Body::Text(text.into());
        }
        self.take(ended.response);
        self.told.end = ended.end.into();
    }

    /// The call; `None` if the exchange was MCP.
    pub(super) fn into_call(mut self) -> Option<(ModelCall, CallBodies)> {
        if self.is_mcp {
            return None;
        }
        if self.told.status.is_some_and(|status| status >= 400)
            && self.told.end == CallEnd::CutShort
        {
            let status = self.told.status.unwrap_or_default();
            let error = read_error(self.call.wire, status, |_| None, b"");
            self.told.end = CallEnd::Failed(error);
        }
        self.close();
        Some((self.told, self.said.unwrap_or_default()))
    }
}

fn kept(payload: &Payload, has_room: bool) -> Body {
    match payload {
        Payload::Whole(text) if has_room => Body::Text(text.clone()),
        _ => Body::NoRoom,
    }
}

/// The provider's name that a recorder of several providers removed from the beginning of the path.
fn provider(edit: &Edit) -> Option<String> {
    let is_target = edit.what == EditTarget::Target;
    let name = edit.before.strip_suffix(&edit.after)?.trim_matches('/');
    (is_target && !name.is_empty() && !name.contains('/')).then(|| name.to_owned())
}

fn seen(one: &ToolUse) -> UseSeen {
    UseSeen {
        id: one.id.clone(),
        name: one.name.clone(),
        arguments: one.arguments().as_ref().map(digest),
    }
}

/// The results after the model's last message.
fn results(request: &Request) -> Vec<(Option<String>, Option<String>)> {
    let messages = request.messages.iter().rev();
    let fresh = messages.take_while(|message| message.role != Role::Assistant);
    let mut found: Vec<_> = fresh
        .flat_map(|message| message.blocks.iter().rev())
        .filter_map(|block| match &block.content {
            Content::ToolResult(result) => Some((result.id.clone(), result.name.clone())),
            _ => None,
        })
        .collect();
    found.reverse();
    found
}
