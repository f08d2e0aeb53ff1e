//! Descriptions of effects, for all reports.

use tapewright_schemas::event::{
    Effect, FaultRef, Faulted, MessageNumber, Offset, Release, Replacement, Unable, Unroutable,
    Until, What,
};

use super::figures::plural;
use super::safe;

/// A fault: its name, and its kind in parentheses.
pub(crate) fn fault(fault: &FaultRef) -> String {
    format!("{} ({})", safe(&fault.name), safe(fault.kind.name()))
}

/// The effect, and its fault.
pub(crate) fn line(faulted: &Faulted) -> String {
    let Effect { fault: by, what } = &faulted.effect;
    let done = done(what);
    match by {
        Some(by) => format!("{}: {done}", fault(by)),
        None => done,
    }
}

/// Every effect has its text here: a new one does not compile without.
fn done(what: &What) -> String {
    match what {
        What::Answered { status } => format!("HTTP status {status} in its place"),
        What::Behind { holder } => behind(*holder),
        What::CancellationKept => {
            "the cancellation was not forwarded, so that the server answers".to_owned()
        }
        What::Changed => "changed on its way".to_owned(),
        What::Cut { all: false } => "the connection is cut".to_owned(),
        What::Cut { all: true } => "the connection is cut after it".to_owned(),
        What::CutOff { after } => format!("the connection is cut after {}", ms(*after)),
        What::Delayed { by } => format!("delayed {}", ms(*by)),
        What::Dropped { too_many } => dropped(*too_many).to_owned(),
        What::Ended => "the server's process is ended in its place".to_owned(),
        What::EventsGone { count } => format!("{count} events of the stream are gone"),
        What::Followed => "an added notification after it".to_owned(),
        What::GivenUp { count } => {
            format!("{count} earlier messages were dropped: no one was waiting for them")
        }
        What::Held { until } => held(*until).to_owned(),
        What::HeldAll { cut_after } => held_all(*cut_after),
        What::HeldAmid => "passed on in part, then held with all that follows".to_owned(),
        What::Left { after } => format!("the client left after {}", ms(*after)),
        What::Logged => "injected lines on stderr before it".to_owned(),
        What::Lost { count } => format!("never passed on: {count} held when the stream ended"),
        What::NotDone { why } => format!("passed on: {}", unable(*why)),
        What::NotPassed { why } => format!("not passed on: {}", unroutable(*why)),
        What::Other { text } => safe(text),
        What::Preceded => "an added line before it".to_owned(),
        What::RecorderEnded { after } => {
            format!("never passed on: the recorder ended after {}", ms(*after))
        }
        What::Released { after, why, all } => released(*after, *why, *all),
        What::Repeated { times } => format!("repeated {times} {}", plural(*times, "time")),
        What::Replaced { by, code: None } => format!("{} in its place", replacement(*by)),
        What::Replaced {
            code: Some(code), ..
        } => format!("error {code} in its place"),
        What::Sliced { pieces, by } => sliced(*pieces, *by),
        What::Stalled { time } => stalled(*time),
        What::Unread { bytes } => {
            format!("{bytes} bytes of stderr were not forwarded: no one read them")
        }
    }
}

fn behind(holder: Option<MessageNumber>) -> String {
    match holder {
        None => "waits for a message that a fault holds".to_owned(),
        Some(holder) => format!("waits for message {}, which a fault holds", holder.get()),
    }
}

fn dropped(too_many: bool) -> &'static str {
    if too_many {
        "dropped: too many messages are held by faults"
    } else {
        "dropped"
    }
}

fn held(until: Until) -> &'static str {
    match until {
        Until::Cancelled => "held until it is cancelled",
        Until::Next => "held until the next message has passed",
        Until::Removed => "held",
    }
}

fn held_all(cut_after: Option<Offset>) -> String {
    match cut_after {
        None => "held, with all that follows".to_owned(),
        Some(after) => format!("held, with all that follows, and cut after {}", ms(after)),
    }
}

fn released(after: Offset, why: Release, all: bool) -> String {
    let rest = if all {
        ", with everything that waited for it"
    } else {
        ""
    };
    format!("passed on after {}{}{rest}", ms(after), release(why))
}

fn sliced(pieces: u64, by: Option<Offset>) -> String {
    match by {
        None => format!("passed on in {pieces} pieces"),
        Some(by) => format!("passed on in {pieces} pieces, the last {} later", ms(by)),
    }
}

fn stalled(time: Option<Offset>) -> String {
    match time {
        None => "held, and nothing more is read from its sender".to_owned(),
        Some(time) => format!(
            "held for {}, and nothing more is read from its sender",
            ms(time)
        ),
    }
}

fn ms(time: Offset) -> String {
    format!("{} ms", time.millis())
}

fn release(why: Release) -> &'static str {
    match why {
        Release::Cancelled => ", since it was cancelled",
        Release::Changed => ", since the fault was changed",
        Release::Due => ", when it was due",
        Release::End => ", at the end",
        Release::Next => ", after the next message",
        Release::Removed => ", since the fault was removed",
        Release::Unknown => "",
    }
}

fn replacement(by: Replacement) -> &'static str {
    match by {
        Replacement::Error => "an error",
        Replacement::Other => "another message",
        Replacement::Oversized => "a larger message",
        Replacement::Truncated => "its beginning",
        Replacement::WrongId => "the same under another id",
    }
}

fn unable(why: Unable) -> &'static str {
    match why {
        Unable::BrokeOff => "it broke off",
        Unable::ClientAnswers => "over HTTP the answer of a client can only come later, or never",
        Unable::HasBegun => "the response has begun already",
        Unable::NoAnswer => "no answer in it",
        Unable::NoHttp => "not an HTTP session",
        Unable::Removed => "the fault was removed",
        Unable::TooLong => "too long to be changed",
        Unable::TooMany => "too many messages are held by faults",
        Unable::TooManyWedged => {
            "too many sessions are wedged, so that what follows in this one is not held"
        }
    }
}

fn unroutable(why: Unroutable) -> &'static str {
    match why {
        Unroutable::Ambiguous => {
            "several requests are pending, and on stdio it is unknown which one it belongs to"
        }
        Unroutable::ClientGone => "the client that waited for it has gone",
        Unroutable::Noise => "not an MCP message",
        Unroutable::RequestOfServer => "servers send no requests in this revision",
        Unroutable::TooLong => "too long",
        Unroutable::Unasked => "no request awaits it",
    }
}
