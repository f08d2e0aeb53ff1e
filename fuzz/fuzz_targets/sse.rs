//! Cut anywhere, an event stream has the events that an independent parser finds.
#![no_main]

use bytes::Bytes;
use futures_util::{FutureExt as _, StreamExt as _, stream};
use libfuzzer_sys::fuzz_target;
use sse_stream::{Sse, SseByteStream};
use tapewright_engine::{SseFramer, SseItem};
use tapewright_schemas::event::Payload;

/// The events that others find, up to the first that is no text.
fn theirs(input: &[u8]) -> (Vec<Sse>, bool) {
    let whole = stream::iter([Ok::<_, std::io::Error>(Bytes::copy_from_slice(input))]);
    let mut stream = SseByteStream::new(whole);
    let mut found = Vec::new();
    while let Some(event) = stream.next().now_or_never().expect("all is there") {
        match event {
            Ok(event) => found.push(event),
            Err(_) => return (found, false),
        }
    }
    (found, true)
}

fn ours(input: &[u8], size: usize) -> Vec<Sse> {
    let text = |bytes: Bytes| String::from_utf8_lossy(&bytes).into_owned();
    let mut framer = SseFramer::new(1 << 20);
    let mut found = Vec::new();
    for chunk in input.chunks(size) {
        framer.feed(&Bytes::copy_from_slice(chunk));
        while let Some(item) = framer.poll() {
            let SseItem::Event(event) = item else { continue };
            found.push(Sse {
                event: event.event.map(text),
                id: event.id.map(text),
                retry: event.retry_ms,
                data: event.data.map(|data| match data {
                    Payload::Whole(bytes) => text(bytes),
                    Payload::Clipped { .. } => unreachable!("nothing is that long"),
                }),
            });
        }
    }
    found
}

fuzz_target!(|input: &[u8]| {
    let Some((first, input)) = input.split_first() else { return };
    let found = ours(input, usize::from(*first).max(1));
    assert_eq!(found, ours(input, 1));
    let (known, all) = theirs(input);
    if all {
        assert_eq!(found, known);
    } else {
        assert_eq!(found.get(..known.len()), Some(known.as_slice()));
    }
});
