//! Spans in the JSON of OTLP 1.x: names in camel case, ids in hexadecimal, 64-bit numbers as strings.
//!
//! The JSON is written by hand: a collector gets a span for each request, and most of a span is the
//! same in all.
//!
//! <https://opentelemetry.io/docs/specs/otlp/#json-protobuf-encoding>

use tapewright_schemas::json::{escape, push_number};

/// One span.
#[derive(Clone, Debug)]
#[expect(clippy::struct_field_names, reason = "the names of OTLP")]
pub(crate) struct Span {
    pub(crate) trace_id: Id<16>,
    pub(crate) span_id: Id<8>,
    pub(crate) parent_span_id: Option<Id<8>>,
    pub(crate) trace_state: String,
    pub(crate) name: String,
    pub(crate) kind: u8,
    pub(crate) start_time_unix_nano: u64,
    pub(crate) end_time_unix_nano: u64,
    pub(crate) attributes: Attributes,
    pub(crate) events: Vec<Event>,
    pub(crate) dropped_events_count: u64,
    pub(crate) links: Vec<Link>,
    pub(crate) status: Status,
}

impl Span {
    /// `SPAN_KIND_INTERNAL`.
    pub(crate) const INTERNAL: u8 = 1;
    /// `SPAN_KIND_CLIENT`.
    pub(crate) const CLIENT: u8 = 3;

    /// Appends its JSON text.
    pub(crate) fn write(&self, out: &mut Vec<u8>) {
        put(out, "{\"traceId\":\"");
        self.trace_id.write(out);
        put(out, "\",\"spanId\":\"");
        self.span_id.write(out);
        if let Some(parent) = &self.parent_span_id {
            put(out, "\",\"parentSpanId\":\"");
            parent.write(out);
        }
        if !self.trace_state.is_empty() {
            put(out, "\",\"traceState\":\"");
            escape(&self.trace_state, out);
        }
        put(out, "\",\"name\":\"");
        escape(&self.name, out);
        put(out, "\",\"kind\":");
        push_number(self.kind.into(), out);
        put(out, ",\"startTimeUnixNano\":\"");
        push_number(self.start_time_unix_nano, out);
        put(out, "\",\"endTimeUnixNano\":\"");
        push_number(self.end_time_unix_nano, out);
        put(out, "\",\"attributes\":");
        self.attributes.write(out);
        list("events", &self.events, Event::write, out);
        if self.dropped_events_count > 0 {
            put(out, ",\"droppedEventsCount\":");
            // The field has 32 bits.
            push_number(self.dropped_events_count.min(u32::MAX.into()), out);
        }
        list("links", &self.links, Link::write, out);
        if self.status.code > 0 {
            put(out, ",\"status\":{\"code\":");
            push_number(self.status.code.into(), out);
            put(out, "}");
        }
        put(out, "}");
    }
}

/// An event within a span.
#[derive(Clone, Debug)]
pub(crate) struct Event {
    pub(crate) time_unix_nano: u64,
    pub(crate) name: &'static str,
    pub(crate) attributes: Attributes,
}

impl Event {
    fn write(&self, out: &mut Vec<u8>) {
        put(out, "{\"timeUnixNano\":\"");
        push_number(self.time_unix_nano, out);
        put(out, "\",\"name\":\"");
        put(out, self.name);
        put(out, "\",\"attributes\":");
        self.attributes.write(out);
        put(out, "}");
    }
}

/// A link to another span.
#[derive(Clone, Debug)]
pub(crate) struct Link {
    pub(crate) trace_id: Id<16>,
    pub(crate) span_id: Id<8>,
}

impl Link {
    fn write(&self, out: &mut Vec<u8>) {
        put(out, "{\"traceId\":\"");
        self.trace_id.write(out);
        put(out, "\",\"spanId\":\"");
        self.span_id.write(out);
        put(out, "\"}");
    }
}

