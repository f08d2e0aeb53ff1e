//! Why a recorder answered in a server's place, and why a tape is not whole, in words.

use tapewright_schemas::event::InPlace;
use tapewright_schemas::tape::TapeFailure;

use super::safe;

/// Why we answered. What else is known says the same and more, where there is something.
pub(crate) fn answered(why: InPlace, detail: Option<&str>) -> String {
    detail.map_or_else(|| words(why).to_owned(), safe)
}

fn words(why: InPlace) -> &'static str {
    match why {
        InPlace::BadRequest => "the request is malformed",
        InPlace::Broken => "the exchange with the server broke",
        InPlace::Busy => "too much is under way",
        InPlace::Fault => "a fault did it",
        InPlace::NotAllowed => "who asks may not",
        InPlace::NotFound => "nothing of that name is there",
        InPlace::NotRecorded => "the recording has no answer",
        InPlace::Slow => "the client did not send its request in time",
        InPlace::TimedOut => "the server did not answer in time",
        InPlace::TooLong => "the request is too long",
        InPlace::Unknown => "it is not known why",
        InPlace::Unreachable => "there is no connection to the server",
        InPlace::Unsupported => "the recorder does not do that",
    }
}

/// Why a tape does not hold everything.
pub(crate) fn lost(why: TapeFailure, detail: Option<&str>) -> String {
    let what = match why {
        TapeFailure::NotCreated => "the tape could not be created",
        TapeFailure::NotWritten => "the tape could not be written",
        TapeFailure::Unknown => {
            return detail.map_or_else(|| "it is not known why".to_owned(), safe);
        }
    };
    match detail {
        Some(detail) if !detail.is_empty() => format!("{what}: {}", safe(detail)),
        _ => what.to_owned(),
    }
}
