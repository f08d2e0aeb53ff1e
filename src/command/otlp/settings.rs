//! The destination of spans and durations, from the option and the OpenTelemetry variables.
//!
//! <https://opentelemetry.io/docs/specs/otel/protocol/exporter/>,
//! <https://opentelemetry.io/docs/specs/otel/configuration/sdk-environment-variables/>

use std::fmt;
use std::path::PathBuf;
use std::time::Duration;

use http::{HeaderName, HeaderValue};
use tapewright_proxy::http::origin::{BadUrl, OriginUrl, Scheme};
use tapewright_proxy::operations::Temporality;

use super::pairs::pairs;
use super::resource::Named;
use crate::report::{Mistake, safe};

/// What to send, where to, and how.
#[derive(Debug, Default)]
pub(super) struct Chosen {
    pub(super) traces: Option<ChosenTraces>,
    pub(super) metrics: Option<ChosenMetrics>,
}

/// Where to send spans, and how.
#[derive(Debug)]
pub(super) struct ChosenTraces {
    pub(super) to: To,
    pub(super) queue_spans: usize,
    pub(super) batch_spans: usize,
    pub(super) delay: Duration,
    pub(super) named: Named,
}

/// Where to send durations, and how.
#[derive(Debug)]
pub(super) struct ChosenMetrics {
    pub(super) to: To,
    pub(super) interval: Duration,
    pub(super) temporality: Temporality,
    pub(super) named: Named,
}

/// A destination.
pub(super) struct To {
    pub(super) url: OriginUrl,
    // Secrets.
    pub(super) fields: Vec<(HeaderName, HeaderValue)>,
    pub(super) secrets: Vec<(String, String)>,
    pub(super) timeout: Duration,
    pub(super) gzip: bool,
    pub(super) certificate: Option<PathBuf>,
}

impl fmt::Debug for To {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.debug_struct("To")
            .field("url", &self.url.shown())
            .finish_non_exhaustive()
    }
}

/// The kind of data to send.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Signal {
    Metrics,
    Traces,
}

impl Signal {
    /// Its name in variables.
    fn variable(self) -> &'static str {
        match self {
            Self::Metrics => "METRICS",
            Self::Traces => "TRACES",
        }
    }

    /// The path on a collector.
    fn path(self) -> &'static str {
        match self {
            Self::Metrics => "v1/metrics",
            Self::Traces => "v1/traces",
        }
    }
}

/// Looks up variables; an empty one counts as unset.
pub(super) struct Variables<V>(pub(super) V);

/// Default address of a collector.
const ENDPOINT: &str = "http://localhost:4318";

impl<V: Fn(&str) -> Option<String>> Variables<V> {
    /// Combines the option and the variables.
    pub(super) fn chosen(&self, option: &str) -> anyhow::Result<Chosen> {
        let off = self.value("OTEL_SDK_DISABLED");
        if off.is_some_and(|off| off.trim().eq_ignore_ascii_case("true")) {
            return Ok(Chosen::default());
        }
        Ok(Chosen {
            traces: self.traces(option)?,
            metrics: self.metrics(option)?,
        })
    }

    fn traces(&self, option: &str) -> anyhow::Result<Option<ChosenTraces>> {
        let Some(to) = self.to(Signal::Traces, option)? else {
            return Ok(None);
        };
        let queue_spans = self.number("OTEL_BSP_MAX_QUEUE_SIZE", 2_048)?;
        let batch_spans = self.number("OTEL_BSP_MAX_EXPORT_BATCH_SIZE", 512)?;
        Ok(Some(ChosenTraces {
            to,
            queue_spans: count("OTEL_BSP_MAX_QUEUE_SIZE", queue_spans)?,
            batch_spans: count("OTEL_BSP_MAX_EXPORT_BATCH_SIZE", batch_spans)?,
            delay: Duration::from_millis(self.number("OTEL_BSP_SCHEDULE_DELAY", 5_000)?),
            named: self.named()?,
        }))
    }

