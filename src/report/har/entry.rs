//! An entry of HAR 1.2, with the members that browsers add (<http://www.softwareishard.com/blog/har-12-spec/>).

use serde::Serialize;

/// One HTTP exchange.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Entry {
    pub(crate) started_date_time: String,
    /// The sum of the known timings, in milliseconds.
    pub(crate) time: f64,
    pub(crate) request: Request,
    pub(crate) response: Response,
    pub(crate) cache: Nothing,
    pub(crate) timings: Timings,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) connection: Option<String>,
    #[serde(skip_serializing_if = "String::is_empty")]
    pub(crate) comment: String,
    /// The events of a stream, as browsers show them.
    #[serde(rename = "_eventSourceMessages", skip_serializing_if = "Vec::is_empty")]
    pub(crate) events: Vec<StreamEvent>,
    /// Its place in the recording.
    #[serde(rename = "_tapewright")]
    pub(crate) place: OnTape,
}

/// An object without members.
#[derive(Debug, Default, Serialize)]
pub(crate) struct Nothing {}

/// Places in the recording.
#[derive(Debug, Serialize)]
pub(crate) struct OnTape {
    pub(crate) session: u32,
    pub(crate) conduit: u32,
}

/// The request.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Request {
    pub(crate) method: String,
    pub(crate) url: String,
    pub(crate) http_version: String,
    pub(crate) cookies: [Nothing; 0],
    pub(crate) headers: Vec<Pair>,
    pub(crate) query_string: Vec<Pair>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) post_data: Option<PostData>,
    pub(crate) headers_size: i64,
    pub(crate) body_size: i64,
}

/// The response; status 0 if there was none.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Response {
    pub(crate) status: u16,
    pub(crate) status_text: String,
    pub(crate) http_version: String,
    pub(crate) cookies: [Nothing; 0],
    pub(crate) headers: Vec<Pair>,
    pub(crate) content: Content,
    #[serde(rename = "redirectURL")]
    pub(crate) redirect_url: String,
    pub(crate) headers_size: i64,
    pub(crate) body_size: i64,
    #[serde(rename = "_error", skip_serializing_if = "Option::is_none")]
    pub(crate) error: Option<&'static str>,
}

/// A name and a value.
#[derive(Debug, Serialize)]
pub(crate) struct Pair {
    pub(crate) name: String,
    pub(crate) value: String,
}

/// The body of a request.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct PostData {
    pub(crate) mime_type: String,
    pub(crate) params: [Nothing; 0],
    pub(crate) text: String,
}

/// The body of a response.
#[derive(Debug, Default, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Content {
    pub(crate) size: u64,
    pub(crate) mime_type: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) text: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) encoding: Option<&'static str>,
    #[serde(skip_serializing_if = "String::is_empty")]
    pub(crate) comment: String,
}

/// Milliseconds; −1 for phases that the recorder cannot observe.
#[derive(Debug, Serialize)]
pub(crate) struct Timings {
    pub(crate) blocked: i8,
    pub(crate) dns: i8,
    pub(crate) connect: i8,
    pub(crate) ssl: i8,
    pub(crate) send: f64,
    pub(crate) wait: f64,
    pub(crate) receive: f64,
}

impl Timings {
    /// The timings of these three phases.
    pub(crate) fn of(send: f64, wait: f64, receive: f64) -> Self {
        Self {
            blocked: -1,
            dns: -1,
            connect: -1,
            ssl: -1,
            send,
            wait,
            receive,
        }
    }

    /// The sum of the timings.
    pub(crate) fn sum(&self) -> f64 {
        self.send + self.wait + self.receive
    }
}

/// One event of a stream.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct StreamEvent {
    /// Seconds since 1970.
    pub(crate) time: f64,
    pub(crate) event_name: String,
    pub(crate) event_id: String,
    pub(crate) data: String,
}

/// The contents of one body, which are kept up to a limit.
#[derive(Debug, Default)]
pub(super) struct Body {
    pub(super) bytes: Vec<u8>,
    /// Length on the wire.
    pub(super) length: u64,
    /// Whether something is missing: it was too long for the recorder, or for this file.
    pub(super) is_cut: bool,
}

impl Body {
    /// The text, and its encoding.
    pub(super) fn into_text(self) -> (String, Option<&'static str>) {
        use base64::Engine as _;
        match String::from_utf8(self.bytes) {
            Ok(text) => (text, None),
            Err(other) => (
                base64::engine::general_purpose::STANDARD.encode(other.as_bytes()),
                Some("base64"),
            ),
        }
    }
}
