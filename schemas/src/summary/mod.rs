//! What is on a recording, in numbers: the fold behind `inspect`.
//!
//! Feed a [`Fold`] every event and take its [`Report`]. The report is plain data, in a
//! fixed order, so that it can be printed for people and as JSON.

mod fold;
mod hangs;
mod http;
mod injected;
mod introduction;
mod latency;
mod report;
mod sessions;
mod tools;

pub use fold::Fold;
pub use http::{AddedTimes, Http, HttpCount, HttpError, Streams};
pub use introduction::Introduction;
pub use report::{
    Delays, Ended, Gaps, Hang, InjectedFault, Method, Noise, Notification, Peer, Report, Totals,
    Unanswered,
};
pub use sessions::SessionSummary;
pub use tools::Tool;
