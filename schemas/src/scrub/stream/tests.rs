use std::io::Write as _;
use std::sync::Arc;

use proptest::prelude::*;

use super::*;
use crate::redact::{Rules, Settings, Standing};
use crate::scrub::document;

/// Elements of `exchanges`, with and without secrets.
const EXCHANGES: &[&str] = &[
    r#"{"request":{"id":1,"method":"tools/call","params":{"name":"a"}},"response":{"id":1,"result":{}}}"#,
    r#"{"request":{"id":2,"method":"x","params":{"password":"Tr0ub4dor&3x"}},"response":{"id":2,"result":{"text":"it is Tr0ub4dor&3x here"}}}"#,
    r#"{"request":{"id":3,"method":"x"},"response":{"id":3,"result":{"text":"again Tr0ub4dor&3x and ghp_abcdefghijklmnopqrstuvwxyz0123456789"}}}"#,
    r#"{"request":{"id":4,"method":"x"},"response":{"id":4,"result":{}},"http":{"path":"/mcp?token=h4ndle-With-c4re","request":[["Authorization","Bearer h4ndle-With-c4re"]],"ended":"see https://u:p4ssw0rd-X@h.example/"}}"#,
    r#"{"request":{"id":5,"method":"h4ndle-With-c4re"},"response":{"id":5,"result":{"a":"<REDACTED:password#3> h4ndle-With-c4re"}},"stream":[{"from":"server","text":"token=s3cr3t-v4lue-9"}]}"#,
];

const UNANSWERED: &[&str] = &[
    r#"{"request":{"id":7,"method":"x","params":{"api_key":"s3cr3t-v4lue-9"}},"why":"the password was hunter2-hunter2"}"#,
    r#"{"request":{"id":8,"method":"hunter2-hunter2"},"why":"closed"}"#,
];

const MESSAGES: &[&str] = &[
    r#"{"from":"client","after":1,"base64":"/1RyMHViNGRvciYzeAo="}"#,
    r#"{"from":"server","message":{"jsonrpc":"2.0","method":"n","params":{"client_secret":"aKqZpWbXlRTvNcMd"}}}"#,
    r#"{"from":"server","text":"aKqZpWbXlRTvNcMd Tr0ub4dor&3x"}"#,
];

fn text(exchanges: &[usize], unanswered: &[usize], messages: &[usize]) -> Vec<u8> {
    let list = |from: &[&str], chosen: &[usize]| {
        let chosen: Vec<_> = chosen.iter().map(|at| from[at % from.len()]).collect();
        chosen.join(",\n    ")
    };
    format!(
        "{{\n  \"version\": \"1\",\n  \"meta\": {{\"token\": \"s3cr3t-v4lue-9\"}},\n  \"exchanges\": [\n    {}\n  ],\n  \"messages\": [{}],\n  \"unanswered\": [ {} ]\n}}\n",
        list(EXCHANGES, exchanges),
        list(MESSAGES, messages),
        list(UNANSWERED, unanswered),
    )
    .into_bytes()
}

fn redactor() -> Redactor {
    Redactor::new(Arc::new(Rules::new(&Settings::default()).unwrap()))
}

type Scrubbed = (String, Vec<FoundSecret>, Vec<(String, u64)>);

fn told(text: Vec<u8>, places: Vec<FoundSecret>, redactor: &Redactor) -> Scrubbed {
    let counts = redactor.counts().clone().into_iter().collect();
    (String::from_utf8(text).unwrap(), places, counts)
}

fn whole(text: &[u8]) -> Scrubbed {
    let (mut first, mut second) = (redactor(), redactor());
    second.adopt(text);
    document(&mut first, text).unwrap();
    second.learn_from(&first);
    let (new, places) = document(&mut second, text).unwrap();
    told(new.into_owned(), places, &second)
}

