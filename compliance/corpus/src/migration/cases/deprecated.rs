//! Roots, sampling and logging, which are deprecated.

use tapewright_schemas::event::{Direction, Side};
use tapewright_schemas::json;

use super::super::case::{Case, Kind, Severity};
use super::super::fold::{Fold, Out, Seen, What};

pub(super) static ROOTS: Case = Case {
    id: "roots-deprecated",
    kind: Kind::DeprecatedCapability,
    severity: Severity::Medium,
    spec_version: super::TARGET,
    summary: "roots are used or declared",
    old_contract: "a server asks for the client's roots with `roots/list`",
    new_contract: "roots are deprecated; they will be removed on 2027-07-28 at the earliest",
    detection_signal: "the client capability `roots`, `roots/list`, or `notifications/roots/list_changed`",
    replacement: "take paths and URIs as arguments of tools, or from the configuration of the server",
    doc_link: "https://modelcontextprotocol.io/specification/2026-07-28/deprecated",
    sep: "SEP-2577",
    begin: || Box::new(Deprecated::new(&ROOTS_WORDS)),
};

pub(super) static SAMPLING: Case = Case {
    id: "sampling-deprecated",
    kind: Kind::DeprecatedCapability,
    severity: Severity::Medium,
    spec_version: super::TARGET,
    summary: "sampling is used or declared",
    old_contract: "a server asks the client's model with `sampling/createMessage`",
    new_contract: "sampling is deprecated; it will be removed on 2027-07-28 at the earliest",
    detection_signal: "the client capability `sampling`, or `sampling/createMessage`",
    replacement: "call a model from the server, with its own account",
    doc_link: "https://modelcontextprotocol.io/specification/2026-07-28/deprecated",
    sep: "SEP-2577",
    begin: || Box::new(Deprecated::new(&SAMPLING_WORDS)),
};

pub(super) static LOGGING: Case = Case {
    id: "logging-deprecated",
    kind: Kind::DeprecatedCapability,
    severity: Severity::Low,
    spec_version: super::TARGET,
    summary: "logging is used or declared",
    old_contract: "a server sends `notifications/message`, at the level that `logging/setLevel` sets",
    new_contract: "`logging/setLevel` is gone, and logging is deprecated; it will be removed on 2027-07-28 at the earliest",
    detection_signal: "the server capability `logging`, `logging/setLevel`, or `notifications/message`",
    replacement: "write to standard error, or export logs by OpenTelemetry",
    doc_link: "https://modelcontextprotocol.io/specification/2026-07-28/deprecated",
    sep: "SEP-2577",
    begin: || Box::new(Deprecated::new(&LOGGING_WORDS)),
};

/// How a feature is recognized.
#[derive(Debug)]
struct Words {
    name: &'static str,
    /// The side that declares the capability with its name.
    declared_by: Side,
    methods: &'static [&'static str],
}

static ROOTS_WORDS: Words = Words {
    name: "roots",
    declared_by: Side::Client,
    methods: &["roots/list", "notifications/roots/list_changed"],
};
static SAMPLING_WORDS: Words = Words {
    name: "sampling",
    declared_by: Side::Client,
    methods: &["sampling/createMessage"],
};
static LOGGING_WORDS: Words = Words {
    name: "logging",
    declared_by: Side::Server,
    methods: &["logging/setLevel", "notifications/message"],
};

#[derive(Debug)]
struct Deprecated {
    words: &'static Words,
    // The first use of each method, and the first declaration: one piece of evidence for each is
    // enough.
    told: Vec<&'static str>,
}

impl Deprecated {
    fn new(words: &'static Words) -> Self {
        Self {
            words,
            told: Vec::new(),
        }
    }

    /// Whether this is reported for the first time.
    fn is_new(&mut self, what: &'static str) -> bool {
        let new = !self.told.contains(&what);
        if new {
            self.told.push(what);
        }
        new
    }

    fn used(&mut self, seen: &Seen<'_>, method: &str, out: &mut Out) {
        let mut known = self.words.methods.iter().copied();
        if let Some(known) = known.find(|known| *known == method)
            && self.is_new(known)
        {
            out.fail(
                seen.side(),
                seen.seq,
                "/method",
                &format!("`{method}` is used"),
            );
        }
    }

