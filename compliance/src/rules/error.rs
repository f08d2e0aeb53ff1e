//! Errors: their envelope, and the one for unknown methods.

use tapewright_schemas::event::Direction;

use crate::carrier::Carriers;
use crate::checker::{Case, Fault, Out};
use crate::code::Code;
use crate::finding::Doubt;
use crate::invariant::{Basis, Check, Invariant, Levels, Responsible};
use crate::revision::{R5, Revisions};
use crate::session::capabilities::Capability;
use crate::session::pending_request::PendingRequest;
use crate::value::Value;

pub(crate) static ENVELOPE: Invariant = Invariant {
    code: Code(6),
    category: "error-envelope",
    property: "every JSON-RPC error envelope carries an integer `code` and a string `message`",
    levels: Levels::NOWHERE.must(Revisions::ALL),
    carriers: Carriers::ANY,
    who: Responsible::Both,
    basis: Basis::Message,
    source: "basic §Responses (2024-11-05); JSON-RPC 2.0 §5.1",
    why: "A client that cannot read the code cannot tell an unknown method from a broken server. The code must be an \
          integer in the text too: `-32600.0` is none. Bodies of refused HTTP requests count as well.",
    holds: r#"
        handshake 2025-06-18
        > {"jsonrpc":"2.0","id":1,"method":"ping"}
        < {"jsonrpc":"2.0","id":1,"error":{"code":-32601,"message":"no such method"}}
    "#,
    breaks: r#"
        > {"jsonrpc":"2.0","id":1,"method":"ping"}
        < {"jsonrpc":"2.0","id":1,"error":{"code":"E_BROKEN","message":"broken"}}
    "#,
    checks: &[Check::Error(envelope)],
};

fn envelope(case: &Case<'_>, out: &mut Out<'_>) {
    let message = case.message;
    let Some(error) = message.error() else {
        return;
    };
    let wrong = |what: String, pointer: &str| {
        let method = case.asked().map(|asked| asked.method.name());
        let of = method.map_or_else(String::new, |name| format!(" to `{name}`"));
        Fault::new(case.sender(), format!("the error{of} {what}")).at(message, pointer)
    };
    if !error.is_object() {
        return out.fail(wrong(
            format!("is {}, not an object", error.kind()),
            "/error",
        ));
    }
    match error.get("code") {
        None => return out.fail(wrong("has no `code`".to_owned(), "/error")),
        Some(code) if code.integer().is_none() => {
            let what = if code.is_integer() {
                "has a `code` beyond 64 bits".to_owned()
            } else {
                format!("has a `code` that is {} and not an integer", code.kind())
            };
            return out.fail(wrong(what, "/error/code"));
        }
        Some(_) => {}
    }
    match error.get("message") {
        None => out.fail(wrong("has no `message`".to_owned(), "/error")),
        Some(text) if !text.is_string() => {
            let what = format!("has a `message` that is {}, not a string", text.kind());
            out.fail(wrong(what, "/error/message"));
        }
        Some(_) => out.pass(),
    }
}

pub(crate) static UNKNOWN_METHOD: Invariant = Invariant {
    code: Code(7),
    category: "error-envelope",
    property: "a method-not-found error uses JSON-RPC code -32601",
    levels: Levels::NOWHERE.must(Revisions::ALL),
    carriers: Carriers::ANY,
    who: Responsible::Both,
    basis: Basis::Exchange,
    source: "JSON-RPC 2.0 §5.1 via basic §Responses (2024-11-05)",
    why: "It is how a client finds out that the other side lacks a method. An error is one of these when its message says \
          so, or when the method is in no revision of MCP that the session may have; methods of a server that declares \
          `experimental` capabilities or `extensions` may be its own. In a capture of another tool only the message \
          counts.",
    holds: r#"
        handshake 2025-06-18
        > {"jsonrpc":"2.0","id":1,"method":"no/such"}
        < {"jsonrpc":"2.0","id":1,"error":{"code":-32601,"message":"Method not found"}}
    "#,
    breaks: r#"
        > {"jsonrpc":"2.0","id":1,"method":"no/such"}
        < {"jsonrpc":"2.0","id":1,"error":{"code":-32602,"message":"Invalid request parameters"}}
    "#,
    checks: &[Check::Error(unknown_method)],
};

