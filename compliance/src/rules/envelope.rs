//! Requests, notifications and responses as JSON-RPC has them.

use tapewright_schemas::slices::Part as _;

use super::prelude::*;

pub(crate) static VERSION: Invariant = Invariant {
    code: Code(8),
    category: "envelope",
    property: "`jsonrpc` is exactly the string \"2.0\"",
    levels: Levels::NOWHERE.must(Revisions::ALL),
    carriers: Carriers::ANY,
    who: Responsible::Both,
    basis: Basis::Message,
    source: "basic §Messages (2024-11-05)",
    why: "Strict peers drop a message without it silently.",
    holds: r#"
        > {"jsonrpc":"2.0","id":1,"method":"ping"}
        < {"jsonrpc":"2.0","id":1,"result":{}}
    "#,
    breaks: r#"
        > {"jsonrpc":2.0,"id":1,"method":"ping"}
    "#,
    checks: &[Check::Holds(Plain::VERSION, &Check::Message(version))],
};

fn version(case: &Case<'_>, out: &mut Out<'_>) {
    let message = case.message;
    match message.envelope.version.map(Value) {
        Some(version) if version.is("2.0") => out.pass(),
        Some(version) => {
            let what = format!("`jsonrpc` is {} and not the string \"2.0\"", version.kind());
            out.fail(Fault::new(case.sender(), what).at(message, "/jsonrpc"));
        }
        None => out.fail(Fault::new(case.sender(), "the message has no `jsonrpc`").at(message, "")),
    }
}

pub(crate) static ID_TYPE: Invariant = Invariant {
    code: Code(9),
    category: "envelope",
    property: "the id of a request is a string or an integer",
    levels: Levels::NOWHERE.must(Revisions::ALL),
    carriers: Carriers::ANY,
    who: Responsible::Both,
    basis: Basis::Message,
    source: "basic §Requests; schema RequestId (2024-11-05)",
    why: "`null`, fractions, booleans and objects are no ids: some peers drop such a request, some take it for a \
          notification. A number must be an integer in the text: `8.0` comes back as `8` or not at all.",
    holds: r#"
        > {"jsonrpc":"2.0","id":"one","method":"ping"}
        < {"jsonrpc":"2.0","id":"one","result":{}}
    "#,
    breaks: r#"
        > {"jsonrpc":"2.0","id":1.5,"method":"ping"}
    "#,
    checks: &[Check::Holds(
        Plain::ID,
        &Check::Request(Directions::Any, Methods::All, id_type),
    )],
};

fn id_type(case: &Case<'_>, out: &mut Out<'_>) {
    let fits = match case.message.id() {
        Some(RequestId::Text(_)) => true,
        Some(RequestId::Number(text)) => Value(text.as_bytes()).is_integer(),
        _ => false,
    };
    if fits {
        return out.pass();
    }
    let kind = match case.message.id() {
        Some(RequestId::Number(_)) => "a number that is not an integer",
        Some(RequestId::Other(text)) => Value(text.as_bytes()).kind(),
        _ => "null",
    };
    let what = format!("the id of {} is {kind}", quoted(case.message.spelled()));
    out.fail(Fault::new(case.sender(), what).at(case.message, "/id"));
}

pub(crate) static RESULT_OR_ERROR: Invariant = Invariant {
    code: Code(14),
    category: "envelope",
    property: "a response has either a `result` or an `error`, and a `result` is an object",
    levels: Levels::NOWHERE.must(Revisions::ALL),
    carriers: Carriers::ANY,
    who: Responsible::Both,
    basis: Basis::Message,
    source: "basic §Responses (2024-11-05)",
    why: "With both, or with neither, it is up to the receiver whether the request succeeded.",
    holds: r#"
        > {"jsonrpc":"2.0","id":1,"method":"ping"}
        < {"jsonrpc":"2.0","id":1,"result":{}}
    "#,
    breaks: r#"
        > {"jsonrpc":"2.0","id":1,"method":"ping"}
        < {"jsonrpc":"2.0","id":1,"result":null}
    "#,
    checks: &[Check::Holds(
        Plain::RESULT,
        &Check::AnyResponse(result_or_error),
    )],
};

fn result_or_error(case: &Case<'_>, out: &mut Out<'_>) {
    let message = case.message;
    let fail = |what: String, pointer: &str| Fault::new(case.sender(), what).at(message, pointer);
    match (message.any_result(), message.error()) {
        (Some(_), Some(_)) => {
            out.fail(fail(
                "the response has a `result` and an `error`".to_owned(),
                "",
            ));
        }
        (None, None) => {
            out.fail(fail(
                "the response has neither a `result` nor an `error`".to_owned(),
                "",
            ));
        }
        (Some(result), None) if !result.is_object() => {
            let what = format!("the `result` is {}, not an object", result.kind());
            out.fail(fail(what, "/result"));
        }
        _ => out.pass(),
    }
}

