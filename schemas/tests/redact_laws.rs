//! Properties for every input: idempotence, validity, exactness, linear time.

use std::borrow::Cow;
use std::sync::Arc;

use proptest::prelude::*;
use tapewright_schemas::json::{self, Scanner};
use tapewright_schemas::redact::{LineState, Redactor, Rules, Settings, work};

fn redactor() -> Redactor {
    let settings = Settings {
        keys: vec!["internalRef".to_owned()],
        patterns: vec!["EMP-(\\d{6})".to_owned()],
        values: vec![
            ("A".to_owned(), "hunter22x".to_owned()),
            ("B".to_owned(), "long \"secret\" value".to_owned()),
        ],
        off: false,
    };
    Redactor::new(Arc::new(
        Rules::new(&settings).expect("the rules are valid"),
    ))
}

/// Pieces from which both secrets and near misses come about.
const PIECES: &[&str] = &[
    "password",
    "token",
    "api_key",
    "Authorization",
    "cookie",
    "Set-Cookie",
    "internalRef",
    "auth",
    "pin",
    "max_tokens",
    "name",
    "value",
    "properties",
    "type",
    "default",
    ":",
    "=",
    "==",
    "=>",
    "://",
    "--",
    "-",
    "&",
    "?",
    ";",
    ",",
    " ",
    " ",
    "\n",
    "\t",
    "\"",
    "'",
    "`",
    "\\",
    "\\\"",
    "\\n",
    "\\u005f",
    "{",
    "}",
    "[",
    "]",
    "(",
    ")",
    "<",
    ">",
    "#",
    "@",
    ".",
    "/",
    "%3D",
    "*",
    "Bearer ",
    "Basic ",
    "Digest ",
    "dXNlcjpodW50ZXIyMg==",
    "hunter22x",
    "long \"secret\" value",
    "EMP-123456",
    "abc",
    "Xy7",
    "12345678",
    "string",
    "null",
    "true",
    "é",
    "😀",
    "user",
    "host",
    "postgres",
    "https",
    "sk-ant-",
    "sk-",
    "ghp_",
    "AKIA",
    "eyJhbGciOiJI",
    "A1b2C3d4E5f6G7h8",
    "-----BEGIN RSA PRIVATE KEY-----",
    "-----END ",
    "sig=",
    "<REDACTED:token#1>",
    "<ANTHROPIC_API_KEY>",
    "[REDACTED:hint=x]",
    "****",
    "<token>",
    "${X}",
    "\u{7f}",
    "x-api-key: ",
    "{\"password\":\"x\"}",
    "curl -u ",
    "bob:",
    "@tcp(",
    "machine ",
    " login ",
    " password ",
    "h:5432:",
    "?code=",
    "&state=",
    "SSWS 00",
    "glpat-",
    "eyJwYXNzd29yZCI6ImFiYyJ9",
    "<password>",
    "</password>",
    "<![CDATA[",
    "]]>",
    "<add key=",
    " value=",
    "Content-Disposition: form-data; name=",
    "\n\n",
    "\n--",
    "-u",
    "-ubob:",
    "curl",
    "blob",
    "X-Api-Key",
    "ZXlK",
];

fn pieces(most: usize) -> impl Strategy<Value = String> {
    prop::collection::vec(prop::sample::select(PIECES), 0..most).prop_map(|pieces| pieces.concat())
}

/// JSON with names, values and nested JSON made from the pieces.
fn value() -> impl Strategy<Value = serde_json::Value> {
    use serde_json::Value;
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<u32>().prop_map(Value::from),
        pieces(6).prop_map(Value::from),
        pieces(12).prop_map(Value::from),
    ];
    leaf.prop_recursive(5, 40, 5, |inner| {
        let member = (
            prop_oneof![
                prop::sample::select(PIECES).prop_map(str::to_owned),
                pieces(3)
            ],
            inner.clone(),
        );
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..5).prop_map(Value::from),
            prop::collection::vec(member, 0..5)
                .prop_map(|members| Value::Object(members.into_iter().collect())),
            inner.prop_map(|value| Value::from(value.to_string())),
        ]
    })
}

