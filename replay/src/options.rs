//! How a recording is served.

use std::sync::Arc;
use std::time::Duration;

use tapewright_schemas::redact::Rules;

use crate::json::Ignore;
use crate::paths::PathMaps;

/// When a live request is a recorded one.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum MatchMode {
    /// The same method and the same parameters.
    Strict,
    /// As strict; and values that are new in every session, such as UUIDs and times,
    /// match others of their kind, and placeholders of other tools, and of what a variable
    /// of the environment held, what they may hide.
    #[default]
    Semantic,
    /// As semantic; and at last also a request of the same shape: names, types and
    /// lengths of arrays.
    Structural,
}

/// In which order recorded requests may be asked for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Ordering {
    /// In any; equal requests get their recordings in recorded order.
    #[default]
    None,
    /// Those of one method in recorded order.
    PerMethod,
    /// All in recorded order. Requests that were in flight together may change places.
    Recorded,
}

/// What a request gets whose recordings are used up.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Exhausted {
    /// All of them again, from the first on.
    Cycle,
    /// An error.
    #[default]
    Error,
    /// The last of them, again and again.
    Last,
}

/// What a request gets that was recorded without an answer.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Unanswered {
    /// An error at once.
    Error,
    /// No answer, as it was recorded.
    #[default]
    Hang,
    /// Nothing of it: as if it had never been recorded.
    Skip,
}

/// How fast a recording is played.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Pace {
    /// What recorded times are multiplied with; zero is at once.
    pub factor: f64,
    /// The longest recorded wait that is kept, before it is multiplied.
    pub cap: Duration,
}

impl Default for Pace {
    fn default() -> Self {
        Self {
            factor: 0.0,
            cap: Duration::MAX,
        }
    }
}

impl Pace {
    /// How long to wait for what came `gap_us` microseconds later in the recording.
    ///
    /// At once is at once, but for what follows a notification, `after_notification`: the
    /// TypeScript SDK hands over a response before the progress that came in the same
    /// read, and then drops that progress. What was recorded apart is therefore sent
    /// [`BREATH`] apart.
    pub(crate) fn wait(&self, gap_us: u64, after_notification: bool) -> Duration {
        if self.factor <= 0.0 {
            let breath = if after_notification {
                BREATH
            } else {
                Duration::ZERO
            };
            return Duration::from_micros(gap_us).min(breath);
        }
        let gap = Duration::from_micros(gap_us).min(self.cap);
        Duration::try_from_secs_f64(gap.as_secs_f64() * self.factor).unwrap_or(LONGEST_WAIT)
    }
}

/// How far apart messages are sent at once.
pub(crate) const BREATH: Duration = Duration::from_millis(2);

/// No wait is longer, whatever a recording says.
const LONGEST_WAIT: Duration = Duration::from_secs(24 * 60 * 60);

/// All of it.
#[derive(Clone, Debug)]
pub struct Options {
    /// When a live request is a recorded one.
    pub mode: MatchMode,
    /// In which order recorded requests may be asked for.
    pub ordering: Ordering,
    /// What a request gets whose recordings are used up.
    pub exhausted: Exhausted,
    /// What a request gets that was recorded without an answer.
    pub unanswered: Unanswered,
    /// How fast.
    pub pace: Pace,
    /// Places in requests that do not count, as pointers into the request.
    pub ignore: Ignore,
    /// Which paths of the recording are called otherwise here.
    pub paths: PathMaps,
    /// The recorded session that is played; without it the first that fits and that no other
    /// plays.
    pub session: Option<u32>,
    /// What is a secret; both sides are redacted by these before they are compared.
    pub rules: Arc<Rules>,
}

impl Options {
    /// The defaults: semantic matching in any order, each recording once, at once.
    #[must_use]
    pub fn new(rules: Arc<Rules>) -> Self {
        Self {
            mode: MatchMode::default(),
            ordering: Ordering::default(),
            exhausted: Exhausted::default(),
            unanswered: Unanswered::default(),
            pace: Pace::default(),
            ignore: Ignore::default(),
            paths: PathMaps::default(),
            session: None,
            rules,
        }
    }
}
