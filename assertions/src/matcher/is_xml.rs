//! `is-xml`: a string that is well-formed XML (XML 1.0, section 2.1).
//!
//! `quick-xml` cuts the text into markup and pairs the tags. What it leaves to its callers is
//! checked here: one root with only white space around it, declarations in their place, names,
//! attributes and references.

use std::collections::HashSet;

use quick_xml::Reader;
use quick_xml::events::Event;
use serde_json::Value;

use super::{
    Judged, Matcher, no_string, nothing_there, object_argument, required, string_argument,
};
use crate::error::LoadError;
use crate::failure::Failure;
use crate::json::Json;
use crate::world::World;
use tapewright_schemas::slices::Part as _;

#[derive(Debug)]
struct IsXml {
    root: Option<String>,
}

pub(super) fn compile(value: &Value, _: usize) -> Result<Box<dyn Matcher>, LoadError> {
    if value.is_null() {
        return Ok(Box::new(IsXml { root: None }));
    }
    let name = "is-xml";
    let members = object_argument(value, name, &["root"])
        .map_err(|error| error.help("write `is-xml: ~`, or `is-xml: { root: note }`"))?;
    let root = string_argument(required(members, "root", name)?, "root")
        .map_err(|error| error.under("root"))?;
    if !is_name(&root) {
        return Err(LoadError::here(format!("invalid element name `{root}`")).under("root"));
    }
    Ok(Box::new(IsXml { root: Some(root) }))
}

impl Matcher for IsXml {
    fn judge(&self, value: Option<&Json>, _: &dyn World) -> Judged {
        let expected = || self.root.as_deref().map(Json::from);
        let text = match value {
            None => return nothing_there(expected()),
            Some(Json::String(text)) => text,
            Some(other) => return no_string("is-xml", other),
        };
        let fails = |note: String| {
            Judged::fails(Failure {
                expected: expected(),
                note: Some(note),
                ..Failure::default()
            })
        };
        match (root_of(text), &self.root) {
            (Err(why), _) => fails(format!("not well-formed: {why}")),
            (Ok(found), Some(root)) if found != *root => {
                fails(format!("the root element is `{found}`, not `{root}`"))
            }
            _ => Judged::Holds,
        }
    }
}

/// The name of the root of a well-formed document.
fn root_of(text: &str) -> Result<String, String> {
    if let Some(char) = text.chars().find(|char| !is_char(*char)) {
        return Err(format!(
            "the character U+{:04X} cannot be in XML",
            u32::from(char)
        ));
    }
    let mut reader = Reader::from_str(text);
    let config = reader.config_mut();
    config.check_comments = true;
    config.check_end_names = true;
    let mut document = Document::default();
    loop {
        let event = reader.read_event().map_err(|error| error.to_string())?;
        if matches!(event, Event::Eof) {
            break;
        }
        document.take(&event)?;
    }
    if document.depth > 0 {
        return Err("an element is not closed".to_owned());
    }
    document.root.ok_or_else(|| "no element".to_owned())
}

#[derive(Default)]
struct Document {
    root: Option<String>,
    depth: usize,
    begun: bool,
    doctype: bool,
}

impl Document {
    fn take(&mut self, event: &Event<'_>) -> Result<(), String> {
        let first = !std::mem::replace(&mut self.begun, true);
        match event {
            Event::Start(tag) => {
                self.element(tag.name().into_inner(), tag.attributes_raw())?;
                self.depth += 1;
            }
            Event::Empty(tag) => self.element(tag.name().into_inner(), tag.attributes_raw())?,
            // An end without its start is an error of the parser.
            Event::End(_) => self.depth = self.depth.saturating_sub(1),
            Event::Text(text) if self.depth == 0 && !text.trim_matches(is_blank).is_empty() => {
                return Err("text outside of the root element".to_owned());
            }
            Event::Text(text) if text.contains("]]>") => {
                return Err("`]]>` is not allowed in text".to_owned());
            }
            Event::CData(_) if self.depth == 0 => {
                return Err("text outside of the root element".to_owned());
            }
            Event::GeneralRef(_) if self.depth == 0 => {
                return Err("reference outside of the root element".to_owned());
            }
            Event::GeneralRef(reference) => self.reference(reference)?,
            Event::Decl(_) if !first => {
                return Err("the XML declaration is not at the start".to_owned());
            }
            Event::PI(instruction) => {
                let target = instruction.split([' ', '\t', '\r', '\n']).next();
                let target = target.unwrap_or_default();
                if !is_name(target) || target.eq_ignore_ascii_case("xml") {
                    return Err(format!("invalid instruction name `{target}`"));
                }
            }
            Event::DocType(_) if self.doctype || self.root.is_some() => {
                return Err("the document type is in the wrong place".to_owned());
            }
            Event::DocType(_) => self.doctype = true,
            _ => {}
        }
        Ok(())
    }

    fn element(&mut self, name: &str, attributes: &str) -> Result<(), String> {
        if !is_name(name) {
            return Err(format!("invalid element name `{name}`"));
        }
        if self.depth == 0 {
            if self.root.is_some() {
                return Err("more than one root element".to_owned());
            }
            self.root = Some(name.to_owned());
        }
        self.attributes(attributes)
            .map_err(|why| format!("in `<{name}>`: {why}"))
    }