/// Takes `out` apart at the findings of `text` and checks that the rest is untouched.
fn only_findings_changed(text: &[u8], out: &[u8], findings: &[json::Span]) -> Result<(), String> {
    let (mut at, mut rest) = (0, out);
    for span in findings {
        let same = text.get(at..span.start).ok_or("overlap")?;
        rest = rest
            .strip_prefix(same)
            .ok_or_else(|| format!("changed before {}", span.start))?;
        let close = memchr::memchr(b'>', rest).ok_or("no placeholder")?;
        let open = memchr::memchr(b'<', rest).ok_or("no placeholder")?;
        let mut end = close + 1;
        if open > 0 {
            // A value that was not a string: quotes around the placeholder.
            end += open;
        }
        rest = rest.get(end..).ok_or("no placeholder")?;
        at = span.end;
    }
    if Some(rest) == text.get(at..) {
        Ok(())
    } else {
        Err(format!("changed after {at}"))
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 1_500, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn json_stays_json_and_settles_at_once(value in value(), pretty in any::<bool>()) {
        let text = if pretty { serde_json::to_string_pretty(&value) } else { serde_json::to_string(&value) }.unwrap();
        let mut redactor = redactor();
        let once = redactor.json(text.as_bytes()).unwrap().into_owned();
        prop_assert!(json::is_valid(&once), "{}", String::from_utf8_lossy(&once));
        let twice = redactor.json(&once).unwrap();
        prop_assert_eq!(String::from_utf8_lossy(&twice), String::from_utf8_lossy(&once), "{}", text);
        prop_assert!(!once.windows(9).any(|window| window == b"hunter22x"));
    }

    #[test]
    fn only_what_is_found_changes(value in value()) {
        let text = value.to_string();
        let mut redactor = Redactor::new(Arc::new(Rules::new(&Settings::default()).unwrap()));
        let findings: Vec<_> = redactor.findings(text.as_bytes()).into_iter().map(|finding| finding.span).collect();
        let once = redactor.json(text.as_bytes()).unwrap().into_owned();
        let exact = only_findings_changed(text.as_bytes(), &once, &findings);
        prop_assert!(exact.is_ok(), "{:?}: {} -> {}", exact, text, String::from_utf8_lossy(&once));
    }

    #[test]
    fn free_text_settles_at_once(text in pieces(14)) {
        let mut redactor = redactor();
        let once = redactor.text(text.as_bytes()).into_owned();
        let twice = redactor.text(&once).into_owned();
        prop_assert_eq!(String::from_utf8_lossy(&twice), String::from_utf8_lossy(&once), "{}", text);
        prop_assert!(!once.windows(9).any(|window| window == b"hunter22x"), "{}", text);
    }

    #[test]
    fn nothing_secret_is_borrowed(words in prop::collection::vec("[a-z]{1,8}( [a-z]{1,8}){0,9}", 0..8)) {
        let text = serde_json::to_string(&serde_json::json!({"method": "tools/call", "params": {"name": "x", "list": words}})).unwrap();
        prop_assert!(matches!(redactor().json(text.as_bytes()), Ok(Cow::Borrowed(_))));
    }

    #[test]
    fn accepts_what_the_scanner_accepts(text in r#"[\[\]{},: \\"truefalsnl0-9.eE+\-u]{0,24}"#) {
        prop_assert_eq!(redactor().json(text.as_bytes()).map(drop), scanned(text.as_bytes()));
    }

    #[test]
    fn agrees_with_the_scanner_on_damaged_json(value in value(), at in any::<prop::sample::Index>(), with in any::<u8>(), cut in any::<bool>()) {
        let mut text = serde_json::to_vec(&value).unwrap();
        let at = at.index(text.len());
        if cut { text.truncate(at) } else { text[at] = with }
        prop_assert_eq!(redactor().json(&text).is_ok(), json::is_valid(&text));
        if std::str::from_utf8(&text).is_ok() {
            prop_assert_eq!(redactor().json(&text).map(drop), scanned(&text));
        }
    }

    #[test]
    fn no_bytes_do_harm(bytes in any::<Vec<u8>>(), text in pieces(10), cut in any::<prop::sample::Index>()) {
        let mut redactor = redactor();
        let mut state = LineState::default();
        let mut mixed = text.into_bytes();
        mixed.extend(&bytes);
        for input in [&bytes, &mixed, &mixed[..cut.index(mixed.len() + 1)].to_vec()] {
            redactor.text(input);
            redactor.head(input);
            redactor.line(&mut state, input);
            redactor.findings(input);
            redactor.adopt(input);
            redactor.argv(std::slice::from_ref(input));
            prop_assert_eq!(redactor.json(input).is_ok(), json::is_valid(input));
        }
    }

    #[test]
    fn a_head_keeps_no_known_value(text in pieces(12), cut in any::<prop::sample::Index>()) {
        let whole = format!("{text} hunter22x {text}");
        let mut at = cut.index(whole.len());
        while !whole.is_char_boundary(at) { at -= 1 }
        let head = redactor().head(&whole.as_bytes()[..at]);
        prop_assert!(!head.windows(9).any(|window| window == b"hunter22x"));
    }
}

fn scanned(text: &[u8]) -> Result<(), json::Invalid> {
    let mut scanner = Scanner::new(text);
    while scanner.next_token()?.is_some() {}
    Ok(())
}

#[test]
fn off_changes_nothing_but_still_validates() {
    let rules = Rules::new(&Settings {
        off: true,
        ..Settings::default()
    })
    .unwrap();
    let mut redactor = Redactor::new(Arc::new(rules));
    let text = br#"{"password":"x"}"#;
    assert!(matches!(redactor.json(text), Ok(Cow::Borrowed(_))));
    assert!(redactor.json(b"{").is_err());
    assert!(matches!(
        redactor.text(b"password=hunter22x"),
        Cow::Borrowed(_)
    ));
    assert_eq!(redactor.head(b"{\"password\":\"x"), b"{\"password\":\"x");
    assert_eq!(redactor.argv(&[b"--token=x".to_vec()]), [b"--token=x"]);
    assert!(redactor.findings(text).is_empty() && redactor.counts().is_empty());
}

#[test]
fn counts_and_findings_tell_kinds_and_never_values() {
    let mut redactor = redactor();
    let text = br#"{"password":"hunter22x","token":"hunter22x","pwd":"other1"}"#;
    let findings = redactor.findings(text);
    let seen: Vec<_> = findings
        .iter()
        .map(|finding| (finding.span.of(text), finding.kind.as_str()))
        .collect();
    assert_eq!(
        seen,
        [
            (&b"hunter22x"[..], "env"),
            (b"hunter22x", "env"),
            (b"other1", "password")
        ]
    );
    redactor.json(text).unwrap();
    assert_eq!(redactor.counts().get("env"), Some(&2));
    assert_eq!(redactor.counts().get("password"), Some(&1));
    assert!(!format!("{redactor:?}").contains("hunter22x"));
}

#[test]
fn adopted_placeholders_are_not_given_again() {
    let mut redactor = redactor();
    redactor.adopt(br#"{"a":"<REDACTED:password#41>"}"#);
    assert_eq!(
        &*redactor.text(b"password=Xy7abc"),
        b"password=<REDACTED:password#42>"
    );
}

/// Each of these would take minutes if anything were quadratic. The test asserts work, not time:
/// the bytes that searches read, as counted in builds for tests, relative to the length of the
/// text.
#[test]
fn hostile_input_takes_linear_work() {
    // A megabyte, or as much as an unoptimized build reads in a tenth of a second.
    let size = if cfg!(debug_assertions) {
        1 << 14
    } else {
        1 << 20
    };
    for input in hostile(size) {
        let mut redactor = redactor();
        let bytes = input.as_bytes();
        let string = serde_json::to_vec(&input).unwrap();
        let object = [
            b"{\"a\":",
            string.as_slice(),
            b",\"password\":",
            string.as_slice(),
            b"}",
        ]
        .concat();
        let linear = |what: &str, length: usize| {
            let begin: String = input.chars().take(40).collect();
            let most = MOST_WORK * length as u64;
            let work = work::take();
            assert!(
                work <= most,
                "{what} of {begin:?}: {work} bytes for {length}"
            );
            if cfg!(debug_assertions) {
                assert!(work > 0, "{what} of {begin:?} counts nothing");
            }
        };
        work::take();
        redactor.text(bytes);
        linear("text", bytes.len());
        redactor.head(bytes);
        linear("head", bytes.len());
        redactor.line(&mut LineState::default(), bytes);
        redactor.argv(&[bytes.to_vec()]);
        linear("line and argument", 2 * bytes.len());
        redactor.json(&object).unwrap();
        linear("json", object.len());
        redactor.head(&object[..object.len() - 2]);
        linear("head of json", object.len());
    }
}

/// Linear for every length: twice the text is twice the work.
#[test]
fn twice_the_hostile_text_is_twice_the_work() {
    let work_of = |size: usize| -> Vec<u64> {
        let inputs = hostile(size).into_iter();
        let work = inputs.map(|input| {
            work::take();
            redactor().text(input.as_bytes());
            work::take()
        });
        work.collect()
    };
    let (once, twice) = (work_of(1 << 12), work_of(1 << 13));
    for ((input, once), twice) in hostile(64).iter().zip(once).zip(twice) {
        // Three times, not twice, since the end of a text is arbitrary.
        assert!(
            twice <= 3 * once + 20_000,
            "{input:?}: {once}, then {twice}"
        );
    }
}

/// How often a byte may be read: by the consecutive searches, in each pass, and by every beginning
/// of a token up to its maximum length. Quadratic code reads each one a thousand times.
const MOST_WORK: u64 = 600;

/// Hostile texts of this size and a little more.
fn hostile(size: usize) -> Vec<String> {
    let repeat = |piece: &str| piece.repeat(size / piece.len());
    let mut inputs: Vec<String> = HOSTILE.iter().map(|piece| repeat(piece)).collect();
    let mut nested = "x".repeat(size >> 4);
    while nested.len() < size {
        nested = serde_json::to_string(&[&nested, ":"]).expect("strings have a JSON text");
    }
    inputs.push(nested);
    inputs.push(format!("{{\"a\":{}", repeat("[")));
    inputs
}

/// Repeated, each of these makes a careless search start over and over.
#[rustfmt::skip]
const HOSTILE: &[&str] = &[
    ":", "=", "-", "--", "\"", "'", "\\", "\\\"", "a:", "a=", "password", "password:",
    "password=", "password:\"", "password:'", "password:(", "password:string(", "password=os.x(",
    "auth:(", "auth:\"(", "token: foo bar ", "\"password\":{", "\"password\":{\"type\":",
    "\"password\":[", "eyJ", "eyJ.", "eyJaaaaaaaa.", "eyJaaaaaaaa-", "-----BEGIN", "-----BEGIN ",
    "-----BEGIN PRIVATE KEY-----", "://", "://a:", "x://a:", "x://a:b@", "https://a:b",
    "--password ", "--password", "sk-", "sk-ant-", "ghp_", "AKIA", "SG.", "SG.aaaaaaaa.", "xoxb-",
    "Bearer ", "Basic ", "cookie:", "cookie: a=b; ", "cookie: a ", "authorization: ",
    "authorization: digest ", "authorization:x ", "key-", "-us1", "1:AA", "sig=", "sig=%", "{",
    "[", "{\"a\":", "<", "[REDACTED:", "<REDACTED:", "<REDACTED:a", "hooks.slack.com/services/",
    "lsv2_", "ATATT3", "1//0", "password=a,b", "password=<1", "ya29.", "dp.pt.", "hunter22x",
    "EMP-123456 ", "token=a ", "é:", "\\u0022", "\\n", "eyJ/", "eyJ+", "eyJ=", "eyJ= ", "eyAi/", "ewog/",
    "eyJlbmMiOiJBIn0.", "eyJlbmMiOiJBIn0...", "curl -u ", " -u ", " -u a:b", "curl -u \"a:\\", " --user ", "@tcp(",
    ":@tcp(", "a:b@tcp(", "machine ", "machine a login ", "machine login ", ":5432:", "a:5432:a:a:", "?code=", "?code=1&state=",
    "&code=", "7Q~", "8Q~", "AZDO", ".atlasv1.", "A3-", "pat", "1/1", "SSWS ", "Bot ", "access_token$production$", "glpat-",
    "napi_", "vcp_", "fm2_", "EAA", "p8-", "<a", "<password>", "</password>", "</password", "]]></password>",
    "<password>]]></password>", "<![CDATA[", "<add key=\"password\" value=\"", "<a value=", "<a value=\"", "<x name=password value=x ",
    "Content-Disposition: form-data; name=\"password\"\n\n", "Content-Disposition: form-data; name=\"password\"\n",
    "content-disposition: ", "curl -u", "curl -ua:", "curl ", "curl a ", "curl \"", "curl --user ", "curl -u a:<", "ZXlK", "ZXlK+", "ZXlK/", "ZXlK=", "ZXlK=/", "ZXlK-", "W3si", "W3si/", ":*:", "*:*:*:a:", "default ", "default password ",
    ".acc_", "sc_a.acc-", "ext_ext_", "_mmk", "pat.", ".webhook.office.com/webhookb2/", "live_", "test_", "4b1d", "API-", "ABSK",
];
