//! How sessions, and the front, end.

use std::sync::Arc;
use std::time::Duration;

use tapewright_proxy::front::FrontSettings;
use tapewright_proxy::http::listen::Phase;
use tapewright_proxy::upstream::{Link, OpenError, Upstream};

use crate::client::INITIALIZE;
use crate::fake::{Fake, Seen, plain};
use crate::front_server::FrontServer;

const PING: &str = r#"{"jsonrpc":"2.0","id":1,"method":"ping"}"#;

#[test]
fn a_server_that_ends_leaves_no_request_unanswered() {
    let fake = plain("2025-11-25", |_, line| line.contains("slow"));
    let front_server = FrontServer::of(fake.clone());
    let session = front_server.http().open();
    let mut slow = front_server.http();
    slow.begin_post(&session, r#"{"jsonrpc":"2.0","id":"s","method":"slow"}"#);
    while !fake.next().1.contains("slow") {}
    let mut general = front_server.http();
    general.listen(&session);
    general.event();
    front_server
        .http()
        .post(&session, r#"{"jsonrpc":"2.0","method":"exit"}"#);
    let (head, body) = slow.answer();
    assert_eq!(head.status, 200);
    assert!(
        body.starts_with(
            r#"{"jsonrpc":"2.0","id":"s","error":{"code":-32000,"message":"tapewright: "#
        ),
        "{body}"
    );
    assert_eq!(general.event(), None);
    assert_eq!(front_server.http().post(&session, PING).0.status, 404);
}

#[test]
fn sessions_that_nobody_uses_are_ended_and_those_in_use_are_not() {
    let settings = FrontSettings {
        idle: Duration::from_millis(200),
        ..FrontSettings::default()
    };
    let fake = plain("2025-11-25", |_, _| false);
    let front_server = FrontServer::with(fake.clone(), settings);
    front_server.http().open();
    let used = front_server.http().open();
    let mut general = front_server.http();
    general.listen(&used);
    assert_eq!(fake.ended.next(), 1);
    assert_eq!(
        front_server.http().post(&used, PING).0.status,
        200,
        "its stream is read"
    );
    drop(general);
    assert_eq!(fake.ended.next(), 2);
    assert_eq!(front_server.http().post(&used, PING).0.status, 404);
}

#[test]
fn processes_of_the_stateless_era_rest_too() {
    let settings = FrontSettings {
        idle: Duration::from_millis(100),
        ..FrontSettings::default()
    };
    let fake = plain("", |_, _| false);
    let front_server = FrontServer::with(fake.clone(), settings);
    let fields = "MCP-Protocol-Version: 2026-07-28\r\nMcp-Method: server/discover\r\n";
    let body = r#"{"jsonrpc":"2.0","id":1,"method":"server/discover","params":{"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28"}}}"#;
    assert_eq!(front_server.http().post(fields, body).0.status, 200);
    assert_eq!(fake.ended.next(), 1);
}

#[test]
fn a_shutdown_lets_what_is_under_way_finish() {
    let go = Arc::new(Seen::default());
    let may = Arc::clone(&go);
    let fake = plain("2025-11-25", move |out, line| {
        if line.contains("slow") {
            let (out, may) = (out.clone(), Arc::clone(&may));
            std::thread::spawn(move || {
                may.next();
                out.say(r#"{"jsonrpc":"2.0","id":1,"result":{}}"#);
            });
            return true;
        }
        false
    });
    let mut front_server = FrontServer::of(fake.clone());
    let session = front_server.http().open();
    let mut slow = front_server.http();
    slow.begin_post(&session, r#"{"jsonrpc":"2.0","id":1,"method":"slow"}"#);
    while !fake.next().1.contains("slow") {}
    let mut general = front_server.http();
    general.listen(&session);
    general.event();
    front_server.shut(Phase::Draining);
    assert_eq!(general.event(), None, "nothing is worth waiting for there");
    go.push(());
    assert!(slow.answer().1.contains("result"));
    assert!(slow.is_closed());
    front_server.ends();
    assert_eq!(fake.ended.next(), 1);
}

#[test]
fn a_shutdown_that_cannot_wait_cuts_off() {
    let fake = plain("2025-11-25", |_, line| line.contains("slow"));
    let mut front_server = FrontServer::of(fake.clone());
    let session = front_server.http().open();
    let mut slow = front_server.http();
    slow.begin_post(&session, r#"{"jsonrpc":"2.0","id":1,"method":"slow"}"#);
    while !fake.next().1.contains("slow") {}
    front_server.shut(Phase::Stopping);
    assert!(slow.is_closed());
    front_server.ends();
    assert_eq!(fake.ended.next(), 1);
}

#[test]
fn a_client_that_leaves_before_its_session_has_a_name_leaves_nothing_behind() {
    let fake = plain("2025-11-25", |_, line| line.contains("initialize"));
    let front_server = FrontServer::of(fake.clone());
    let mut http = front_server.http();
    http.begin_post("", INITIALIZE);
    fake.next();
    drop(http);
    assert_eq!(fake.ended.next(), 1);
}

/// A server whose start takes until a test lets it go on.
struct Slow {
    fake: Fake,
    starts: Arc<Seen<()>>,
    go: Arc<Seen<()>>,
}

impl Upstream for Slow {
    fn open(&self) -> Result<Link, OpenError> {
        self.starts.push(());
        self.go.next();
        self.fake.open()
    }
}

#[test]
fn a_server_whose_client_is_gone_before_it_has_started_is_ended() {
    let stateless = "MCP-Protocol-Version: 2026-07-28\r\nMcp-Method: server/discover\r\n";
    let discover = r#"{"jsonrpc":"2.0","id":1,"method":"server/discover","params":{"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28"}}}"#;
    for (fields, body) in [("", INITIALIZE), (stateless, discover)] {
        let fake = plain("2025-11-25", |_, _| false);
        let (starts, go) = (Arc::<Seen<()>>::default(), Arc::<Seen<()>>::default());
        let mut front_server = FrontServer::of(Slow {
            fake: fake.clone(),
            starts: Arc::clone(&starts),
            go: Arc::clone(&go),
        });
        let mut http = front_server.http();
        http.begin_post(fields, body);
        starts.next();
        front_server.shut(Phase::Stopping);
        assert!(http.is_closed());
        go.push(());
        front_server.ends();
        assert_eq!(fake.ended.next(), 1);
    }
}
