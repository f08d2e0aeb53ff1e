//! Faults that could never act are rejected, and similar ones are not.

use proptest::prelude::*;
use tapewright_engine::fault::{Fault, FaultSet, Subject, TransportSupport, kinds};
use tapewright_schemas::event::{Direction, Offset, SessionKey};

use super::talk::Talk;

fn refused(spec: &str) -> String {
    match Fault::parse(spec) {
        Ok(_) => panic!("{spec} was taken"),
        Err(error) => error.to_string(),
    }
}

/// The result of adding a fault, on a transport.
fn added(reach: TransportSupport, spec: &str) -> Result<String, String> {
    let fault = Fault::parse(spec).map_err(|error| error.to_string())?;
    let fault_set = FaultSet::new(0, "fs", reach);
    fault_set.add(fault).map_err(|error| error.to_string())
}

#[test]
fn words_that_leave_nothing_to_meet_are_refused_with_their_place() {
    for (spec, says) in [
        (
            "hang first=2 nth=3",
            "column 14: `nth=3` means number 3 alone, which is not among `first=2`; say one of them",
        ),
        (
            "hang nth=3 every=2",
            "column 12: `nth=3` means number 3 alone, which `every=2` leaves out; say one of them",
        ),
        (
            "hang first=2 every=3",
            "column 14: `every=3` begins with number 3, which is not among `first=2`; say one of them",
        ),
        (
            "hang probability=0",
            "column 6: with a `probability` of less than one in a million it never acts; use a larger one, such as `probability=0.1`",
        ),
        (
            "hang tool=x method=tools/list",
            "column 13: no message matches both `method=tools/list` and `tool` (which means `tools/call`); say one of them, or let them agree",
        ),
        (
            "hang resource=x prompt=y",
            "column 17: no message matches both `resource` (which means `resources/read`) and `prompt` (which means `prompts/get`); say one of them, or let them agree",
        ),
        (
            "hang /params/name=x /params/name/y=z",
            "column 21: `/params/name` leaves no room for `/params/name/y` within it; say one of them",
        ),
        (
            "hang tool=x /params/name/y=z",
            "column 13: `tool=x` leaves no room for `/params/name/y` within it; say one of them",
        ),
        (
            "hang tool=x /params/name=y",
            "column 13: no message matches both `tool=x` and `/params/name`; say one of them, or let them agree",
        ),
        (
            "hang /method=tools/list",
            "column 6: `tools/call` is the default method, and `/method` does not match it; say which `method`",
        ),
        (
            "hang /result/content=x",
            "column 6: requests and notifications are looked at, and none has a `result`; say what the request has, as in `/params/name=search`",
        ),
        (
            "hang dir=to_client",
            "column 6: `tools/call` is the default method, and it travels the other way; say which `method`, or `method=*`",
        ),
        (
            "hang tool=x dir=to_client",
            "column 13: `tools/call` travels the other way, from the client; leave out `dir=to_client`: it is the way of the request, also where its answer is acted on",
        ),
        (
            "drop dir=to_server method=notifications/message",
            "column 20: `notifications/message` travels the other way, from the server; leave out `dir=to_server`: it is the way of the request, also where its answer is acted on",
        ),
        (
            "error on=request",
            "column 7: `error` acts on answers, not on requests; omit `on=request` to use it on the answer",
        ),
        (
            "error method=notifications/progress",
            "column 7: `error` acts on answers, and a notification has none; choose the method of a request",
        ),
        (
            "reset method=sampling/createMessage",
            "column 7: `reset` acts on answers of servers, not of clients; choose a method that clients ask with",
        ),
        (
            "list-change method=* dir=to_client",
            "column 22: `list-change` acts on answers of servers, not of clients; omit `dir=to_client` to use it on answers of the server",
        ),
        (
            "recover_after failures=0",
            "column 15: invalid `failures`: expected 1 to 1000000 calls, found 0",
        ),
        (
            "reorder within_ms=0",
            "column 9: invalid `within_ms`: expected 1 to 86400000 milliseconds, found 0",
        ),
        (
            "hang /a~b=c",
            "column 6: invalid JSON pointer `/a~b`: write `~0` for `~`, and `~1` for `/` in a name",
        ),
    ] {
        assert_eq!(refused(spec), says);
    }
}

#[test]
fn what_only_looks_like_it_is_taken() {
    for spec in [
        "hang first=3 nth=3",
        "hang nth=4 every=2",
        "hang first=3 every=3",
        "hang nth=1 after=7",
        "hang probability=0.000001",
        "hang tool=x method=tools/*",
        "hang tool=x method=*",
        "hang tool=x* /params/name=xy",
        r#"hang tool=x /params/name="x""#,
        "hang method=tools/list /method=tools/list",
        r#"hang /params/arguments='{"y":"z"}' /params/arguments/y=z"#,
        "hang /params/a='[1,[2]]' /params/a/1/0=2",
        "hang /params/a=1 /params/ab/c=2",
        "hang dir=to_client method=*",
        "hang dir=to_client method=sampling/createMessage",
        "drop dir=to_client method=notifications/progress",
        "drop method=vendor/event dir=to_client",
        "error method=vendor/event",
        "error method=ping dir=to_client",
        "error method=*",
        "http-status method=notifications/initialized status=404",
        "hang /params/a~0b~1c=d",
    ] {
        Fault::parse(spec).unwrap_or_else(|error| panic!("{spec}: {error}"));
    }
}