    /// Requests in a result (2026-07-28, basic/patterns/mrtr).
    fn asked_in_result(&mut self, seen: &Seen<'_>, result: &[u8], out: &mut Out) {
        let Some(requests) = json::find(result, &["inputRequests"]) else {
            return;
        };
        let mut found = None;
        json::members(requests, |key, request| {
            let method = json::find(request, &["method"]).unwrap_or_default();
            let method = method
                .strip_prefix(b"\"")
                .and_then(|method| method.strip_suffix(b"\""));
            let known = self
                .words
                .methods
                .iter()
                .find(|one| Some(one.as_bytes()) == method);
            if let (None, Some(known)) = (&found, known) {
                found = Some((String::from_utf8_lossy(key).into_owned(), *known));
            }
        });
        if let Some((key, method)) = found {
            let pointer = format!(
                "/result/inputRequests/{}",
                key.replace('~', "~0").replace('/', "~1")
            );
            out.fail(
                seen.side(),
                seen.seq,
                &pointer,
                &format!("`{method}` is used"),
            );
        }
    }

    fn declared(&mut self, seen: &Seen<'_>, declared: bool, pointer: &str, out: &mut Out) {
        let name = self.words.name;
        if !declared {
            let what = format!("the capability `{name}` is not declared");
            out.pass(seen.side(), seen.seq, pointer, &what);
        } else if self.is_new("capability") {
            let pointer = format!("{pointer}/{name}");
            let what = format!("the capability `{name}` is declared");
            out.fail(seen.side(), seen.seq, &pointer, &what);
        }
    }
}

impl Fold for Deprecated {
    fn message(&mut self, seen: &Seen<'_>, out: &mut Out) {
        if let Some(method) = seen.method() {
            self.used(seen, method, out);
        }
        match (&seen.what, self.words.declared_by) {
            (What::Request { .. }, Side::Client) => {
                let (capabilities, pointer) = client_capabilities(seen);
                if let Some(capabilities) = capabilities {
                    let declared = json::find(capabilities, &[self.words.name]).is_some();
                    self.declared(seen, declared, pointer, out);
                }
            }
            (
                What::Request {
                    params: Some(params),
                    ..
                },
                Side::Server,
            ) => {
                let level = json::find(params, &["_meta", "io.modelcontextprotocol/logLevel"]);
                if level.is_some() && self.is_new("level") {
                    let pointer = "/params/_meta/io.modelcontextprotocol~1logLevel";
                    out.fail(seen.side(), seen.seq, pointer, "log messages are requested");
                }
            }
            (What::Result { asked, result }, by) => {
                self.asked_in_result(seen, result, out);
                let opening = matches!(asked.method.as_str(), "initialize" | "server/discover");
                if by == Side::Server
                    && opening
                    && let Some(capabilities) = json::find(result, &["capabilities"])
                {
                    let declared = json::find(capabilities, &[self.words.name]).is_some();
                    self.declared(seen, declared, "/result/capabilities", out);
                }
            }
            _ => {}
        }
    }

    fn undecided(&self) -> String {
        let name = self.words.name;
        match self.words.declared_by {
            Side::Server => {
                format!("the server's capabilities were not recorded, and {name} was not used")
            }
            _ => format!(
                "only tapewright's own client was recorded, and the server did not use {name}"
            ),
        }
    }
}

/// The client's capabilities: from `initialize`, or from each request; and where they are.
fn client_capabilities<'a>(seen: &Seen<'a>) -> (Option<&'a [u8]>, &'static str) {
    const STATELESS: &str = "io.modelcontextprotocol/clientCapabilities";
    if seen.dir != Direction::ToServer {
        return (None, "");
    }
    let params = seen.params();
    if seen.method() == Some("initialize") {
        let found = params.and_then(|params| json::find(params, &["capabilities"]));
        return (found, "/params/capabilities");
    }
    let found = params.and_then(|params| json::find(params, &["_meta", STATELESS]));
    (
        found,
        "/params/_meta/io.modelcontextprotocol~1clientCapabilities",
    )
}

/// One capability of a client, and its position.
pub(super) fn client_capability<'a>(seen: &Seen<'a>, name: &str) -> (Option<&'a [u8]>, String) {
    let (capabilities, pointer) = client_capabilities(seen);
    let found = capabilities.and_then(|capabilities| json::find(capabilities, &[name]));
    (found, format!("{pointer}/{name}"))
}
