//! An entry to paste into a client's file.

use crate::client::Client;
use crate::edit::{list, quoted};
use crate::format::Format;
use crate::shape::Command;

/// What an entry starts or connects to.
#[derive(Clone, Debug)]
pub enum Run {
    /// A process.
    Process {
        /// The program.
        program: String,
        /// Its arguments.
        arguments: Vec<String>,
    },
    /// A server on HTTP.
    Url(String),
}

/// An entry in the client's own format, within the members that lead to it.
#[must_use]
pub fn entry(client: &Client, name: &str, run: &Run) -> String {
    let path = client.places.first();
    let servers = path.and_then(|place| place.servers.last()).copied();
    let servers = servers.unwrap_or(&["mcpServers"]);
    let format = Format::of(path.map_or("", |place| place.path));
    let members = members(client, name, run);
    match format {
        Format::Json => json(servers, name, &members),
        Format::Toml => toml(servers, name, &members),
        Format::Yaml => yaml(servers, name, &members, client.shape.is_list),
    }
}

/// The members of an entry, with their values in the form that all formats share.
fn members(client: &Client, name: &str, run: &Run) -> Vec<(&'static str, String)> {
    let shape = &client.shape;
    let mut members = Vec::new();
    if let Some(member) = shape.name {
        members.push((member, quoted(name)));
    }
    if let Some(kind) = shape.kind {
        let is_process = matches!(run, Run::Process { .. });
        if !is_process || kind.is_required {
            let value = if is_process {
                kind.process
            } else {
                kind.remote
            };
            members.push((kind.member, quoted(value)));
        }
    }
    match run {
        Run::Process { program, arguments } => match shape.command {
            Command::Pair {
                program: member,
                arguments: rest,
            } => members.extend([(member, quoted(program)), (rest, list(arguments))]),
            Command::List(member) => {
                let words = [std::slice::from_ref(program), arguments].concat();
                members.push((member, list(&words)));
            }
        },
        Run::Url(url) => {
            let member = shape.urls.first().copied().unwrap_or("url");
            members.push((member, quoted(url)));
        }
    }
    let also = shape.also.iter();
    members.extend(also.map(|(member, value)| (*member, (*value).to_owned())));
    members
}

fn json(servers: &[&str], name: &str, members: &[(&str, String)]) -> String {
    let mut lines = vec!["{".to_owned()];
    let mut indent = 1;
    for step in servers.iter().chain([&name]) {
        lines.push(format!("{}{}: {{", "  ".repeat(indent), quoted(step)));
        indent += 1;
    }
    for (at, (member, value)) in members.iter().enumerate() {
        let comma = if at + 1 < members.len() { "," } else { "" };
        let indent = "  ".repeat(indent);
        lines.push(format!("{indent}{}: {value}{comma}", quoted(member)));
    }
    let ends = (0..indent).rev();
    lines.extend(ends.map(|indent| format!("{}}}", "  ".repeat(indent))));
    lines.join("\n") + "\n"
}

fn toml(servers: &[&str], name: &str, members: &[(&str, String)]) -> String {
    let is_bare = |char: char| char.is_ascii_alphanumeric() || "-_".contains(char);
    let name = if !name.is_empty() && name.chars().all(is_bare) {
        name.to_owned()
    } else {
        quoted(name)
    };
    let mut lines = vec![format!("[{}.{name}]", servers.join("."))];
    let members = members.iter();
    lines.extend(members.map(|(member, value)| format!("{member} = {value}")));
    lines.join("\n") + "\n"
}

fn yaml(servers: &[&str], name: &str, members: &[(&str, String)], is_list: bool) -> String {
    let steps = servers.iter().enumerate();
    let mut lines: Vec<String> = steps
        .map(|(depth, step)| format!("{}{step}:", "  ".repeat(depth)))
        .collect();
    let indent = "  ".repeat(servers.len());
    if !is_list {
        lines.push(format!("{indent}{}:", quoted(name)));
    }
    for (at, (member, value)) in members.iter().enumerate() {
        let dash = if is_list && at == 0 { "- " } else { "  " };
        lines.push(format!("{indent}{dash}{member}: {value}"));
    }
    lines.join("\n") + "\n"
}