pub(crate) static NOTIFICATION_ID: Invariant = Invariant {
    code: Code(15),
    category: "envelope",
    property: "a notification has no id",
    levels: Levels::NOWHERE.must(Revisions::ALL),
    carriers: Carriers::ANY,
    who: Responsible::Both,
    basis: Basis::Message,
    source: "basic §Notifications (2024-11-05)",
    why: "With an id it is a request, whose sender would wait for an answer.",
    holds: r#"
        handshake 2025-06-18 {"tools":{"listChanged":true}}
        < {"jsonrpc":"2.0","method":"notifications/tools/list_changed"}
    "#,
    breaks: r#"
        handshake 2025-06-18
        > {"jsonrpc":"2.0","id":1,"method":"notifications/cancelled","params":{"requestId":9}}
    "#,
    checks: &[
        Check::Silent(
            Plain::METHOD,
            &Check::Request(Directions::Any, Methods::All, has_id),
        ),
        Check::Notification(Directions::Any, Methods::All, has_none),
    ],
};

fn has_id(case: &Case<'_>, out: &mut Out<'_>) {
    if !case.message.spelled().starts_with("notifications/") {
        return;
    }
    let what = format!("{} has an id", quoted(case.message.spelled()));
    out.fail(Fault::new(case.sender(), what).at(case.message, "/id"));
}

fn has_none(case: &Case<'_>, out: &mut Out<'_>) {
    if case.message.spelled().starts_with("notifications/") {
        out.pass();
    }
}

pub(crate) static PARAMS: Invariant = Invariant {
    code: Code(20),
    category: "envelope",
    property: "`params` and `_meta` are objects, and the keys of `_meta` are well-formed names",
    levels: Levels::NOWHERE.derived(Revisions::ALL),
    carriers: Carriers::ANY,
    who: Responsible::Both,
    basis: Basis::Message,
    source: "schema Request; basic §_meta (2025-06-18)",
    why: "Names in `_meta` are a prefix of dotted labels and a slash, which may be absent, and a name; from 2025-06-18 \
          on. JSON-RPC would allow an array as `params`, MCP does not.",
    holds: r#"
        handshake 2025-06-18
        > {"jsonrpc":"2.0","id":1,"method":"ping","params":{"_meta":{"com.example/trace-1":"x","plain":1}}}
        < {"jsonrpc":"2.0","id":1,"result":{}}
    "#,
    breaks: r#"
        > {"jsonrpc":"2.0","id":1,"method":"ping","params":[1]}
    "#,
    checks: &[
        Check::Holds(
            Plain::CALL,
            &Check::Request(Directions::Any, Methods::All, params),
        ),
        Check::Notification(Directions::Any, Methods::All, params),
    ],
};

fn params(case: &Case<'_>, out: &mut Out<'_>) {
    let Some(params) = case.message.params() else {
        return;
    };
    let fail =
        |what: String, pointer: &str| Fault::new(case.sender(), what).at(case.message, pointer);
    if !params.is_object() {
        let what = format!("`params` is {}, not an object", params.kind());
        return out.fail(fail(what, "/params"));
    }
    let Some(meta) = case.message.param("_meta") else {
        return out.pass();
    };
    if !meta.is_object() {
        let what = format!("`_meta` is {}, not an object", meta.kind());
        return out.fail(fail(what, "/params/_meta"));
    }
    let mut bad = None;
    if Revisions::FROM_R3.covers(case.message.revisions) {
        meta.members(|name, _| {
            if !is_meta_name(name) {
                bad.get_or_insert_with(|| quoted(&String::from_utf8_lossy(name)));
            }
        });
    }
    match bad {
        Some(name) => {
            let what = format!("{name} is not a well-formed name for a member of `_meta`");
            out.fail(fail(what, "/params/_meta"));
        }
        None => out.pass(),
    }
}

/// `label.label/name`, with an optional prefix; the name may be empty after a prefix.
fn is_meta_name(name: &[u8]) -> bool {
    let slash = name.iter().position(|byte| *byte == b'/');
    let (prefix, rest) = match slash {
        Some(at) => (Some(name.part(..at)), name.part(at + 1..)),
        None => (None, name),
    };
    let edge = |byte: Option<&u8>| byte.is_some_and(u8::is_ascii_alphanumeric);
    let label = |label: &[u8]| {
        label.first().is_some_and(u8::is_ascii_alphabetic)
            && edge(label.last())
            && label
                .iter()
                .all(|byte| byte.is_ascii_alphanumeric() || *byte == b'-')
    };
    let plain = |byte: &u8| byte.is_ascii_alphanumeric() || b"-_.".contains(byte);
    let named = rest.is_empty() && prefix.is_some()
        || edge(rest.first()) && edge(rest.last()) && rest.iter().all(plain);
    named && prefix.is_none_or(|prefix| prefix.split(|byte| *byte == b'.').all(label))
}

#[cfg(test)]
mod tests {
    use super::is_meta_name;

    #[test]
    fn names_of_meta_members_follow_the_grammar() {
        for good in [
            "a",
            "progressToken",
            "io.modelcontextprotocol/x",
            "a.b/",
            "x-1_2.3",
            "a.b-c/d",
        ] {
            assert!(is_meta_name(good.as_bytes()), "{good}");
        }
        for bad in ["", "/a", "-a", "a-", "1.b/c", "a..b/c", "a/b/c", "a b", "é"] {
            assert!(!is_meta_name(bad.as_bytes()), "{bad}");
        }
    }
}
