//! The notes at the end of a shown recording.

use tapewright_schemas::event::Offset;
use tapewright_schemas::listing::Counts;
use tapewright_schemas::recording::FileKind;
use tapewright_schemas::tape::Ending;

use crate::report::figures::{duration, plural, size};
use crate::report::{in_place, safe};

/// The notes at the end of a shown recording.
#[derive(Debug)]
pub(crate) struct Closing<'c> {
    pub(crate) counts: Counts,
    /// Its files.
    pub(crate) parts: Vec<Part<'c>>,
    /// Whether a filter left something out.
    pub(crate) filtered: bool,
    /// Whether a filter needs times.
    pub(crate) wants_times: bool,
}

/// One file of a recording.
#[derive(Debug)]
pub(crate) struct Part<'c> {
    /// Its name, if there are several.
    pub(crate) name: Option<String>,
    pub(crate) kind: FileKind,
    pub(crate) timed: bool,
    pub(crate) ending: &'c Ending,
    /// The time of its last event.
    pub(crate) last: Offset,
    /// The process that is still writing it.
    pub(crate) written_by: Option<u32>,
}

impl Closing<'_> {
    /// Whether something is or may be missing.
    pub(crate) fn is_incomplete(&self) -> bool {
        let mut parts = self.parts.iter();
        parts.any(|part| matches!(part.ending, Ending::CutShort { .. }))
            || self.counts.gaps.iter().any(|one| *one > 0)
    }

    /// The counts, and what is unknown.
    pub(crate) fn text(&self) -> String {
        let Counts {
            exchanges,
            shown,
            models,
            models_shown,
            beside,
            ..
        } = self.counts;
        let mut all = vec![format!("{exchanges} {}", plural(exchanges, "exchange"))];
        if models > 0 {
            all.push(format!("{models} {} of models", plural(models, "call")));
        }
        if self.filtered {
            let beside = match beside {
                0 => String::new(),
                count => format!(" and {count} other {}", plural(count, "line")),
            };
            let calls = plural(models_shown, "call");
            let whole = match (shown, models_shown) {
                (shown, 0) => shown.to_string(),
                (0, count) => format!("{count} {calls} of models"),
                (shown, count) => format!("{shown} and {count} {calls} of models"),
            };
            all.push(format!("{whole}{beside} shown"));
        }
        all.extend(self.troubles());
        let mut text = all.join(", ");
        for part in &self.parts {
            for one in part.unknown() {
                text.push_str("; ");
                if let Some(name) = &part.name {
                    text.extend([&*safe(name), ": "]);
                }
                text.push_str(&one);
            }
        }
        if self.wants_times && self.parts.iter().any(|part| !part.timed) {
            text.push_str("; `slow:` finds nothing without times");
        }
        text
    }

    fn troubles(&self) -> Vec<String> {
        let Counts {
            unanswered,
            cancelled,
            clipped,
            gaps,
            ..
        } = self.counts;
        let mut all = Vec::new();
        let never = unanswered.saturating_sub(cancelled);
        if never > 0 {
            all.push(format!("{never} never answered"));
        }
        if cancelled > 0 {
            all.push(format!("{cancelled} cancelled"));
        }
        if clipped > 0 {
            all.push(format!("{clipped} {} clipped", plural(clipped, "message")));
        }
        let [count, events, bytes] = gaps;
        if count > 0 {
            let (word, what) = (plural(count, "gap"), plural(events, "event"));
            let bytes = size(bytes);
            all.push(format!(
                "{count} {word}: {events} {what} and {bytes} are missing"
            ));
        }
        all
    }
}

impl Part<'_> {
    fn unknown(&self) -> Vec<String> {
        let mut all = Vec::new();
        match (self.written_by, self.ending) {
            (Some(process), _) => all.push(format!(
                "process {process} is still writing this tape: showing what was recorded so far"
            )),
            (None, Ending::CutShort { last_seq, .. }) => {
                let at = duration(self.last.millis());
                all.push(format!(
                    "the tape ends without a footer after event {last_seq} at {at}"
                ));
            }
            (None, Ending::Footer(footer)) => {
                let detail = footer.detail.as_deref();
                all.extend(
                    footer
                        .why
                        .map(|why| format!("incomplete: {}", in_place::lost(why, detail))),
                );
            }
            _ => {}
        }
        let lacks = match self.kind {
            FileKind::Tape => None,
            FileKind::Cassette if self.timed => {
                Some("stderr or findings, and faults only of unanswered requests")
            }
            FileKind::Cassette => {
                Some("times, stderr or findings, and faults only of unanswered requests")
            }
            FileKind::Capture => Some("times, stderr, HTTP heads, faults or findings"),
        };
        all.extend(lacks.map(|lacks| format!("a {} holds no {lacks}", self.kind.name())));
        all
    }
}
