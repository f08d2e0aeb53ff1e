//! What a server reports about itself: its capabilities and its lists.

use std::collections::{BTreeSet, HashMap};

use serde_json::{Map, Value};

/// The tools, resources and prompts that a server lists.
#[derive(Clone, Debug, Default)]
pub struct ServerInventory {
    /// The declared capabilities, if it has declared any.
    pub capabilities: Option<Map<String, Value>>,
    /// The tools from `tools/list`.
    pub tools: List,
    /// The resources from `resources/list`.
    pub resources: List,
    /// The templates from `resources/templates/list`.
    pub templates: List,
    /// The prompts from `prompts/list`.
    pub prompts: List,
    /// Cursors that it gave.
    pub cursors: BTreeSet<String>,
    /// Features that are not declared, but show over HTTP.
    pub shown: HttpFacts,
}

/// Properties that a server on HTTP shows.
#[derive(Clone, Debug, Default)]
pub struct HttpFacts {
    /// It refuses requests without credentials, with status 401.
    pub authorization: bool,
    /// It issues session ids.
    pub sessions: bool,
    /// The path of the metadata of the protected resource (RFC 9728 §3.1).
    pub resource: Option<String>,
    /// The path of the metadata of its authorization server (RFC 8414 §3), if it has the same
    /// origin.
    pub server: Option<String>,
}

/// A list of a server.
#[derive(Clone, Debug, Default)]
pub struct List {
    /// The listed items, each once.
    pub items: Vec<Value>,
    /// The last page was seen.
    pub complete: bool,
    // The index of each item by its name.
    names: HashMap<String, usize>,
}

/// The maximum number of items of a list, and of cursors.
const MOST: usize = 10_000;

/// The list methods, their result members, and the member that identifies an item.
pub const LISTS: [(&str, &str, &str); 4] = [
    ("tools/list", "tools", "name"),
    ("resources/list", "resources", "uri"),
    (
        "resources/templates/list",
        "resourceTemplates",
        "uriTemplate",
    ),
    ("prompts/list", "prompts", "name"),
];

impl List {
    /// Whether it has an item with this name.
    #[must_use]
    pub fn has(&self, name: &str) -> bool {
        self.names.contains_key(name)
    }

    /// The item with this name.
    #[must_use]
    pub fn get(&self, name: &str) -> Option<&Value> {
        self.items.get(*self.names.get(name)?)
    }

    fn add(&mut self, item: &Value, key: &str) {
        let name = item.get(key).and_then(Value::as_str);
        if let Some(name) = name
            && self.items.len() < MOST
            && !self.names.contains_key(name)
        {
            self.names.insert(name.to_owned(), self.items.len());
            self.items.push(item.clone());
        }
    }
}

impl ServerInventory {
    /// Handles the result of a request; results other than lists and the opening are ignored.
    pub fn learn(&mut self, method: &str, result: &Value) {
        if matches!(method, "initialize" | "server/discover") {
            self.declare(result);
            return;
        }
        let Some((_, member, key)) = LISTS.iter().find(|(name, ..)| *name == method) else {
            return;
        };
        let cursor = result.get("nextCursor").and_then(Value::as_str);
        if let Some(cursor) = cursor
            && self.cursors.len() < MOST
        {
            self.cursors.insert(cursor.to_owned());
        }
        let list = match *member {
            "tools" => &mut self.tools,
            "resources" => &mut self.resources,
            "prompts" => &mut self.prompts,
            _ => &mut self.templates,
        };
        for item in result
            .get(*member)
            .and_then(Value::as_array)
            .into_iter()
            .flatten()
        {
            list.add(item, key);
        }
        list.complete |= cursor.is_none();
    }

    /// How much is known of the lists and their cursors; this never decreases.
    pub(crate) fn extent(&self) -> ([(usize, bool); 4], usize) {
        let lists = [&self.tools, &self.resources, &self.templates, &self.prompts];
        let lists = lists.map(|list| (list.items.len(), list.complete));
        (lists, self.cursors.len())
    }

    fn declare(&mut self, result: &Value) {
        if let Some(Value::Object(declared)) = result.get("capabilities") {
            let all = self.capabilities.get_or_insert_default();
            all.extend(declared.clone());
        }
    }

    /// Whether the server declares a capability, by its name or a path such as
    /// `resources.subscribe`. `None` as long as nothing is declared.
    #[must_use]
    pub fn declares(&self, path: &str) -> Option<bool> {
        let mut names = path.split('.');
        let mut here = self.capabilities.as_ref()?.get(names.next()?);
        for name in names {
            here = here.and_then(|here| here.get(name));
        }
        // A declared capability is an object, or `true` within one.
        Some(!matches!(
            here,
            None | Some(Value::Null | Value::Bool(false))
        ))
    }

    /// The tool that may be called without confirmation: read-only tools are preferred, then those
    /// declared as not destructive, and among each those without required arguments. A tool that is
    /// declared as destructive is never chosen.
    #[must_use]
    pub fn tool(&self, fits: impl Fn(&Value) -> bool) -> Option<&Value> {
        let harmless = |tool: &&Value| is_harmless(tool);
        let order = |tool: &&Value| {
            let reads = hint(tool, "readOnlyHint") == Some(true);
            let keeps = hint(tool, "destructiveHint") == Some(false);
            (needs_arguments(tool), !reads, !keeps)
        };
        let fitting = self.tools.items.iter().filter(|tool| fits(tool));
        fitting.filter(harmless).min_by_key(order)
    }

    /// The first prompt that matches; those without required arguments are preferred.
    #[must_use]
    pub fn prompt(&self, fits: impl Fn(&Value) -> bool) -> Option<&Value> {
        let fitting = self.prompts.items.iter().filter(|prompt| fits(prompt));
        fitting.min_by_key(|prompt| prompt_needs_arguments(prompt))
    }
}

fn hint(tool: &Value, name: &str) -> Option<bool> {
    tool.get("annotations")?.get(name)?.as_bool()
}

/// Whether a tool is not declared as destructive.
#[must_use]
pub fn is_harmless(tool: &Value) -> bool {
    hint(tool, "readOnlyHint") == Some(true) || hint(tool, "destructiveHint") != Some(true)
}

/// Whether a tool has required arguments.
#[must_use]
pub fn needs_arguments(tool: &Value) -> bool {
    let required = tool.pointer("/inputSchema/required");
    required
        .and_then(Value::as_array)
        .is_some_and(|all| !all.is_empty())
}

/// Whether a prompt has a required argument.
#[must_use]
pub fn prompt_needs_arguments(prompt: &Value) -> bool {
    let required = |one: &Value| one.get("required").and_then(Value::as_bool) == Some(true);
    arguments(prompt).any(required)
}

/// The arguments of a prompt.
pub(crate) fn arguments(prompt: &Value) -> impl Iterator<Item = &Value> {
    prompt
        .get("arguments")
        .and_then(Value::as_array)
        .into_iter()
        .flatten()
}
