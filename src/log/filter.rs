//! Filters the events to log.

use tapewright_schemas::near::did_you_mean;
use tracing::Level;
use tracing::level_filters::LevelFilter;
use tracing_subscriber::filter::Targets;

use super::ROOT;
use crate::report::{Mistake, safe};

/// The targets of events.
pub(super) const TARGETS: &[&str] = &[
    "tapewright::check",
    "tapewright::command",
    "tapewright::exchange",
    "tapewright::fault",
    "tapewright::http",
    "tapewright::log",
    "tapewright::record",
    "tapewright::replay",
    "tapewright::session",
    "tapewright::traces",
];

/// Which events are logged.
#[derive(Clone, Debug)]
pub(super) struct Filter(Targets);

impl Default for Filter {
    fn default() -> Self {
        Self(Targets::new().with_default(LevelFilter::INFO))
    }
}

impl Filter {
    /// Reads a filter such as `info` or `warn,tapewright::http=debug`; `of` is the option or
    /// variable that it comes from.
    pub(super) fn parse(text: &str, of: &str) -> anyhow::Result<Self> {
        let mistake = |what: String, hint: String| Err(Mistake::new(what, hint).into());
        let shown = safe(text);
        let Ok(targets) = text.parse::<Targets>() else {
            let what = format!("invalid filter in `{of}`: `{shown}`");
            let hint = "write it like `debug` or `warn,tapewright::exchange=debug`; levels are off, error, warn, info, debug and trace";
            return mistake(what, hint.to_owned());
        };
        let unknown = targets.iter().find(|(target, _)| !is_known(target));
        if let Some((target, _)) = unknown {
            let what = format!("unknown log target `{}` in `{of}`", safe(target));
            let names = TARGETS.iter().copied();
            let hint = did_you_mean(target, names)
                .unwrap_or_else(|| format!("expected one of {}", TARGETS.join(", ")));
            return mistake(what, hint);
        }
        Ok(Self(targets))
    }

    /// Whether events with this target are logged at this level.
    pub(super) fn takes(&self, target: &str, level: Level) -> bool {
        is_ours(target) && self.0.would_enable(target, &level)
    }

    /// The highest level that is logged for any target.
    pub(super) fn most(&self) -> LevelFilter {
        let levels = self.0.iter().map(|(_, level)| level);
        let most = levels.chain(self.0.default_level()).max();
        most.unwrap_or(LevelFilter::OFF)
    }
}

fn is_ours(target: &str) -> bool {
    let rest = target.strip_prefix(ROOT);
    rest.is_some_and(|rest| rest.is_empty() || rest.starts_with("::"))
}

fn is_known(target: &str) -> bool {
    target == ROOT || TARGETS.contains(&target)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn levels_hold_for_all_subjects_or_for_one() {
        let filter = Filter::default();
        assert!(filter.takes("tapewright::http", Level::INFO));
        assert!(!filter.takes("tapewright::http", Level::DEBUG));
        assert_eq!(filter.most(), LevelFilter::INFO);
        let filter = Filter::parse("warn,tapewright::exchange=debug", "--log-filter").unwrap();
        assert!(filter.takes("tapewright::exchange", Level::DEBUG));
        assert!(!filter.takes("tapewright::exchange", Level::TRACE));
        assert!(!filter.takes("tapewright::http", Level::INFO));
        assert_eq!(filter.most(), LevelFilter::DEBUG);
    }

    #[test]
    fn nothing_of_others_is_ever_logged() {
        let filter = Filter::parse("trace", "--log-filter").unwrap();
        for target in ["h2", "hyper::proto", "tapewrightx", "tapewright_proxy", ""] {
            assert!(!filter.takes(target, Level::ERROR), "{target}");
        }
        assert!(filter.takes("tapewright::exchange", Level::TRACE));
    }

    #[test]
    fn what_would_log_nothing_is_refused() {
        for text in ["tapewright::exchnge=debug", "h2=trace", "debugg", "a=b=c"] {
            assert!(Filter::parse(text, "--log-filter").is_err(), "{text}");
        }
    }
}
