//! The sentences of format 1, taken apart.

use crate::event::{
    Effect, FaultKind, FaultRef, GapReason, InPlace, Offset, Release, Replacement, SessionEnd,
    SessionStart, Unable, Unroutable, Until, What,
};
use crate::slices::Part as _;
use crate::tape::TapeFailure;

/// The effect that an old sentence describes.
#[must_use]
pub(crate) fn effect(text: &str) -> Effect {
    take_apart(text).0
}

/// The effect that an old sentence describes, and the id of the request that it names, in its
/// source text.
pub(super) fn take_apart(text: &str) -> (Effect, Option<String>) {
    let named = text.find("): ").and_then(|end| {
        let (name, kind) = text.part(..end).rsplit_once(" (")?;
        let fault = FaultRef {
            name: name.to_owned(),
            kind: FaultKind::read(kind),
        };
        Some((fault, text.part(end + 3..)))
    });
    let (fault, what) = match named {
        Some((fault, what)) => (Some(fault), what),
        None => (None, text),
    };
    let kind = fault.as_ref().map_or("", |fault| fault.kind.name());
    let id = what
        .strip_prefix("passed on after ")
        .and_then(|rest| rest.split_once(" ms, id "));
    let id = id.map(|(_, id)| id.to_owned());
    let what = plain(what, kind)
        .or_else(|| counted(what))
        .or_else(|| timed(what))
        .unwrap_or_else(|| What::Other {
            text: what.to_owned(),
        });
    (Effect { fault, what }, id)
}

/// How a session began: a token, or the same in words.
pub(crate) fn session_start(text: &str) -> SessionStart {
    SessionStart::from_name(&text.replace(' ', "_")).unwrap_or(SessionStart::Unknown)
}

/// Why a session ended: a token, or the same in words.
pub(crate) fn session_end(text: &str) -> SessionEnd {
    SessionEnd::from_name(&text.replace(' ', "_")).unwrap_or(SessionEnd::Unknown)
}

/// Sentences without a number in them.
fn plain(what: &str, kind: &str) -> Option<What> {
    let not_done = |why| What::NotDone { why };
    let held = |until| What::Held { until };
    Some(match what {
        "dropped" => What::Dropped { too_many: false },
        "dropped: faults hold as many messages as they may" => What::Dropped { too_many: true },
        "held" => held(Until::Removed),
        "held until the next message has passed" => held(Until::Next),
        "held until it is cancelled" => held(Until::Cancelled),
        "held, with all that follows" | "held, with all that follows in its session" => {
            What::HeldAll { cut_after: None }
        }
        "held, and nothing more is read from the sender" => What::Stalled { time: None },
        "passed on in part, then held with all that follows" => What::HeldAmid,
        "waits behind an earlier message that a fault holds"
        | "waits behind an earlier answer that a fault holds" => What::Behind { holder: None },
        "the cancellation is kept from the server, so that it answers" => What::CancellationKept,
        "the connection is cut" => What::Cut { all: false },
        "the server's process is ended in its place" => What::Ended,
        "a notification of ours after it" => What::Followed,
        "a line of ours before it" => What::Preceded,
        "lines of ours on standard error before it" => What::Logged,
        "another message in its place" | "changed on its way" => replaced(kind),
        "passed on: the fault was removed" => not_done(Unable::Removed),
        "passed on: faults hold as many messages as they may" => not_done(Unable::TooMany),
        "passed on: it is too long to be changed, or broke off"
        | "passed on: an event is too long to be looked at" => not_done(Unable::TooLong),
        "passed on: there is no answer in it" => not_done(Unable::NoAnswer),
        "passed on: the response has begun already" => not_done(Unable::HasBegun),
        "passed on: over HTTP the answer of a client can only come later, or never" => {
            not_done(Unable::ClientAnswers)
        }
        "too many sessions are wedged: what follows in this one is not held" => {
            not_done(Unable::TooManyWedged)
        }
        _ => return unroutable(what).map(|why| What::NotPassed { why }),
    })
}

/// What replaced a message: the old sentence leaves it to the kind.
fn replaced(kind: &str) -> What {
    let by = match kind {
        "error" => Replacement::Error,
        "oversize" => Replacement::Oversized,
        "truncate" => Replacement::Truncated,
        "wrong-id" => Replacement::WrongId,
        "reset" => return What::Cut { all: false },
        "list-change" => return What::Followed,
        "hang" | "slicer" | "slow-trickle" => return What::Changed,
        _ => Replacement::Other,
    };
    What::Replaced { by, code: None }
}

