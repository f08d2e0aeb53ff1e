//! Sends traces and durations to an OpenTelemetry collector during a recording or replay: the
//! options, and the report at the end.

mod pairs;
pub(crate) mod resource;
mod settings;
mod tracer;

use std::sync::Arc;
use std::time::Duration;

use anyhow::Context as _;
use clap::Args;
use tapewright_proxy::behind::{Behind, MakeObserver};
use tapewright_proxy::http::origin::{OriginSettings, TlsSettings, client_config};
use tapewright_proxy::operations::{self, Operations};
use tapewright_proxy::traces::{self, Collector, Figures, Frame, SpanSender};
use tapewright_schemas::tape::Header;

use crate::log;
use crate::report::{self, Mistake, otlp};

use self::resource::Named;
use self::settings::{Chosen, ChosenMetrics, ChosenTraces, To, Variables, is_tls};
use self::tracer::Texts;

pub(crate) use self::tracer::Tracer;

/// Whether traces and durations are sent, and where to.
#[derive(Debug, Args)]
#[command(next_help_heading = "Traces")]
pub(crate) struct OtlpArguments {
    /// Send traces and metrics of the traffic to this OpenTelemetry collector
    ///
    /// OTLP over HTTP, in JSON; `/v1/traces` and `/v1/metrics` are added to the URL. Without
    /// a URL, the `OTEL_EXPORTER_OTLP_*` variables say where. See docs/exports.md.
    #[arg(
        long,
        value_name = "ENDPOINT",
        num_args = 0..=1,
        default_missing_value = "",
        allow_hyphen_values = false
    )]
    otlp: Option<String>,
    /// Also send arguments and results of tool calls, as they are on the tape
    #[arg(hide_short_help = true, long, requires = "otlp")]
    otlp_content: bool,
}

/// The running exports.
#[derive(Debug)]
pub(crate) struct Sending {
    pub(crate) traces: Option<Traces>,
    pub(crate) metrics: Option<Metrics>,
}

/// The destination of durations.
#[derive(Debug)]
pub(crate) struct Metrics(ChosenMetrics);

/// The running export of durations.
#[derive(Debug)]
pub(crate) struct Exports {
    sending: operations::Exports,
    // The destination, without secrets.
    place: String,
}

/// The running export of traces.
#[derive(Debug)]
pub(crate) struct Traces {
    sending: traces::Traces,
    // The destination, without secrets.
    place: String,
    named: Named,
    pace: Duration,
    content: bool,
}

/// The checked destination of traces and durations.
#[derive(Debug, Default)]
pub(crate) struct Destination(Chosen);

impl Destination {
    /// Whether anything is sent.
    pub(crate) fn is_somewhere(&self) -> bool {
        self.0.traces.is_some() || self.0.metrics.is_some()
    }
}

impl OtlpArguments {
    /// The destination of traces and durations. A recording with its secrets is not sent anywhere.
    pub(crate) fn destination(&self, is_redacted: bool) -> anyhow::Result<Destination> {
        let Some(option) = &self.otlp else {
            return Ok(Destination::default());
        };
        if !is_redacted {
            let what = "`--otlp` cannot be used with `--no-redact`: it would send secrets";
            return Err(Mistake::new(what, "omit `--no-redact` or `--otlp`").into());
        }
        Variables(|name: &str| std::env::var(name).ok())
            .chosen(option)
            .map(Destination)
    }

    /// The credentials that are sent: names and values.
    pub(crate) fn secrets(&self) -> anyhow::Result<Vec<(String, String)>> {
        let Chosen { traces, metrics } = self.destination(true)?.0;
        let traces = traces.into_iter().flat_map(|one| one.to.secrets);
        let metrics = metrics.into_iter().flat_map(|one| one.to.secrets);
        Ok(traces.chain(metrics).collect())
    }

    /// Starts to send traces if requested, and sets the destination of durations.
    pub(crate) fn start(&self, destination: Destination) -> anyhow::Result<Sending> {
        let Chosen { traces, metrics } = destination.0;
        let metrics = metrics.map(Metrics);
        let Some(chosen) = traces else {
            let traces = None;
            return Ok(Sending { traces, metrics });
        };
        let (url, named, pace) = (chosen.to.url.shown(), chosen.named.clone(), chosen.delay);
        let traces = traces::Traces::start(chosen.settings()?);
        let traces = Some(Traces {
            sending: traces.context("cannot start the thread that sends traces")?,
            place: url,
            named,
            pace,
            content: self.otlp_content,
        });
        Ok(Sending { traces, metrics })
    }
}

