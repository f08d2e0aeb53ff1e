//! Appends new exchanges to those of a cassette.

use crate::envelope::for_each_message;
use crate::json;
use crate::slices::Part as _;

/// Lists of a cassette whose elements have the number of exchanges before them; the last one is for
/// requests that were never answered.
const BESIDE: [&str; 2] = ["messages", "unanswered"];

/// Two cassettes as one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Merged {
    /// The text.
    pub text: Vec<u8>,
    /// The number of exchanges of the new cassette in it.
    pub added: u64,
}

/// What to do with requests of the new cassette that were never answered.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unfinished {
    /// They are omitted: the recording was cut short, and they may have been answered.
    LeftOut,
    /// They are added.
    Kept,
}

/// Returns the text of the cassette `old` with the exchanges of `new` after its own, and with the
/// entries outside them. `old` is unchanged except for additions. An `initialize` of `new` is
/// omitted when `old` has one: it only introduces a client, and would begin a second session.
/// `None` when either is not a cassette.
#[must_use]
pub fn merge(old: &[u8], new: &[u8], unfinished: Unfinished) -> Option<Merged> {
    let old = old.trim_ascii();
    let ours = elements(old, "exchanges")?;
    let waiting = elements(old, "unanswered").unwrap_or_default().len();
    let opens = ours.iter().any(|one| is_opening(one));
    let mut left_out = Vec::new();
    let mut added = Vec::new();
    for (place, exchange) in elements(new, "exchanges")?.into_iter().enumerate() {
        if opens && is_opening(exchange) {
            left_out.push(place);
        } else {
            added.push(exchange.to_vec());
        }
    }
    let mut merged = insert(old, "exchanges", &added)?;
    let kept = match unfinished {
        Unfinished::Kept => &BESIDE[..],
        Unfinished::LeftOut => &BESIDE[..1],
    };
    for name in kept {
        let beside: Vec<Vec<u8>> = elements(new, name)
            .unwrap_or_default()
            .into_iter()
            .map(|element| moved(element, ours.len(), &left_out))
            .map(|element| with(&element, "unanswered_before", |before| before + waiting))
            .collect();
        merged = insert(&merged, name, &beside)?;
    }
    merged.push(b'\n');
    Some(Merged {
        text: merged,
        added: added.len() as u64,
    })
}

/// The elements of a list, as source text; `None` if there is no such list.
fn elements<'t>(text: &'t [u8], list: &str) -> Option<Vec<&'t [u8]>> {
    let list = json::find(text, &[list])?;
    let mut elements = Vec::new();
    if list.first() != Some(&b'[') {
        return None;
    }
    for_each_message(list, |element| elements.push(element));
    Some(elements)
}

fn is_opening(exchange: &[u8]) -> bool {
    json::find(exchange, &["request", "method"]) == Some(b"\"initialize\"")
}

/// An element with its `after`, which counts exchanges of `new`, adapted to the merged cassette.
fn moved(element: &[u8], ours: usize, left_out: &[usize]) -> Vec<u8> {
    with(element, "after", |after| {
        let gone = left_out.iter().filter(|place| **place < after).count();
        after - gone + ours
    })
}

/// An element with the number in one of its members replaced, if it has that.
fn with(element: &[u8], name: &str, change: impl Fn(usize) -> usize) -> Vec<u8> {
    let Some(there) = json::find(element, &[name]) else {
        return element.to_vec();
    };
    let number = std::str::from_utf8(there)
        .ok()
        .and_then(|text| text.parse().ok());
    let (Some(number), Some(at)) = (number, inside(element, there)) else {
        return element.to_vec();
    };
    let changed = change(number).to_string();
    let before = element.part(..at);
    let behind = element.part(at + there.len()..);
    [before, changed.as_bytes(), behind].concat()
}