#[test]
fn what_is_never_said_here_is_refused_here() {
    for (reach, spec, says) in [
        (
            TransportSupport::Stdio,
            "http-status status=404",
            "column 1: `http-status` only works over HTTP; choose another kind; `tapewright explain` lists them",
        ),
        (
            TransportSupport::Http,
            "exit",
            "column 1: `exit` only works over standard streams; choose another kind; `tapewright explain` lists them",
        ),
        (
            TransportSupport::Stdio,
            "hang session=2",
            "column 6: stdio has only session 0, not `session=2`; omit it",
        ),
        (
            TransportSupport::Http,
            "truncate on=request",
            "column 10: `truncate` cannot act on HTTP requests, which can only be delayed or dropped; omit `on=request` to use it on the answer",
        ),
        (
            TransportSupport::Http,
            "truncate method=ping dir=to_client",
            "column 22: `truncate` cannot act on answers of clients over HTTP, which can only be delayed or dropped; omit `dir=to_client` to use it on answers of the server",
        ),
        (
            TransportSupport::Http,
            "truncate method=sampling/createMessage",
            "column 10: `truncate` cannot act on answers of clients over HTTP, which can only be delayed or dropped; choose a method that clients ask with",
        ),
        (
            TransportSupport::Http,
            "truncate method=notifications/initialized",
            "column 10: `truncate` acts on answers, and over HTTP a notification has none; choose the method of a request",
        ),
        (
            TransportSupport::Any,
            "http-status status=404 method=notifications/initialized",
            "column 24: `http-status` acts on answers, and a notification has none; choose the method of a request",
        ),
    ] {
        assert_eq!(added(reach, spec), Err(says.to_owned()));
    }
    for (reach, spec) in [
        (TransportSupport::Http, "hang session=2"),
        (TransportSupport::Http, "hang method=ping dir=to_client"),
        (TransportSupport::Http, "hang on=request"),
        (
            TransportSupport::Http,
            "wedged method=notifications/initialized",
        ),
        (
            TransportSupport::Http,
            "reset method=notifications/initialized",
        ),
        (
            TransportSupport::Http,
            "truncate method=notifications/message",
        ),
        (TransportSupport::Any, "exit"),
        (TransportSupport::Any, "http-status status=404"),
    ] {
        assert!(added(reach, spec).is_ok(), "{spec}");
    }
}

#[test]
fn every_kind_can_act_somewhere_and_says_so() {
    for kind in kinds::ALL {
        let reaches = [
            TransportSupport::Stdio,
            TransportSupport::Http,
            TransportSupport::Any,
        ];
        let taken = reaches.map(|reach| added(reach, kind.example).is_ok());
        let expected = match kind.reach {
            TransportSupport::Any => [true; 3],
            TransportSupport::Http => [false, true, true],
            TransportSupport::Stdio => [true, false, true],
        };
        assert_eq!(taken, expected, "{kind:?}");
    }
}

const NOTE: &str = r#"{"jsonrpc":"2.0","method":"notifications/progress"}"#;

#[test]
fn what_a_kind_has_nothing_to_do_to_is_not_met() {
    let mut talk = Talk::new(&["error method=* nth=1"]);
    talk.client(0, NOTE);
    talk.client(0, &super::call(1, "search"));
    talk.server(1, &super::answer(1));
    assert_eq!(talk.to_client().len(), 1);
    assert!(
        talk.to_client()[0].contains("\"error\""),
        "the first request"
    );
    let entry = &talk.fault_set.entries()[0];
    assert_eq!((entry.met, entry.fired), (1, 1));
}