/// How a span ended: unset, or an error.
#[derive(Clone, Debug, Default)]
pub(crate) struct Status {
    code: u8,
}

impl Status {
    /// `STATUS_CODE_ERROR`.
    pub(crate) const ERROR: Self = Self { code: 2 };
}

/// An id, in hexadecimal.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Id<const N: usize>(pub(crate) [u8; N]);

impl<const N: usize> Id<N> {
    /// Its digits.
    pub(crate) fn hex(&self) -> String {
        let digits = self.0.iter().flat_map(|byte| [byte >> 4, byte & 15]);
        digits.map(|digit| char::from(hex(digit))).collect()
    }

    fn write(&self, out: &mut Vec<u8>) {
        for byte in self.0 {
            out.extend_from_slice(&[hex(byte >> 4), hex(byte & 15)]);
        }
    }
}

/// A hexadecimal digit.
fn hex(digit: u8) -> u8 {
    if digit < 10 {
        b'0' + digit
    } else {
        b'a' - 10 + digit
    }
}

/// Names with values, in insertion order, as the JSON text between the brackets.
#[derive(Clone, Debug, Default)]
pub(crate) struct Attributes(Vec<u8>);

impl Attributes {
    /// Adds a text.
    pub(crate) fn text(&mut self, key: &str, value: &str) {
        self.begin(key);
        put(&mut self.0, "{\"stringValue\":\"");
        escape(value, &mut self.0);
        put(&mut self.0, "\"}}");
    }

    /// Adds a text, if there is one.
    pub(crate) fn text_of(&mut self, key: &str, value: Option<&str>) {
        if let Some(value) = value {
            self.text(key, value);
        }
    }

    /// Adds a number, if there is one.
    pub(crate) fn number(&mut self, key: &str, value: Option<u64>) {
        if let Some(value) = value {
            self.begin(key);
            put(&mut self.0, "{\"intValue\":\"");
            // The format is signed.
            push_number(value.min(i64::MAX.unsigned_abs()), &mut self.0);
            put(&mut self.0, "\"}}");
        }
    }

    /// Adds a list of texts, unless it is empty.
    pub(crate) fn texts<'t>(&mut self, key: &str, values: impl Iterator<Item = &'t str>) {
        let mut values = values.peekable();
        if values.peek().is_none() {
            return;
        }
        self.begin(key);
        put(&mut self.0, "{\"arrayValue\":{\"values\":[");
        for (at, value) in values.enumerate() {
            let comma = if at > 0 { "," } else { "" };
            put(&mut self.0, comma);
            put(&mut self.0, "{\"stringValue\":\"");
            escape(value, &mut self.0);
            put(&mut self.0, "\"}");
        }
        put(&mut self.0, "]}}}");
    }

    /// Adds all attributes of `others`.
    pub(crate) fn all(&mut self, others: &Self) {
        if !self.0.is_empty() && !others.0.is_empty() {
            self.0.push(b',');
        }
        self.0.extend_from_slice(&others.0);
    }

    fn begin(&mut self, key: &str) {
        if self.0.is_empty() {
            // The usual size of a span's attributes.
            self.0.reserve(1 << 10);
        } else {
            self.0.push(b',');
        }
        put(&mut self.0, "{\"key\":\"");
        escape(key, &mut self.0);
        put(&mut self.0, "\",\"value\":");
    }

    /// Appends the list.
    pub(crate) fn write(&self, out: &mut Vec<u8>) {
        out.push(b'[');
        out.extend_from_slice(&self.0);
        out.push(b']');
    }
}

fn put(out: &mut Vec<u8>, text: &str) {
    out.extend_from_slice(text.as_bytes());
}

