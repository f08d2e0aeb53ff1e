//! Scrubbing changes secrets and nothing else.

use std::sync::Arc;

use tapewright_schemas::redact::{Redactor, Rules, Settings};
use tapewright_schemas::scrub::{TapeScrubber, document};

const SECRET: &str = "Xq7-vB2_kPz9sLm4";

fn redactor() -> Redactor {
    let settings = Settings {
        values: vec![("MY_TOKEN".to_owned(), SECRET.to_owned())],
        ..Settings::default()
    };
    Redactor::new(Arc::new(Rules::new(&settings).unwrap()))
}

#[test]
fn every_place_of_a_tape_is_scrubbed() {
    let base64 = "/1hxNy12QjJfa1B6OXNMbTQ=";
    let lines = [
        format!(r#"{{"tape":"1.0","command":["node","--token={SECRET}"],"pid":1}}"#),
        format!(r#"{{"seq":1, "at_us":5,"dir":"to_server","message":{{"a":[1.0,"{SECRET}"]}}}}"#),
        format!(
            r#"{{"seq":2,"at_us":5,"dir":"to_client","text":"say {SECRET}","why":"not JSON"}}"#
        ),
        format!(r#"{{"seq":3,"at_us":5,"stderr":"key {SECRET}"}}"#),
        format!(r#"{{"seq":4,"at_us":5,"dir":"to_client","base64":"{base64}","why":"not UTF-8"}}"#),
        format!(
            r#"{{"seq":5,"at_us":5,"clipped":{{"len":99,"head":"{{\"a\":\"{SECRET}\""}},"why":"x"}}"#
        ),
        format!(r#"{{"seq":6,"at_us":5,"stderr":"torn {SECRET}"#),
    ];
    let mut scrubber = TapeScrubber::new(redactor());
    let once: Vec<_> = lines
        .iter()
        .map(|line| scrubber.line(line.as_bytes()).into_owned())
        .collect();
    for (line, scrubbed) in lines.iter().zip(&once) {
        let clean = String::from_utf8(scrubbed.clone()).unwrap();
        assert!(
            !clean.contains(SECRET) && !clean.contains(base64),
            "{clean}"
        );
        assert_ne!(*line, clean);
    }
    assert!(once[1].starts_with(br#"{"seq":1, "at_us":5,"dir":"to_server","message":{"a":[1.0,""#));
    let mut again = redactor();
    for line in &once {
        again.adopt(line);
    }
    let mut again = TapeScrubber::new(again);
    for line in &once {
        assert_eq!(again.line(line), line.as_slice());
    }
}

#[test]
fn a_document_says_where_and_never_what() {
    let text = format!(
        r#"{{"version":"1","exchanges":[{{"request":{{"a/b":["x","{SECRET}"]}},"response":{{}}}}]}}"#
    );
    let (scrubbed, places) = document(&mut redactor(), text.as_bytes()).unwrap();
    assert!(!String::from_utf8_lossy(&scrubbed).contains(SECRET));
    assert_eq!(places.len(), 1);
    assert_eq!(places[0].pointer, "/exchanges/0/request/a~1b/1");
    assert!(!places[0].kind.contains(SECRET));
    let clean = scrubbed.into_owned();
    let mut again = redactor();
    again.adopt(&clean);
    let (same, places) = document(&mut again, &clean).unwrap();
    assert_eq!((&*same, places.len()), (clean.as_slice(), 0));
}