fn ask(id: u64, method: &str, params: &str) -> String {
    format!(r#"{{"jsonrpc":"2.0","id":{id},"method":"{method}","params":{params}}}"#)
}

#[test]
fn the_first_of_those_that_fit_are_met_and_later_ones_are_not() {
    let mut talk = Talk::new(&["drop tool=search first=2"]);
    for (id, tool) in (1..).zip(["search", "find", "search", "search"]) {
        talk.client(id, &super::call(id, tool));
        talk.server(id, &super::answer(id));
    }
    assert_eq!(talk.to_client(), [super::answer(2), super::answer(4)]);
    let entry = &talk.fault_set.entries()[0];
    assert_eq!((entry.met, entry.fired), (3, 2));
}

#[test]
fn resources_and_prompts_are_met_by_their_names_alone() {
    let asked = [
        ("resources/read", r#"{"uri":"file:///a"}"#),
        ("resources/read", r#"{"uri":"file:///b"}"#),
        ("resources/subscribe", r#"{"uri":"file:///a"}"#),
        ("prompts/get", r#"{"name":"greet"}"#),
        ("prompts/get", r#"{"name":"leave"}"#),
        ("tools/call", r#"{"name":"greet"}"#),
        ("tools/call", r#"{"name":"a","uri":"file:///a"}"#),
    ];
    for (fault, dropped) in [
        ("drop resource=file:///a", vec![1]),
        ("drop resource=file:*", vec![1, 2]),
        ("drop prompt=greet", vec![4]),
        ("drop prompt=*", vec![4, 5]),
        ("drop method=resources/* resource=file:///b", vec![2]),
    ] {
        let mut talk = Talk::new(&[fault]);
        for (id, (method, params)) in (1..).zip(asked) {
            talk.client(id, &ask(id, method, params));
            talk.server(id, &super::answer(id));
        }
        let passed = (1..=7).filter(|id| !dropped.contains(id));
        let passed: Vec<String> = passed.map(super::answer).collect();
        assert_eq!(talk.to_client(), passed, "{fault}");
    }
}

/// Selector words, each of which is optional.
fn selection() -> impl Strategy<Value = String> {
    let word = |words: &'static [&'static str]| prop::sample::select(words);
    let names = word(&["", "tool=a", "tool=a*", "resource=a", "prompt=ab"]);
    let methods = word(&[
        "",
        "method=*",
        "method=tools/*",
        "method=tools/call",
        "method=prompts/get",
        "method=ping",
        "method=notifications/progress",
        "method=sampling/createMessage",
    ]);
    let ways = word(&["", "dir=to_server", "dir=to_client"]);
    let counts = word(&["", "nth=2", "nth=3"]);
    let firsts = word(&["", "first=1", "first=2"]);
    let everies = word(&["", "every=2", "every=3"]);
    let pointers = word(&[
        "",
        "/params/name=a",
        "/params/name=\\\"ab\\\"",
        "/params/name/x=1",
        "/params/uri=a",
        "/method=prompts/get",
        "/params/x={} /params/x/y=1",
        "/params/x={\\\"y\\\":1} /params/x/y=1",
    ]);
    let counts = (counts, firsts, everies).prop_map(|(nth, first, every)| [nth, first, every]);
    (names, methods, ways, counts, pointers).prop_map(|(name, method, way, counts, pointer)| {
        [name, method, way, &counts.join(" "), pointer].join(" ")
    })
}

/// Messages of every kind.
fn messages() -> Vec<(Direction, &'static str, bool, String)> {
    let mut all = Vec::new();
    let methods = [
        ("tools/call", Direction::ToServer, true),
        ("prompts/get", Direction::ToServer, true),
        ("resources/read", Direction::ToServer, true),
        ("ping", Direction::ToServer, true),
        ("ping", Direction::ToClient, true),
        ("sampling/createMessage", Direction::ToClient, true),
        ("notifications/progress", Direction::ToServer, false),
        ("notifications/progress", Direction::ToClient, false),
    ];
    for (method, dir, is_request) in methods {
        for name in ["\"a\"", "\"ab\"", r#"{"x":1}"#] {
            for uri in ["\"a\"", "1"] {
                for x in [r#"{"y":1}"#, "{}"] {
                    let params = format!(r#"{{"name":{name},"uri":{uri},"x":{x}}}"#);
                    all.push((dir, method, is_request, ask(1, method, &params)));
                }
            }
        }
    }
    all
}

/// How many of these messages a selector matches and chooses, when each is sent six times.
fn chosen(fault: &Fault) -> usize {
    let all = messages();
    let meets = |(dir, method, is_request, text): &&(Direction, &str, bool, String)| {
        let subject = Subject {
            method,
            text: text.as_bytes(),
            dir: *dir,
            session: SessionKey(0),
            is_request: *is_request,
        };
        fault.selector.meets(&subject, "fs", Offset(0))
    };
    let met = all.iter().filter(meets).count();
    let chosen = (1..=6).filter(|count| fault.selector.chooses(*count));
    met * chosen.count()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2_000))]

    #[test]
    fn what_is_refused_meets_nothing_and_what_is_taken_meets_something(selection in selection()) {
        // The words without their check, and with it.
        let mut fault = Fault::new(kinds::find("hang").expect("a kind"));
        for word in selection.split_whitespace() {
            let (key, value) = word.split_once('=').expect("a value");
            fault.select(key, &value.replace('\\', "")).expect("a word");
        }
        let meets = chosen(&fault) > 0;
        prop_assert_eq!(fault.check().is_ok(), meets, "{}", selection);
    }
}
