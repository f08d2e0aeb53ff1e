//! Kinds that break connections, end processes, or write to other streams.

use bytes::Bytes;
use tapewright_schemas::event::What;

use super::{ActsOn, FaultTarget, Kind, Legality, MS, Parameter, TransportSupport, Unit};
use crate::fault::act::{Act, Call, CutAt, Move};
use crate::policy::{SideAction, Step};

pub(super) static RESET: Kind = Kind {
    name: "reset",
    does: "cut the connection to the client",
    legal: Legality::Yes("connections may break at any time"),
    example: "reset tool=search at=mid",
    parameters: &[Parameter {
        name: "at",
        unit: Unit::Words(&["before", "head", "mid", "after"]),
        default: Some("before"),
        does: "when: before the answer, after the response head (HTTP), in the middle, or after the answer",
    }],
    on: FaultTarget::Answer,
    acts_on: ActsOn::Responses,
    reach: TransportSupport::Any,
    limit: None,
    act: reset,
};

pub(super) static STDERR_FLOOD: Kind = Kind {
    name: "stderr-flood",
    does: "write lines to stderr before the answer",
    legal: Legality::Yes("a server may write anything to standard error"),
    example: "stderr-flood tool=search bytes=1000000",
    parameters: &[Parameter {
        name: "bytes",
        unit: Unit::Count {
            of: "bytes",
            least: 1,
            most: 64 << 20,
        },
        default: Some("1048576"),
        does: "how much, in lines of 80 bytes",
    }],
    on: FaultTarget::Answer,
    acts_on: ActsOn::Messages,
    reach: TransportSupport::Stdio,
    limit: None,
    act: flood,
};

pub(super) static STDIN_STALL: Kind = Kind {
    name: "stdin-stall",
    does: "stop reading from the client after the call, so that its pipe fills up",
    legal: Legality::Yes("a server may be slow to read"),
    example: "stdin-stall tool=search for_ms=3000",
    parameters: &[Parameter {
        name: "for_ms",
        unit: MS,
        default: Some("0"),
        does: "for how long; 0 means until the fault is removed",
    }],
    on: FaultTarget::Request,
    acts_on: ActsOn::Messages,
    reach: TransportSupport::Stdio,
    limit: None,
    act: |call| {
        let time = call.millis("for_ms");
        Act::Stall((!time.is_zero()).then_some(time))
    },
};

pub(super) static EXIT: Kind = Kind {
    name: "exit",
    does: "end the server's process when it is called",
    legal: Legality::Yes("processes may end at any time"),
    example: "exit tool=search status=1",
    parameters: &[Parameter {
        name: "status",
        unit: Unit::Count {
            of: "",
            least: 0,
            most: 255,
        },
        default: Some("1"),
        does: "exit status that the client sees",
    }],
    on: FaultTarget::Request,
    acts_on: ActsOn::Messages,
    reach: TransportSupport::Stdio,
    limit: None,
    act: |call| {
        let status = u8::try_from(call.number("status")).unwrap_or(1);
        Act::Play {
            moves: vec![Move::Step(Step::Side(SideAction::Exit(status)))],
            what: What::Ended,
        }
    },
};

fn reset(call: &Call<'_>) -> Act {
    Act::Cut(match call.word("at") {
        "after" => CutAt::After,
        "head" => CutAt::Head,
        "mid" => CutAt::Mid,
        _ => CutAt::Before,
    })
}

fn flood(call: &Call<'_>) -> Act {
    const LINE: &[u8; 80] =
        b"tapewright: a flood of standard error, as it was asked for with a fault .......\n";
    let lines = call.size("bytes").div_ceil(LINE.len());
    let text = Bytes::from(LINE.repeat(lines));
    Act::Play {
        moves: vec![
            Move::Step(Step::Side(SideAction::Log(text))),
            Move::send(call.whole()),
        ],
        what: What::Logged,
    }
}
