//! Kinds that delay answers, or send them piece by piece.

use std::time::Duration;

use bytes::Bytes;
use tapewright_schemas::event::{Offset, What};

use super::{ActsOn, FaultTarget, Kind, Legality, MS, Parameter, TransportSupport, Unit};
use crate::fault::act::{Act, Call, Move};
use crate::policy::Step;

const LATE: Legality = Legality::Yes("a server may take any time");
const PIECES: Legality = Legality::Yes("a stream may be cut anywhere on its way");

/// The maximum number of pieces of a message: each costs a write.
const MOST_PIECES: usize = 65_536;

pub(super) static SLOW: Kind = Kind {
    name: "slow",
    does: "delay the answer; others may overtake it",
    legal: LATE,
    example: "slow tool=search delay_ms=1500 jitter_ms=200",
    parameters: &[
        Parameter {
            name: "delay_ms",
            unit: MS,
            default: None,
            does: "how much later",
        },
        Parameter {
            name: "jitter_ms",
            unit: MS,
            default: Some("0"),
            does: "random variation of the delay, plus or minus",
        },
    ],
    on: FaultTarget::Answer,
    acts_on: ActsOn::Messages,
    reach: TransportSupport::Any,
    limit: None,
    act: |call| Act::Delay {
        time: jittered(call, "delay_ms"),
        in_order: false,
    },
};

pub(super) static LATENCY: Kind = Kind {
    name: "latency",
    does: "delay matching messages, and keep their order",
    legal: LATE,
    example: "latency method=* latency_ms=100 jitter_ms=20",
    parameters: &[
        Parameter {
            name: "latency_ms",
            unit: MS,
            default: None,
            does: "how much longer",
        },
        Parameter {
            name: "jitter_ms",
            unit: MS,
            default: Some("0"),
            does: "random variation of the delay, plus or minus",
        },
    ],
    on: FaultTarget::Request,
    acts_on: ActsOn::Messages,
    reach: TransportSupport::Any,
    limit: None,
    act: |call| Act::Delay {
        time: jittered(call, "latency_ms"),
        in_order: true,
    },
};

pub(super) static SLOW_TRICKLE: Kind = Kind {
    name: "slow-trickle",
    does: "limit the bandwidth of the answer; later messages wait for it",
    legal: PIECES,
    example: "slow-trickle tool=search bytes_per_s=1000",
    parameters: &[Parameter {
        name: "bytes_per_s",
        unit: Unit::Count {
            of: "bytes per second",
            least: 1,
            most: 1 << 40,
        },
        default: None,
        does: "bytes per second",
    }],
    on: FaultTarget::Answer,
    acts_on: ActsOn::Messages,
    reach: TransportSupport::Any,
    limit: None,
    act: trickle,
};

pub(super) static SLICER: Kind = Kind {
    name: "slicer",
    does: "split the answer into pieces, each in its own write",
    legal: PIECES,
    example: "slicer tool=search size=1 delay_ms=1",
    parameters: &[
        Parameter {
            name: "size",
            unit: Unit::Count {
                of: "bytes",
                least: 1,
                most: 64 << 20,
            },
            default: Some("1"),
            does: "size of a piece",
        },
        Parameter {
            name: "delay_ms",
            unit: MS,
            default: Some("0"),
            does: "pause between pieces",
        },
    ],
    on: FaultTarget::Answer,
    acts_on: ActsOn::Messages,
    reach: TransportSupport::Any,
    limit: None,
    act: |call| {
        let whole = call.whole();
        pieces(whole, call.size("size"), call.millis("delay_ms"))
    },
};

fn jittered(call: &Call<'_>, name: &str) -> Duration {
    let (time, jitter) = (call.number(name), call.number("jitter_ms"));
    // In microseconds, so that a jitter of one millisecond has more than three values.
    let spread = call.random.clone().up_to(jitter * 2_000);
    Duration::from_micros((time * 1_000 + spread).saturating_sub(jitter * 1_000))
}

/// The interval of the trickle: short enough to look steady, long enough for timers to keep.
const BEAT: Duration = Duration::from_millis(50);

fn trickle(call: &Call<'_>) -> Act {
    let whole = call.whole();
    let rate = call.number("bytes_per_s").max(1);
    // At least a byte per interval; for lower rates the intervals are longer.
    let size = usize::try_from(rate / 20).unwrap_or(usize::MAX).max(1);
    let size = size.max(whole.len() / MOST_PIECES);
    let micros = (size as u64).saturating_mul(1_000_000) / rate;
    let beat = Duration::from_micros(micros).max(if size > 1 { BEAT } else { Duration::ZERO });
    pieces(whole, size, beat)
}

fn pieces(mut whole: Bytes, size: usize, wait: Duration) -> Act {
    let size = size.max(whole.len() / MOST_PIECES).max(1);
    let mut moves = Vec::new();
    let (mut pieces, mut later) = (0, Duration::ZERO);
    while !whole.is_empty() {
        let rest = whole.split_off(size.min(whole.len()));
        pieces += 1;
        moves.push(Move::send(std::mem::replace(&mut whole, rest)));
        if wait > Duration::ZERO && !whole.is_empty() {
            later += wait;
            moves.push(Move::Step(Step::Wait {
                time: wait,
                ticket: None,
            }));
        }
    }
    Act::Play {
        moves,
        what: What::Sliced {
            pieces,
            by: Some(Offset::of(later)).filter(|by| by.0 > 0),
        },
    }
}
