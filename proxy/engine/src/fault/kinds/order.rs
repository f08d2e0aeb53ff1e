//! Kinds that add, drop or reorder messages.

use tapewright_schemas::event::What;

use super::{ActsOn, DAY_MS, FaultTarget, Kind, Legality, MS, Parameter, TransportSupport, Unit};
use crate::fault::act::{Act, Move, Until};

pub(super) static DUPLICATE: Kind = Kind {
    name: "duplicate",
    does: "send the answer more than once",
    legal: Legality::Forbidden("a request has one response"),
    example: "duplicate tool=search times=1",
    parameters: &[Parameter {
        name: "times",
        unit: Unit::Count {
            of: "times",
            least: 1,
            most: 255,
        },
        default: Some("1"),
        does: "number of copies",
    }],
    on: FaultTarget::Answer,
    acts_on: ActsOn::Messages,
    reach: TransportSupport::Any,
    limit: None,
    act: |call| Act::Repeat(u8::try_from(call.number("times")).unwrap_or(u8::MAX)),
};

pub(super) static REORDER: Kind = Kind {
    name: "reorder",
    does: "swap the answer with the next message in its direction",
    legal: Legality::Yes("responses may come in any order"),
    example: "reorder tool=search within_ms=1000",
    parameters: &[Parameter {
        name: "within_ms",
        unit: Unit::Count {
            of: "milliseconds",
            least: 1,
            most: DAY_MS,
        },
        default: Some("1000"),
        does: "how long to wait for the next message",
    }],
    on: FaultTarget::Answer,
    acts_on: ActsOn::Messages,
    reach: TransportSupport::Stdio,
    limit: None,
    act: |call| Act::Hold(Until::Next(call.millis("within_ms"))),
};

pub(super) static DROP: Kind = Kind {
    name: "drop",
    does: "drop the answer or notification; with on=request, the request",
    legal: Legality::Forbidden(
        "a request must be answered; the loss of a notification cannot be noticed",
    ),
    example: "drop method=notifications/progress dir=to_client every=2",
    parameters: &[],
    on: FaultTarget::Answer,
    acts_on: ActsOn::Messages,
    reach: TransportSupport::Any,
    limit: None,
    act: |_| Act::Drop,
};

pub(super) static LATE_AFTER_CANCEL: Kind = Kind {
    name: "late-after-cancel",
    does: "send the answer only after the client cancels the call",
    legal: Legality::Yes("a cancellation and an answer may cross on their way"),
    example: "late-after-cancel tool=search delay_ms=100",
    parameters: &[Parameter {
        name: "delay_ms",
        unit: MS,
        default: Some("0"),
        does: "delay after the cancellation",
    }],
    on: FaultTarget::Answer,
    acts_on: ActsOn::Answers,
    reach: TransportSupport::Stdio,
    limit: None,
    act: |call| Act::Hold(Until::Cancelled(call.millis("delay_ms"))),
};

pub(super) static LIST_CHANGE: Kind = Kind {
    name: "list-change",
    does: "send a list-changed notification after the answer",
    legal: Legality::Yes("a server that declares `listChanged` may say so at any time"),
    example: "list-change method=tools/list list=tools",
    parameters: &[Parameter {
        name: "list",
        unit: Unit::Words(&["tools", "prompts", "resources"]),
        default: Some("tools"),
        does: "which list",
    }],
    on: FaultTarget::Answer,
    acts_on: ActsOn::Responses,
    reach: TransportSupport::Stdio,
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