/// Appends elements to a list, which is created after `exchanges` if it does not exist.
fn insert(text: &[u8], list: &str, added: &[Vec<u8>]) -> Option<Vec<u8>> {
    if added.is_empty() {
        return Some(text.to_vec());
    }
    let joined = added.join(b",\n".as_slice());
    let (at, lead, tail): (usize, Vec<u8>, &[u8]);
    if let Some(there) = json::find(text, &[list]) {
        let start = inside(text, there)?;
        let content = there.part(1..there.len() - 1).trim_ascii_end();
        at = start + 1 + content.len();
        let first = content.trim_ascii().is_empty();
        lead = if first { "\n" } else { ",\n" }.into();
        let breaks = text.part(at..start + there.len()).contains(&b'\n');
        tail = if breaks { b"" } else { b"\n" };
    } else {
        let exchanges = json::find(text, &["exchanges"])?;
        at = inside(text, exchanges)? + exchanges.len();
        lead = format!(",\n\"{list}\":[\n").into_bytes();
        tail = b"\n]";
    }
    let (before, behind) = text.split_at_checked(at)?;
    Some([before, &lead, &joined, tail, behind].concat())
}

/// The offset of a part in its whole.
fn inside(whole: &[u8], part: &[u8]) -> Option<usize> {
    (part.as_ptr() as usize).checked_sub(whole.as_ptr() as usize)
}

#[cfg(test)]
mod tests {
    use serde_json::Value;

    use super::*;

    fn exchange(method: &str) -> String {
        format!(
            r#"{{"request":{{"id":1,"method":"{method}"}},"response":{{"id":1,"result":1.50}}}}"#
        )
    }

    fn cassette(exchanges: &[&str], more: &str) -> String {
        let exchanges: Vec<String> = exchanges.iter().map(|method| exchange(method)).collect();
        format!(
            "{{\"version\":\"1\",\"x\":null,\"exchanges\":[\n{}\n]{more}}}\n",
            exchanges.join(",\n")
        )
    }

    fn merged(old: &str, new: &str) -> String {
        let merged = merge(old.as_bytes(), new.as_bytes(), Unfinished::Kept).unwrap();
        String::from_utf8(merged.text).unwrap()
    }

    #[test]
    fn new_exchanges_stand_behind_the_old_and_nothing_else_changes() {
        let old = cassette(&["initialize", "a"], "");
        let new = cassette(&["initialize", "b", "c"], "");
        assert_eq!(
            merged(&old, &new),
            cassette(&["initialize", "a", "b", "c"], "")
        );
        assert_eq!(merged(&old, &cassette(&[], "")), old);
        assert_eq!(
            merged(&cassette(&["a"], ""), &new),
            cassette(&["a", "initialize", "b", "c"], "")
        );
        let inline = r#"{"version":"1","exchanges":[]}"#;
        let grown = merged(inline, &new);
        assert_eq!(elements(grown.as_bytes(), "exchanges").unwrap().len(), 3);
        assert!(json::is_valid(grown.as_bytes()), "{grown}");
    }

    #[test]
    fn what_stands_beside_exchanges_moves_with_them() {
        let old = cassette(
            &["initialize", "a"],
            r#","messages":[{"from":"server","after":1}]"#,
        );
        let more = r#","unanswered":[{"request":{},"after":2}],"messages":[{"from":"client","after":1},{"from":"server"}]"#;
        let new = cassette(&["initialize", "b"], more);
        let grown = merged(&old, &new);
        let value: Value = serde_json::from_str(&grown).unwrap();
        assert_eq!(value["unanswered"][0]["after"], 3, "{grown}");
        let after: Vec<&Value> = value["messages"]
            .as_array()
            .unwrap()
            .iter()
            .map(|one| &one["after"])
            .collect();
        assert_eq!(after, [&Value::from(1), &Value::from(2), &Value::Null]);
    }

    #[test]
    fn what_comes_before_a_request_without_an_answer_still_does() {
        let old = cassette(&["a"], r#","unanswered":[{"request":{},"after":1}]"#);
        let more = r#","unanswered":[{"request":{},"after":1}],"messages":[{"from":"client","after":1,"unanswered_before":0}]"#;
        let grown = merged(&old, &cassette(&["b"], more));
        let value: Value = serde_json::from_str(&grown).unwrap();
        let message = &value["messages"][0];
        assert_eq!(
            (&message["after"], &message["unanswered_before"]),
            (&2.into(), &1.into())
        );
    }

    #[test]
    fn what_is_no_cassette_is_not_merged() {
        assert_eq!(merge(b"{}", b"{}", Unfinished::Kept), None);
        assert_eq!(
            merge(
                br#"{"exchanges":{}}"#,
                br#"{"exchanges":[]}"#,
                Unfinished::Kept
            ),
            None
        );
    }
}