/// Scrubs a text, and returns where secrets were if `asked`.
fn both(redactor: &mut Redactor, text: &[u8], asked: bool) -> (Vec<u8>, Vec<FoundSecret>) {
    let (mut between, mut new, mut places) = (Vec::new(), Vec::new(), Vec::new());
    let mut place = |place| places.push(place);
    let mut write = |text: &[u8], _| between.write_all(text);
    beside(redactor, text, &mut write, &mut place).unwrap();
    let mut write = |text: &[u8], _| new.write_all(text);
    let place: &mut dyn FnMut(FoundSecret) = &mut place;
    within(
        redactor,
        between.as_slice(),
        &mut write,
        asked.then_some(place),
    )
    .unwrap();
    (new, places)
}

/// The result of one reading that validates a text, and scrubs it as long as it is plain.
struct Checked {
    is_plain: bool,
    is_clean: bool,
    draft: Vec<u8>,
    first: Redactor,
    // For a second reading, but for what the first one has learned.
    second: Redactor,
    // The length up to the last run that taught a secret, and the state there.
    taught: usize,
    standing: Option<Standing>,
}

fn check(text: &[u8]) -> Result<Checked, StreamError> {
    let mut all = Checked {
        is_plain: true,
        is_clean: true,
        draft: Vec::new(),
        first: redactor(),
        second: redactor(),
        taught: 0,
        standing: redactor().standing(),
    };
    let (mut runs, mut checker, mut run) = (Runs::new(text), Checker::default(), Run::default());
    let mut length = 0;
    while runs.read(&mut run)? {
        all.second.adopt(run.text());
        checker.check(&run)?;
        length += run.text().len();
        all.is_plain &= run.is_plain();
        if all.is_plain {
            let learned = all.first.learned();
            let new = run.scrubbed(&mut all.first)?;
            all.is_clean &= new.is_none();
            let text = new.as_ref().map_or(run.text(), NewText::text);
            all.draft.extend_from_slice(text);
            if all.first.learned() != learned {
                all.taught = length;
                all.standing = all.first.standing();
            }
        }
    }
    checker.finish()?;
    Ok(all)
}

fn streamed(text: &[u8], asked: bool) -> Scrubbed {
    let checked = check(text).unwrap();
    let mut first = redactor();
    let (new, places) = both(&mut first, text, true);
    if checked.is_plain {
        // Both passes together find what the first one found.
        assert_eq!(checked.is_clean, new == text);
        assert_eq!(checked.is_clean, places.is_empty());
        assert_eq!(checked.first.counts(), first.counts());
    }
    let is_confirmed = checked.is_plain && is_confirmed(&checked, text);
    let mut second = checked.second;
    second.learn_from(&first);
    let (new, places) = both(&mut second, text, asked);
    if is_confirmed {
        assert_eq!(
            (&new, second.counts()),
            (&checked.draft, checked.first.counts())
        );
    }
    told(new, places, &second)
}

/// Whether a second reading begins with the text of the first one, and has the same state after the
/// last run that taught a secret.
fn is_confirmed(checked: &Checked, text: &[u8]) -> bool {
    let mut again = redactor();
    again.adopt(text);
    again.learn_from(&checked.first);
    let (mut runs, mut run) = (Runs::new(text), Run::default());
    let (mut new, mut length) = (Vec::new(), 0);
    while runs.read(&mut run).unwrap() {
        let scrubbed = run.scrubbed(&mut again).unwrap();
        new.extend_from_slice(scrubbed.as_ref().map_or(run.text(), NewText::text));
        length += run.text().len();
        if length >= checked.taught {
            break;
        }
    }
    let is_known = checked.standing.is_some() && again.standing() == checked.standing;
    is_known && checked.draft.starts_with(&new)
}

proptest! {
    #[test]
    fn a_few_exchanges_at_a_time_are_scrubbed_as_all_at_once(
        exchanges in prop::collection::vec(0_usize..5, 0..12),
        unanswered in prop::collection::vec(0_usize..2, 0..4),
        messages in prop::collection::vec(0_usize..3, 0..6),
    ) {
        let text = text(&exchanges, &unanswered, &messages);
        let (new, places, counts) = whole(&text);
        let unasked = streamed(&text, false);
        prop_assert_eq!((&unasked.0, &unasked.2), (&new, &counts));
        prop_assert_eq!(streamed(&text, true), (new, places, counts));
    }
}

