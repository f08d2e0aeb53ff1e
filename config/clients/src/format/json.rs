//! JSON as clients take it: with comments and trailing commas.

use std::ops::Range;

use tapewright_schemas::slices::Part as _;

use super::{Tree, Unreadable};
use crate::node::{Content, Layout, MAX_DEPTH, Map, Member, Node};

/// Reads a text.
pub(super) fn read(text: &str) -> Result<Tree, Unreadable> {
    let mut reader = Reader {
        text,
        at: 0,
        comments: Vec::new(),
    };
    let root = reader.value(0)?;
    reader.space()?;
    if reader.at < text.len() {
        return Err(reader.wrong("unexpected text after the value"));
    }
    Ok(Tree {
        root,
        comments: reader.comments,
    })
}

struct Reader<'t> {
    text: &'t str,
    at: usize,
    comments: Vec<Range<usize>>,
}

impl Reader<'_> {
    fn wrong(&self, what: &str) -> Unreadable {
        Unreadable::at(self.text, self.at, what)
    }

    fn peek(&self) -> Option<u8> {
        self.text.as_bytes().get(self.at).copied()
    }

    fn rest(&self) -> &str {
        self.text.part(self.at..)
    }

    /// Passes white space and comments.
    fn space(&mut self) -> Result<(), Unreadable> {
        loop {
            while self
                .peek()
                .is_some_and(|byte| matches!(byte, b' ' | b'\t' | b'\r' | b'\n'))
            {
                self.at += 1;
            }
            let rest = self.rest();
            let length = if rest.starts_with("//") {
                rest.find('\n').unwrap_or(rest.len())
            } else if rest.starts_with("/*") {
                let Some(end) = rest.find("*/") else {
                    return Err(self.wrong("unclosed comment"));
                };
                end + 2
            } else {
                return Ok(());
            };
            self.comments.push(self.at..self.at + length);
            self.at += length;
        }
    }

    fn value(&mut self, depth: usize) -> Result<Node, Unreadable> {
        self.space()?;
        if depth > MAX_DEPTH {
            return Err(self.wrong("nested too deeply"));
        }
        let start = self.at;
        let kind = match self.peek() {
            Some(b'{') => self.map(depth)?,
            Some(b'[') => self.list(depth)?,
            Some(b'"') => self.string()?.map_or(Content::Other, Content::Text),
            Some(_) => self.word()?,
            None => return Err(self.wrong("a value is missing")),
        };
        Ok(Node::new(start..self.at, kind))
    }

    fn map(&mut self, depth: usize) -> Result<Content, Unreadable> {
        let mut members = Vec::new();
        self.at += 1;
        loop {
            self.space()?;
            match self.peek() {
                Some(b'}') => break,
                Some(b'"') => {}
                _ => return Err(self.wrong("expected a name in double quotes, or `}`")),
            }
            let start = self.at;
            let key = self.string()?;
            let key_span = start..self.at;
            let key = key.unwrap_or_else(|| {
                let raw = self.text.get(key_span.clone());
                raw.unwrap_or_default().to_owned()
            });
            self.space()?;
            if self.peek() != Some(b':') {
                return Err(self.wrong("`:` is missing"));
            }
            self.at += 1;
            let value = self.value(depth + 1)?;
            members.push(Member {
                key,
                key_span,
                value,
            });
            if !self.comma(b'}')? {
                break;
            }
        }
        self.at += 1;
        let layout = Layout::Json;
        Ok(Content::Map(Map { members, layout }))
    }

    fn list(&mut self, depth: usize) -> Result<Content, Unreadable> {
        let mut items = Vec::new();
        self.at += 1;
        loop {
            self.space()?;
            if self.peek() == Some(b']') {
                break;
            }
            items.push(self.value(depth + 1)?);
            if !self.comma(b']')? {
                break;
            }
        }
        self.at += 1;
        Ok(Content::List(items))
    }

    /// Passes a comma; whether there was one, and not the end.
    fn comma(&mut self, end: u8) -> Result<bool, Unreadable> {
        self.space()?;
        match self.peek() {
            Some(b',') => {
                self.at += 1;
                Ok(true)
            }
            Some(byte) if byte == end => Ok(false),
            _ => Err(self.wrong("expected a comma or the end")),
        }
    }

    /// A string; `None` if it is not valid Unicode.
    fn string(&mut self) -> Result<Option<String>, Unreadable> {
        let start = self.at;
        let bytes = self.text.as_bytes();
        self.at += 1;
        loop {
            match self.peek() {
                Some(b'"') => break,
                Some(b'\\') if bytes.get(self.at + 1).is_some_and(u8::is_ascii) => self.at += 2,
                Some(b'\n') | None => return Err(self.wrong("unclosed string")),
                Some(_) => self.at += 1,
            }
        }
        self.at += 1;
        let raw = self.text.part(start..self.at);
        Ok(serde_json::from_str(raw).ok())
    }

    fn word(&mut self) -> Result<Content, Unreadable> {
        let is_part = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'+' | b'.');
        let rest = self.rest().as_bytes();
        let length = rest.iter().take_while(|byte| is_part(**byte)).count();
        let word = self.text.part(self.at..self.at + length);
        if serde_json::from_str::<serde_json::Value>(word).is_err() {
            return Err(self.wrong("not JSON"));
        }
        self.at += length;
        Ok(Content::Other)
    }
}
