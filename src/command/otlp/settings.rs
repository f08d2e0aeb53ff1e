//! Where spans are sent: the option, and the variables of OpenTelemetry.
//!
//! <https://opentelemetry.io/docs/specs/otel/protocol/exporter/>,
//! <https://opentelemetry.io/docs/specs/otel/configuration/sdk-environment-variables/>

use std::path::PathBuf;
use std::time::Duration;

use http::{HeaderName, HeaderValue};
use tapewright_proxy::http::origin::{BadUrl, OriginUrl, Scheme};

use super::pairs::pairs;
use super::resource::Named;
use crate::report::{Mistake, safe};

/// Where spans are sent, and how.
#[derive(Debug)]
pub(super) struct Chosen {
    pub(super) url: OriginUrl,
    // Secrets.
    pub(super) fields: Vec<(HeaderName, HeaderValue)>,
    pub(super) secrets: Vec<(String, String)>,
    pub(super) timeout: Duration,
    pub(super) gzip: bool,
    pub(super) certificate: Option<PathBuf>,
    pub(super) queue_spans: usize,
    pub(super) batch_spans: usize,
    pub(super) delay: Duration,
    pub(super) named: Named,
}

/// Looks variables up; an empty one is none.
pub(super) struct Variables<V>(pub(super) V);

/// Default address of a collector.
const ENDPOINT: &str = "http://localhost:4318";
/// Where it takes traces.
const PATH: &str = "v1/traces";

impl<V: Fn(&str) -> Option<String>> Variables<V> {
    /// What the option and the variables say; nothing where they say that nothing is sent.
    pub(super) fn chosen(&self, option: &str) -> anyhow::Result<Option<Chosen>> {
        let off = self.value("OTEL_SDK_DISABLED");
        if off.is_some_and(|off| off.trim().eq_ignore_ascii_case("true")) {
            return Ok(None);
        }
        self.check_protocol()?;
        let url = self.url(option)?;
        let Fields(fields, secrets) = self.fields()?;
        let queue_spans = self.number("OTEL_BSP_MAX_QUEUE_SIZE", 2_048)?;
        let batch_spans = self.number("OTEL_BSP_MAX_EXPORT_BATCH_SIZE", 512)?;
        Ok(Some(Chosen {
            url,
            fields,
            secrets,
            timeout: self.timeout()?,
            gzip: self.gzip()?,
            certificate: self.of_traces("CERTIFICATE").map(|(_, path)| path.into()),
            queue_spans: count("OTEL_BSP_MAX_QUEUE_SIZE", queue_spans)?,
            batch_spans: count("OTEL_BSP_MAX_EXPORT_BATCH_SIZE", batch_spans)?,
            delay: Duration::from_millis(self.number("OTEL_BSP_SCHEDULE_DELAY", 5_000)?),
            named: self.named()?,
        }))
    }

    fn value(&self, name: &str) -> Option<String> {
        (self.0)(name).filter(|value| !value.trim().is_empty())
    }

    /// The variable of the exporter for traces, or else the one for everything; with its name.
    fn of_traces(&self, what: &str) -> Option<(String, String)> {
        ["TRACES_", ""].into_iter().find_map(|of| {
            let name = format!("OTEL_EXPORTER_OTLP_{of}{what}");
            let value = self.value(&name)?;
            Some((name, value))
        })
    }

    fn check_protocol(&self) -> anyhow::Result<()> {
        let Some((name, protocol)) = self.of_traces("PROTOCOL") else {
            return Ok(());
        };
        if protocol.trim() == "http/json" {
            return Ok(());
        }
        let what = format!(
            "`{name}` is `{}`, and traces are sent as `http/json` only",
            safe(protocol.trim())
        );
        let hint = format!(
            "set `{name}=http/json`; collectors take it on the port of `http/protobuf`, which is 4318"
        );
        Err(Mistake::new(what, hint).into())
    }