#[test]
fn what_stands_beside_messages_is_seen() {
    let plain = |text: &str| {
        let whole = format!(r#"{{"version":"1",{text}}}"#);
        check(whole.as_bytes()).unwrap().is_plain
    };
    let exchange = |more: &str| {
        format!(
            r#""exchanges":[{{"request":{{"method":"x"}},"response":{{"result":"\"via\", http"}},"seen":1{more}}}]"#
        )
    };
    let message = r#"{"from":"client","message":{"method":"n"}}"#;
    for text in [
        exchange(""),
        exchange(&format!(r#","stream":[{message}]"#)),
        format!(r#""meta":{{"http":"x"}},"exchanges":[],"messages":[{message}]"#),
    ] {
        assert!(plain(&text), "{text}");
    }
    for text in [
        exchange(r#","http":{"path":"/mcp"}"#),
        exchange(r#","fault":"x""#),
        exchange(r#","v\u0069a":{}"#),
        exchange(r#","stream":[{"from":"server","text":"x","why":"not_json"}]"#),
        r#""exchanges":[],"messages":[{"from":"server","base64":"eA=="}]"#.to_owned(),
        r#""exchanges":[],"sessions":[{"session":1}]"#.to_owned(),
        r#""exchanges":[],"m\u0065ssages":[]"#.to_owned(),
    ] {
        assert!(!plain(&text), "{text}");
    }
}

#[test]
fn a_second_reading_confirms_the_first_unless_a_secret_precedes_its_name() {
    let exchange = |text: &str| {
        format!(r#"{{"request":{{"id":1,"method":"x","params":{text}}},"response":{{"id":1}}}}"#)
    };
    let (named, echo) = (
        exchange(r#"{"password":"Tr0ub4dor&3x"}"#),
        exchange(r#"{"text":"it is Tr0ub4dor&3x"}"#),
    );
    let placeholder = exchange(r#"{"text":"<REDACTED:password#3>"}"#);
    let filler = exchange(&format!("{:?}", "x".repeat(300)));
    for (list, wanted) in [
        ([&named, &filler, &echo], true),
        ([&echo, &filler, &named], false),
        ([&named, &filler, &placeholder], false),
        ([&filler, &named, &named], true),
    ] {
        let list = list.map(String::as_str).join(",");
        let text = format!(r#"{{"version":"1","exchanges":[{list}]}}"#);
        let checked = check(text.as_bytes()).unwrap();
        let confirmed = is_confirmed(&checked, text.as_bytes());
        assert_eq!(confirmed, wanted, "{text}");
    }
}

#[test]
fn a_capture_is_scrubbed_as_all_at_once() {
    let exchange = r#"{"request":{"id":1,"method":"x","params":{"password":"Tr0ub4dor&3x"}},"response":{"id":1,"result":"Tr0ub4dor&3x"}}"#;
    let text = format!(
        r#"{{"server_label":"fs","server_capabilities":{{}},"exchanges":[{}]}}"#,
        [exchange; 9].join(",")
    );
    let scrubbed = streamed(text.as_bytes(), true);
    assert_eq!(scrubbed, whole(text.as_bytes()));
    assert!(!scrubbed.0.contains("Tr0ub4dor"));
}

#[test]
fn what_is_not_as_ours_is_left_to_who_reads_all_of_it() {
    for text in [
        r"[]",
        r#"{"version":"2","exchanges":[]}"#,
        r#"{"exchanges":[{"request":{},"response":{}}],"version":"1"}"#,
        r#"{"version":"1","exchanges":[{"request":{}}]}"#,
        r#"{"version":"1","exchanges":[],"messages":[{"from":"x"}]}"#,
        r#"{"version":"1","exchanges":[]"#,
    ] {
        let checked = check(text.as_bytes());
        assert!(matches!(checked, Err(StreamError::Whole)), "{text}");
    }
}
