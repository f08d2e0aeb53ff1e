//! What was done to a message, in words: the one place that makes them.

use tapewright_schemas::event::{
    Effect, FaultRef, Faulted, Offset, Release, Replacement, Unable, Unroutable, Until, What,
};

use super::figures::plural;
use super::safe;

/// A fault: its name, and its kind in parentheses.
pub(crate) fn fault(fault: &FaultRef) -> String {
    format!("{} ({})", safe(&fault.name), safe(fault.kind.name()))
}

/// What was done, and by which fault.
pub(crate) fn line(faulted: &Faulted) -> String {
    let Effect { fault: by, what } = &faulted.effect;
    let done = done(what);
    match by {
        Some(by) => format!("{}: {done}", fault(by)),
        None => done,
    }
}

fn done(what: &What) -> String {
    match what {
        What::Answered { status } => format!("HTTP status {status} in its place"),
        What::Behind { holder: None } => "waits behind a message that a fault holds".to_owned(),
        What::Behind {
            holder: Some(holder),
        } => format!("waits behind message {}, which a fault holds", holder.get()),
        What::CancellationKept => {
            "the cancellation is kept from the server, so that it answers".to_owned()
        }
        What::Changed => "changed on its way".to_owned(),
        What::Cut => "the connection is cut".to_owned(),
        What::Dropped { too_many: false } => "dropped".to_owned(),
        What::Dropped { too_many: true } => {
            "dropped: faults hold as many messages as they may".to_owned()
        }
        What::Ended => "the server's process is ended in its place".to_owned(),
        What::EventsGone { count } => format!("{count} events of the stream are gone"),
        What::Followed => "a notification of ours after it".to_owned(),
        What::GivenUp { count } => {
            format!("{count} earlier messages were given up: nobody came for them")
        }
        What::Logged => "lines of ours on standard error before it".to_owned(),
        What::Lost { count } => format!("never passed on: {count} held when the stream ended"),
        What::NotDone { why } => format!("passed on: {}", unable(*why)),
        What::NotPassed { why } => format!("not passed on: {}", unroutable(*why)),
        What::Other { text } => safe(text),
        What::Preceded => "a line of ours before it".to_owned(),
        What::Repeated { times } => format!("repeated {times} {}", plural(*times, "time")),
        What::Replaced { by } => format!("{} in its place", replacement(*by)),
        What::Sliced { pieces } => format!("passed on in {pieces} pieces"),
        What::Unread { bytes } => {
            format!("{bytes} bytes of standard error were not passed on: nobody read them")
        }
        timed => timed_words(timed),
    }
}

/// What takes time.
fn timed_words(what: &What) -> String {
    match what {
        What::CutOff { after } => format!("the connection is cut after {}", ms(*after)),
        What::Delayed { by } => format!("delayed {}", ms(*by)),
        What::Held { until } => match until {
            Until::Cancelled => "held until it is cancelled".to_owned(),
            Until::Next => "held until the next message has passed".to_owned(),
            Until::Removed => "held".to_owned(),
        },
        What::HeldAll { cut_after: None } => "held, with all that follows".to_owned(),
        What::HeldAll {
            cut_after: Some(after),
        } => format!("held, with all that follows, and cut after {}", ms(*after)),
        What::HeldAmid => "passed on in part, then held with all that follows".to_owned(),
        What::Left { after } => format!("the client left after {}", ms(*after)),
        What::RecorderEnded { after } => {
            format!("never passed on: the recorder ended after {}", ms(*after))
        }
        What::Released { after, why, all } => {
            let rest = if *all {
                ", with all that waited behind it"
            } else {
                ""
            };
            format!("passed on after {}{}{rest}", ms(*after), release(*why))
        }
        What::Stalled { time: None } => "held, and nothing more is read from its sender".to_owned(),
        What::Stalled { time: Some(time) } => format!(
            "held for {}, and nothing more is read from its sender",
            ms(*time)
        ),
        _ => String::new(),
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
        Release::Next => ", behind the next message",
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
        Unable::NoAnswer => "there is no answer in it",
        Unable::NoHttp => "HTTP is not spoken here",
        Unable::Removed => "the fault was removed",
        Unable::TooLong => "it is too long to be changed",
        Unable::TooMany => "faults hold as many messages as they may",
        Unable::TooManyWedged => {
            "too many sessions are wedged, so that what follows in this one is not held"
        }
    }
}

fn unroutable(why: Unroutable) -> &'static str {
    match why {
        Unroutable::Ambiguous => {
            "several requests are under way, and stdio does not tell which it is for"
        }
        Unroutable::ClientGone => "the client is gone that waited for it",
        Unroutable::Noise => "it is no message of MCP",
        Unroutable::RequestOfServer => "a server sends no requests in this era",
        Unroutable::TooLong => "it is longer than we carry",
        Unroutable::Unasked => "no request awaits it",
    }
}