    /// Where requests are posted. An address may hold a secret, and is not repeated.
    fn url(&self, option: &str) -> anyhow::Result<OriginUrl> {
        let (of, text) = if !option.is_empty() {
            ("--otlp".to_owned(), with_path(option))
        } else if let Some(text) = self.value("OTEL_EXPORTER_OTLP_TRACES_ENDPOINT") {
            // As it is, by the specification.
            ("OTEL_EXPORTER_OTLP_TRACES_ENDPOINT".to_owned(), text)
        } else {
            let base = self.value("OTEL_EXPORTER_OTLP_ENDPOINT");
            let base = base.as_deref().unwrap_or(ENDPOINT);
            ("OTEL_EXPORTER_OTLP_ENDPOINT".to_owned(), with_path(base))
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

    fn fields(&self) -> anyhow::Result<Fields> {
        let Some((variable, text)) = self.of_traces("HEADERS") else {
            return Ok(Fields::default());
        };
        // The text holds secrets: it is not repeated.
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

    fn timeout(&self) -> anyhow::Result<Duration> {
        let Some((name, text)) = self.of_traces("TIMEOUT") else {
            return Ok(Duration::from_secs(10));
        };
        let ms = parsed(&name, &text)?;
        // 0 is no limit, and there is always one.
        Ok(Duration::from_millis(if ms == 0 { 10_000 } else { ms }))
    }

    fn gzip(&self) -> anyhow::Result<bool> {
        let Some((name, text)) = self.of_traces("COMPRESSION") else {
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

/// Fields of requests, and what of them is a secret: names and values.
#[derive(Default)]
struct Fields(Vec<(HeaderName, HeaderValue)>, Vec<(String, String)>);

/// Where traces are posted below a base; a query stays behind the path.
fn with_path(base: &str) -> String {
    let (base, query) = base.split_once('?').unwrap_or((base, ""));
    let base = base.trim().trim_end_matches('/');
    let mark = if query.is_empty() { "" } else { "?" };
    if base.ends_with(PATH) {
        return format!("{base}{mark}{query}");
    }
    format!("{base}/{PATH}{mark}{query}")
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

    fn of(option: &str, variables: &[(&str, &str)]) -> anyhow::Result<Option<Chosen>> {
        let find = |name: &str| {
            let found = variables.iter().find(|(given, _)| *given == name);
            found.map(|(_, value)| (*value).to_owned())
        };
        Variables(find).chosen(option)
    }

    fn chosen(option: &str, variables: &[(&str, &str)]) -> Chosen {
        of(option, variables).unwrap().unwrap()
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
            assert_eq!(chosen(option, variables).url.shown(), url);
        }
        assert_eq!(chosen("http://h/a?k=1", &[]).url.path, "/a/v1/traces?k=1");
    }

    #[test]
    fn what_is_not_set_is_as_the_specification_says() {
        let chosen = chosen("", &[("OTEL_EXPORTER_OTLP_HEADERS", "")]);
        assert_eq!(chosen.timeout, Duration::from_secs(10));
        assert_eq!((chosen.queue_spans, chosen.batch_spans), (2_048, 512));
        assert_eq!(chosen.delay, Duration::from_secs(5));
        assert_eq!(chosen.named, Named::default());
        assert!(!chosen.gzip && chosen.fields.is_empty());
    }

    #[test]
    fn fields_are_secrets() {
        let set = (
            "OTEL_EXPORTER_OTLP_HEADERS",
            "Authorization=Bearer%20blue-heron,x-k=v",
        );
        let chosen = chosen("", &[set]);
        let value = &chosen.fields[0].1;
        assert!(value.is_sensitive() && value.to_str().unwrap() == "Bearer blue-heron");
        assert_eq!(chosen.secrets[0].1, "blue-heron");
        assert!(!format!("{chosen:?}").contains("Bearer"));
    }

    #[test]
    fn a_disabled_sdk_sends_nothing() {
        assert!(
            of("http://h", &[("OTEL_SDK_DISABLED", "TRUE")])
                .unwrap()
                .is_none()
        );
        assert!(
            of("http://h", &[("OTEL_SDK_DISABLED", "1")])
                .unwrap()
                .is_some()
        );
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
