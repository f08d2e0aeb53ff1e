//! Spans in the JSON of OTLP 1.x: names in camel case, ids in hexadecimal, 64-bit numbers as strings.
//!
//! <https://opentelemetry.io/docs/specs/otlp/#json-protobuf-encoding>

use serde::{Serialize, Serializer};

/// One `ExportTraceServiceRequest`, which is also one line of a file.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Request<'r> {
    pub(crate) resource_spans: [ResourceSpans<'r>; 1],
}

/// The spans of one service.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct ResourceSpans<'r> {
    pub(crate) resource: Resource<'r>,
    pub(crate) scope_spans: [ScopeSpans<'r>; 1],
}

/// Who is told about.
#[derive(Debug, Serialize)]
pub(crate) struct Resource<'r> {
    pub(crate) attributes: &'r Attributes,
}

/// What one instrumentation saw.
#[derive(Debug, Serialize)]
pub(crate) struct ScopeSpans<'r> {
    pub(crate) scope: Scope,
    pub(crate) spans: &'r [Span],
}

/// Who tells.
#[derive(Debug, Serialize)]
pub(crate) struct Scope {
    pub(crate) name: &'static str,
    pub(crate) version: &'static str,
}

/// One span.
#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
#[expect(clippy::struct_field_names, reason = "the names of OTLP")]
pub(crate) struct Span {
    pub(crate) trace_id: Id<16>,
    pub(crate) span_id: Id<8>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) parent_span_id: Option<Id<8>>,
    #[serde(skip_serializing_if = "String::is_empty")]
    pub(crate) trace_state: String,
    pub(crate) name: String,
    pub(crate) kind: u8,
    #[serde(serialize_with = "text")]
    pub(crate) start_time_unix_nano: u64,
    #[serde(serialize_with = "text")]
    pub(crate) end_time_unix_nano: u64,
    pub(crate) attributes: Attributes,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(crate) events: Vec<Event>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(crate) links: Vec<Link>,
    #[serde(skip_serializing_if = "Status::is_unset")]
    pub(crate) status: Status,
}

impl Span {
    /// `SPAN_KIND_INTERNAL`.
    pub(crate) const INTERNAL: u8 = 1;
    /// `SPAN_KIND_CLIENT`.
    pub(crate) const CLIENT: u8 = 3;
}

/// Something that happened within a span.
#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Event {
    #[serde(serialize_with = "text")]
    pub(crate) time_unix_nano: u64,
    pub(crate) name: &'static str,
    pub(crate) attributes: Attributes,
}

/// Another span that has to do with one.
#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Link {
    pub(crate) trace_id: Id<16>,
    pub(crate) span_id: Id<8>,
}

/// How a span ended: unset, or an error.
#[derive(Clone, Debug, Default, Serialize)]
pub(crate) struct Status {
    code: u8,
}

impl Status {
    /// `STATUS_CODE_ERROR`.
    pub(crate) const ERROR: Self = Self { code: 2 };

    fn is_unset(&self) -> bool {
        self.code == 0
    }
}

/// An id, in hexadecimal.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Id<const N: usize>(pub(crate) [u8; N]);

impl<const N: usize> Id<N> {
    /// Its digits.
    pub(crate) fn hex(&self) -> String {
        let digits = self.0.iter().flat_map(|byte| [byte >> 4, byte & 15]);
        let digits = digits.filter_map(|digit| char::from_digit(digit.into(), 16));
        digits.collect()
    }
}

impl<const N: usize> Serialize for Id<N> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&self.hex())
    }
}

/// Names with values, in the order in which they were added.
#[derive(Clone, Debug, Default, Serialize)]
#[serde(transparent)]
pub(crate) struct Attributes(Vec<Attribute>);

#[derive(Clone, Debug, Serialize)]
struct Attribute {
    key: String,
    value: Value,
}

/// The value of an attribute.
#[derive(Clone, Debug, Serialize)]
pub(crate) enum Value {
    /// A text.
    #[serde(rename = "stringValue")]
    Text(String),
    /// A number.
    #[serde(rename = "intValue")]
    Number(#[serde(serialize_with = "text")] i64),
    /// Several.
    #[serde(rename = "arrayValue")]
    List {
        /// The values.
        values: Vec<Self>,
    },
}

impl Attributes {
    /// Adds a text.
    pub(crate) fn text(&mut self, key: &str, value: impl Into<String>) {
        self.add(key, Value::Text(value.into()));
    }

    /// Adds a text where there is one.
    pub(crate) fn text_of(&mut self, key: &str, value: Option<&str>) {
        if let Some(value) = value {
            self.text(key, value);
        }
    }

    /// Adds a number where there is one.
    pub(crate) fn number(&mut self, key: &str, value: Option<u64>) {
        if let Some(value) = value {
            self.add(key, Value::Number(i64::try_from(value).unwrap_or(i64::MAX)));
        }
    }

    /// Adds a list of texts.
    pub(crate) fn texts(&mut self, key: &str, values: impl Iterator<Item = String>) {
        let values: Vec<_> = values.map(Value::Text).collect();
        if !values.is_empty() {
            self.add(key, Value::List { values });
        }
    }

    fn add(&mut self, key: &str, value: Value) {
        self.0.push(Attribute {
            key: key.to_owned(),
            value,
        });
    }
}

fn text<T: std::fmt::Display, S: Serializer>(number: &T, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_str(number)
}