    /// `name = "value"`, each after white space and without duplicates (section 3.1).
    fn attributes(&self, source: &str) -> Result<(), String> {
        let mut seen = HashSet::new();
        let mut rest = source;
        loop {
            let trimmed = rest.trim_start_matches(is_blank);
            if trimmed.is_empty() {
                return Ok(());
            }
            if trimmed.len() == rest.len() {
                return Err("no whitespace before an attribute".to_owned());
            }
            let (name, behind) = trimmed.split_once('=').ok_or("an attribute has no value")?;
            let name = name.trim_end_matches(is_blank);
            if !is_name(name) {
                return Err(format!("invalid attribute name `{name}`"));
            }
            if !seen.insert(name) {
                return Err(format!("duplicate attribute `{name}`"));
            }
            let behind = behind.trim_start_matches(is_blank);
            let quote = behind
                .chars()
                .next()
                .filter(|char| matches!(char, '"' | '\''));
            let quote = quote.ok_or_else(|| format!("the value of `{name}` is not quoted"))?;
            let (value, behind) = behind
                .part(1..)
                .split_once(quote)
                .ok_or_else(|| format!("the value of `{name}` does not end"))?;
            if value.contains('<') {
                return Err(format!("the value of `{name}` holds `<`"));
            }
            for piece in value.split('&').skip(1) {
                let (reference, _) = piece
                    .split_once(';')
                    .ok_or_else(|| format!("the value of `{name}` holds `&` alone"))?;
                self.reference(reference)?;
            }
            rest = behind;
        }
    }

    /// A reference to a character or an entity. With a document type, any entity may be
    /// declared in it.
    fn reference(&self, name: &str) -> Result<(), String> {
        let known = match name.strip_prefix('#') {
            Some(number) => {
                let code = match number.strip_prefix('x') {
                    Some(hex) => u32::from_str_radix(hex, 16),
                    None => number.parse(),
                };
                let char = code.ok().and_then(char::from_u32);
                char.is_some_and(is_char)
            }
            None if self.doctype => is_name(name),
            None => ["amp", "apos", "gt", "lt", "quot"].contains(&name),
        };
        if known {
            Ok(())
        } else {
            Err(format!("`&{name};` is not declared"))
        }
    }
}

/// Section 2.3, White Space.
fn is_blank(char: char) -> bool {
    matches!(char, ' ' | '\t' | '\r' | '\n')
}

/// Section 2.2, Characters.
fn is_char(char: char) -> bool {
    matches!(char, '\t' | '\n' | '\r' | '\u{20}'..='\u{d7ff}' | '\u{e000}'..='\u{fffd}' | '\u{10000}'..)
}

/// Section 2.3, Names.
fn is_name(name: &str) -> bool {
    let start = |char: char| {
        matches!(char, ':' | '_' | 'A'..='Z' | 'a'..='z'
            | '\u{c0}'..='\u{d6}' | '\u{d8}'..='\u{f6}' | '\u{f8}'..='\u{2ff}'
            | '\u{370}'..='\u{37d}' | '\u{37f}'..='\u{1fff}' | '\u{200c}'..='\u{200d}'
            | '\u{2070}'..='\u{218f}' | '\u{2c00}'..='\u{2fef}' | '\u{3001}'..='\u{d7ff}'
            | '\u{f900}'..='\u{fdcf}' | '\u{fdf0}'..='\u{fffd}' | '\u{10000}'..='\u{effff}')
    };
    let inner = |char: char| {
        start(char)
            || matches!(char, '-' | '.' | '0'..='9' | '\u{b7}'
                | '\u{300}'..='\u{36f}' | '\u{203f}'..='\u{2040}')
    };
    name.chars().next().is_some_and(start) && name.chars().all(inner)
}

#[cfg(test)]
mod tests {
    use super::root_of;

    #[test]
    fn well_formed_documents() {
        for (text, root) in [
            ("<a/>", "a"),
            (
                "<?xml version=\"1.0\"?>\n<!-- x --><a><b c='1' d = \"2\"/>t&amp;&#x41;</a>\n",
                "a",
            ),
            ("<ns:note xmlns:ns='u'/>", "ns:note"),
            ("<!DOCTYPE a [<!ENTITY e \"x\">]><a>&e;</a>", "a"),
            ("<a><![CDATA[<b>&]]></a><?pi x?>", "a"),
            ("<é/>", "é"),
        ] {
            assert_eq!(root_of(text).as_deref(), Ok(root), "{text}");
        }
    }

    #[test]
    fn everything_else() {
        for text in [
            "",
            " ",
            "plain text",
            "<a><b></b>",
            "<a></b>",
            "</a>",
            "<a/><b/>",
            "<a/>x",
            "<a>&nope;</a>",
            "<a>& </a>",
            "<a b=1/>",
            "<a b='1' b='2'/>",
            "<a b='1'c='2'/>",
            "<a b='<'/>",
            "<a b='&'/>",
            "<a b/>",
            "<a b='1/>",
            "<1a/>",
            "<a>]]></a>",
            " <?xml version=\"1.0\"?><a/>",
            "<a><?xml version=\"1.0\"?></a>",
            "<a><!-- x -- y --></a>",
            "<a/><!DOCTYPE a>",
            "<a>\u{1}</a>",
            "<a>&#0;</a>",
            "<![CDATA[x]]><a/>",
            "<a",
            "<a><",
            "&amp;<a/>",
        ] {
            assert!(root_of(text).is_err(), "{text}");
        }
    }
}