fn unroutable(what: &str) -> Option<Unroutable> {
    Some(match what.strip_prefix("not passed on: ")? {
        "several requests are under way, and stdio does not tell which it is for" => {
            Unroutable::Ambiguous
        }
        "the client is gone that waited for it" => Unroutable::ClientGone,
        "it is no message of MCP" => Unroutable::Noise,
        "a server sends no requests in this era" => Unroutable::RequestOfServer,
        "it is longer than we carry" => Unroutable::TooLong,
        "no request awaits it" | "no request asked for it" => Unroutable::Unasked,
        _ => return None,
    })
}

/// Sentences that count something.
fn counted(what: &str) -> Option<What> {
    let between = |begin: &str, end: &str| -> Option<u64> {
        what.strip_prefix(begin)?.strip_suffix(end)?.parse().ok()
    };
    if let Some(pieces) = between("passed on in ", " pieces") {
        return Some(What::Sliced { pieces, by: None });
    }
    if let Some(times) = between("repeated ", " times") {
        return Some(What::Repeated { times });
    }
    if let Some(status) = between("HTTP status ", " in its place") {
        let status = u16::try_from(status).ok()?;
        return Some(What::Answered { status });
    }
    if between("no HTTP, no status ", "").is_some() {
        let why = Unable::NoHttp;
        return Some(What::NotDone { why });
    }
    if let Some(count) = between("never passed on: ", " held when the stream ended") {
        return Some(What::Lost { count });
    }
    if let Some(count) = between("", " earlier messages were given up: nobody came for them") {
        return Some(What::GivenUp { count });
    }
    if let Some(count) = between("", " events of the stream are gone") {
        return Some(What::EventsGone { count });
    }
    let end = " bytes of standard error were not passed on: nobody read them";
    between("", end).map(|bytes| What::Unread { bytes })
}

/// Sentences with a time.
fn timed(what: &str) -> Option<What> {
    let time = |begin: &str| -> Option<(Offset, &str)> {
        let (number, rest) = what.strip_prefix(begin)?.split_once(" ms")?;
        Some((micros(number)?, rest))
    };
    if let Some((by, "")) = time("delayed ") {
        return Some(What::Delayed { by });
    }
    if let Some((after, "")) = time("held, with all that follows, and cut after ") {
        let cut_after = Some(after);
        return Some(What::HeldAll { cut_after });
    }
    if let Some((after, rest)) = time("passed on after ") {
        return Some(What::Released {
            after,
            why: Release::Unknown,
            // Without an id the fault held all messages.
            all: !rest.starts_with(", id "),
        });
    }
    if let Some((after, "")) = time("the client left after ") {
        return Some(What::Left { after });
    }
    if let Some((after, "")) = time("the connection is cut after ") {
        return Some(What::CutOff { after });
    }
    match time("never passed on: the recorder ended after ")? {
        (after, "") => Some(What::RecorderEnded { after }),
        _ => None,
    }
}

/// Milliseconds, perhaps with a fraction.
fn micros(millis: &str) -> Option<Offset> {
    let millis: f64 = millis.parse().ok()?;
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "a cast of a float saturates, and nothing waits for longer than a day"
    )]
    Some(Offset((millis * 1_000.0).round() as u64))
}

/// Why something is missing: a token, or one of the sentences before 2.1; and its further details.
pub(crate) fn gap_reason(why: String) -> (GapReason, Option<String>) {
    if let Some(reason) = GapReason::from_name(&why) {
        return (reason, None);
    }
    match why.as_str() {
        "the queue was full" => (GapReason::QueueFull, None),
        "the content encoding could not be undone" => (GapReason::Encoding, None),
        words => match words.strip_prefix("the tape could not be ") {
            Some(_) => (GapReason::Disk, Some(why)),
            None => (GapReason::Unknown, Some(why).filter(|why| !why.is_empty())),
        },
    }
}

/// Why a recorder answered in the server's place: one of the sentences before 2.3, which is kept as
/// a detail. The status implies most of it.
pub(crate) fn in_place(why: String, status: u16) -> (InPlace, Option<String>) {
    if is_of_fault(&why) {
        return (InPlace::Fault, None);
    }
    let kind = InPlace::of_status(status);
    (kind, Some(why).filter(|why| !why.is_empty()))
}

/// Whether a sentence means that a fault answered.
pub(crate) fn is_of_fault(words: &str) -> bool {
    words == "a fault was injected" || words == "a fault dropped the message"
}

