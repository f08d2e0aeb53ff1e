//! A file of a client, and the servers in it.

use std::ops::Range;

use crate::client::Client;
use crate::edit::Edit;
use crate::format::{Format, Tree};
use crate::node::{Content, Map, Node, Obstacle};
use crate::refusal::RefusalReason;
use crate::shape::Command;
use tapewright_schemas::order::Order as _;

/// The members whose values are never shown, in any client.
const HIDDEN: &[&str] = &[
    "env",
    "envs",
    "environment",
    "headers",
    "http_headers",
    "requestOptions",
    "oauth",
    "auth",
    "apiKey",
    "inputs",
];

const MARK: &str = "\u{feff}";

/// A file of a client.
#[derive(Debug)]
pub struct Document<'t> {
    pub(crate) client: &'static Client,
    pub(crate) format: Format,
    pub(crate) servers: Vec<Vec<String>>,
    /// Without a byte order mark.
    pub(crate) body: &'t str,
    /// The length of the byte order mark.
    pub(crate) mark: usize,
    pub(crate) tree: Tree,
}

/// A server in a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Server {
    /// Its name.
    pub name: String,
    /// How to connect to it.
    pub transport: Transport,
}

/// How to connect to a server.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Transport {
    /// A process.
    Process {
        /// The program.
        program: String,
        /// Its arguments.
        arguments: Vec<String>,
    },
    /// Over HTTP.
    Remote {
        /// Its URL, which may contain a secret.
        url: String,
    },
    /// In a way that cannot be recorded, such as within the client itself.
    Other,
}

impl Transport {
    /// Whether the started process is the recorder itself.
    #[must_use]
    pub fn is_recorder(&self) -> bool {
        let Self::Process { program, arguments } = self else {
            return false;
        };
        let name = program.rsplit(['/', '\\']).next().unwrap_or_default();
        let name = name.strip_suffix(".exe").unwrap_or(name);
        name == "tapewright" && arguments.first().is_some_and(|word| word == "record")
    }
}

/// An entry, and why it cannot be replaced, if so.
pub(crate) struct Entry<'d> {
    pub(crate) node: &'d Node,
    pub(crate) held: Option<Obstacle>,
}

/// The part of an entry that defines the process to start.
pub(crate) struct Process<'d> {
    /// Its members.
    pub(crate) map: &'d Map,
    /// The path to it from the entry.
    pub(crate) path: Vec<String>,
    pub(crate) command: Command,
    pub(crate) words: Vec<String>,
}

impl<'t> Document<'t> {
    /// Reads a file; `servers` are the possible positions of its servers.
    ///
    /// # Errors
    ///
    /// [`RefusalReason::Unreadable`] if it does not have its format.
    pub fn read(
        client: &'static Client,
        format: Format,
        servers: &[Vec<String>],
        text: &'t str,
    ) -> Result<Self, RefusalReason> {
        let body = text.strip_prefix(MARK).unwrap_or(text);
        // A newly installed client may have left the file empty.
        let is_empty = body.trim().is_empty();
        let tree = format.read(if is_empty && format == Format::Json {
            "{}"
        } else {
            body
        })?;
        Ok(Self {
            client,
            format,
            servers: servers.to_vec(),
            body,
            mark: text.len() - body.len(),
            tree,
        })
    }

    /// The servers in it, in the order of the file.
    #[must_use]
    pub fn servers(&self) -> Vec<Server> {
        let Ok(Some((container, _))) = self.container() else {
            return Vec::new();
        };
        let named = named(container);
        let servers = named.into_iter().map(|(name, node)| Server {
            name: name.to_owned(),
            transport: self.transport(node),
        });
        servers.collect()
    }

    /// The ranges of values that are never shown: environments and headers.
    #[must_use]
    pub fn hidden(&self) -> Vec<Range<usize>> {
        let mut found = Vec::new();
        hide(&self.tree.root, false, &mut found);
        found.order_by_key(|range| range.start);
        found
            .into_iter()
            .map(|range| self.in_file(&range))
            .collect()
    }

    fn transport(&self, node: &Node) -> Transport {
        if let Ok(Some(process)) = self.process(node)
            && let Some((program, arguments)) = process.words.split_first()
        {
            return Transport::Process {
                program: program.clone(),
                arguments: arguments.to_vec(),
            };
        }
        let urls = self.client.shape.urls.iter();
        let url = node.map().and_then(|map| {
            urls.filter_map(|url| map.get(url).ok().flatten())
                .find_map(|member| member.value.text())
        });
        url.map_or(Transport::Other, |url| Transport::Remote {
            url: url.to_owned(),
        })
    }

    /// The collection of servers, and what prevents its replacement.
    fn container(&self) -> Result<Option<(&Node, Option<Obstacle>)>, RefusalReason> {
        for path in &self.servers {
            if let Some((node, held)) = follow(&self.tree.root, path)?
                && self.is_container(node)
            {
                return Ok(Some((node, held)));
            }
        }
        Ok(None)
    }

