//! The error codes of answers, explained: those of JSON-RPC and MCP, and what tapewright means by
//! them when it answers in a server's place.

use super::families::Family;

/// The codes of `error` in an answer.
pub(super) const FAMILY: Family = Family {
    title: "Error codes in answers (JSON-RPC, MCP)",
    list,
    page,
};

struct AnswerCode {
    code: &'static str,
    about: &'static str,
    more: &'static str,
}

const CODES: [AnswerCode; 12] = [
    AnswerCode {
        code: "-32700",
        about: "parse error: what arrived is not JSON",
        more: "From a server, or from `record --listen` and `replay --listen` for a body that is not JSON.",
    },
    AnswerCode {
        code: "-32600",
        about: "invalid request: JSON, but not a request",
        more: "From a server, or from `record --listen` and `replay --listen` for a body that is not a message.",
    },
    AnswerCode {
        code: "-32601",
        about: "method not found",
        more: "The server does not know the method. `tapewright mcp` and `tapewright demo --serve` answer unknown methods with it, too.",
    },
    AnswerCode {
        code: "-32602",
        about: "invalid params; from 2026-07-28 on also: no such resource",
        more: "The arguments do not fit the method. INV-046 checks the code of a missing resource.",
    },
    AnswerCode {
        code: "-32603",
        about: "internal error of the server",
        more: "The server failed on its own; its log says more. `tapewright show FILE status:error` lists such answers.",
    },
    AnswerCode {
        code: "-32000",
        about: "an error of the server's own; with a message that begins with `tapewright:`, ours",
        more: "Tapewright answers with it when a server cannot be reached or started, or breaks off an answer. \
            The message then begins with `tapewright:` and says what happened and what to do, and `data.origin` is \
            `tapewright`. Any other message is the server's.",
    },
    AnswerCode {
        code: "-32001",
        about: "the session is over or unknown, from `record --listen` and `replay --listen`",
        more: "The client has to initialize again. Servers use the code for errors of their own.",
    },
    AnswerCode {
        code: "-32002",
        about: "no such resource, up to 2025-11-25",
        more: "From 2026-07-28 on the code is -32602. `tapewright migrate` changes it in recordings and suites.",
    },
    AnswerCode {
        code: "-32020",
        about: "a replay has no recorded answer; in 2026-07-28 also: headers and body disagree",
        more: "`replay` answers with it at once if a request was not recorded. `data.reason` says why: never recorded, used up, or \
            out of order; the answer of a server has no `reason`. See docs/replay.md for what makes requests match.",
    },
    AnswerCode {
        code: "-32021",
        about: "the client lacks a capability that the request needs (2026-07-28)",
        more: "The client has to declare the capability in its request, or must not ask for this.",
    },
    AnswerCode {
        code: "-32022",
        about: "the revision of the protocol is not supported (2026-07-28)",
        more: "`data.supported` lists the revisions that are. A replay supports the recorded one.",
    },
    AnswerCode {
        code: "-32042",
        about: "the user must open a URL first (2025-11-25)",
        more: "`data.elicitations` lists the URLs, each with an `elicitationId`. INV-084 checks it.",
    },
];

fn list() -> Vec<(String, String)> {
    CODES
        .iter()
        .map(|one| (one.code.to_owned(), one.about.to_owned()))
        .collect()
}

fn page(word: &str) -> Option<String> {
    // Documents also write a real minus sign.
    let word = word.trim().replace('\u{2212}', "-");
    let one = CODES.iter().find(|one| one.code == word)?;
    Some(format!("{}\n\n{}\n\n{}\n", one.code, one.about, one.more))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_code_of_a_replay_is_explained() {
        let code = tapewright_replay::MISS_CODE.to_string();
        assert!(page(&code).is_some_and(|page| page.contains("no recorded answer")));
        assert_eq!(page("\u{2212}32020"), page("-32020"));
    }
}
