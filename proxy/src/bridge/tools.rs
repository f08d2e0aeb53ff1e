//! Which arguments of which tools are mirrored in header fields.
//!
//! A server marks a property of a tool's schema with `x-mcp-header`, and a client that calls the
//! tool over HTTP repeats the argument as `Mcp-Param-<name>` (2026-07-28,
//! basic/transports/streamable-http, "Custom Headers from Tool Parameters"). A client on stdio does
//! not do this, so the bridge learns the marks from the lists of tools that it forwards.

use std::collections::HashMap;

use http::{HeaderName, HeaderValue};
use tapewright_schemas::envelope::for_each_message;
use tapewright_schemas::json;

use super::line::text_of;
use super::mirror::{PARAM_PREFIX, encode};

/// The mirrored arguments of each known tool.
#[derive(Debug, Default)]
pub(crate) struct Tools(HashMap<String, Vec<Mirrored>>);

/// One mirrored argument.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Mirrored {
    /// Its path within the arguments.
    pub(crate) path: Vec<String>,
    /// The full name of its header field, in lower case.
    pub(crate) header: HeaderName,
}

/// The maximum number of remembered tools; others are called without mirrored arguments.
const TOOLS: usize = 8_192;
/// The maximum number of mirrored arguments of one tool.
const ARGUMENTS: usize = 64;
/// The maximum depth of mirrored arguments.
const DEPTH: usize = 16;

impl Tools {
    /// Learns from the result of a `tools/list`.
    pub(crate) fn learn(&mut self, result: &[u8]) {
        let Some(list) = json::find(result, &["tools"]) else {
            return;
        };
        if !list.starts_with(b"[") {
            return;
        }
        for_each_message(list, |tool| self.learn_tool(tool));
    }

    fn learn_tool(&mut self, tool: &[u8]) {
        let name = json::find(tool, &["name"]).and_then(text_of);
        let (Some(name), Some(schema)) = (name, json::find(tool, &["inputSchema"])) else {
            return;
        };
        let mirrored = mirrored(schema);
        if mirrored.is_empty() {
            self.0.remove(name.as_ref());
        } else if self.0.len() < TOOLS || self.0.contains_key(name.as_ref()) {
            self.0.insert(name.into_owned(), mirrored);
        }
    }

    /// The mirrored arguments of a tool, as far as known.
    pub(crate) fn of(&self, tool: &str) -> &[Mirrored] {
        self.0.get(tool).map(Vec::as_slice).unwrap_or_default()
    }

    /// The header fields for a call of `tool`.
    pub(crate) fn headers(
        &self,
        tool: &str,
        params: Option<&[u8]>,
    ) -> Vec<(HeaderName, HeaderValue)> {
        let arguments = params.and_then(|params| json::find(params, &["arguments"]));
        let arguments = arguments.unwrap_or_default();
        let mirrored = self.of(tool).iter();
        let headers = mirrored.filter_map(|one| {
            let value = encode(&one.value(arguments)?)?;
            Some((one.header.clone(), value))
        });
        headers.collect()
    }
}

impl Mirrored {
    /// The text of this argument; `None` if it is absent, `null`, or of a type that is not
    /// mirrored.
    pub(crate) fn value(&self, arguments: &[u8]) -> Option<String> {
        let path: Vec<&str> = self.path.iter().map(String::as_str).collect();
        let source = json::find(arguments, &path)?;
        match source {
            [b'"', ..] => Some(text_of(source)?.into_owned()),
            [b'-' | b'0'..=b'9', ..] | b"true" | b"false" => {
                Some(String::from_utf8_lossy(source).into_owned())
            }
            _ => None,
        }
    }
}

/// The mirrored arguments of a schema. A schema with invalid annotations has none: a client must
/// not call such a tool over HTTP as if it had understood it.
fn mirrored(schema: &[u8]) -> Vec<Mirrored> {
    let mut found = Vec::new();
    walk(schema, &mut Vec::new(), &mut found);
    let unique = |one: &Mirrored| found.iter().filter(|two| two.header == one.header).count() == 1;
    if found.iter().all(unique) {
        found
    } else {
        Vec::new()
    }
}

fn walk(schema: &[u8], path: &mut Vec<String>, found: &mut Vec<Mirrored>) {
    let Some(properties) = json::find(schema, &["properties"]) else {
        return;
    };
    if path.len() >= DEPTH {
        return;
    }
    // An unreadable part has no annotations.
    let _: Option<()> = json::members(properties, |name, property| {
        path.push(String::from_utf8_lossy(name).into_owned());
        if found.len() < ARGUMENTS
            && let Some(header) = annotation(property)
        {
            found.push(Mirrored {
                path: path.clone(),
                header,
            });
        }
        walk(property, path, found);
        path.pop();
    });
}

fn annotation(property: &[u8]) -> Option<HeaderName> {
    let name = text_of(json::find(property, &["x-mcp-header"])?)?;
    let kind = text_of(json::find(property, &["type"])?)?;
    if !matches!(kind.as_ref(), "string" | "integer" | "boolean") || name.is_empty() {
        return None;
    }
    let name = format!("{PARAM_PREFIX}{}", name.to_ascii_lowercase());
    HeaderName::try_from(name).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    const LIST: &str = r#"{"tools":[
        {"name":"plain","inputSchema":{"type":"object"}},
        {"name":"deploy","inputSchema":{"properties":{
            "region":{"type":"string","x-mcp-header":"Region"},
            "at":{"properties":{"x":{"type":"integer","x-mcp-header":"X"}}},
            "dry":{"type":"boolean","x-mcp-header":"Dry"},
            "list":{"type":"array","x-mcp-header":"No"},
            "bad":{"type":"string","x-mcp-header":"a b"}}}},
        {"name":"twice","inputSchema":{"properties":{
            "a":{"type":"string","x-mcp-header":"Same"},
            "b":{"type":"string","x-mcp-header":"same"}}}}]}"#;

    fn headers(params: &str, tool: &str) -> Vec<String> {
        let mut tools = Tools::default();
        tools.learn(LIST.as_bytes());
        let headers = tools.headers(tool, Some(params.as_bytes()));
        let shown = headers
            .iter()
            .map(|(name, value)| format!("{name}: {}", value.to_str().unwrap()));
        shown.collect()
    }

    #[test]
    fn annotated_arguments_are_mirrored() {
        let params = r#"{"arguments":{"region":"größe","at":{"x":8},"dry":true,"list":[1]}}"#;
        assert_eq!(
            headers(params, "deploy"),
            [
                "mcp-param-region: =?base64?Z3LDtsOfZQ==?=",
                "mcp-param-x: 8",
                "mcp-param-dry: true"
            ]
        );
    }

    #[test]
    fn what_is_absent_null_or_unknown_is_not_mirrored() {
        assert!(headers(r#"{"arguments":{"region":null}}"#, "deploy").is_empty());
        assert!(headers("{}", "deploy").is_empty());
        assert!(headers(r#"{"arguments":{"a":"x","b":"y"}}"#, "twice").is_empty());
        assert!(headers(r#"{"arguments":{"region":"x"}}"#, "other").is_empty());
    }

    #[test]
    fn a_newer_list_counts() {
        let mut tools = Tools::default();
        tools.learn(LIST.as_bytes());
        tools.learn(br#"{"tools":[{"name":"deploy","inputSchema":{}}]}"#);
        assert!(tools.of("deploy").is_empty());
        tools.learn(b"not json");
        tools.learn(br#"{"tools":7}"#);
    }
}