/// Appends a member that is a list, unless the list is empty.
fn list<T>(name: &str, items: &[T], write: impl Fn(&T, &mut Vec<u8>), out: &mut Vec<u8>) {
    for (at, item) in items.iter().enumerate() {
        if at == 0 {
            put(out, ",\"");
            put(out, name);
            put(out, "\":[");
        } else {
            out.push(b',');
        }
        write(item, out);
    }
    if !items.is_empty() {
        out.push(b']');
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::{Value, json};

    use super::*;

    fn read(span: &Span) -> Value {
        let mut out = Vec::new();
        span.write(&mut out);
        serde_json::from_slice(&out).expect("JSON")
    }

    fn span(name: &str, attributes: Attributes) -> Span {
        Span {
            trace_id: Id([0xab; 16]),
            span_id: Id([0x0f; 8]),
            parent_span_id: None,
            trace_state: String::new(),
            name: name.to_owned(),
            kind: Span::CLIENT,
            start_time_unix_nano: 1,
            end_time_unix_nano: u64::MAX,
            attributes,
            events: Vec::new(),
            dropped_events_count: 0,
            links: Vec::new(),
            status: Status::default(),
        }
    }

    #[test]
    fn everything_of_a_span_has_its_place() {
        let mut attributes = Attributes::default();
        attributes.text("a", "x");
        attributes.number("n", Some(u64::MAX));
        attributes.texts("t", ["1", "2"].into_iter());
        attributes.texts("none", [].into_iter());
        let mut whole = span("n", attributes);
        let event = |name| Event {
            time_unix_nano: 7,
            name,
            attributes: Attributes::default(),
        };
        whole.parent_span_id = Some(Id([1; 8]));
        whole.trace_state = "a=\"b\"".to_owned();
        whole.events = vec![event("one"), event("two")];
        whole.dropped_events_count = u64::MAX;
        whole.links = vec![Link {
            trace_id: Id([2; 16]),
            span_id: Id([3; 8]),
        }];
        whole.status = Status::ERROR;
        let expected = json!({
            "traceId": "ab".repeat(16), "spanId": "0f".repeat(8), "parentSpanId": "01".repeat(8), "traceState": "a=\"b\"",
            "name": "n", "kind": 3, "startTimeUnixNano": "1", "endTimeUnixNano": u64::MAX.to_string(),
            "attributes": [
                {"key": "a", "value": {"stringValue": "x"}},
                {"key": "n", "value": {"intValue": i64::MAX.to_string()}},
                {"key": "t", "value": {"arrayValue": {"values": [{"stringValue": "1"}, {"stringValue": "2"}]}}},
            ],
            "events": [
                {"timeUnixNano": "7", "name": "one", "attributes": []},
                {"timeUnixNano": "7", "name": "two", "attributes": []},
            ],
            "droppedEventsCount": u32::MAX,
            "links": [{"traceId": "02".repeat(16), "spanId": "03".repeat(8)}],
            "status": {"code": 2},
        });
        assert_eq!(read(&whole), expected);
        let plain = read(&span("n", Attributes::default()));
        assert_eq!(plain.as_object().map(serde_json::Map::len), Some(7));
    }

    proptest! {
        #[test]
        fn what_peers_choose_stays_text(name in ".*", key in ".*", value in ".*", more in prop::collection::vec(".*", 0..3)) {
            let mut attributes = Attributes::default();
            attributes.text(&key, &value);
            attributes.texts(&key, more.iter().map(String::as_str));
            let mut others = Attributes::default();
            others.text_of("z", Some(&value));
            attributes.all(&others);
            let read = read(&span(&name, attributes));
            prop_assert_eq!(read["name"].as_str(), Some(name.as_str()));
            let told = &read["attributes"];
            prop_assert_eq!(told[0]["key"].as_str(), Some(key.as_str()));
            prop_assert_eq!(told[0]["value"]["stringValue"].as_str(), Some(value.as_str()));
            let last = if more.is_empty() { 1 } else { 2 };
            prop_assert_eq!(told[last]["value"]["stringValue"].as_str(), Some(value.as_str()));
            prop_assert_eq!(told.as_array().map(Vec::len), Some(last + 1));
        }
    }
}
