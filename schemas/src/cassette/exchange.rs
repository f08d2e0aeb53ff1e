//! Reading the member `http`.
//!
//! Members that are missing or not understood are ignored, since the file may be hand-written.

use std::borrow::Cow;

use super::http::reason;
use super::read::{list, millis};
use crate::event::{
    Added, CloseReason, ConduitId, Edit, EditTarget, Fields, Offset, RequestHead, ResponseHead,
    SseNote, WrittenInPlace,
};
use crate::recording::{Element, elements};

/// The data of an HTTP exchange in a cassette.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Http {
    /// Its number; `None` if the file has none.
    pub conduit: Option<ConduitId>,
    /// The number of the client's connection.
    pub connection: Option<u64>,
    /// The request's head.
    pub request: RequestHead,
    /// The response's head.
    pub response: Option<ResponseHead>,
    /// When the request's head arrived.
    pub at: Option<Offset>,
    /// When the response's head arrived.
    pub response_at: Option<Offset>,
    /// When the response ended.
    pub ended_at: Option<Offset>,
    /// How the response ended.
    pub ended: Option<CloseReason>,
    /// How the request ended, if it is incomplete.
    pub request_ended: Option<CloseReason>,
    /// Trailer fields of the request and the response.
    pub trailers: [Option<Fields>; 2],
    /// What was changed on the way.
    pub edits: Vec<Edit>,
    /// How long the recorder held it.
    pub added: Option<Added>,
}

/// The stream on which a response came.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Via {
    /// The exchange, if it is not that of the request.
    pub conduit: Option<ConduitId>,
    /// The other fields of the response's event in the stream.
    pub sse: Option<SseNote>,
}

impl Http {
    pub(super) fn read(http: &Element<'_>) -> Option<Self> {
        let text = |name: &'static str| http.member(name).and_then(|text| text.string());
        let word = |name: &'static str| text(name).and_then(|word| reason(&word));
        let fields = |name: &'static str| http.member(name).map(|fields| read_fields(&fields));
        let status = http.member("status").and_then(|status| status.number());
        let added = http.member("added_us").map(|added| {
            let number = |name| added.member(name).and_then(|number| number.number());
            Added {
                request_us: number("request").unwrap_or_default(),
                response_us: number("response").unwrap_or_default(),
            }
        });
        Some(Self {
            conduit: http
                .member("conduit")
                .and_then(|conduit| conduit.number())
                .map(ConduitId),
            connection: http.member("connection").and_then(|number| number.number()),
            request: RequestHead {
                method: text("method")?.into(),
                target: text("path").unwrap_or_default(),
                version: Cow::default(),
                fields: fields("request").unwrap_or_default(),
            },
            response: status.map(|status| {
                let written = WrittenInPlace {
                    ours: text("ours"),
                    ours_cause: text("ours_cause"),
                    ours_about: text("ours_about"),
                    ours_detail: text("ours_detail"),
                };
                written.read(ResponseHead {
                    status,
                    fields: fields("response").unwrap_or_default(),
                    ..ResponseHead::default()
                })
            }),
            at: millis(http, "at_ms"),
            response_at: millis(http, "response_ms"),
            ended_at: millis(http, "ended_ms"),
            ended: word("ended"),
            request_ended: word("request_ended"),
            trailers: [fields("request_trailers"), fields("trailers")],
            edits: list(http, "edits")
                .unwrap_or_default()
                .iter()
                .map(read_edit)
                .collect(),
            added,
        })
    }
}

impl Via {
    pub(super) fn read(via: &Element<'_>) -> Self {
        let conduit = via.member("conduit").and_then(|conduit| conduit.number());
        let sse = via.member("sse").map(|sse| SseNote {
            message: true,
            ..read_note(&sse)
        });
        Self {
            conduit: conduit.map(ConduitId),
            sse,
        }
    }
}

/// The fields of a stream's event other than its data.
pub(super) fn read_note(sse: &Element<'_>) -> SseNote {
    let text = |name: &'static str| sse.member(name).and_then(|text| text.string());
    SseNote {
        id: text("id"),
        event: text("event"),
        retry_ms: sse.member("retry_ms").and_then(|number| number.number()),
        comment: text("comment"),
        message: false,
        cut: sse
            .member("cut")
            .is_some_and(|cut| cut.text.trim_ascii() == b"true"),
    }
}

fn read_fields(fields: &Element<'_>) -> Fields {
    let pair = |pair: &Element<'_>| {
        let pair = elements(pair).ok()?;
        let [name, value] = pair.as_slice() else {
            return None;
        };
        Some((name.string()?, value.string()?))
    };
    let fields = elements(fields).unwrap_or_default();
    fields.iter().filter_map(pair).collect()
}

fn read_edit(edit: &Element<'_>) -> Edit {
    let text = |name: &'static str| edit.member(name).and_then(|text| text.string());
    Edit {
        what: EditTarget::of(&text("what").unwrap_or_default()),
        field: text("field").unwrap_or_default(),
        before: text("before").unwrap_or_default(),
        after: text("after").unwrap_or_default(),
    }
}
