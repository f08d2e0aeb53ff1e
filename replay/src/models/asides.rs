//! An agent's requests to a provider that are not model calls.

use std::collections::HashMap;

use serde_json::Value;
use tapewright_models::recorded::ProviderExchange;
use tapewright_models::{Call, Operation};
use tapewright_proxy::front::non_mcp::Request;
use tapewright_schemas::order::Order as _;

/// The recorded requests that are not model calls. Equal ones are answered in recorded order, and
/// the last answer is then repeated.
#[derive(Debug, Default)]
pub(super) struct Asides {
    entries: Vec<(ProviderExchange, u32)>,
    exact: HashMap<String, Vec<usize>>,
    by_place: HashMap<String, Vec<usize>>,
}

impl Asides {
    pub(super) fn add(&mut self, exchange: ProviderExchange, call: Option<&Call>) {
        let at = self.entries.len();
        let place = place(&exchange.method, &exchange.target, call);
        let exact = exact(&place, &exchange.target, &exchange.body);
        self.exact.entry(exact).or_default().push(at);
        self.by_place.entry(place).or_default().push(at);
        self.entries.push((exchange, 0));
    }

    /// The recorded exchange that answers a request.
    pub(super) fn take(
        &mut self,
        request: &Request,
        call: Option<&Call>,
        body: &[u8],
    ) -> Option<&ProviderExchange> {
        let place = place(&request.method, &request.target, call);
        let exact = exact(&place, &request.target, body);
        // Bodies of uploads and queries have irrelevant differences.
        let class = self
            .exact
            .get(&exact)
            .or_else(|| self.by_place.get(&place))?;
        let is_fresh = |at: &&usize| self.entries.get(**at).is_some_and(|(_, times)| *times == 0);
        let at = *class.iter().find(is_fresh).or_else(|| class.last())?;
        let (exchange, times) = self.entries.get_mut(at)?;
        *times = times.saturating_add(1);
        Some(exchange)
    }

    /// The number of recorded requests, and of those that were requested again.
    pub(super) fn counts(&self) -> (u64, u64) {
        let served = self.entries.iter().map(|(_, times)| u64::from(*times));
        (self.entries.len() as u64, served.sum())
    }
}

/// The endpoint of a request: those that count tokens for a wire are the same under any prefix.
fn place(method: &str, target: &str, call: Option<&Call>) -> String {
    match call {
        Some(call) if call.operation == Operation::CountTokens => {
            format!("count {}", call.wire.name())
        }
        _ => {
            let (path, _) = target.split_once('?').unwrap_or((target, ""));
            format!("{method} {}", path.trim_end_matches('/'))
        }
    }
}

fn exact(place: &str, target: &str, body: &[u8]) -> String {
    let (_, query) = target.split_once('?').unwrap_or((target, ""));
    let mut query: Vec<&str> = query
        .split('&')
        .filter(|pair| !pair.starts_with("key="))
        .collect();
    query.sort_unstable();
    let query = query.join("&");
    let body = match serde_json::from_slice::<Value>(body) {
        Ok(value) => sorted(&value).to_string(),
        Err(_) => String::from_utf8_lossy(body).into_owned(),
    };
    format!("{place}?{query} {body}")
}

/// The value with the members of every object sorted by name.
fn sorted(value: &Value) -> Value {
    match value {
        Value::Object(map) => {
            let mut members: Vec<_> = map.iter().collect();
            members.order_by_key(|(name, _)| name.as_str());
            let members = members.into_iter();
            let sorted = members.map(|(name, value)| (name.clone(), sorted(value)));
            Value::Object(sorted.collect())
        }
        Value::Array(list) => list.iter().map(sorted).collect(),
        value => value.clone(),
    }
}