    fn metrics(&self, option: &str) -> anyhow::Result<Option<ChosenMetrics>> {
        let Some(mut to) = self.to(Signal::Metrics, option)? else {
            return Ok(None);
        };
        let most = self.number("OTEL_METRIC_EXPORT_TIMEOUT", 30_000)?;
        if most > 0 {
            to.timeout = to.timeout.min(Duration::from_millis(most));
        }
        let interval = self.number("OTEL_METRIC_EXPORT_INTERVAL", 60_000)?;
        count("OTEL_METRIC_EXPORT_INTERVAL", interval)?;
        Ok(Some(ChosenMetrics {
            to,
            interval: Duration::from_millis(interval),
            temporality: self.temporality()?,
            named: self.named()?,
        }))
    }

    /// The destination of a signal; `None` if it is not sent.
    fn to(&self, signal: Signal, option: &str) -> anyhow::Result<Option<To>> {
        let exporters = self.value(&format!("OTEL_{}_EXPORTER", signal.variable()));
        let is_ours = |exporters: String| exporters.split(',').any(|one| one.trim() == "otlp");
        if !exporters.is_none_or(is_ours) {
            return Ok(None);
        }
        self.check_protocol(signal)?;
        let url = self.url(signal, option)?;
        let Fields(fields, secrets) = self.fields(signal)?;
        let certificate = self.of(signal, "CERTIFICATE");
        Ok(Some(To {
            url,
            fields,
            secrets,
            timeout: self.timeout(signal)?,
            gzip: self.gzip(signal)?,
            certificate: certificate.map(|(_, path)| path.into()),
        }))
    }

    /// From when on durations are counted in a request. For histograms, the three preferences
    /// amount to two.
    fn temporality(&self) -> anyhow::Result<Temporality> {
        let name = "OTEL_EXPORTER_OTLP_METRICS_TEMPORALITY_PREFERENCE";
        let said = self.value(name).unwrap_or_default().trim().to_lowercase();
        match said.as_str() {
            "" | "cumulative" => Ok(Temporality::Cumulative),
            "delta" | "lowmemory" => Ok(Temporality::Delta),
            other => {
                let what = format!("`{name}` is `{}`", safe(other));
                let hint = "set it to `cumulative`, `delta` or `lowmemory`";
                Err(Mistake::new(what, hint).into())
            }
        }
    }

    fn value(&self, name: &str) -> Option<String> {
        (self.0)(name).filter(|value| !value.trim().is_empty())
    }

    /// The variable for the signal, or else the one for all; with its name.
    fn of(&self, signal: Signal, what: &str) -> Option<(String, String)> {
        let own = format!("{}_", signal.variable());
        [own.as_str(), ""].into_iter().find_map(|of| {
            let name = format!("OTEL_EXPORTER_OTLP_{of}{what}");
            let value = self.value(&name)?;
            Some((name, value))
        })
    }

    fn check_protocol(&self, signal: Signal) -> anyhow::Result<()> {
        let Some((name, protocol)) = self.of(signal, "PROTOCOL") else {
            return Ok(());
        };
        if protocol.trim() == "http/json" {
            return Ok(());
        }
        let what = format!(
            "`{name}` is `{}`, but only `http/json` is supported",
            safe(protocol.trim())
        );
        let hint = format!(
            "set `{name}=http/json`; collectors take it on the port of `http/protobuf`, which is 4318"
        );
        Err(Mistake::new(what, hint).into())
    }

    /// The URL that requests are posted to. An address may contain a secret, and is not repeated.
    fn url(&self, signal: Signal, option: &str) -> anyhow::Result<OriginUrl> {
        let own = format!("OTEL_EXPORTER_OTLP_{}_ENDPOINT", signal.variable());
        let (of, text) = if !option.is_empty() {
            ("--otlp".to_owned(), with_path(option, signal))
        } else if let Some(text) = self.value(&own) {
            // Used unchanged, as the specification requires.
            (own, text)
        } else {
            let base = self.value("OTEL_EXPORTER_OTLP_ENDPOINT");
            let base = base.as_deref().unwrap_or(ENDPOINT);
            (
                "OTEL_EXPORTER_OTLP_ENDPOINT".to_owned(),
                with_path(base, signal),
            )
        };
        OriginUrl::parse(text.trim()).map_err(|why| {
            let hint = match why {
                BadUrl::UserInfo => "send credentials with `OTEL_EXPORTER_OTLP_HEADERS`",
                _ => "write it like `http://localhost:4318`; put `--` before the command of the server",
            };
            let why = match why {
                BadUrl::UserInfo => "a user name or password in it is not sent".to_owned(),
                why => why.to_string(),
            };
            Mistake::new(format!("invalid URL in `{of}`: {why}"), hint).into()
        })
    }