impl Traces {
    /// How many spans arrived, and how many were lost.
    pub(crate) fn figures(&self) -> Arc<Figures> {
        self.sending.figures()
    }

    /// How often tapes are read for them at most.
    pub(crate) fn pace(&self) -> Duration {
        self.pace
    }

    /// Makes observers of tapes that hide secrets, and the closure to call once observing has
    /// ended.
    pub(crate) fn observers(&self) -> (MakeObserver, SpanSender) {
        let (span_sender, named, content) =
            (self.sending.span_sender(), self.named.clone(), self.content);
        let make = {
            let span_sender = span_sender.clone();
            move |header: &Header| {
                let began = header.created.parse::<jiff::Timestamp>().ok()?;
                let began = u64::try_from(began.as_nanosecond()).ok()?;
                if !header.redacted {
                    return None;
                }
                let (before, after) = otlp::around(&named.resource(header));
                let texts = Texts {
                    tracer: Tracer::new(header, began, content),
                    spans: Vec::new(),
                };
                Some(span_sender.observer(Box::new(texts), Frame { before, after }))
            }
        };
        (Box::new(make), span_sender)
    }

    /// Sends the rest after the recording, within the time that clients can be made to wait, and
    /// logs the totals.
    pub(crate) fn finish(self, behind: Behind, verbose: bool) {
        let figures = self.sending.figures();
        self.sending.finish(behind);
        log::traced(&figures);
        if verbose {
            report::note(&otlp::sent(&figures, &self.place));
        }
    }
}

impl Metrics {
    /// Starts to send the durations of a recording with this header.
    pub(crate) fn start(
        self,
        header: &Header,
        operations: Arc<Operations>,
    ) -> anyhow::Result<Exports> {
        let chosen = self.0;
        let (before, after) = otlp::around_metrics(&chosen.named.resource(header));
        let place = chosen.to.url.shown();
        let settings = operations::Settings {
            collector: chosen.to.collector()?,
            interval: chosen.interval,
            temporality: chosen.temporality,
            frame: Frame { before, after },
        };
        let sending = operations::Exports::start(settings, operations);
        let sending = sending.context("cannot start the thread that sends metrics")?;
        Ok(Exports { sending, place })
    }
}

impl Exports {
    /// Counting has ended: sends the last values.
    pub(crate) fn end(&self) {
        self.sending.end();
    }

    /// Waits for the last values to be sent, within the time that clients can be made to wait, and
    /// logs the totals.
    pub(crate) fn finish(self, verbose: bool) {
        let figures = self.sending.figures();
        self.sending.finish();
        log::measured(&figures);
        if verbose {
            report::note(&otlp::sent_points(&figures, &self.place));
        }
    }
}

impl To {
    /// The collector at this destination.
    fn collector(self) -> anyhow::Result<Collector> {
        Ok(Collector {
            origin: self.origin()?,
            url: self.url,
            fields: self.fields,
            timeout: self.timeout,
            gzip: self.gzip,
        })
    }

    /// The connection settings.
    fn origin(&self) -> anyhow::Result<OriginSettings> {
        let tls = client_config(&TlsSettings {
            // Without TLS the certificates of the system are not read.
            skip_verify: !is_tls(&self.url),
            ca_bundle: self.certificate.clone(),
            only_1_3: false,
        })
        .context(Mistake::new(
            "cannot load trusted certificates",
            "check `OTEL_EXPORTER_OTLP_CERTIFICATE`, or the system's certificates",
        ))?;
        Ok(OriginSettings {
            tls,
            connect_timeout: self.timeout,
            http2_prior_knowledge: false,
            destinations: None,
        })
    }
}

impl ChosenTraces {
    fn settings(self) -> anyhow::Result<traces::Settings> {
        Ok(traces::Settings {
            collector: self.to.collector()?,
            queue_spans: self.queue_spans,
            batch_spans: self.batch_spans,
            delay: self.delay,
        })
    }
}
