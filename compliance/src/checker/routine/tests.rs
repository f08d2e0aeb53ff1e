//! What is routine, and what ends it. That nothing is judged otherwise by it is a property of the tests of `plain`.

use tapewright_schemas::era::EraTracker;
use tapewright_schemas::event::Sink as _;

use super::Routine;
use crate::{Checker, Selection, script};

const HANDSHAKE: &str = r#"handshake 2025-06-18 {"tools":{}}"#;
const CALLED: &str = r#"
    > {"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"a","arguments":{}}}
    > {"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"a","arguments":{}}}
    > {"jsonrpc":"2.0","id":3,"method":"tools/call","params":{"name":"a","arguments":{},"_meta":{"progressToken":1}}}
    > {"jsonrpc":"2.0","id":4,"method":"tools/call","params":{"name":"a","arguments":{"b":"c"}}}
    > {"jsonrpc":"2.0","id":5,"method":"tools/call","params":{"name":"a","arguments":{"b":"c"}}}
    < {"jsonrpc":"2.0","id":1,"result":{"content":[{"type":"text","text":"a"}]}}
"#;

/// What is routine after these events, and whether the last message was.
fn after(events: &str) -> (Option<Routine>, bool) {
    let script = script::read(events).unwrap();
    let mut checker = Checker::new(script.facts, Selection::all());
    let (mut eras, mut judged) = (EraTracker::default(), 0);
    for mut event in script.events {
        let era = event.envelope().map(|one| eras.observe(event.dir, &one));
        event.era = era.flatten();
        judged = checker.judged_one_by_one;
        checker.record(&event);
    }
    (checker.routine, checker.judged_one_by_one == judged)
}

#[test]
fn calls_and_answers_in_turn_are_routine() {
    let (routine, was_routine) = after(&format!("{HANDSHAKE}{CALLED}"));
    assert!(!was_routine);
    assert!(routine.is_some_and(|one| one.call.is_some() && one.answer.is_some()));
    for more in [
        r#"> {"jsonrpc":"2.0","id":6,"method":"tools/call","params":{"name":"b","arguments":{"c":"d"}}}"#,
        r#"< {"jsonrpc":"2.0","id":5,"result":{"content":[{"type":"text","text":"b"}],"isError":true}}"#,
    ] {
        let (_, was_routine) = after(&format!("{HANDSHAKE}{CALLED}{more}"));
        assert!(was_routine, "{more}");
    }
}

#[test]
fn whatever_else_happens_is_examined() {
    for more in [
        r#"> {"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":"a","arguments":{}}}"#,
        r#"> {"jsonrpc":"2.0","id":5,"method":"tools/call","params":{"name":"a","arguments":{}}}"#,
        r#"> {"jsonrpc":"2.0","id":"6","method":"tools/call","params":{"name":"a","arguments":{}}}"#,
        r#"> {"jsonrpc":"2.0","id":6.0,"method":"tools/call","params":{"name":"a","arguments":{}}}"#,
        r#"> {"jsonrpc":"2","id":6,"method":"tools/call","params":{"name":"a","arguments":{}}}"#,
        r#"> {"jsonrpc":"2.0","id":6,"method":"tools/call","params":{"name":"a"}}"#,
        r#"> {"jsonrpc":"2.0","id":6,"method":"tools/call","params":{"name":"a","arguments":{},"task":{}}}"#,
        r#"> {"jsonrpc":"2.0","id":6,"method":"ping"}"#,
        r#"< {"jsonrpc":"2.0","id":6,"method":"tools/call","params":{"name":"a","arguments":{}}}"#,
        r#"< {"jsonrpc":"2.0","id":1,"result":{"content":[{"type":"text","text":"a"}]}}"#,
        r#"< {"jsonrpc":"2.0","id":3,"result":{"content":[{"type":"text","text":"a"}]}}"#,
        r#"< {"jsonrpc":"2.0","id":9,"result":{"content":[{"type":"text","text":"a"}]}}"#,
        r#"< {"jsonrpc":"2.0","id":2,"result":{"content":[{"type":"text","text":1}]}}"#,
        r#"< {"jsonrpc":"2.0","id":2,"error":{"code":1,"message":"a"}}"#,
        r#"< {"jsonrpc":"2.0","id":2,"result":{"content":[{"type":"text","text":"a"}]},"error":{}}"#,
        r#"> {"jsonrpc":"2.0","id":2,"result":{"content":[{"type":"text","text":"a"}]}}"#,
        r#"< {"jsonrpc":"2.0","method":"notifications/tools/list_changed"}"#,
        "> no message",
    ] {
        let (_, was_routine) = after(&format!("{HANDSHAKE}{CALLED}{more}"));
        assert!(!was_routine, "{more}");
    }
    for more in [
        r#"> {"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":2}}"#,
        r#"> [{"jsonrpc":"2.0","id":6,"method":"ping"}]"#,
        "fault > dropped",
        "signal SIGTERM",
        "close >",
        "gap 1",
    ] {
        let (routine, _) = after(&format!("{HANDSHAKE}{CALLED}{more}"));
        assert!(routine.is_none(), "{more}");
    }
}

#[test]
fn only_messages_of_the_same_session_are_routine() {
    let call =
        r#"> {"jsonrpc":"2.0","id":6,"method":"tools/call","params":{"name":"a","arguments":{}}}"#;
    let (_, was_routine) = after(&format!("{HANDSHAKE}{CALLED}session 2\n{call}"));
    assert!(!was_routine);
    let (_, was_routine) = after(&format!("{HANDSHAKE}{CALLED}{call}\nnoend >"));
    assert!(!was_routine);
    // Before the handshake is over, the rules about it must see each message.
    let (routine, was_routine) = after(&format!("{CALLED}{call}"));
    assert!(routine.is_none() && !was_routine);
}
