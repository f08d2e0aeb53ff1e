//! How a recording is served.

use std::sync::Arc;
use std::time::Duration;

use tapewright_schemas::redact::Rules;

use crate::json::Ignore;
use crate::paths::PathMaps;

/// When a live request matches a recorded one.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum MatchMode {
    /// The same method and the same parameters.
    Strict,
    /// Like strict; also, values that are new in every session, such as UUIDs and times, match
    /// others of their kind, and placeholders of other tools or of variables match anything that
    /// they may hide.
    #[default]
    Semantic,
    /// Like semantic; as a last resort, also a request of the same shape: names, types and lengths
    /// of arrays.
    Structural,
}

/// The order in which recorded requests may be sent.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Ordering {
    /// Any order; equal requests get their recordings in recorded order.
    #[default]
    None,
    /// Those of one method in recorded order.
    PerMethod,
    /// All in recorded order. Requests that were in flight together may change places.
    Recorded,
}

/// What a request gets after its recordings are used up.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Exhausted {
    /// All of them again, from the first.
    Cycle,
    /// An error.
    #[default]
    Error,
    /// The last of them, repeatedly.
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
    /// It is treated as if it had never been recorded.
    Skip,
}

/// How fast a recording is played.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Pace {
    /// The factor for recorded times; zero plays without delays.
    pub factor: f64,
    /// The maximum recorded wait, before it is multiplied.
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
    /// How long to wait for a message that came `gap_us` microseconds later in the recording.
    ///
    /// With a factor of zero there is no wait, except after a notification (`after_notification`):
    /// the TypeScript SDK delivers a response before progress that arrives in the same read, and
    /// then drops that progress. Messages that were recorded separately are therefore sent
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

/// The interval between messages that are sent without recorded delays.
pub(crate) const BREATH: Duration = Duration::from_millis(2);

/// The maximum wait, regardless of the recording.
const LONGEST_WAIT: Duration = Duration::from_secs(24 * 60 * 60);

/// The options of a replay.
#[derive(Clone, Debug)]
pub struct Options {
    /// When a live request matches a recorded one.
    pub mode: MatchMode,
    /// The order in which recorded requests may be sent.
    pub ordering: Ordering,
    /// What a request gets after its recordings are used up.
    pub exhausted: Exhausted,
    /// What a request gets that was recorded without an answer.
    pub unanswered: Unanswered,
    /// How fast the recording is played.
    pub pace: Pace,
    /// Places in requests that are ignored, as pointers into the request.
    pub ignore: Ignore,
    /// Mappings from recorded paths to paths here.
    pub paths: PathMaps,
    /// The recorded session that is played; by default, the first that fits and that no other
    /// session plays.
    pub session: Option<u32>,
    /// The redaction rules; both sides are redacted before they are compared.
    pub rules: Arc<Rules>,
}

impl Options {
    /// The defaults: semantic matching in any order, each recording once, without delays.
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
