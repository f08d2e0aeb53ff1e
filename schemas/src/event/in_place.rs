//! Why a recorder answered in the server's place.

use super::ResponseHead;
use super::tokens::tokens;
use crate::tape::old;

tokens! {
    /// Why a recorder answered in the server's place.
    pub enum InPlace {
        /// The request is malformed, or lacks something required.
        BadRequest = "bad_request",
        /// The exchange with the server failed, or its response cannot be forwarded.
        Broken = "broken",
        /// Too many exchanges are pending, or the recorder is about to end.
        Busy = "busy",
        /// A fault answered, or removed the message.
        Fault = "fault",
        /// The client may not use the recorder, or may not reach the server through it.
        NotAllowed = "not_allowed",
        /// Nothing of that name is there: no session, no path, no provider.
        NotFound = "not_found",
        /// The recording has no answer.
        NotRecorded = "not_recorded",
        /// The client did not send its request in time.
        Slow = "slow",
        /// The server did not answer in time.
        TimedOut = "timed_out",
        /// The request is longer than the limit.
        TooLong = "too_long",
        /// Unknown.
        Unknown = "unknown",
        /// There is no connection to the server.
        Unreachable = "unreachable",
        /// The recorder does not support the request.
        Unsupported = "unsupported",
    }
}

impl InPlace {
    /// The cause that the status of tapewright's own answer implies.
    #[must_use]
    pub fn of_status(status: u16) -> Self {
        match status {
            401 | 403 | 407 => Self::NotAllowed,
            404 | 410 => Self::NotFound,
            405 | 406 | 415 | 501 => Self::Unsupported,
            408 => Self::Slow,
            413 | 431 => Self::TooLong,
            429 | 503 => Self::Busy,
            502 => Self::Broken,
            504 => Self::TimedOut,
            400..=499 => Self::BadRequest,
            _ => Self::Unknown,
        }
    }
}

tokens! {
    /// More precisely why a recorder answered in the server's place.
    pub enum InPlaceCause {
        /// `Accept` lists no type that the endpoint has.
        AcceptField = "accept",
        /// A body of 2026-07-28 must not be a batch.
        Batch = "batch",
        /// The recorder makes no connection to that address.
        Blocked = "blocked",
        /// The body of the request broke off, or is malformed.
        BodyBrokeOff = "body_broke_off",
        /// The body does not match the content encoding in its head.
        BodyEncoding = "body_encoding",
        /// The body of the request did not arrive in time.
        BodySlow = "body_slow",
        /// The body is longer than this many bytes.
        BodyTooLong = "body_too_long",
        /// The client did not accept the certificate of the recorder.
        ClientTls = "client_tls",
        /// The token that clients must send is missing, or wrong.
        ClientToken = "client_token",
        /// A `CONNECT` names no host and port.
        ConnectTarget = "connect_target",
        /// No connection was established in time.
        ConnectTimeout = "connect_timeout",
        /// The connection broke before the server answered.
        ConnectionBroke = "connection_broke",
        /// No connection was established.
        ConnectionFailed = "connection_failed",
        /// `Content-Type` is not JSON.
        ContentType = "content_type",
        /// No stream of the session has that event.
        EventUnknown = "event_unknown",
        /// A field does not match the body.
        FieldMismatch = "field_mismatch",
        /// A field occurs twice, or is not valid text.
        FieldUnreadable = "field_unreadable",
        /// The head of the request is too long, or has too many fields.
        HeadTooLong = "head_too_long",
        /// The head of the request is not HTTP.
        HeadUnreadable = "head_unreadable",
        /// `Host` does not name the recorder.
        Host = "host",
        /// A request with that id is pending.
        IdRepeated = "id_repeated",
        /// The server sent interim responses without end.
        InterimFlood = "interim_flood",
        /// The recorder failed.
        Internal = "internal",
        /// The method is not served there.
        Method = "method",
        /// The recorder is not a forward proxy.
        NoForwardProxy = "no_forward_proxy",
        /// The server does not use HTTP.
        NoHttp = "no_http",
        /// Nothing is at that path.
        NoPath = "no_path",
        /// Nothing shows which provider is meant.
        NoProvider = "no_provider",
        /// Pending work already uses all the memory it may.
        NoRoom = "no_room",
        /// There is no session with that id.
        NoSession = "no_session",
        /// The request names no session.
        NoSessionId = "no_session_id",
        /// The body is not a JSON-RPC message.
        NotJsonRpc = "not_json_rpc",
        /// The request is not one to a forward proxy.
        NotProxied = "not_proxied",
        /// Pages of that `Origin` may not talk to the recorder.
        Origin = "origin",
        /// The request has a transfer coding other than `chunked`.
        RequestCoding = "request_coding",
        /// The response has a transfer coding other than `chunked`.
        ResponseCoding = "response_coding",
        /// The revision of MCP is unknown.
        RevisionUnknown = "revision_unknown",
        /// The server has ended.
        ServerEnded = "server_ended",
        /// The server could not be started.
        ServerNotStarted = "server_not_started",
        /// The session has ended.
        SessionEnded = "session_ended",
        /// The recorder is about to end.
        ShuttingDown = "shutting_down",
        /// A page of another site made the request.
        Site = "site",
        /// The session has its stream already.
        StreamTaken = "stream_taken",
        /// The server switched protocols.
        SwitchedProtocols = "switched_protocols",
        /// The connection ended in the handshake of TLS.
        TlsEnded = "tls_ended",
        /// The recorder does not accept the server's certificate or TLS parameters.
        TlsNotAccepted = "tls_not_accepted",
        /// The server refused the recorder in TLS.
        TlsRefused = "tls_refused",
        /// Too many exchanges are pending.
        TooManyExchanges = "too_many_exchanges",
        /// Too many sessions are open.
        TooManySessions = "too_many_sessions",
        /// A tunnel needs a separate connection.
        TunnelShared = "tunnel_shared",
        /// The body has an encoding that the recorder cannot undo.
        Uncodable = "uncodable",
    }
}

/// The members of a file of any version that mark an answer as tapewright's own.
#[derive(Debug)]
pub(crate) struct WrittenInPlace {
    pub(crate) ours: Option<String>,
    pub(crate) ours_cause: Option<String>,
    pub(crate) ours_about: Option<String>,
    /// Of version 2.3: a sentence.
    pub(crate) ours_detail: Option<String>,
}

impl WrittenInPlace {
    /// The head with these members: a token with its cause; or the sentence of an older version.
    pub(crate) fn read(self, mut head: ResponseHead) -> ResponseHead {
        let Some(why) = self.ours else { return head };
        let cause = self.ours_cause.as_deref();
        head.ours_cause = cause.and_then(InPlaceCause::from_name);
        head.ours_about = self.ours_about.or(self.ours_detail);
        if let Some(known) = InPlace::from_name(&why) {
            head.ours = Some(known);
            // No more details than the token.
            let told = head.ours_about.as_deref().map(old::is_of_fault);
            if known == InPlace::Fault && told == Some(true) {
                head.ours_about = None;
            }
        } else {
            let (known, words) = old::in_place(why, head.status);
            head.ours = Some(known);
            head.ours_about = words;
        }
        head
    }
}
