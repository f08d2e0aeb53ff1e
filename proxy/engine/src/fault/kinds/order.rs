//! Messages too many, too few, or in another order.

use tapewright_schemas::event::What;

use super::{ActsOn, DAY_MS, Kind, Legal, MS, On, Parameter, Reach, Unit};
use crate::fault::act::{Act, Move, Until};

pub(super) static DUPLICATE: Kind = Kind {
    name: "duplicate",
    does: "the answer comes more than once",
    legal: Legal::Forbidden("a request has one response"),
    example: "duplicate tool=search times=1",
    parameters: &[Parameter {
        name: "times",
        unit: Unit::Count {
            of: "times",
            least: 1,
            most: 255,
        },
        default: Some("1"),
        does: "how many times more",
    }],
    on: On::Answer,
    acts_on: ActsOn::Messages,
    reach: Reach::Any,
    limit: None,
    act: |call| Act::Repeat(u8::try_from(call.number("times")).unwrap_or(u8::MAX)),
};

pub(super) static REORDER: Kind = Kind {
    name: "reorder",
    does: "the answer changes places with the next message of its side",
    legal: Legal::Yes("responses may come in any order"),
    example: "reorder tool=search within_ms=1000",
    parameters: &[Parameter {
        name: "within_ms",
        unit: Unit::Count {
            of: "milliseconds",
            least: 1,
            most: DAY_MS,
        },
        default: Some("1000"),
        does: "how long to wait for a next message",
    }],
    on: On::Answer,
    acts_on: ActsOn::Messages,
    reach: Reach::Stdio,
    limit: None,
    act: |call| Act::Hold(Until::Next(call.millis("within_ms"))),
};

pub(super) static DROP: Kind = Kind {
    name: "drop",
    does: "the answer, the notification, or with on=request the request, goes no further",
    legal: Legal::Forbidden(
        "requests are answered; notifications may be missed by nobody who can tell",
    ),
    example: "drop method=notifications/progress dir=to_client every=2",
    parameters: &[],
    on: On::Answer,
    acts_on: ActsOn::Messages,
    reach: Reach::Any,
    limit: None,
    act: |_| Act::Drop,
};

pub(super) static LATE_AFTER_CANCEL: Kind = Kind {
    name: "late-after-cancel",
    does: "the answer comes only after the client has cancelled the call",
    legal: Legal::Yes("a cancellation and an answer may cross on their way"),
    example: "late-after-cancel tool=search delay_ms=100",
    parameters: &[Parameter {
        name: "delay_ms",
        unit: MS,
        default: Some("0"),
        does: "how long after the cancellation",
    }],
    on: On::Answer,
    acts_on: ActsOn::Answers,
    reach: Reach::Stdio,
    limit: None,
    act: |call| Act::Hold(Until::Cancelled(call.millis("delay_ms"))),
};

pub(super) static LIST_CHANGE: Kind = Kind {
    name: "list-change",
    does: "after the answer the server seems to say that a list has changed",
    legal: Legal::Yes("a server that declares `listChanged` may say so at any time"),
    example: "list-change method=tools/list list=tools",
    parameters: &[Parameter {
        name: "list",
        unit: Unit::Words(&["tools", "prompts", "resources"]),
        default: Some("tools"),
        does: "which list",
    }],
    on: On::Answer,
    acts_on: ActsOn::Responses,
    reach: Reach::Stdio,
    limit: None,
    act: |call| {
        let list = call.word("list");
        let line =
            format!("{{\"jsonrpc\":\"2.0\",\"method\":\"notifications/{list}/list_changed\"}}");
        Act::Play {
            moves: vec![
                Move::send(call.whole()),
                Move::send(call.line(line.as_bytes())),
            ],
            what: What::Followed,
        }
    },
};
