//! The events of a stream are those that an independent parser finds, for any chunk boundaries.

#![expect(clippy::unwrap_used, reason = "a test may fail")]

use bytes::Bytes;
use futures_util::{FutureExt as _, StreamExt as _, stream};
use proptest::prelude::*;
use sse_stream::{Sse, SseByteStream};
use tapewright_engine::{SseFramer, SseItem};

/// The events found by the independent parser; whether there were more, which it cannot read as
/// text.
fn theirs(chunks: &[&[u8]]) -> (Vec<Sse>, bool) {
    let chunks = chunks
        .iter()
        .map(|chunk| Ok::<_, std::io::Error>(Bytes::copy_from_slice(chunk)));
    let mut stream = SseByteStream::new(stream::iter(chunks.collect::<Vec<_>>()));
    let mut found = Vec::new();
    while let Some(event) = stream.next().now_or_never().unwrap() {
        match event {
            Ok(event) => found.push(event),
            Err(_) => return (found, true),
        }
    }
    (found, false)
}

fn ours(chunks: &[&[u8]]) -> Vec<Sse> {
    let text = |bytes: &Bytes| String::from_utf8_lossy(bytes).into_owned();
    let mut framer = SseFramer::new(1 << 20);
    let mut found = Vec::new();
    for chunk in chunks {
        framer.feed(&Bytes::copy_from_slice(chunk));
        while let Some(item) = framer.poll() {
            let SseItem::Event(event) = item else {
                continue;
            };
            found.push(Sse {
                event: event.event.as_ref().map(text),
                id: event.id.as_ref().map(text),
                retry: event.retry_ms,
                data: event.data.as_ref().map(|data| text(data.kept())),
            });
        }
    }
    found
}

fn agree(chunks: &[&[u8]]) {
    let found = ours(chunks);
    let (known, more) = theirs(chunks);
    if more {
        assert_eq!(found.get(..known.len()).unwrap(), known);
    } else {
        assert_eq!(found, known);
    }
}

/// Splits the text in two at every byte, into single bytes, and not at all.
fn agree_everywhere(text: &[u8]) {
    for at in 0..=text.len() {
        let (one, two) = text.split_at(at);
        agree(&[one, two]);
    }
    agree(&text.chunks(1).collect::<Vec<_>>());
}

#[test]
fn real_streams_are_read_alike() {
    for end in ["\n", "\r\n", "\r"] {
        for text in [
            "event: endpoint\ndata: /message?sessionId=7\n\n",
            "\u{feff}id: 1\nretry: 500\ndata:\n\n: ping\n\ndata: {\"é\":\"😀\"}\n\n",
            "data: a\ndata\ndata:  b\n\nevent:\nid\n\nretry: -1\nretry: 99999999999999999999\n\n",
            "id: a\u{0}b\ndata: x\n\ndata: never ended",
            "data:x\n\n\n\n\ndatax: y\n: data: z\n\n",
        ] {
            agree_everywhere(text.replace('\n', end).as_bytes());
        }
    }
}

fn stream_of_pieces() -> impl Strategy<Value = Vec<u8>> {
    let piece = prop::sample::select(vec![
        &b"data"[..],
        b"data:",
        b"id",
        b"id:",
        b"event",
        b"event:",
        b"retry:",
        b":",
        b" ",
        b"\n",
        b"\n",
        b"\n\n",
        b"\r",
        b"\r\n",
        b"12",
        b"{}",
        b"\xc3\xa9",
        b"\0",
        b"\xef\xbb\xbf",
        b"x",
        b"message",
        b"\xff",
        b"0",
    ]);
    prop::collection::vec(piece, 0..40).prop_map(|pieces| pieces.concat())
}

proptest! {
    #[test]
    fn streams_of_awkward_pieces_are_read_alike(text in stream_of_pieces()) {
        agree_everywhere(&text);
    }

    #[test]
    fn streams_of_any_bytes_are_read_alike(text in prop::collection::vec(any::<u8>(), 0..120)) {
        agree_everywhere(&text);
    }
}