    fn fields(&self, signal: Signal) -> anyhow::Result<Fields> {
        let Some((variable, text)) = self.of(signal, "HEADERS") else {
            return Ok(Fields::default());
        };
        // The text contains secrets, and is not repeated.
        let mistake = || {
            let what = format!("invalid `{variable}`: expected `name=value,name=value`");
            Mistake::new(what, "percent-encode commas, spaces and `%` in values")
        };
        let mut fields = Fields::default();
        for (name, value) in pairs(&text).ok_or_else(mistake)? {
            let field = HeaderName::try_from(name.as_str()).map_err(|_| mistake())?;
            let mut sent = HeaderValue::try_from(value.as_str()).map_err(|_| mistake())?;
            sent.set_sensitive(true);
            fields.0.push((field, sent));
            let secret = value.split_once(' ').map(|(_, rest)| rest.to_owned());
            fields.1.push((name, secret.unwrap_or(value)));
        }
        Ok(fields)
    }

    fn timeout(&self, signal: Signal) -> anyhow::Result<Duration> {
        let Some((name, text)) = self.of(signal, "TIMEOUT") else {
            return Ok(Duration::from_secs(10));
        };
        let ms = parsed(&name, &text)?;
        // 0 means no limit, but there is always one.
        Ok(Duration::from_millis(if ms == 0 { 10_000 } else { ms }))
    }

    fn gzip(&self, signal: Signal) -> anyhow::Result<bool> {
        let Some((name, text)) = self.of(signal, "COMPRESSION") else {
            return Ok(false);
        };
        match text.trim() {
            "gzip" => Ok(true),
            "none" => Ok(false),
            other => {
                let what = format!("`{name}` is `{}`", safe(other));
                Err(Mistake::new(what, "set it to `gzip` or `none`").into())
            }
        }
    }

    fn number(&self, name: &str, default: u64) -> anyhow::Result<u64> {
        let value = self.value(name);
        value.map_or(Ok(default), |text| parsed(name, &text))
    }

    fn named(&self) -> anyhow::Result<Named> {
        let name = "OTEL_RESOURCE_ATTRIBUTES";
        let text = self.value(name).unwrap_or_default();
        let attributes = pairs(&text).ok_or_else(|| {
            let what = format!("invalid `{name}`: expected `name=value,name=value`");
            Mistake::new(what, "percent-encode commas, spaces and `%` in values")
        })?;
        Ok(Named {
            service: self.value("OTEL_SERVICE_NAME"),
            attributes,
        })
    }
}

/// Fields of requests, and the secrets among them: names and values.
#[derive(Default)]
struct Fields(Vec<(HeaderName, HeaderValue)>, Vec<(String, String)>);

/// The URL for a signal below a base URL, which may already have the path of traces or metrics; a
/// query stays behind the path.
fn with_path(base: &str, signal: Signal) -> String {
    let (base, query) = base.split_once('?').unwrap_or((base, ""));
    let base = base.trim().trim_end_matches('/');
    let mark = if query.is_empty() { "" } else { "?" };
    let mut signals = [Signal::Traces, Signal::Metrics].into_iter();
    let below = signals.find_map(|one| base.strip_suffix(one.path()));
    let base = below.unwrap_or(base).trim_end_matches('/');
    format!("{base}/{}{mark}{query}", signal.path())
}

fn parsed(name: &str, text: &str) -> anyhow::Result<u64> {
    text.trim().parse().map_err(|_| {
        let what = format!(
            "invalid `{name}`: `{}` is not a whole number",
            safe(text.trim())
        );
        Mistake::new(what, "set it to a number, or unset it").into()
    })
}

