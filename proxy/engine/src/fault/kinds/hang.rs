//! Kinds that withhold answers.

use std::time::Duration;

use tapewright_schemas::event::What;

use super::{ActsOn, FaultTarget, Kind, Legality, MS, Parameter, TransportSupport, Unit};
use crate::fault::act::{Act, Call, Move, Until};

const SILENCE: Legality =
    Legality::Yes("a server may take any time; a client should have timeouts");

pub(super) static HANG: Kind = Kind {
    name: "hang",
    does: "never answer the call; everything else works",
    legal: SILENCE,
    example: "hang tool=search nth=3",
    parameters: &[Parameter {
        name: "after_bytes",
        unit: Unit::Count {
            of: "bytes",
            least: 0,
            most: 64 << 20,
        },
        default: Some("0"),
        does: "send this much of the answer first, and nothing after it: half a line, then silence",
    }],
    on: FaultTarget::Answer,
    acts_on: ActsOn::Messages,
    reach: TransportSupport::Any,
    limit: None,
    act: hang,
};

pub(super) static WEDGED: Kind = Kind {
    name: "wedged",
    does: "answer nothing from this call on: neither this call nor anything later in its direction",
    legal: SILENCE,
    example: "wedged tool=search",
    parameters: &[],
    on: FaultTarget::Answer,
    acts_on: ActsOn::Messages,
    reach: TransportSupport::Any,
    limit: None,
    act: |_| Act::HoldAll { cut_after: None },
};

pub(super) static RECOVER_AFTER: Kind = Kind {
    name: "recover_after",
    does: "hang the first matching calls, and answer later ones",
    legal: SILENCE,
    example: "recover_after tool=search failures=2",
    parameters: &[Parameter {
        name: "failures",
        unit: Unit::Count {
            of: "calls",
            least: 1,
            most: 1_000_000,
        },
        default: None,
        does: "number of calls that hang",
    }],
    on: FaultTarget::Answer,
    acts_on: ActsOn::Messages,
    reach: TransportSupport::Any,
    limit: Some("failures"),
    act: |_| Act::Hold(Until::Removed),
};

pub(super) static TIMEOUT: Kind = Kind {
    name: "timeout",
    does: "answer nothing from this call on, and cut the connection after a time",
    legal: Legality::Yes("connections may break at any time"),
    example: "timeout tool=search timeout_ms=2000",
    parameters: &[Parameter {
        name: "timeout_ms",
        unit: MS,
        default: Some("0"),
        does: "when to cut the connection; 0 means when the fault is removed",
    }],
    on: FaultTarget::Answer,
    acts_on: ActsOn::Messages,
    reach: TransportSupport::Any,
    limit: None,
    act: |call| {
        let time = call.millis("timeout_ms");
        Act::HoldAll {
            cut_after: (time > Duration::ZERO).then_some(time),
        }
    },
};

fn hang(call: &Call<'_>) -> Act {
    let first = call.size("after_bytes");
    if first == 0 {
        return Act::Hold(Until::Removed);
    }
    let mut begin = call.whole();
    let rest = begin.split_off(first.min(call.text.len()));
    Act::Play {
        moves: vec![Move::send(begin), Move::Hold, Move::send(rest)],
        what: What::HeldAmid,
    }
}
