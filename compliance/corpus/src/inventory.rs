//! What a server says it has: its capabilities and its lists.

use std::collections::{BTreeSet, HashMap};

use serde_json::{Map, Value};

/// The tools, resources and prompts that a server lists.
#[derive(Clone, Debug, Default)]
pub struct ServerInventory {
    /// The capabilities that it declared, once it did.
    pub capabilities: Option<Map<String, Value>>,
    /// Of `tools/list`.
    pub tools: List,
    /// Of `resources/list`.
    pub resources: List,
    /// Of `resources/templates/list`.
    pub templates: List,
    /// Of `prompts/list`.
    pub prompts: List,
    /// Cursors that it gave.
    pub cursors: BTreeSet<String>,
    /// Features that are not declared, but show over HTTP.
    pub shown: HttpFacts,
}

/// What a server on HTTP shows.
#[derive(Clone, Debug, Default)]
pub struct HttpFacts {
    /// It refuses requests without credentials, with status 401.
    pub authorization: bool,
    /// It issues session ids.
    pub sessions: bool,
    /// The path of the metadata of the protected resource (RFC 9728 §3.1).
    pub resource: Option<String>,
    /// The path of the metadata of its authorization server (RFC 8414 §3), where it is of the same origin.
    pub server: Option<String>,
}

/// A list of a server.
#[derive(Clone, Debug, Default)]
pub struct List {
    /// What was listed, each once.
    pub items: Vec<Value>,
    /// The last page was seen.
    pub complete: bool,
    // Where each thing stands among the items.
    names: HashMap<String, usize>,
}

/// How many things of a list, and how many cursors, are known at most.
const MOST: usize = 10_000;

/// The lists, their members, and what names one of their things.
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
    /// The thing of a name.
    #[must_use]
    pub fn has(&self, name: &str) -> bool {
        self.names.contains_key(name)
    }

    /// What was listed under a name.
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
    /// Takes the result of a request; what is no list and no opening is passed over.
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

    /// How much is known of the lists and their cursors: less than before it never becomes.
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

    /// Whether the server declares a capability, by its name or its path such as `resources.subscribe`. `None` while
    /// nothing is declared.
    #[must_use]
    pub fn declares(&self, path: &str) -> Option<bool> {
        let mut names = path.split('.');
        let mut here = self.capabilities.as_ref()?.get(names.next()?);
        for name in names {
            here = here.and_then(|here| here.get(name));
        }
        // What is declared is an object, or `true` within one.
        Some(!matches!(
            here,
            None | Some(Value::Null | Value::Bool(false))
        ))
    }

    /// The tool that is called without asking anybody: one that only reads goes before others, then one that says it
    /// destroys nothing, and one that needs no arguments goes before others. One that says it destroys something is
    /// not taken.
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

    /// The first prompt that fits; one that needs no arguments goes before others.
    #[must_use]
    pub fn prompt(&self, fits: impl Fn(&Value) -> bool) -> Option<&Value> {
        let fitting = self.prompts.items.iter().filter(|prompt| fits(prompt));
        fitting.min_by_key(|prompt| prompt_needs_arguments(prompt))
    }
}

fn hint(tool: &Value, name: &str) -> Option<bool> {
    tool.get("annotations")?.get(name)?.as_bool()
}

/// Whether a tool does not say that it destroys something.
#[must_use]
pub fn is_harmless(tool: &Value) -> bool {
    hint(tool, "readOnlyHint") == Some(true) || hint(tool, "destructiveHint") != Some(true)
}

/// Whether a tool has arguments that it requires.
#[must_use]
pub fn needs_arguments(tool: &Value) -> bool {
    let required = tool.pointer("/inputSchema/required");
    required
        .and_then(Value::as_array)
        .is_some_and(|all| !all.is_empty())
}

/// Whether a prompt has an argument that it requires.
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
