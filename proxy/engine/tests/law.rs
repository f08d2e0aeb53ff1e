//! The transparency law: without an active policy, output bytes equal input bytes.

#![expect(clippy::indexing_slicing, reason = "a test may fail")]

mod support;

use proptest::prelude::*;
use support::Driven;
use tapewright_engine::Forward;
use tapewright_engine::policy::Transparent;
use tapewright_schemas::event::{CloseReason, EventBody, LineEnd};

/// Bytes of an imperfect session: messages, noise, blank lines, carriage returns, invalid UTF-8,
/// and a last line that may lack its end.
fn stream() -> impl Strategy<Value = Vec<u8>> {
    let piece = prop_oneof![
        Just(b"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\"}".to_vec()),
        Just(b"[{\"id\":1},{\"id\":1.0}]".to_vec()),
        Just(b"{\"id\":\"\\ud83d\",\"id\":9007199254740993}".to_vec()),
        Just(b"\n".to_vec()),
        Just(b"\n".to_vec()),
        Just(b"\r\n".to_vec()),
        Just(b"\r".to_vec()),
        Just(b"\xff\xfe".to_vec()),
        prop::collection::vec(any::<u8>(), 0..40),
    ];
    prop::collection::vec(piece, 0..40).prop_map(|pieces| pieces.concat())
}

/// Splits `bytes` at the given places, regardless of the content.
fn cut(bytes: &[u8], cuts: &[prop::sample::Index]) -> Vec<Vec<u8>> {
    let mut places: Vec<usize> = cuts.iter().map(|cut| cut.index(bytes.len() + 1)).collect();
    places.extend([0, bytes.len()]);
    places.sort_unstable();
    places
        .windows(2)
        .map(|pair| bytes[pair[0]..pair[1]].to_vec())
        .collect()
}

/// The messages in a stream of bytes, found in the simplest way.
fn expected(bytes: &[u8], limit: usize) -> Vec<(u64, Vec<u8>, LineEnd)> {
    let mut found = Vec::new();
    for line in bytes.split_inclusive(|byte| *byte == b'\n') {
        let (line, end) = match line {
            [line @ .., b'\r', b'\n'] => (line, LineEnd::CrLf),
            [line @ .., b'\n'] => (line, LineEnd::Lf),
            line => (line, LineEnd::None),
        };
        let kept = if line.len() > limit {
            &line[..limit.min(64 * 1024)]
        } else {
            line
        };
        found.push((line.len() as u64, kept.to_vec(), end));
    }
    found
}

fn run(forward: Forward, limit: usize, chunks: &[Vec<u8>]) -> Driven<Transparent> {
    let mut driven = Driven::new(forward, limit, Transparent);
    for (at, chunk) in (0..).zip(chunks) {
        driven.input(at * 7, chunk);
        if at % 5 == 4 {
            driven.timeout(at * 7 + 60_000);
        }
    }
    driven.eof(1_000_000);
    driven
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2_000))]

    #[test]
    fn bytes_pass_unchanged(
        bytes in stream(),
        cuts in prop::collection::vec(any::<prop::sample::Index>(), 0..12),
        limit in prop_oneof![Just(1_usize), Just(5), Just(64), Just(1 << 20)],
        recorded in any::<bool>(),
    ) {
        let forward = if recorded { Forward::Recorded } else { Forward::AtOnce };
        let driven = run(forward, limit, &cut(&bytes, &cuts));
        prop_assert_eq!(&driven.out, &bytes);
        prop_assert_eq!(driven.messages(), expected(&bytes, limit));
        let last = &driven.events.last().unwrap().body;
        prop_assert_eq!(last, &EventBody::Closed(CloseReason::EndOfInput));
    }

    #[test]
    fn without_a_policy_each_chunk_leaves_in_one_write(
        bytes in stream(),
        cuts in prop::collection::vec(any::<prop::sample::Index>(), 0..12),
    ) {
        let mut chunks = cut(&bytes, &cuts);
        chunks.retain(|chunk| !chunk.is_empty());
        let driven = run(Forward::AtOnce, 1 << 20, &chunks);
        prop_assert_eq!(driven.writes, chunks);
    }

    #[test]
    fn recorded_means_no_message_leaves_before_its_event(
        bytes in stream(),
        cuts in prop::collection::vec(any::<prop::sample::Index>(), 0..12),
        limit in prop_oneof![Just(5_usize), Just(1 << 20)],
    ) {
        let driven = run(Forward::Recorded, limit, &cut(&bytes, &cuts));
        let mut ends = bytes.split_inclusive(|byte| *byte == b'\n').scan(0, |end, line| {
            *end += line.len();
            Some(*end)
        });
        for (event, out) in driven.events.iter().zip(&driven.out_before_event) {
            if matches!(&event.body, EventBody::Message { end, .. } if *end != LineEnd::None) {
                let end = ends.next().unwrap();
                prop_assert!(*out < end, "{out} bytes had left before the message that ends at {end}");
            }
        }
    }
}

#[test]
fn a_large_message_flows_while_it_grows() {
    for forward in [Forward::AtOnce, Forward::Recorded] {
        let mut driven = Driven::new(forward, 64 << 20, Transparent);
        let chunk = vec![b'y'; 64 * 1024];
        for at in 0..64 {
            driven.input(at, &chunk);
        }
        assert!(
            driven.out.len() >= 3 << 20,
            "{forward:?} held {} bytes back",
            driven.out.len()
        );
        driven.input(100, b"\n");
        assert_eq!(driven.out.len(), (4 << 20) + 1);
        assert_eq!(driven.messages()[0].0, 4 << 20);
    }
}

#[test]
fn a_message_over_the_limit_flows_and_is_clipped() {
    for forward in [Forward::AtOnce, Forward::Recorded] {
        let mut driven = Driven::new(forward, 100_000, Transparent);
        let mut bytes = vec![b'y'; 1 << 20];
        bytes.extend_from_slice(b"\r\nafter\n");
        for chunk in bytes.chunks(50_000) {
            driven.input(0, chunk);
        }
        driven.eof(1);
        assert_eq!(driven.out, bytes);
        assert_eq!(driven.messages(), expected(&bytes, 100_000));
    }
}
