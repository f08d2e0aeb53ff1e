//! The tools that a server lists.

use std::collections::BTreeMap;

use tapewright_validity::OutputSchema;

use crate::id::hash;
use crate::value::Value;

/// The tools from `tools/list`.
#[derive(Debug, Default)]
pub(crate) struct Tools {
    // The pages of the current walk.
    walk: BTreeMap<u64, Tool>,
    walk_bytes: usize,
    walk_broken: bool,
    // The last complete walk.
    listed: Option<BTreeMap<u64, Tool>>,
    // The list has changed since.
    stale: bool,
    // It may have changed at any time, without a trace in the file.
    unsure: bool,
}

/// The properties of one tool that rules need.
#[derive(Debug, Default)]
pub(crate) struct Tool {
    /// `outputSchema`.
    pub(crate) output_schema: Option<OutputSchema>,
    /// `execution.taskSupport`.
    pub(crate) tasks: TaskSupport,
    /// Arguments that are repeated in headers: name of the argument, name of the header.
    pub(crate) headers: Vec<(String, String)>,
}

/// Whether a tool may be called as a task.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum TaskSupport {
    #[default]
    Forbidden,
    Optional,
    Required,
}

/// What is known of the called tool.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Listed {
    /// The list is whole, and does not have it.
    Absent,
    /// It is on the list, under this hash.
    Known(u64),
    /// No complete list is valid at this time.
    Unknown,
}

/// The maximum number of tools that are remembered, and the maximum size of their schemas.
const TOOLS: usize = 10_000;
const SCHEMA_BYTES: usize = 4 << 20;
/// The maximum number of annotated arguments of one tool.
const HEADERS: usize = 32;

impl Tools {
    /// Whether a page of this walk already contained a tool with this name.
    pub(crate) fn is_on_earlier_page(&self, name: &str) -> bool {
        self.walk.contains_key(&hash(name.as_bytes()))
    }

    /// What is currently known of a tool.
    pub(crate) fn look_up(&self, name: &str) -> Listed {
        self.look_up_bytes(name.as_bytes())
    }

    /// The same for a name that is part of a message.
    pub(crate) fn look_up_bytes(&self, name: &[u8]) -> Listed {
        let Some(listed) = self.listed.as_ref().filter(|_| !self.stale) else {
            return Listed::Unknown;
        };
        let key = hash(name);
        if listed.contains_key(&key) {
            Listed::Known(key)
        } else {
            Listed::Absent
        }
    }

    /// The tool under this hash, while the list holds.
    pub(crate) fn get(&self, key: u64) -> Option<&Tool> {
        self.listed.as_ref()?.get(&key).filter(|_| !self.stale)
    }

    /// Whether the last list is still valid.
    pub(crate) fn is_current(&self) -> bool {
        self.listed.is_some() && !self.stale
    }

    /// Whether the list may have changed without a trace.
    pub(crate) fn is_unsure(&self) -> bool {
        self.unsure
    }

    /// The list may change at any time from now on, without a trace.
    pub(crate) fn doubt(&mut self) {
        self.unsure = true;
        self.changed();
    }

    /// The server reports that its list has changed.
    pub(crate) fn changed(&mut self) {
        self.stale = true;
        self.walk_broken = true;
    }

    /// Handles the request of a page.
    pub(crate) fn begin(&mut self, first: bool) {
        if first {
            self.walk.clear();
            self.walk_bytes = 0;
            self.walk_broken = false;
        }
    }

    /// Handles a page.
    pub(crate) fn page(&mut self, result: Value<'_>) {
        match result.get("tools").filter(|tools| tools.is_array()) {
            Some(tools) => tools.elements(|tool| self.add(tool)),
            // A result of another form is not a page.
            None => self.walk_broken = true,
        }
        let more = result.get("nextCursor").is_some_and(Value::is_string);
        if more {
            return;
        }
        let walk = std::mem::take(&mut self.walk);
        if !self.walk_broken {
            self.listed = Some(walk);
            self.stale = false;
        }
        self.walk_broken = true;
    }

    fn add(&mut self, tool: Value<'_>) {
        let Some(name) = tool.get("name").and_then(Value::string) else {
            self.walk_broken = true;
            return;
        };
        let schema = tool.get("outputSchema").filter(|one| one.is_object());
        self.walk_bytes += schema.map_or(0, |one| one.0.len());
        if self.walk.len() >= TOOLS || self.walk_bytes > SCHEMA_BYTES {
            // An incomplete list cannot be used.
            self.walk_broken = true;
            return;
        }
        let support = tool.at(&["execution", "taskSupport"]);
        let tasks = match support.and_then(Value::string).as_deref() {
            Some("optional") => TaskSupport::Optional,
            Some("required") => TaskSupport::Required,
            _ => TaskSupport::Forbidden,
        };
        let entry = Tool {
            output_schema: schema.map(|one| OutputSchema::new(one.0)),
            tasks,
            headers: headers(tool),
        };
        self.walk.insert(hash(name.as_bytes()), entry);
    }
}

/// The arguments of a tool that are annotated with `x-mcp-header`.
fn headers(tool: Value<'_>) -> Vec<(String, String)> {
    let mut found = Vec::new();
    if memchr::memmem::find(tool.0, b"x-mcp-header").is_none() {
        return found;
    }
    if let Some(properties) = tool.at(&["inputSchema", "properties"]) {
        properties.members(|name, schema| {
            let header = schema.get("x-mcp-header").and_then(Value::string);
            if let (Some(header), true) = (header, found.len() < HEADERS) {
                let name = String::from_utf8_lossy(name).into_owned();
                found.push((name, header.into_owned()));
            }
        });
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    fn page(tools: &mut Tools, first: bool, text: &str) {
        tools.begin(first);
        tools.page(Value(text.as_bytes()));
    }

    #[test]
    fn a_list_counts_once_its_last_page_has_come() {
        let mut tools = Tools::default();
        page(
            &mut tools,
            true,
            r#"{"tools":[{"name":"a"}],"nextCursor":"2"}"#,
        );
        assert_eq!(tools.look_up("a"), Listed::Unknown);
        assert!(tools.is_on_earlier_page("a"));
        page(&mut tools, false, r#"{"tools":[{"name":"b"}]}"#);
        assert!(matches!(tools.look_up("a"), Listed::Known(_)));
        assert_eq!(tools.look_up("c"), Listed::Absent);
        tools.changed();
        assert_eq!(tools.look_up("c"), Listed::Unknown);
    }

    #[test]
    fn a_list_that_is_too_long_is_no_list() {
        let mut tools = Tools::default();
        for number in 0..3 {
            let names: Vec<String> = (0..6_000)
                .map(|one| format!(r#"{{"name":"t{number}-{one}"}}"#))
                .collect();
            let text = format!(r#"{{"tools":[{}],"nextCursor":"x"}}"#, names.join(","));
            page(&mut tools, number == 0, &text);
        }
        page(&mut tools, false, r#"{"tools":[]}"#);
        assert_eq!(tools.look_up("none"), Listed::Unknown);
    }
}