/// Why a tape is incomplete: a token, or one of the sentences before 2.3; and its further details.
pub(crate) fn tape_failure(why: String) -> (TapeFailure, Option<String>) {
    if let Some(failure) = TapeFailure::from_name(&why) {
        return (failure, None);
    }
    let told = [
        ("the tape could not be created", TapeFailure::NotCreated),
        ("the tape could not be written", TapeFailure::NotWritten),
        // From cassettes and captures.
        ("the recorder was stopped before", TapeFailure::CutShort),
        ("the recording was cut short", TapeFailure::CutShort),
        ("gaps: ", TapeFailure::Gaps),
        ("messages are missing", TapeFailure::Gaps),
        ("the recorder says so", TapeFailure::Unknown),
    ];
    for (words, failure) in told {
        if let Some(rest) = why.strip_prefix(words) {
            let cause = rest.strip_prefix(": ").map(str::to_owned);
            return (failure, cause);
        }
    }
    (
        TapeFailure::Unknown,
        Some(why).filter(|why| !why.is_empty()),
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::event::{InPlaceCause, ResponseHead};
    use crate::tape::Footer;

    #[test]
    fn a_head_and_a_footer_of_an_older_tape_are_read_as_those_of_today() {
        let old = r#"{"status":502,"fields":[],"ours":"no connection to 127.0.0.1:1"}"#;
        let told = r#"{"status":502,"fields":[],"ours":"unreachable","ours_detail":"no way"}"#;
        let new = r#"{"status":502,"ours":"unreachable","ours_cause":"connection_failed","ours_about":"a:1"}"#;
        let fault = r#"{"status":202,"ours":"fault","ours_detail":"a fault dropped the message"}"#;
        let read = |text| serde_json::from_str::<ResponseHead>(text).unwrap();
        assert_eq!(read(old).ours, Some(InPlace::Broken));
        let words = Some("no connection to 127.0.0.1:1");
        assert_eq!(read(old).ours_about.as_deref(), words);
        assert_eq!(read(told).ours, Some(InPlace::Unreachable));
        assert_eq!(read(told).ours_about.as_deref(), Some("no way"));
        assert_eq!(read(told).ours_cause, None);
        assert_eq!(read(new).ours_cause, Some(InPlaceCause::ConnectionFailed));
        assert_eq!(read(new).ours_about.as_deref(), Some("a:1"));
        assert_eq!(read(fault).ours, Some(InPlace::Fault));
        assert_eq!(read(fault).ours_about, None);
        assert_eq!(read(r#"{"status":200}"#).ours, None);
        let read = |text| serde_json::from_str::<Footer>(text).unwrap();
        let old = read(r#"{"at_us":1,"why":"the tape could not be written: full"}"#);
        let new = read(r#"{"at_us":1,"why":"not_written","detail":"full"}"#);
        assert_eq!(old, new);
        assert_eq!(read("{}"), Footer::default());
    }

    #[test]
    fn sentences_of_tapes_before_2_3_become_tokens() {
        let fault = in_place("a fault was injected".to_owned(), 503);
        assert_eq!(fault, (InPlace::Fault, None));
        let words = "no connection to 127.0.0.1:1 in time".to_owned();
        assert_eq!(
            in_place(words.clone(), 504),
            (InPlace::TimedOut, Some(words))
        );
        let full = "the tape could not be written: No space left on device (os error 28)";
        let (failure, cause) = tape_failure(full.to_owned());
        assert_eq!(failure, TapeFailure::NotWritten);
        assert_eq!(
            cause.as_deref(),
            Some("No space left on device (os error 28)")
        );
        let other = tape_failure("who knows".to_owned());
        assert_eq!(other, (TapeFailure::Unknown, Some("who knows".to_owned())));
        let token = tape_failure("not_written".to_owned());
        assert_eq!(token, (TapeFailure::NotWritten, None));
    }

    #[test]
    fn words_are_taken_apart() {
        let held = effect("hang-1 (hang): held");
        let fault = held.fault.unwrap();
        assert_eq!((fault.name.as_str(), fault.kind.name()), ("hang-1", "hang"));
        assert!(held.what.keeps_back());
        let (released, id) = take_apart("hang-1 (hang): passed on after 1200 ms, id \"a\"");
        assert!(!released.what.keeps_back() && released.what.release().is_some());
        assert_eq!(id.as_deref(), Some("\"a\""));
        let slow = effect("slow-1 (slow): delayed 1500.25 ms");
        assert_eq!(slow.what.delay(), Some(Offset(1_500_250)));
        let behind = effect("waits behind an earlier message that a fault holds");
        assert!(behind.fault.is_none() && behind.what.keeps_back());
        assert!(
            effect("x (wrong-id): another message in its place")
                .what
                .keeps_back()
        );
        assert!(
            !effect("x (error): another message in its place")
                .what
                .keeps_back()
        );
        assert_eq!(
            effect("held by nobody knows what").what,
            What::Other {
                text: "held by nobody knows what".to_owned()
            }
        );
    }
}
