//! The life of a server's process, and the lines that it writes.

use tapewright_schemas::envelope::Malformed;
use tapewright_schemas::event::{CloseReason, EventBody, Exit, LineEnd, Offset};
use tapewright_schemas::json::{Invalid, Scanner};
use tapewright_schemas::patience;

use super::prelude::*;
use crate::session::is_ended_by_signal;

pub(crate) static EXITS: Invariant = Invariant {
    code: Code(26),
    category: "lifecycle",
    property: "a server's process exits by itself within two seconds after its standard input was closed",
    levels: Levels::NOWHERE.should(R5).derived(Revisions::HANDSHAKE),
    carriers: Carriers::LINE,
    who: Responsible::Server,
    basis: Basis::Session,
    source: "basic/transports §stdio Shutdown (2026-07-28)",
    why: "The end of input is the one way to ask a process to end that works everywhere. A server that does not heed it \
          is killed, and takes what it had not saved with it. Clients wait for two seconds, and so does this recorder; \
          where requests were still to be answered, from the last answer on.",
    holds: r"
        handshake 2025-06-18
        close >
        exit 0
        close <
    ",
    breaks: r"
        handshake 2025-06-18
        close >
        wait 2100
        exit signal 15
        close <
    ",
    checks: &[Check::End(exits)],
};

fn exits(closing: &Closing<'_>, out: &mut Out<'_>) {
    let session = closing.session;
    let Some((closed, CloseReason::EndOfInput)) = session.closing(Direction::ToServer) else {
        return;
    };
    let Some((exited, how)) = session.exited.filter(|_| !session.remote) else {
        return;
    };
    // A server that exited before its input was closed did not exit because of that.
    if exited.seq < closed.seq {
        return;
    }
    // It may finish earlier requests first.
    let free = session.freed.filter(|freed| freed.seq > closed.seq);
    let took = exited.at.since(free.unwrap_or(closed).at);
    let busy = !session.requests(Direction::ToServer).is_idle();
    let signalled = is_ended_by_signal(how);
    if !signalled && took <= LIMIT.plus(LENIENCY) {
        return out.pass();
    }
    // A client that ended it this soon did not wait for it to exit.
    if busy || signalled && took < LIMIT.since(LENIENCY) {
        return out.doubt(Doubt::Unseen);
    }
    let how = match how {
        Exit::Code(143) | Exit::Signal(15) => "had to be terminated".to_owned(),
        Exit::Code(137) | Exit::Signal(9) => "had to be killed".to_owned(),
        Exit::Signal(signal) => format!("was ended by signal {signal}"),
        Exit::Code(code) => format!("exited with status {code}"),
    };
    let what = format!(
        "the process {how} {} ms after its input was closed",
        took.0 / 1_000
    );
    out.fail(
        Fault::new(Side::Server, what)
            .seen(exited.seq)
            .seen(closed.seq),
    );
}

const LIMIT: Offset = Offset::of(patience::CLIENT_PATIENCE);
const LENIENCY: Offset = Offset::of(patience::LENIENCY);

pub(crate) static STDOUT: Invariant = Invariant {
    code: Code(53),
    category: "framing",
    property: "every line that the server writes to its standard output is one MCP message",
    levels: Levels::NOWHERE.must(Revisions::ALL),
    carriers: Carriers::LINE,
    who: Responsible::Server,
    basis: Basis::Message,
    source: "basic/transports §stdio (2024-11-05)",
    why: "Banners, log lines and progress bars on standard output break clients that are stricter than the one at hand. \
          They belong on standard error. Blank lines, a byte order mark, bytes that are no UTF-8 and a last line that was \
          cut off count as well.",
    holds: r"
        handshake 2025-06-18
    ",
    breaks: r"
        < Server listening on stdio
    ",
    checks: &[Check::Holds(
        Plain::ONE,
        &Check::Payload(Directions::ToClient, framing),
    )],
};

pub(crate) static STDIN: Invariant = Invariant {
    code: Code(54),
    category: "framing",
    property: "every line that the client writes to the server's standard input is one MCP message",
    levels: Levels::NOWHERE.must(Revisions::ALL),
    carriers: Carriers::LINE,
    who: Responsible::Client,
    basis: Basis::Message,
    source: "basic/transports §stdio (2024-11-05)",
    why: "A server may answer such a line with an error, log it, or stop. A bare line end counts as well.",
    holds: r"
        handshake 2025-06-18
    ",
    breaks: r#"
        > {"jsonrpc":"2.0","id":1,"method":"ping"
    "#,
    checks: &[Check::Holds(
        Plain::ONE,
        &Check::Payload(Directions::ToServer, framing),
    )],
};

fn framing(case: &Case<'_>, out: &mut Out<'_>) {
    let message = case.message;
    let cut = matches!(
        &case.event.body,
        EventBody::Message {
            end: LineEnd::None,
            ..
        }
    );
    let what = match message.envelope.kind {
        Kind::Malformed(Malformed::NotJson) if message.text.starts_with(b"\xef\xbb\xbf") => {
            "a line begins with a byte order mark".to_owned()
        }
        Kind::Malformed(Malformed::NotJson) if is_too_deep(message.text) => {
            return out.doubt(Doubt::Unread);
        }
        Kind::Malformed(_) if cut => "the last line was cut off".to_owned(),
        Kind::Malformed(why) => format!("a line is not a message: {why}"),
        _ if cut => "the last line has no line end".to_owned(),
        _ => return out.pass(),
    };
    // A process that a fault ended could not finish its line.
    let ours = cut && case.session.is_tampered_with();
    let fault = Fault::new(case.sender(), what).at(message, "");
    out.fail(fault.ours_if(ours));
}

fn is_too_deep(text: &[u8]) -> bool {
    let mut scanner = Scanner::new(text);
    loop {
        match scanner.next_token() {
            Ok(Some(_)) => {}
            Ok(None) => return false,
            Err(error) => return error == Invalid::TooDeep,
        }
    }
}