fn unknown_method(case: &Case<'_>, out: &mut Out<'_>) {
    let message = case.message;
    let Some(error) = message.error() else {
        return;
    };
    let code = error.get("code").and_then(Value::integer);
    let says = says_not_found(error);
    let unknown = case.asked().is_some_and(|asked| is_unknown(asked, case));
    if !says && !unknown {
        return;
    }
    if code == Some(METHOD_NOT_FOUND) {
        return out.pass();
    }
    if !says {
        if case.session.by_the_letter() {
            return;
        }
        if declares_more(case) {
            return out.doubt(Doubt::Unseen);
        }
    }
    let found = match (code, error.get("code")) {
        (Some(code), _) => format!("code {code}"),
        (None, Some(code)) => format!("a code that is {}", code.kind()),
        (None, None) => "no code".to_owned(),
    };
    let what = if says {
        format!("a method-not-found error has {found} and not -32601")
    } else {
        format!("a method that no revision has was answered with {found} and not -32601")
    };
    let fault = Fault::new(case.sender(), what).at(message, "/error/code");
    out.fail(match case.asked() {
        Some(asked) => fault.seen(asked.seq),
        None => fault,
    });
}

fn says_not_found(error: Value<'_>) -> bool {
    // Most errors do not, and need not be taken apart.
    let mentions = |word: &[u8]| {
        error
            .0
            .windows(word.len())
            .any(|part| part.eq_ignore_ascii_case(word))
    };
    if !mentions(b"not found") {
        return false;
    }
    let text = error.get("message").and_then(Value::string);
    text.is_some_and(|text| text.to_ascii_lowercase().contains("method not found"))
}

/// Whether the method is unknown in all possible revisions of the session.
fn is_unknown(asked: &PendingRequest, case: &Case<'_>) -> bool {
    let way = case.dir().opposite();
    !asked.method.defined(way).meets(asked.revisions)
}

/// Whether the answering side declares methods of its own.
fn declares_more(case: &Case<'_>) -> bool {
    let declared = match (case.dir(), case.message.revisions) {
        (Direction::ToClient, R5) => case.session.discovered,
        (Direction::ToClient, _) => case.session.server,
        (Direction::ToServer, _) => case.session.client,
    };
    declared.is_some_and(|one| one.has(Capability::EXTENSIONS) || one.has(Capability::EXPERIMENTAL))
}

/// JSON-RPC 2.0 §5.1.
pub(crate) const METHOD_NOT_FOUND: i64 = -32_601;

pub(crate) static RESERVED: Invariant = Invariant {
    code: Code(19),
    category: "error-envelope",
    property: "of the reserved error codes -32020 to -32099 only -32020, -32021 and -32022 appear, and never -32002 nor -32042",
    levels: Levels::NOWHERE.must(R5),
    carriers: Carriers::ANY,
    who: Responsible::Both,
    basis: Basis::Message,
    source: "basic §Error Codes (2026-07-28)",
    why: "Later revisions give these codes a meaning. That -32000 to -32019 should not be used either is milder.",
    holds: r#"
        > {"jsonrpc":"2.0","id":1,"method":"tools/list","params":{"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}}}}
        < {"jsonrpc":"2.0","id":1,"error":{"code":-32022,"message":"unsupported version"}}
    "#,
    breaks: r#"
        > {"jsonrpc":"2.0","id":1,"method":"resources/read","params":{"uri":"a://b","_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}}}}
        < {"jsonrpc":"2.0","id":1,"error":{"code":-32002,"message":"Resource not found"}}
    "#,
    checks: &[Check::Error(reserved)],
};

fn reserved(case: &Case<'_>, out: &mut Out<'_>) {
    let Some(code) = case.message.error_code() else {
        return;
    };
    let fault = |what: String| Fault::new(case.sender(), what).at(case.message, "/error/code");
    match code {
        -32_022..=-32_020 => out.pass(),
        -32_099..=-32_020 | -32_002 => out.fail(fault(format!("the code {code} is reserved"))),
        // A server that only supports the handshake is not bound by this.
        -32_019..=-32_000
            if case.dir() == Direction::ToClient && !case.session.serves_stateless =>
        {
            out.doubt(Doubt::Unseen);
        }
        -32_019..=-32_000 => {
            let what = format!("the code {code} should not be used any more");
            out.fail(fault(what).only(crate::finding::Severity::Should));
        }
        _ => out.pass(),
    }
}
