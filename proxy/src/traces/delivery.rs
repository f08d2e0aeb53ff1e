//! Delivers requests to a collector, one at a time, and counts the results.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use http::{HeaderName, HeaderValue};
use tokio::time::timeout;
use tracing::warn;

use super::figures::{Figures, Loss};
use super::post::{gzip, post};
use super::retry::Verdict;
use crate::http::origin::{Origin, OriginSettings, OriginUrl};

/// A collector, and how requests are sent to it.
pub struct Collector {
    /// The URL for requests.
    pub url: OriginUrl,
    /// The settings for connections.
    pub origin: OriginSettings,
    /// Header fields for every request. Secrets.
    pub fields: Vec<(HeaderName, HeaderValue)>,
    /// The timeout for one request.
    pub timeout: Duration,
    /// Whether requests are compressed.
    pub gzip: bool,
}

impl fmt::Debug for Collector {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        // The fields are secrets.
        out.debug_struct("Collector")
            .field("url", &self.url.shown())
            .finish_non_exhaustive()
    }
}

/// What is delivered and counted.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Unit {
    /// Spans of traces.
    Spans,
    /// Data points of metrics.
    Points,
}

/// Delivers to one collector.
pub(crate) struct Delivery {
    origin: Arc<Origin>,
    fields: Vec<(HeaderName, HeaderValue)>,
    pub(crate) timeout: Duration,
    gzip: bool,
    unit: Unit,
    figures: Arc<Figures>,
}

/// The body of a request, as it is sent.
pub(crate) struct OtlpRequest {
    body: Bytes,
    is_gzip: bool,
    // The number of spans or data points in it.
    count: u64,
}

/// The result of one attempt.
pub(crate) enum Attempt {
    /// It is settled, and counted.
    Settled,
    /// It may succeed later: after this time if the collector specified it. `status` if there was
    /// an answer.
    Later {
        asked: Option<Duration>,
        status: Option<u16>,
    },
    /// The deadline passed.
    Late,
}

impl Delivery {
    pub(crate) fn new(collector: Collector, unit: Unit, figures: Arc<Figures>) -> Self {
        Self {
            origin: Origin::new(collector.url, collector.origin),
            fields: collector.fields,
            timeout: collector.timeout,
            gzip: collector.gzip,
            unit,
            figures,
        }
    }

    /// A body with this number of spans or data points, compressed if configured.
    pub(crate) fn parcel(&self, body: Vec<u8>, count: u64) -> OtlpRequest {
        let packed = self.gzip.then(|| gzip(&body)).flatten();
        OtlpRequest {
            is_gzip: packed.is_some(),
            body: Bytes::from(packed.unwrap_or(body)),
            count,
        }
    }

    /// Sends it once, unless `late` completes first. It may take at most `most`.
    pub(crate) async fn once(
        &self,
        parcel: &OtlpRequest,
        most: Duration,
        late: impl Future<Output = ()>,
    ) -> Attempt {
        let sent = post(
            &self.origin,
            &self.fields,
            parcel.body.clone(),
            parcel.is_gzip,
        );
        let sent = timeout(most.min(self.timeout), sent);
        let answer = tokio::select! {
            answer = sent => answer,
            () = late => return Attempt::Late,
        };
        match answer {
            Ok(Ok((status, Verdict::Later(asked)))) => Attempt::Later {
                asked,
                status: Some(status),
            },
            Ok(Ok((status, verdict))) => {
                self.settled(parcel.count, status, verdict);
                Attempt::Settled
            }
            // No answer: the request may or may not have arrived.
            Ok(Err(_)) | Err(_) => Attempt::Later {
                asked: None,
                status: None,
            },
        }
    }

    fn settled(&self, count: u64, status: u16, verdict: Verdict) {
        let Verdict::Taken { rejected } = verdict else {
            return self.lose(Loss::Refused, count, Some(status));
        };
        let rejected = rejected.min(count);
        self.figures.add_sent(count - rejected);
        if rejected > 0 {
            self.lose(Loss::Rejected, rejected, Some(status));
        }
    }

    /// Counts a parcel that is given up.
    pub(crate) fn give_up(&self, parcel: &OtlpRequest, loss: Loss, status: Option<u16>) {
        self.lose(loss, parcel.count, status);
    }

    fn lose(&self, loss: Loss, count: u64, status: Option<u16>) {
        self.figures.add_lost(loss, count);
        let why = loss.name();
        match self.unit {
            Unit::Spans => {
                warn!(name: "spans_lost", target: "tapewright::traces", spans = count, why, status);
            }
            Unit::Points => {
                warn!(name: "points_lost", target: "tapewright::traces", points = count, why, status);
            }
        }
    }
}
