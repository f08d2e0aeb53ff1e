//! Batches: arrays of messages.

use tapewright_schemas::envelope::{Envelope, for_each_message};

use super::prelude::*;

pub(crate) static NONE: Invariant = Invariant {
    code: Code(17),
    category: "envelope",
    property: "no message is an array",
    levels: Levels::NOWHERE.must(Revisions::FROM_R3).derived(R1),
    carriers: Carriers::ANY,
    who: Responsible::Both,
    basis: Basis::Message,
    source: "changelog 1; basic/transports §Sending Messages 3 (2025-06-18)",
    why: "Only 2025-03-26 has batches. Elsewhere some peers answer them, some drop the array without a word.",
    holds: r#"
        handshake 2025-06-18
        > {"jsonrpc":"2.0","id":1,"method":"ping"}
        < {"jsonrpc":"2.0","id":1,"result":{}}
    "#,
    breaks: r#"
        handshake 2025-06-18
        > [{"jsonrpc":"2.0","id":1,"method":"ping"},{"jsonrpc":"2.0","id":2,"method":"ping"}]
        < {"jsonrpc":"2.0","id":1,"result":{}}
        < {"jsonrpc":"2.0","id":2,"result":{}}
    "#,
    checks: &[Check::Holds(
        Plain::ONE,
        &Check::Payload(Directions::Any, no_array),
    )],
};

fn no_array(case: &Case<'_>, out: &mut Out<'_>) {
    match case.message.envelope.kind {
        Kind::Batch { members } => {
            let what = format!("an array of {members} messages");
            out.fail(Fault::new(case.sender(), what).at(case.message, ""));
        }
        Kind::Malformed(_) => {}
        _ => out.pass(),
    }
}

pub(crate) static SHAPE: Invariant = Invariant {
    code: Code(18),
    category: "envelope",
    property: "a batch is not empty, holds no `initialize`, and does not mix requests with responses",
    levels: Levels::NOWHERE
        .must(R2)
        .derived(R1.and(Revisions::R3_AND_R4)),
    carriers: Carriers::ANY,
    who: Responsible::Both,
    basis: Basis::Message,
    source: "basic/lifecycle §Initialization; basic/transports §Sending Messages 3 (2025-03-26)",
    why: "The handshake decides whether batches are understood at all, so it cannot be part of one, at no revision. The \
          rest is about 2025-03-26, the only revision that has batches. That every request of a batch is answered is \
          INV-016.",
    holds: r#"
        handshake 2025-03-26
        > [{"jsonrpc":"2.0","id":1,"method":"ping"},{"jsonrpc":"2.0","id":2,"method":"ping"}]
        < {"jsonrpc":"2.0","id":1,"result":{}}
        < {"jsonrpc":"2.0","id":2,"result":{}}
    "#,
    breaks: r"
        handshake 2025-03-26
        > []
    ",
    checks: &[Check::Silent(
        Plain::ONE,
        &Check::Payload(Directions::Any, shape),
    )],
};

fn shape(case: &Case<'_>, out: &mut Out<'_>) {
    let Kind::Batch { members } = case.message.envelope.kind else {
        return;
    };
    let fail = |what: &str| Fault::new(case.sender(), what).at(case.message, "");
    let batches = case.message.revisions == R2;
    if members == 0 && batches {
        return out.fail(fail("an empty batch"));
    }
    let [mut calls, mut responses, mut initialize] = [false; 3];
    for_each_message(case.message.text, |text| {
        match &Envelope::of_json(text).kind {
            Kind::Request { method, .. } => {
                calls = true;
                initialize |= method == "initialize";
            }
            Kind::Notification { .. } => calls = true,
            Kind::Response { .. } => responses = true,
            _ => {}
        }
    });
    if initialize {
        let what = "a batch holds `initialize`";
        out.fail(fail(what).only(crate::finding::Severity::Must));
    } else if !batches {
        // INV-017 covers whether a batch is allowed at all.
    } else if calls && responses {
        out.fail(fail(
            "a batch mixes requests or notifications with responses",
        ));
    } else {
        out.pass();
    }
}
