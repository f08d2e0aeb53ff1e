//! Messages reach the server in the order of the client, although each may use a separate
//! connection.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use crate::server::{Seen, Server};
use crate::session::welcomes;
use crate::talk::Talk;

const FIRST: &str = r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"a"}}"#;
const SECOND: &str = r#"{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"b"}}"#;
const CANCEL: &str =
    r#"{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":2}}"#;

#[test]
fn a_cancellation_does_not_overtake_its_request_into_a_server_that_is_slow_to_accept() {
    let is_slow = Arc::new(AtomicBool::new(false));
    let (slow, overtaken) = (Arc::clone(&is_slow), Arc::new(Seen::default()));
    let (ends, hears) = (Arc::new(Seen::default()), Arc::clone(&overtaken));
    let end = Arc::clone(&ends);
    let server = Server::start_slow(
        move || {
            if slow.load(Ordering::SeqCst) {
                // Longer than the bridge waits for a head; a cancellation on a previously accepted
                // connection would have arrived meanwhile.
                hears.has_one_within(Duration::from_secs(1));
            }
        },
        move |request, reply| match request.body.as_str() {
            FIRST => {
                end.next();
                reply.json(r#"{"jsonrpc":"2.0","id":1,"result":{}}"#);
            }
            SECOND => reply.until_closed(),
            CANCEL => {
                overtaken.push(());
                reply.whole("202 Accepted", "", "");
            }
            _ => assert!(welcomes(request, reply)),
        },
    );
    let mut talk = Talk::with(&server.url("/mcp"));
    talk.begin();
    for _ in 0..3 {
        server.next();
    }
    talk.say(FIRST);
    assert_eq!(server.next().body, FIRST);
    is_slow.store(true, Ordering::SeqCst);
    // The pooled connections are busy: it needs a new one, which is not accepted for a while.
    talk.say(SECOND);
    ends.push(());
    assert!(
        talk.hear().contains("\"id\":1"),
        "a connection is free again"
    );
    talk.say(CANCEL);
    assert_eq!(server.next().body, SECOND);
    assert_eq!(server.next().body, CANCEL);
}

#[test]
fn a_cancellation_does_not_wait_for_the_answer() {
    let cancelled = Arc::new(Seen::default());
    let tells = Arc::clone(&cancelled);
    let server = Server::start(move |request, reply| match request.body.as_str() {
        // Head and answer are sent together, as with plain JSON.
        SECOND => {
            cancelled.next();
            reply.json(r#"{"jsonrpc":"2.0","id":2,"result":{"cancelled":true}}"#);
        }
        CANCEL => {
            tells.push(());
            reply.whole("202 Accepted", "", "");
        }
        _ => assert!(welcomes(request, reply)),
    });
    let mut talk = Talk::with(&server.url("/mcp"));
    talk.begin();
    talk.say(SECOND);
    talk.say(CANCEL);
    assert!(talk.hear().contains("\"cancelled\":true"));
}
