//! The tools that a model is offered, and where each of them is.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;
use tapewright_models::agent_cassette::fingerprint;
use tapewright_models::conversation::{Tool, ToolSpec};
use tapewright_models::tool_of_mcp;

/// The tools of every server of an agent, under the names that the model uses.
///
/// A name is that of the tool where there is one server, and `<server>__<tool>` where there are
/// several. Providers accept letters, digits, `_` and `-` in at most 64 characters, so other
/// characters are replaced; the trace has the server's own name.
#[derive(Clone, Debug, Default)]
pub struct Catalogue {
    servers: Vec<String>,
    offered: BTreeMap<String, Offered>,
    // The tools as offered to the model, in the order of the servers.
    specs: Vec<ToolSpec>,
    fingerprint: String,
}

/// A tool that is offered.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Offered {
    /// Its server.
    pub server: String,
    /// Its name on that server.
    pub tool: String,
}

/// The longest name that every provider takes.
const LONGEST_NAME: usize = 64;

impl Catalogue {
    /// From each server's answer to `tools/list`, in the order of the suite.
    #[must_use]
    pub fn new(servers: &[(String, Vec<Value>)]) -> Self {
        let several = servers.len() > 1;
        let mut catalogue = Self {
            servers: servers.iter().map(|(name, _)| name.clone()).collect(),
            ..Self::default()
        };
        let mut exact = Vec::new();
        let mut taken = BTreeSet::new();
        for (server, tools) in servers {
            for value in tools {
                let Some(tool) = value.get("name").and_then(Value::as_str) else {
                    continue;
                };
                let whole = if several {
                    format!("{server}__{tool}")
                } else {
                    tool.to_owned()
                };
                exact.extend(tool_of_mcp(&whole, value));
                let name = usable(&whole, &mut taken);
                catalogue.add(&name, server, tool, value);
            }
        }
        catalogue.fingerprint = fingerprint(&exact);
        catalogue
    }

    fn add(&mut self, name: &str, server: &str, tool: &str, value: &Value) {
        let Some(spec) = tool_of_mcp(name, value) else {
            return;
        };
        self.specs.push(ToolSpec::Function(Tool { ..spec }));
        let offered = Offered {
            server: server.to_owned(),
            tool: tool.to_owned(),
        };
        self.offered.insert(name.to_owned(), offered);
    }

    /// The tools as offered to the model.
    #[must_use]
    pub fn specs(&self) -> &[ToolSpec] {
        &self.specs
    }

    /// The number of tools.
    #[must_use]
    pub fn len(&self) -> usize {
        self.specs.len()
    }

    /// Whether there are no tools.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.specs.is_empty()
    }

    /// A fingerprint of all tools, by their names on the servers.
    #[must_use]
    pub fn fingerprint(&self) -> &str {
        &self.fingerprint
    }

    /// The tool that a model asks for.
    #[must_use]
    pub fn find(&self, name: &str) -> Option<&Offered> {
        self.offered.get(name)
    }

    /// The most likely server of a tool that is not offered, so that every call has one: the server
    /// that its prefix names, or else the first.
    #[must_use]
    pub fn guess(&self, name: &str) -> Offered {
        let prefixed = self.servers.iter().filter(|_| self.servers.len() > 1);
        let mut prefixed = prefixed.filter_map(|server| {
            let tool = name.strip_prefix(server.as_str())?.strip_prefix("__")?;
            Some((server.as_str(), tool))
        });
        let first = self.servers.first().map_or("", String::as_str);
        let (server, tool) = prefixed.next().unwrap_or((first, name));
        Offered {
            server: server.to_owned(),
            tool: tool.to_owned(),
        }
    }
}

/// A name that providers take, and that no other tool has.
fn usable(name: &str, taken: &mut BTreeSet<String>) -> String {
    let letter = |letter: char| match letter {
        'a'..='z' | 'A'..='Z' | '0'..='9' | '_' | '-' => letter,
        _ => '_',
    };
    let base: String = name.chars().map(letter).take(LONGEST_NAME).collect();
    let mut found = base.clone();
    let mut count = 1_u32;
    while !taken.insert(found.clone()) {
        count += 1;
        let end = format!("_{count}");
        let room = LONGEST_NAME.saturating_sub(end.len());
        found = base.chars().take(room).collect::<String>() + &end;
    }
    found
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn names(catalogue: &Catalogue) -> Vec<&str> {
        catalogue
            .specs()
            .iter()
            .filter_map(ToolSpec::name)
            .collect()
    }

    #[test]
    fn one_server_needs_no_prefix_and_several_do() {
        let weather = ("weather".to_owned(), vec![json!({"name": "get"})]);
        let one = Catalogue::new(std::slice::from_ref(&weather));
        assert_eq!(names(&one), ["get"]);
        let maps = ("maps".to_owned(), vec![json!({"name": "get"}), json!({})]);
        let two = Catalogue::new(&[weather, maps]);
        assert_eq!(names(&two), ["weather__get", "maps__get"]);
        let found = two.find("maps__get").unwrap();
        assert_eq!(
            (found.server.as_str(), found.tool.as_str()),
            ("maps", "get")
        );
        assert_ne!(one.fingerprint(), two.fingerprint());
        let guess = two.guess("maps__nope");
        assert_eq!(
            (guess.server.as_str(), guess.tool.as_str()),
            ("maps", "nope")
        );
        assert_eq!(two.guess("nope").server, "weather");
    }

    #[test]
    fn names_that_no_provider_takes_are_replaced_and_stay_apart() {
        let long = "x".repeat(80);
        let tools = ["a.b", "a/b", "a_b", &long].map(|name| json!({ "name": name }));
        let catalogue = Catalogue::new(&[("s".to_owned(), tools.to_vec())]);
        let names = names(&catalogue);
        assert_eq!(names[..3], ["a_b", "a_b_2", "a_b_3"]);
        assert_eq!(names[3].len(), 64);
        assert_eq!(catalogue.find("a_b_2").unwrap().tool, "a/b");
        assert_eq!(catalogue.find(names[3]).unwrap().tool, long);
    }
}
