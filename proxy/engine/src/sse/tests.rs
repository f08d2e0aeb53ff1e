use proptest::prelude::*;

use super::*;

fn items(chunks: &[&[u8]], limit: usize) -> (Vec<SseItem>, Option<SseEvent>) {
    let mut framer = SseFramer::new(limit);
    let mut items = Vec::new();
    for chunk in chunks {
        framer.feed(&Bytes::copy_from_slice(chunk));
        items.extend(std::iter::from_fn(|| framer.poll()));
    }
    let rest = framer.finish();
    (items, rest)
}

fn event(id: Option<&str>, name: Option<&str>, data: Option<&str>) -> SseItem {
    let bytes = |text: &str| Bytes::copy_from_slice(text.as_bytes());
    SseItem::Event(SseEvent {
        id: id.map(bytes),
        event: name.map(bytes),
        retry_ms: None,
        data: data.map(|data| Payload::Whole(bytes(data))),
    })
}

#[test]
fn every_line_end_and_a_mark_are_understood() {
    for end in ["\n", "\r\n", "\r"] {
        let text = "\u{feff}event: message\nid:7\ndata: {}\n\n:ping\n\n".replace('\n', end);
        let (found, rest) = items(&[text.as_bytes()], 1024);
        let ping = SseItem::Comment(Bytes::from_static(b"ping"));
        assert_eq!(found, [event(Some("7"), Some("message"), Some("{}")), ping]);
        assert_eq!(rest, None);
    }
}

#[test]
fn a_priming_event_and_a_retry_are_kept() {
    let (found, _) = items(&[b"id: a\nretry: 500\ndata:\n\nretry: x\n\nid: \n\n"], 1024);
    let SseItem::Event(first) = &found[0] else {
        panic!()
    };
    assert_eq!(first.retry_ms, Some(500));
    assert!(!first.is_message());
    assert_eq!(found[1], event(Some(""), None, None));
    assert_eq!(found.len(), 2);
}

#[test]
fn data_of_several_lines_is_joined() {
    let (found, _) = items(&[b"data: a\ndata\ndata:  b\n\n"], 1024);
    assert_eq!(found, [event(None, None, Some("a\n\n b"))]);
}

#[test]
fn what_the_stream_did_not_end_is_no_event() {
    let (found, rest) = items(&[b"data: a\n\ndata: b\ndata: c"], 1024);
    assert_eq!(found.len(), 1);
    assert_eq!(
        rest.unwrap().data,
        Some(Payload::Whole(Bytes::from_static(b"b\nc")))
    );
}

#[test]
fn data_over_the_limit_is_clipped() {
    for (text, len) in [
        ("data: 0123456789\n\n", 10),
        ("data: 0123\ndata: 4567\n\n", 9),
    ] {
        let (found, _) = items(&[text.as_bytes()], 8);
        let SseItem::Event(event) = &found[0] else {
            panic!()
        };
        assert!(
            matches!(&event.data, Some(Payload::Clipped { len: found, .. }) if *found == len),
            "{event:?}"
        );
    }
    let long = format!("data: {}\n\n", "x".repeat(1_000_000));
    let (found, _) = items(&long.as_bytes().chunks(1000).collect::<Vec<_>>(), 8);
    let SseItem::Event(event) = &found[0] else {
        panic!()
    };
    assert!(matches!(
        &event.data,
        Some(Payload::Clipped { len: 1_000_000, .. })
    ));
}

#[test]
fn what_is_under_way_can_be_clipped() {
    for lines in [1, 3] {
        let mut framer = SseFramer::new(10 << 20);
        let line = format!("data: {}", "x".repeat(300_000));
        for number in 0..lines {
            framer.feed(&Bytes::from(if number == 0 {
                line.clone()
            } else {
                format!("\n{line}")
            }));
        }
        assert!(framer.held_bytes() > 200_000);
        framer.clip();
        assert!(
            framer.held_bytes() <= 3 * HEAD_SIZE,
            "{}",
            framer.held_bytes()
        );
        framer.feed(&Bytes::from_static(b"yyy\n\ndata: z\n\n"));
        let Some(SseItem::Event(event)) = framer.poll() else {
            panic!()
        };
        let Some(Payload::Clipped { len, head }) = event.data else {
            panic!()
        };
        assert_eq!(len, lines * 300_000 + 3 + lines - 1);
        assert!(head.iter().all(|byte| matches!(byte, b'x' | b'\n')) && head.len() <= HEAD_SIZE);
        let Some(SseItem::Event(event)) = framer.poll() else {
            panic!()
        };
        assert_eq!(event.data, Some(Payload::Whole(Bytes::from_static(b"z"))));
    }
}

fn stream() -> impl Strategy<Value = Vec<u8>> {
    let piece = prop::sample::select(vec![
        "data", "id", "event", "retry", ":", ":", " ", "\n", "\n", "\r", "\r\n", "12", "{}", "é",
        "\0", "\u{feff}", "message", "x",
    ]);
    prop::collection::vec(piece, 0..40).prop_map(|pieces| pieces.concat().into_bytes())
}

proptest! {
    #[test]
    fn cutting_changes_nothing(text in stream(), cuts in prop::collection::vec(0_usize..200, 0..8), limit in prop::sample::select(vec![4, 1024])) {
        let mut cuts: Vec<usize> = cuts.into_iter().map(|cut| cut.min(text.len())).collect();
        cuts.extend([0, text.len()]);
        cuts.sort_unstable();
        let chunks: Vec<&[u8]> = cuts.windows(2).map(|pair| &text[pair[0]..pair[1]]).collect();
        prop_assert_eq!(items(&chunks, limit), items(&[&text], limit));
        let bytes: Vec<&[u8]> = text.chunks(1).collect();
        prop_assert_eq!(items(&bytes, limit), items(&[&text], limit));
    }
}
