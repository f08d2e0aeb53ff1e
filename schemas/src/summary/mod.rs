//! The contents of a recording in numbers: the fold behind `inspect`.
//!
//! Feed a [`Fold`] every event and take its [`Report`]. The report is plain data, in a fixed order,
//! so that it can be printed for people and as JSON.

mod counting;
mod fold;
mod hangs;
mod http;
mod injected;
mod introduction;
mod latency;
mod messages;
mod report;
mod sessions;
mod streams;

pub use fold::Fold;
pub use http::{AddedTimes, Http, HttpCount, HttpError};
pub use introduction::Introduction;
pub use latency::Latencies;
pub use report::{
    Counters, Delays, Ended, Gaps, Hang, InjectedFault, Method, Noise, Notification, Peer, Report,
    Tool, Totals, Unanswered,
};
pub use sessions::SessionSummary;
pub use streams::Streams;
