//! The law: for every chunking, limit and way of forwarding, bytes out equal bytes in,
//! and the events tell every line.
#![no_main]

use libfuzzer_sys::fuzz_target;
use tapewright_engine::policy::Transparent;
use tapewright_engine::{Forward, Lane, Settings};
use tapewright_schemas::event::{ConduitId, Direction, EventBody, LineEnd, Offset, SessionKey};

fuzz_target!(|data: &[u8]| {
    let [control, limit, bytes @ ..] = data else {
        return;
    };
    let forward = if control & 1 == 0 {
        Forward::AtOnce
    } else {
        Forward::Recorded
    };
    let settings = Settings {
        conduit: ConduitId(0),
        session: SessionKey(0),
        forward,
        limit_bytes: usize::from(*limit) + 1,
    };
    let mut lane = Lane::new(Direction::ToServer, settings, Transparent);
    let (mut out, mut told) = (Vec::new(), 0);
    let mut drain = |lane: &mut Lane<Transparent>| {
        for turn in 0..2 {
            if (turn == 0) == (forward == Forward::AtOnce) {
                while let Some(bytes) = lane.poll_transmit() {
                    out.extend_from_slice(bytes);
                    lane.transmitted();
                }
            } else {
                while let Some(event) = lane.poll_event() {
                    if let EventBody::Message { payload, end, .. } = event.body {
                        told += payload.wire_len();
                        told += match end {
                            LineEnd::CrLf => 2,
                            LineEnd::Lf => 1,
                            LineEnd::None => 0,
                        };
                    }
                }
            }
        }
    };
    let step = usize::from(control >> 2) + 1;
    for (at, chunk) in (0..).zip(bytes.chunks(step)) {
        lane.space().extend_from_slice(chunk);
        lane.handle_input(Offset(at));
        drain(&mut lane);
        if control & 2 != 0 && at % 3 == 0 {
            lane.handle_timeout(Offset(at + 1_000_000));
            drain(&mut lane);
        }
    }
    lane.handle_eof(Offset(u64::MAX));
    drain(&mut lane);
    assert_eq!(out, bytes);
    assert_eq!(told, bytes.len() as u64);
});