fn count(name: &str, value: u64) -> anyhow::Result<usize> {
    let mistake = || {
        Mistake::new(
            format!("`{name}` must be at least 1"),
            "set it higher, or unset it",
        )
    };
    let value = usize::try_from(value).ok().filter(|value| *value > 0);
    value.ok_or_else(|| mistake().into())
}

/// Whether a URL needs TLS.
pub(super) fn is_tls(url: &OriginUrl) -> bool {
    url.scheme == Scheme::Https
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(option: &str, variables: &[(&str, &str)]) -> anyhow::Result<Chosen> {
        let find = |name: &str| {
            let found = variables.iter().find(|(given, _)| *given == name);
            found.map(|(_, value)| (*value).to_owned())
        };
        Variables(find).chosen(option)
    }

    fn chosen(option: &str, variables: &[(&str, &str)]) -> ChosenTraces {
        of(option, variables).unwrap().traces.unwrap()
    }

    fn metrics(option: &str, variables: &[(&str, &str)]) -> ChosenMetrics {
        of(option, variables).unwrap().metrics.unwrap()
    }

    #[test]
    fn the_option_wins_over_the_variable_for_traces_and_that_over_the_one_for_all() {
        let all = ("OTEL_EXPORTER_OTLP_ENDPOINT", "http://all:4318/base/");
        let traces = (
            "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT",
            "http://traces:1/own?x=1",
        );
        for (option, variables, url) in [
            ("", &[][..], "http://localhost:4318/v1/traces"),
            ("", &[all], "http://all:4318/base/v1/traces"),
            ("", &[all, traces], "http://traces:1/own"),
            ("http://here:2", &[all, traces], "http://here:2/v1/traces"),
            ("http://here:2/v1/traces", &[], "http://here:2/v1/traces"),
            ("http://here:2/a?k=1", &[], "http://here:2/a/v1/traces"),
        ] {
            assert_eq!(chosen(option, variables).to.url.shown(), url);
        }
        assert_eq!(
            chosen("http://h/a?k=1", &[]).to.url.path,
            "/a/v1/traces?k=1"
        );
    }

    #[test]
    fn what_is_not_set_is_as_the_specification_says() {
        let chosen = chosen("", &[("OTEL_EXPORTER_OTLP_HEADERS", "")]);
        assert_eq!(chosen.to.timeout, Duration::from_secs(10));
        assert_eq!((chosen.queue_spans, chosen.batch_spans), (2_048, 512));
        assert_eq!(chosen.delay, Duration::from_secs(5));
        assert_eq!(chosen.named, Named::default());
        assert!(!chosen.to.gzip && chosen.to.fields.is_empty());
    }

    #[test]
    fn fields_are_secrets() {
        let set = (
            "OTEL_EXPORTER_OTLP_HEADERS",
            "Authorization=Bearer%20blue-heron,x-k=v",
        );
        let chosen = chosen("", &[set]);
        let value = &chosen.to.fields[0].1;
        assert!(value.is_sensitive() && value.to_str().unwrap() == "Bearer blue-heron");
        assert_eq!(chosen.to.secrets[0].1, "blue-heron");
        assert!(!format!("{chosen:?}").contains("Bearer"));
    }

    #[test]
    fn a_disabled_sdk_sends_nothing() {
        let sent = |name: &str, value: &str| {
            let chosen = of("http://h", &[(name, value)]).unwrap();
            (chosen.traces.is_some(), chosen.metrics.is_some())
        };
        assert_eq!(sent("OTEL_SDK_DISABLED", "TRUE"), (false, false));
        assert_eq!(sent("OTEL_SDK_DISABLED", "1"), (true, true));
        assert_eq!(sent("OTEL_METRICS_EXPORTER", "none"), (true, false));
        assert_eq!(sent("OTEL_METRICS_EXPORTER", "prometheus"), (true, false));
        assert_eq!(sent("OTEL_METRICS_EXPORTER", "console, otlp"), (true, true));
        assert_eq!(sent("OTEL_TRACES_EXPORTER", "none"), (false, true));
        assert_eq!(sent("OTEL_TRACES_EXPORTER", ""), (true, true));
    }

    #[test]
    fn durations_are_sent_beside_traces_by_their_own_variables() {
        let all = ("OTEL_EXPORTER_OTLP_ENDPOINT", "http://all:4318/base/");
        let own = ("OTEL_EXPORTER_OTLP_METRICS_ENDPOINT", "http://own:1/m");
        for (option, variables, url) in [
            ("", &[][..], "http://localhost:4318/v1/metrics"),
            ("", &[all], "http://all:4318/base/v1/metrics"),
            ("", &[all, own], "http://own:1/m"),
            ("http://h", &[own], "http://h/v1/metrics"),
            ("http://h/v1/traces", &[], "http://h/v1/metrics"),
            ("http://h/a/v1/metrics", &[], "http://h/a/v1/metrics"),
        ] {
            assert_eq!(metrics(option, variables).to.url.shown(), url);
        }
        let timeout = ("OTEL_EXPORTER_OTLP_METRICS_TIMEOUT", "7");
        let plain = metrics("", &[]);
        assert_eq!(plain.interval, Duration::from_secs(60));
        assert_eq!(plain.to.timeout, Duration::from_secs(10));
        assert_eq!(metrics("", &[timeout]).to.timeout.as_millis(), 7);
        let most = ("OTEL_METRIC_EXPORT_TIMEOUT", "5");
        assert_eq!(metrics("", &[timeout, most]).to.timeout.as_millis(), 5);
        let interval = ("OTEL_METRIC_EXPORT_INTERVAL", "9");
        assert_eq!(metrics("", &[interval]).interval.as_millis(), 9);
    }

    #[test]
    fn a_histogram_is_cumulative_unless_something_else_is_preferred() {
        for (said, temporality) in [
            ("", Temporality::Cumulative),
            ("Cumulative", Temporality::Cumulative),
            ("DELTA", Temporality::Delta),
            ("lowmemory", Temporality::Delta),
        ] {
            let name = "OTEL_EXPORTER_OTLP_METRICS_TEMPORALITY_PREFERENCE";
            assert_eq!(metrics("", &[(name, said)]).temporality, temporality);
        }
    }

    #[test]
    fn mistakes_name_the_variable_and_no_secret() {
        for (option, name, value) in [
            ("", "OTEL_EXPORTER_OTLP_PROTOCOL", "grpc"),
            ("", "OTEL_EXPORTER_OTLP_TRACES_PROTOCOL", "http/protobuf"),
            ("", "OTEL_EXPORTER_OTLP_ENDPOINT", "http://me:blue-heron@h"),
            ("", "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT", "ftp://blue-heron"),
            ("", "OTEL_EXPORTER_OTLP_HEADERS", "blue-heron"),
            ("", "OTEL_EXPORTER_OTLP_HEADERS", "a b=blue-heron"),
            ("", "OTEL_EXPORTER_OTLP_TIMEOUT", "10s"),
            ("", "OTEL_EXPORTER_OTLP_COMPRESSION", "zstd"),
            ("", "OTEL_EXPORTER_OTLP_METRICS_PROTOCOL", "grpc"),
            ("", "OTEL_EXPORTER_OTLP_METRICS_HEADERS", "blue-heron"),
            (
                "",
                "OTEL_EXPORTER_OTLP_METRICS_TEMPORALITY_PREFERENCE",
                "sometimes",
            ),
            ("", "OTEL_METRIC_EXPORT_INTERVAL", "0"),
            ("", "OTEL_BSP_MAX_QUEUE_SIZE", "0"),
            ("", "OTEL_BSP_SCHEDULE_DELAY", "-1"),
            ("", "OTEL_RESOURCE_ATTRIBUTES", "a"),
            ("node", "--otlp", ""),
        ] {
            let error = of(option, &[(name, value)]).unwrap_err();
            let said = format!("{error:#} {:?}", crate::report::hint(&error));
            assert!(said.contains(name), "{said}");
            assert!(!said.contains("blue-heron"), "{said}");
        }
    }
}