    /// A server may have the same name as the member that contains the servers in another edition.
    fn is_container(&self, node: &Node) -> bool {
        match &node.kind {
            Content::Map(map) => {
                let mut members = map.members.iter();
                self.servers.len() < 2 || members.all(|member| member.value.map().is_some())
            }
            Content::List(_) => true,
            _ => false,
        }
    }

    /// The entry of a server.
    pub(crate) fn entry(&self, name: &str) -> Result<Entry<'_>, RefusalReason> {
        let missing = || RefusalReason::NoSuchServer(name.to_owned());
        let (container, held) = self.container()?.ok_or_else(missing)?;
        let mut found = named(container).into_iter().filter(|(key, _)| *key == name);
        let (_, node) = found.next().ok_or_else(missing)?;
        if found.next().is_some() {
            return Err(RefusalReason::Twice(name.to_owned()));
        }
        Ok(Entry {
            node,
            held: held.or(node.held),
        })
    }

    /// The process that an entry starts.
    pub(crate) fn process<'d>(&self, node: &'d Node) -> Result<Option<Process<'d>>, RefusalReason> {
        let Some(map) = node.map() else {
            return Ok(None);
        };
        let command = self.client.shape.command;
        let Some(member) = map.get(command.member())? else {
            return Ok(None);
        };
        // An older form of Zed's has them one step deeper.
        if let (Command::Pair { .. }, Some(inner)) = (command, member.value.map()) {
            let command = Command::Pair {
                program: "path",
                arguments: "args",
            };
            return Ok(Some(Process {
                map: inner,
                path: vec![member.key.clone()],
                command,
                words: words(inner, command)?,
            }));
        }
        Ok(Some(Process {
            map,
            path: Vec::new(),
            command,
            words: words(map, command)?,
        }))
    }

    /// Converts a range of the body to one of the file.
    pub(crate) fn in_file(&self, range: &Range<usize>) -> Range<usize> {
        range.start + self.mark..range.end + self.mark
    }

    /// Converts an edit of the body to one of the file.
    pub(crate) fn edit(&self, range: &Range<usize>, new: String) -> Edit {
        let range = self.in_file(range);
        Edit { range, new }
    }

    /// The text of a range of the body.
    pub(crate) fn slice(&self, range: &Range<usize>) -> &'t str {
        self.body.get(range.clone()).unwrap_or_default()
    }

    /// The line ending of the file.
    pub(crate) fn line_end(&self) -> &'static str {
        match self.body.find('\n') {
            Some(at) if self.body.get(..at).is_some_and(|line| line.ends_with('\r')) => "\r\n",
            _ => "\n",
        }
    }
}

/// The program and its arguments.
fn words(map: &Map, command: Command) -> Result<Vec<String>, RefusalReason> {
    let bad = |member: &str| RefusalReason::BadType(member.to_owned());
    match command {
        Command::Pair { program, arguments } => {
            let first = map.get(program)?.and_then(|member| member.value.text());
            let mut words = vec![first.ok_or_else(|| bad(program))?.to_owned()];
            if let Some(member) = map.get(arguments)? {
                words.extend(member.value.texts().ok_or_else(|| bad(arguments))?);
            }
            Ok(words)
        }
        Command::List(list) => {
            let words = map.get(list)?.and_then(|member| member.value.texts());
            words
                .filter(|words| !words.is_empty())
                .ok_or_else(|| bad(list))
        }
    }
}

fn follow<'n>(
    root: &'n Node,
    path: &[String],
) -> Result<Option<(&'n Node, Option<Obstacle>)>, RefusalReason> {
    let mut node = root;
    let mut held = root.held;
    for step in path {
        let Some(member) = node.map().map(|map| map.get(step)).transpose()?.flatten() else {
            return Ok(None);
        };
        node = &member.value;
        held = held.or(node.held);
    }
    Ok(Some((node, held)))
}

/// The entries with their names.
fn named(container: &Node) -> Vec<(&str, &Node)> {
    match &container.kind {
        Content::Map(map) => map
            .members
            .iter()
            .map(|member| (member.key.as_str(), &member.value))
            .collect(),
        Content::List(items) => {
            fn name(item: &Node) -> Option<(&str, &Node)> {
                let name = item.map()?.get("name").ok()??;
                Some((name.value.text()?, item))
            }
            items.iter().filter_map(name).collect()
        }
        _ => Vec::new(),
    }
}

/// Collects the values below hidden members.
fn hide(node: &Node, is_hidden: bool, found: &mut Vec<Range<usize>>) {
    match &node.kind {
        Content::Map(map) => {
            for member in &map.members {
                let is_hidden = is_hidden || HIDDEN.contains(&member.key.as_str());
                hide(&member.value, is_hidden, found);
            }
        }
        Content::List(items) => items.iter().for_each(|item| hide(item, is_hidden, found)),
        _ if is_hidden && !node.span.is_empty() => found.push(node.span.clone()),
        _ => {}
    }
}
