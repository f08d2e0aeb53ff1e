//! The rules, one family to a file.
//!
//! A rule is one static item with its examples. It examines one message and the state of the
//! session before it, and reports its findings.

mod agreement;
mod batch;
mod cancel;
mod capability;
mod content;
mod declared;
mod elicitation;
mod envelope;
mod error;
mod handshake;
mod http_message;
mod http_minted;
pub(crate) mod http_modern;
mod http_session;
mod ids;
mod initialize;
mod input;
mod modern;
mod notify;
mod output;
mod prelude;
mod process;
mod progress;
mod resource;
mod shape;
mod stream;
mod subscription;
mod tasks;
mod tool_result;
mod tools;
mod walk;

use crate::invariant::Invariant;

/// Every rule, in the order of the codes.
pub(crate) const ALL: &[&Invariant] = &[
    &initialize::FIRST,
    &initialize::INITIALIZED,
    &capability::LISTED,
    &capability::USABLE,
    &tool_result::SHAPE,
    &error::ENVELOPE,
    &error::UNKNOWN_METHOD,
    &envelope::VERSION,
    &envelope::ID_TYPE,
    &ids::REUSED,
    &ids::IN_FLIGHT,
    &ids::ANSWERS_SOMETHING,
    &ids::ANSWERED_ONCE,
    &envelope::RESULT_OR_ERROR,
    &envelope::NOTIFICATION_ID,
    &ids::ALL_ANSWERED,
    &batch::NONE,
    &batch::SHAPE,
    &error::RESERVED,
    &envelope::PARAMS,
    &handshake::RESULT,
    &handshake::QUIET_CLIENT,
    &handshake::QUIET_SERVER,
    &handshake::ONCE,
    &handshake::AS_AGREED,
    &process::EXITS,
    &declared::BY_SERVER,
    &declared::BY_CLIENT,
    &declared::CHANGES,
    &declared::LOGS,
    &notify::UPDATED,
    &notify::LEVEL,
    &notify::ROOTS,
    &progress::KNOWN,
    &progress::INCREASES,
    &progress::ENDS,
    &progress::TOKEN,
    &cancel::OWN_REQUEST,
    &cancel::HEEDED,
    &cancel::STATELESS,
    &tools::NAMES,
    &tools::ABSENT,
    &output::CONFORMS,
    &output::AS_TEXT,
    &tools::UNKNOWN,
    &resource::MISSING,
    &tools::SCHEMAS,
    &walk::ISSUED,
    &walk::ENDS,
    &walk::REFUSED,
    &walk::COMPLETIONS,
    &process::STDOUT,
    &process::STDIN,
    &http_session::KEPT,
    &http_session::HONOURED,
    &http_session::STARTS_OVER,
    &http_message::VERSION_SENT,
    &http_message::VERSION_REFUSED,
    &http_message::ACCEPTED,
    &http_message::CONTENT,
    &http_message::ACCEPT,
    &stream::NO_ANSWERS,
    &stream::UNIQUE,
    &stream::REPLAY,
    &stream::ONE_STREAM,
    &stream::RELATED,
    &stream::PATIENT,
    &http_modern::MIRRORED,
    &http_modern::STATUS,
    &http_modern::NO_SESSION,
    &http_message::ORIGIN,
    &modern::META,
    &modern::RESULT_TYPE,
    &modern::ONE_WAY,
    &input::INPUT,
    &input::RETRY,
    &subscription::LISTEN,
    &modern::CACHE,
    &modern::REMOVED,
    &tasks::STATES,
    &tasks::ALLOWED,
    &tasks::RESULTS,
    &tasks::URL_ELICITATION,
    &shape::REQUEST,
    &shape::NOTIFICATION,
    &shape::RESULT,
    &content::CONTENT,
    &elicitation::FORM,
    &elicitation::ELICITED,
    &http_minted::MINTED,
    &agreement::SCOPE,
    &agreement::REVISION,
];
