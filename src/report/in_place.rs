//! Explains why a recorder answered in a server's place, and why a recording is incomplete.

use tapewright_schemas::event::{InPlace, InPlaceCause};
use tapewright_schemas::tape::{GapTotal, Incomplete, TapeFailure};

use super::figures::plural;
use super::safe;

/// Why we answered: the cause if it is known, and what it is about.
pub(crate) fn answered(why: InPlace, cause: Option<InPlaceCause>, about: Option<&str>) -> String {
    let said = cause.map_or_else(|| words(why), precisely);
    match about {
        // From an older tape, which has a sentence.
        Some(about) if cause.is_none() => safe(about),
        Some(about) => format!("{said}: {}", safe(about)),
        None => said.to_owned(),
    }
}

fn words(why: InPlace) -> &'static str {
    match why {
        InPlace::BadRequest => "the request is malformed",
        InPlace::Broken => "the connection to the server broke",
        InPlace::Busy => "too many requests in progress",
        InPlace::Fault => "a fault did it",
        InPlace::NotAllowed => "permission denied",
        InPlace::NotFound => "not found",
        InPlace::NotRecorded => "the recording has no answer",
        InPlace::Slow => "the client did not send its request in time",
        InPlace::TimedOut => "the server did not answer in time",
        InPlace::TooLong => "the request is too long",
        InPlace::Unknown => "it is not known why",
        InPlace::Unreachable => "cannot connect to the server",
        InPlace::Unsupported => "not supported by the recorder",
    }
}

fn precisely(cause: InPlaceCause) -> &'static str {
    match cause {
        InPlaceCause::AcceptField => "`Accept` lists nothing that is served",
        InPlaceCause::Batch => "the body is a batch",
        InPlaceCause::Blocked => "that address is not allowed",
        InPlaceCause::BodyBrokeOff => "the request broke off, or its body is malformed",
        InPlaceCause::BodyEncoding => "the body is not encoded as its head says",
        InPlaceCause::BodySlow => "the body did not come in time",
        InPlaceCause::BodyTooLong => "the body is longer than may be, in bytes",
        InPlaceCause::ClientToken => "the token of `--client-token` is missing or wrong",
        InPlaceCause::ClientTls => {
            "TLS handshake failed: the client does not trust the authority of `--intercept`"
        }
        InPlaceCause::ConnectTarget => "no host and port in the CONNECT request",
        InPlaceCause::ConnectTimeout => "no connection in time",
        InPlaceCause::ConnectionBroke => "the connection broke before the server answered",
        InPlaceCause::ConnectionFailed => "no connection",
        InPlaceCause::ContentType => "Content-Type is not application/json",
        InPlaceCause::EventUnknown => "no stream of the session has that event",
        InPlaceCause::FieldMismatch => "a header contradicts the body",
        InPlaceCause::FieldUnreadable => "a field cannot be read",
        InPlaceCause::HeadTooLong => "the head is too long, or has more than 100 fields",
        InPlaceCause::HeadUnreadable => "the head is not HTTP",
        InPlaceCause::Host => "the Host header does not name the recorder",
        InPlaceCause::IdRepeated => "a request with that id is under way",
        InPlaceCause::InterimFlood => "the server sent too many interim responses (1xx)",
        InPlaceCause::Internal => "the recorder failed",
        InPlaceCause::Method => "the method is not served",
        InPlaceCause::NoForwardProxy => "the recorder is not a forward proxy",
        InPlaceCause::NoHttp => "no HTTP",
        InPlaceCause::NoPath => "nothing is at that path",
        InPlaceCause::NoProvider => "unknown provider",
        InPlaceCause::NoRoom => "too much is under way",
        InPlaceCause::NoSession => "unknown session",
        InPlaceCause::NoSessionId => "no session in the request",
        InPlaceCause::NotJsonRpc => "the body is not a JSON-RPC message",
        InPlaceCause::NotProxied => "the request is not one to a forward proxy",
        InPlaceCause::Origin => "pages of that Origin may not talk to the recorder",
        InPlaceCause::RequestCoding => "the body has a transfer coding other than `chunked`",
        InPlaceCause::ResponseCoding => "the server used a transfer coding other than `chunked`",
        InPlaceCause::RevisionUnknown => "the revision of MCP is not known",
        InPlaceCause::ServerEnded => "the server has ended",
        InPlaceCause::ServerNotStarted => "cannot start the server",
        InPlaceCause::SessionEnded => "the session has ended",
        InPlaceCause::ShuttingDown => "the recorder was about to end",
        InPlaceCause::Site => "the request comes from another site",
        InPlaceCause::StreamTaken => "the session has its stream already",
        InPlaceCause::SwitchedProtocols => "the server switched protocols",
        InPlaceCause::TlsEnded => "the connection ended in the handshake of TLS",
        InPlaceCause::TlsNotAccepted => {
            "TLS handshake failed: the server's certificate is not accepted"
        }
        InPlaceCause::TlsRefused => "TLS handshake failed: the server sent an alert",
        InPlaceCause::TooManyExchanges => "too many requests are under way",
        InPlaceCause::TooManySessions => "too many sessions are open",
        InPlaceCause::TunnelShared => "a tunnel needs a connection of its own",
        InPlaceCause::Uncodable => "the body has an encoding that cannot be undone",
    }
}

/// Why a recording is incomplete.
pub(crate) fn lacks(lacks: &Incomplete) -> String {
    let Incomplete {
        why,
        detail,
        last_seq,
        gaps,
    } = lacks;
    match (why, last_seq) {
        (TapeFailure::CutShort | TapeFailure::NotWritten, Some(last)) => {
            let why = lost(*why, detail.as_deref());
            format!("{why}; the last event is {last}")
        }
        (TapeFailure::Gaps, _) if !gaps.is_empty() => missing(*gaps),
        _ => lost(*why, detail.as_deref()),
    }
}

/// What is missing, in numbers.
pub(crate) fn missing(gaps: GapTotal) -> String {
    let GapTotal {
        count,
        events,
        bytes,
    } = gaps;
    format!(
        "{count} {}, with {events} {} and {bytes} {}",
        plural(count, "gap"),
        plural(events, "event"),
        plural(bytes, "byte")
    )
}

/// Why a tape is incomplete.
pub(crate) fn lost(why: TapeFailure, detail: Option<&str>) -> String {
    let what = match why {
        TapeFailure::CutShort => "no footer: the recorder was stopped, or could not write",
        TapeFailure::Gaps => "messages are missing",
        TapeFailure::NotCreated => "cannot create the tape",
        TapeFailure::NotWritten => "cannot write the tape",
        TapeFailure::Unknown => {
            return detail.map_or_else(|| "it is not known why".to_owned(), safe);
        }
    };
    match detail {
        Some(detail) if !detail.is_empty() => format!("{what}: {}", safe(detail)),
        _ => what.to_owned(),
    }
}
