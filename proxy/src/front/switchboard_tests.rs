use std::task::Waker;
use tapewright_schemas::event::{Unable, Unroutable, What};

use tapewright_engine::policy::Delivery;

use super::super::route::Loss;
use super::*;

fn request(id: &str, more: &str) -> Vec<u8> {
    format!(r#"{{"jsonrpc":"2.0","id":{id},"method":"tools/call","params":{{{more}}}}}"#)
        .into_bytes()
}

fn answer(id: &str) -> Bytes {
    Bytes::from(format!(r#"{{"jsonrpc":"2.0","id":{id},"result":{{}}}}"#))
}

fn note(method: &str, params: &str) -> Bytes {
    Bytes::from(format!(
        r#"{{"jsonrpc":"2.0","method":"{method}","params":{{{params}}}}}"#
    ))
}

/// The available events for a reader, and whether the stream has ended.
fn heard(board: &mut Switchboard, opened: Opened) -> (Vec<Bytes>, bool) {
    let mut events = Vec::new();
    loop {
        match board.take(opened, Waker::noop()) {
            Next::Cut(part) => panic!("cut after {part:?}"),
            Next::Event(_, line) => events.push(line),
            Next::End => return (events, true),
            Next::Nothing => return (events, false),
        }
    }
}

fn passed(loss: Loss) {
    assert_eq!(loss, Loss::default());
}

#[test]
fn answers_and_progress_go_to_their_own_request() {
    let mut board = Switchboard::new(ProtocolStyle::Session);
    let one = board
        .open(&request("1", r#""_meta":{"progressToken":"a"}"#), false)
        .unwrap();
    let two = board
        .open(&request("\"1\"", r#""_meta":{"progressToken":7}"#), false)
        .unwrap();
    let step = note("notifications/progress", r#""progressToken":7"#);
    passed(board.route(&step));
    passed(board.route(&answer("\"1\"")));
    passed(board.route(&answer("1")));
    assert_eq!(heard(&mut board, two), (vec![step, answer("\"1\"")], true));
    assert_eq!(heard(&mut board, one), (vec![answer("1")], true));
}

#[test]
fn an_answer_alone_is_whole_and_anything_before_it_makes_a_stream() {
    let mut board = Switchboard::new(ProtocolStyle::Session);
    let one = board.open(&request("1", ""), false).unwrap();
    assert_eq!(board.form(one, Waker::noop()), None);
    passed(board.route(&answer("1")));
    assert_eq!(
        board.form(one, Waker::noop()),
        Some(Form::Whole(answer("1")))
    );

    let two = board.open(&request("2", ""), false).unwrap();
    passed(board.route(&note("notifications/message", "")));
    assert_eq!(board.form(two, Waker::noop()), Some(Form::Events));

    let quiet = board.open(&request("3", ""), true).unwrap();
    board.settle(IdKey::exact(&RequestId::Number("2")));
    passed(board.route(&note("notifications/message", "")));
    assert_eq!(
        board.form(quiet, Waker::noop()),
        None,
        "a quiet reader waits"
    );
    passed(board.route(&answer("3")));
    assert_eq!(
        board.form(quiet, Waker::noop()),
        Some(Form::Whole(answer("3")))
    );
}

#[test]
fn the_servers_requests_go_to_the_only_request_under_way_or_to_the_general_stream() {
    let mut board = Switchboard::new(ProtocolStyle::Session);
    let general = board.open_general().unwrap();
    assert_eq!(board.open_general(), None, "one reader only");
    let ask = Bytes::from_static(br#"{"id":0,"method":"sampling/createMessage"}"#);
    let one = board.open(&request("1", ""), false).unwrap();
    passed(board.route(&ask));
    assert_eq!(heard(&mut board, one).0, std::slice::from_ref(&ask));
    let withdrawn = note("notifications/cancelled", r#""requestId":0"#);
    let two = board.open(&request("2", ""), false).unwrap();
    passed(board.route(&withdrawn));
    assert_eq!(
        heard(&mut board, one).0,
        [withdrawn],
        "where the request went"
    );
    passed(board.route(&ask));
    assert_eq!(heard(&mut board, general).0, [ask], "several are under way");
    assert_eq!(heard(&mut board, two).0, Vec::<Bytes>::new());
}

#[test]
fn a_change_goes_to_the_general_stream_even_before_it_is_read() {
    let mut board = Switchboard::new(ProtocolStyle::Session);
    let changed = note("notifications/tools/list_changed", "");
    passed(board.route(&changed));
    let general = board.open_general().unwrap();
    let one = board.open(&request("1", ""), false).unwrap();
    passed(board.route(&changed));
    assert_eq!(heard(&mut board, general).0, [changed.clone(), changed]);
    assert_eq!(heard(&mut board, one), (Vec::new(), false));
}

#[test]
fn a_client_without_a_general_stream_hears_changes_beside_its_requests() {
    let mut board = Switchboard::new(ProtocolStyle::Session);
    let one = board.open(&request("1", ""), false).unwrap();
    let changed = note("notifications/tools/list_changed", "");
    passed(board.route(&changed));
    assert_eq!(heard(&mut board, one).0, [changed]);
}

#[test]
fn what_waits_for_a_reader_is_bounded_and_the_loss_is_told() {
    let mut board = Switchboard::new(ProtocolStyle::Session);
    let big = note(
        "notifications/tools/list_changed",
        &format!("\"x\":\"{}\"", "y".repeat(1 << 20)),
    );
    let mut lost = 0;
    for _ in 0..10 {
        lost += board.route(&big).earlier;
    }
    assert_eq!(lost, 7);
    let mut lost = 0;
    for _ in 0..2 * KEEP_EVENTS {
        lost += board
            .route(&note("notifications/x/list_changed", ""))
            .earlier;
    }
    assert_eq!(lost, KEEP_EVENTS as u64 + 3);
    let general = board.open_general().unwrap();
    assert_eq!(heard(&mut board, general).0.len(), KEEP_EVENTS);
}

#[test]
fn what_a_reader_has_still_to_take_is_never_given_up() {
    let mut board = Switchboard::new(ProtocolStyle::Session);
    let general = board.open_general().unwrap();
    let big = note(
        "notifications/tools/list_changed",
        &format!("\"x\":\"{}\"", "y".repeat(1 << 20)),
    );
    for _ in 0..10 {
        passed(board.route(&big));
    }
    assert_eq!(board.backlog(), 10 * big.len());
    assert_eq!(heard(&mut board, general).0.len(), 10);
    assert_eq!(board.backlog(), 0);
}

#[test]
fn a_numbered_stream_is_taken_up_where_it_was_left() {
    let mut board = Switchboard::new(ProtocolStyle::Session);
    let one = board.open(&request("1", ""), false).unwrap();
    assert_eq!(board.begin(one.stream), None);
    let log = |text: &str| note("notifications/message", &format!("\"data\":\"{text}\""));
    passed(board.route(&log("a")));
    passed(board.route(&log("b")));
    assert_eq!(heard(&mut board, one).0.len(), 2);
    assert!(
        board.detach(one).is_empty(),
        "a session's request is not cancelled"
    );
    passed(board.route(&log("c")));
    passed(board.route(&answer("1")));
    let (again, missed) = board.resume(one.stream, 1).unwrap();
    assert_eq!(missed, 0);
    assert_eq!(
        heard(&mut board, again),
        (vec![log("b"), log("c"), answer("1")], true)
    );
    assert_eq!(
        heard(&mut board, one),
        (Vec::new(), true),
        "the old reader is out"
    );
    assert_eq!(board.resume(99, 1), None);
}

#[test]
fn nobody_can_come_back_to_a_stream_without_numbers() {
    let mut board = Switchboard::new(ProtocolStyle::Session);
    let one = board.open(&request("1", ""), false).unwrap();
    board.detach(one);
    assert!(board.route(&answer("1")).message.is_some());
    assert_eq!(board.resume(one.stream, 0), None);
    assert_eq!(board.under_way(), 0);
    assert_eq!(board.streams.len(), 1, "only the general stream is left");
}

#[test]
fn leaving_cancels_in_the_stateless_era_and_a_late_answer_goes_nowhere() {
    let mut board = Switchboard::new(ProtocolStyle::Stateless);
    let body = request("7", "");
    let one = board.open(&body, false).unwrap();
    assert_eq!(board.detach(one), [b"7".to_vec()]);
    assert!(board.collides(&body), "the id stays taken");
    assert!(board.route(&answer("7")).message.is_some());
    let two = board.open(&request("8", ""), false).unwrap();
    passed(board.route(&answer("8")));
    heard(&mut board, two);
    assert!(board.detach(two).is_empty(), "it had its answer");
}

#[test]
fn a_subscription_hears_what_names_it() {
    let mut board = Switchboard::new(ProtocolStyle::Stateless);
    let listen = board.open(&request("\"l\"", ""), false).unwrap();
    let call = board
        .open(
            &request(
                "1",
                r#""_meta":{"io.modelcontextprotocol/logLevel":"info"}"#,
            ),
            false,
        )
        .unwrap();
    let tagged = note(
        "notifications/tools/list_changed",
        r#""_meta":{"io.modelcontextprotocol/subscriptionId":"l"}"#,
    );
    passed(board.route(&tagged));
    let log = note("notifications/message", "");
    passed(board.route(&log));
    assert_eq!(heard(&mut board, listen).0, [tagged]);
    assert_eq!(heard(&mut board, call).0, std::slice::from_ref(&log));
    board
        .open(
            &request(
                "2",
                r#""_meta":{"io.modelcontextprotocol/logLevel":"info"}"#,
            ),
            false,
        )
        .unwrap();
    assert_eq!(board.route(&log).message, Some(Unroutable::Ambiguous));
    let forbidden = Bytes::from_static(br#"{"id":1,"method":"roots/list"}"#);
    assert!(board.route(&forbidden).message.is_some());
}

#[test]
fn a_cancelled_request_of_a_session_ends_its_stream() {
    let mut board = Switchboard::new(ProtocolStyle::Session);
    let one = board.open(&request("1", ""), false).unwrap();
    board.observe(&note("notifications/cancelled", r#""requestId":1"#));
    assert_eq!(board.form(one, Waker::noop()), Some(Form::Events));
    assert_eq!(heard(&mut board, one), (Vec::new(), true));
    assert!(board.route(&answer("1")).message.is_some());
}

#[test]
fn initialize_cannot_be_cancelled_and_tells_the_revision() {
    let mut board = Switchboard::new(ProtocolStyle::Session);
    let body = br#"{"id":1,"method":"initialize","params":{}}"#;
    let one = board.open(body, false).unwrap();
    board.observe(&note("notifications/cancelled", r#""requestId":1"#));
    let result = Bytes::from_static(br#"{"id":1,"result":{"protocolVersion":"2025-06-18"}}"#);
    passed(board.route(&result));
    assert_eq!(board.version(), Some("2025-06-18"));
    assert_eq!(heard(&mut board, one), (vec![result], true));
}

#[test]
fn a_batch_is_one_stream_that_ends_with_its_last_answer() {
    let mut board = Switchboard::new(ProtocolStyle::Session);
    let body = br#"[{"id":1,"method":"a"},{"id":2,"method":"b"},{"method":"n"}]"#;
    let batch = board.open(body, false).unwrap();
    passed(board.route(&answer("2")));
    assert_eq!(heard(&mut board, batch), (vec![answer("2")], false));
    passed(board.route(&answer("1")));
    assert_eq!(heard(&mut board, batch), (vec![answer("1")], true));
    let batch = board.open(body, false).unwrap();
    let both = Bytes::from_static(br#"[{"id":1,"result":{}},{"id":2,"result":{}}]"#);
    passed(board.route(&both));
    assert_eq!(board.form(batch, Waker::noop()), Some(Form::Whole(both)));
}

#[test]
fn a_server_that_ends_owes_nothing_any_more() {
    let mut board = Switchboard::new(ProtocolStyle::Session);
    let general = board.open_general().unwrap();
    let one = board.open(&request("1", ""), false).unwrap();
    assert_eq!(
        board.open(&request("1", ""), false),
        Err(NotAccepted::Repeated)
    );
    let mut noted = Vec::new();
    board.finish("the server's process ended", |line| {
        noted.push(line.clone());
    });
    let (events, ended) = heard(&mut board, one);
    assert!(ended && events[0].starts_with(br#"{"jsonrpc":"2.0","id":1,"error""#));
    assert_eq!(noted, events);
    assert_eq!(heard(&mut board, general), (Vec::new(), true));
    assert_eq!(board.open(&request("2", ""), false), Err(NotAccepted::Over));
}

#[test]
fn noise_and_answers_to_nobody_go_nowhere_and_are_told() {
    let mut board = Switchboard::new(ProtocolStyle::Session);
    for line in [
        "Listening on 3000",
        r#"{"id":5,"result":{}}"#,
        r#"{"id":null,"error":{}}"#,
    ] {
        assert!(
            board
                .route(&Bytes::from_static(line.as_bytes()))
                .message
                .is_some(),
            "{line}"
        );
    }
    passed(board.route(&Bytes::from_static(b"  \r")));
}

#[test]
fn the_older_transport_has_one_stream() {
    let mut board = Switchboard::new(ProtocolStyle::Legacy);
    let general = board.open_general().unwrap();
    passed(board.route(&answer("1")));
    passed(board.route(&note("notifications/progress", "")));
    assert_eq!(heard(&mut board, general).0.len(), 2);
    assert!(board.route(&Bytes::from_static(b"noise")).message.is_some());
}

#[test]
fn a_status_takes_the_place_of_a_response_that_has_not_begun() {
    let status = Delivery::Status {
        status: 503,
        retry_after: None,
    };
    let fate = AbnormalEnd::Status(503, None);
    let mut board = Switchboard::new(ProtocolStyle::Session);
    let early = board.open(&request("1", ""), false).unwrap();
    assert_eq!(board.give(&answer("1"), &status), (Loss::default(), None));
    let form = board.form(early, Waker::noop());
    assert_eq!(form, Some(Form::Ends(fate.clone())));
    assert_eq!(board.begin(early.stream), Some(fate));
    assert_eq!(board.under_way(), 0);

    let late = board.open(&request("2", ""), false).unwrap();
    assert_eq!(board.begin(late.stream), None);
    let given = board.give(&answer("2"), &status);
    let why = Unable::HasBegun;
    assert_eq!(given, (Loss::default(), Some(What::NotDone { why })));
    assert_eq!(heard(&mut board, late), (vec![answer("2")], true));
}

#[test]
fn a_cut_comes_behind_what_came_before() {
    let mut board = Switchboard::new(ProtocolStyle::Session);
    let asked = request("1", r#""_meta":{"progressToken":"a"}"#);
    let one = board.open(&asked, false).unwrap();
    let step = note("notifications/progress", r#""progressToken":"a""#);
    passed(board.route(&step));
    board.give(&answer("1"), &Delivery::Cut(Some(5)));
    assert_eq!(board.form(one, Waker::noop()), Some(Form::Events));
    assert_eq!(board.take(one, Waker::noop()), Next::Event(1, step));
    let part = answer("1").slice(..5);
    assert_eq!(board.take(one, Waker::noop()), Next::Cut(part));
}

#[test]
fn what_is_no_answer_any_more_ends_its_response_all_the_same() {
    let mut board = Switchboard::new(ProtocolStyle::Session);
    let one = board.open(&request("1", ""), false).unwrap();
    let half = answer("1").slice(..9);
    let given = board.give(&answer("1"), &Delivery::Instead(half.clone()));
    assert_eq!(given, (Loss::default(), None));
    assert_eq!(heard(&mut board, one), (vec![half], true));
}
