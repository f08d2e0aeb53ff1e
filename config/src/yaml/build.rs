//! Building a tree from the parser's events.

use std::collections::HashMap;

use granit_parser::{Event, Parser, ScalarStyle, StructureStyle, Tag};

use tapewright_schemas::slices::Part as _;

use super::frame::{Frame, Repeated};
use super::node::{Kind, Node};
use super::scalar::{Plain, plain};
use crate::issue::Code;
use crate::source::Span;

/// The maximum nesting depth of collections.
pub(crate) const MAX_DEPTH: usize = 128;

/// The maximum number of values in one file, with every alias counted as its target.
pub(crate) const MAX_NODES: usize = 1_000_000;

/// The most bytes that aliases may copy.
const MAX_COPIED_BYTES: usize = 32 << 20;

/// Something wrong with the YAML.
#[derive(Debug)]
pub(crate) struct Problem {
    pub(crate) code: Code,
    pub(crate) span: Span,
    pub(crate) message: String,
    pub(crate) help: Option<String>,
}

impl Problem {
    fn new(code: Code, span: Span, message: impl Into<String>, help: impl Into<String>) -> Self {
        let (message, help) = (message.into(), Some(help.into()));
        Self {
            code,
            span,
            message,
            help,
        }
    }
}

/// Parses a text with a single document. The tree is present unless parsing cannot continue.
pub(crate) fn parse(text: &str) -> (Option<Node>, Vec<Problem>) {
    parse_as(text, "a suite begins with `servers:`")
}

/// Like [`parse`]; `begins` is the hint for an empty text about how it should begin.
pub(crate) fn parse_as(text: &str, begins: &str) -> (Option<Node>, Vec<Problem>) {
    let mut builder = Builder {
        text,
        ..Builder::default()
    };
    let options = granit_parser::options! {
        flow_nesting_limit: MAX_DEPTH + 1,
        block_nesting_limit: MAX_DEPTH + 1,
    };
    for event in Parser::new_from_str_with_options(text, options) {
        let step = match event {
            Ok((event, span)) => builder.event(event, place(text, span)),
            Err(error) => Err(broken(text, &error)),
        };
        if let Err(problem) = step {
            builder.problems.push(problem);
            return (None, builder.problems);
        }
    }
    if builder.root.is_none() {
        let start = Span::default();
        let problem = Problem::new(Code::Yaml, start, "the file is empty", begins);
        builder.problems.push(problem);
    }
    (builder.root, builder.problems)
}

#[derive(Default)]
struct Builder<'t> {
    text: &'t str,
    frames: Vec<Frame>,
    anchors: HashMap<usize, Node>,
    nodes: usize,
    copied_bytes: usize,
    documents: usize,
    root: Option<Node>,
    problems: Vec<Problem>,
}

impl Builder<'_> {
    fn event(&mut self, event: Event<'_>, span: Span) -> Result<(), Problem> {
        match event {
            Event::DocumentStart(..) => {
                self.documents += 1;
                if self.documents > 1 {
                    let help = "put each suite into a file of its own";
                    return Err(Problem::new(
                        Code::Yaml,
                        span,
                        "more than one document",
                        help,
                    ));
                }
            }
            Event::Scalar(text, style, anchor, tag) => {
                if self.wants_key() {
                    self.key(text.into_owned(), anchor, span);
                } else {
                    let node = scalar(&text, style, tag.as_deref(), span)?;
                    self.node(node, anchor)?;
                }
            }
            Event::SequenceStart(style, anchor, _) => {
                self.open(
                    Frame::array(anchor, style == StructureStyle::Flow, span),
                    span,
                )?;
            }
            Event::MappingStart(style, anchor, _) => {
                self.open(
                    Frame::object(anchor, style == StructureStyle::Flow, span),
                    span,
                )?;
            }
            Event::SequenceEnd | Event::MappingEnd => {
                if let Some(frame) = self.frames.pop() {
                    let anchor = frame.anchor;
                    self.node(frame.close(span), anchor)?;
                }
            }
            Event::Alias(anchor) => self.alias(anchor, span)?,
            _ => {}
        }
        Ok(())
    }

    fn wants_key(&self) -> bool {
        self.frames.last().is_some_and(Frame::wants_key)
    }

    fn key(&mut self, text: String, anchor: usize, span: Span) {
        if anchor != 0 {
            self.anchors.insert(anchor, Node::text(text.clone(), span));
        }
        let Some(repeated) = self
            .frames
            .last_mut()
            .and_then(|frame| frame.key(text, span))
        else {
            return;
        };
        let Repeated { key, span, before } = repeated;
        let front = self.text.part(..before.start as usize);
        let line = front.matches('\n').count() + 1;
        let message = format!("`{key}` is given a second time");
        let help = format!("the first one is on line {line}; keep one of them");
        self.problems
            .push(Problem::new(Code::DuplicateKey, span, message, help));
    }

    fn open(&mut self, frame: Frame, span: Span) -> Result<(), Problem> {
        if self.wants_key() {
            let help = "keys are strings; put `?`, `{` or `[` in quotes if they are part of one";
            return Err(Problem::new(
                Code::Yaml,
                span,
                "a key may not be a collection",
                help,
            ));
        }
        self.frames.push(frame);
        check_depth(self.frames.len(), span)?;
        self.count(1, span)
    }

    /// Places a finished node. Collections were counted when they began.
    fn node(&mut self, node: Node, anchor: usize) -> Result<(), Problem> {
        if matches!(
            node.kind,
            Kind::Null | Kind::Bool(_) | Kind::Number(_) | Kind::Text(_)
        ) {
            self.count(1, node.span)?;
        }
        if anchor != 0 {
            // The targets of aliases are kept next to the tree, and count like it.
            self.count(Weight::of(&node).nodes, node.span)?;
            self.anchors.insert(anchor, node.clone());
        }
        self.place(node);
        Ok(())
    }

    fn alias(&mut self, anchor: usize, span: Span) -> Result<(), Problem> {
        let Some(target) = self.anchors.get(&anchor) else {
            let help = "write the value out";
            return Err(Problem::new(
                Code::Yaml,
                span,
                "an alias cannot be part of its own anchor",
                help,
            ));
        };
        if self.wants_key() {
            let Kind::Text(text) = &target.kind else {
                let help = "use an alias of a string";
                return Err(Problem::new(
                    Code::Yaml,
                    span,
                    "the alias of a key must be a string",
                    help,
                ));
            };
            let text = text.value.clone();
            self.key(text, 0, span);
            return Ok(());
        }
        let weight = Weight::of(target);
        let mut copy = target.clone();
        copy.span = span;
        check_depth(self.frames.len() + weight.height, span)?;
        self.count(weight.nodes, span)?;
        self.copied_bytes = self.copied_bytes.saturating_add(weight.bytes);
        if self.copied_bytes > MAX_COPIED_BYTES {
            return Err(too_large(span));
        }
        self.place(copy);
        Ok(())
    }

    fn place(&mut self, node: Node) {
        match self.frames.last_mut() {
            Some(frame) => frame.value(node),
            None => self.root = Some(node),
        }
    }

    fn count(&mut self, nodes: usize, span: Span) -> Result<(), Problem> {
        self.nodes = self.nodes.saturating_add(nodes);
        if self.nodes > MAX_NODES {
            Err(too_large(span))
        } else {
            Ok(())
        }
    }
}

fn check_depth(depth: usize, span: Span) -> Result<(), Problem> {
    if depth <= MAX_DEPTH {
        Ok(())
    } else {
        Err(too_deep(span))
    }
}

fn too_deep(span: Span) -> Problem {
    let message = format!("more than {MAX_DEPTH} nested collections");
    Problem::new(Code::Yaml, span, message, "flatten the structure")
}

/// The size of an alias's copy.
struct Weight {
    nodes: usize,
    bytes: usize,
    height: usize,
}

impl Weight {
    fn of(node: &Node) -> Self {
        let mut sum = Self {
            nodes: 1,
            bytes: 0,
            height: 0,
        };
        match &node.kind {
            Kind::Text(text) => sum.bytes = text.value.len(),
            Kind::Array(items) => items.iter().for_each(|item| sum.add(&Self::of(item))),
            Kind::Object(members) => {
                for member in members {
                    sum.bytes += member.key.len();
                    sum.add(&Self::of(&member.value));
                }
            }
            _ => {}
        }
        if matches!(node.kind, Kind::Array(_) | Kind::Object(_)) {
            sum.height += 1;
        }
        sum
    }

    fn add(&mut self, part: &Self) {
        self.nodes += part.nodes;
        self.bytes += part.bytes;
        self.height = self.height.max(part.height);
    }
}

fn too_large(span: Span) -> Problem {
    let message = format!("the file holds more than {MAX_NODES} values, with aliases written out");
    Problem::new(Code::Yaml, span, message, "split it, or use fewer aliases")
}

/// The value of a scalar, by its tag, its quotes and its text.
fn scalar(text: &str, style: ScalarStyle, tag: Option<&Tag>, span: Span) -> Result<Node, Problem> {
    let tag = tag.map(|tag| tag.core_suffix().unwrap_or(tag.suffix()));
    let as_text = match tag {
        Some("int" | "float" | "bool" | "null") => false,
        // `!` alone makes a string; unknown tags do not affect the value.
        Some("str" | "" | "!") => true,
        _ => style != ScalarStyle::Plain,
    };
    if as_text {
        return Ok(Node::text(text.to_owned(), span));
    }
    let kind = match plain(text) {
        Plain::Null => Kind::Null,
        Plain::Bool(value) => Kind::Bool(value),
        Plain::Number(number) => Kind::Number(number),
        Plain::Text => return Ok(Node::text(text.to_owned(), span)),
        Plain::Unfit(why) => {
            let help = "put it in quotes if it is text";
            return Err(Problem::new(
                Code::Yaml,
                span,
                format!("invalid value `{text}`: {why}"),
                help,
            ));
        }
    };
    Ok(Node { kind, span })
}

fn place(text: &str, span: granit_parser::Span) -> Span {
    let offset = |marker: granit_parser::Marker| {
        let offset = marker.byte_offset().unwrap_or(text.len()).min(text.len());
        u32::try_from(offset).unwrap_or(u32::MAX)
    };
    Span {
        start: offset(span.start),
        end: offset(span.end),
    }
}

/// The error of the parser.
fn broken(text: &str, error: &granit_parser::ScanError) -> Problem {
    let marker = *error.marker();
    let span = place(text, granit_parser::Span::new(marker, marker));
    let before = text.part(..span.start as usize);
    let line_start = before.rfind('\n').map_or(0, |at| at + 1);
    let before = text.part(line_start..span.start as usize);
    let info = error.info();
    if info.contains("recursion limit") {
        return too_deep(span);
    }
    let help = if before.contains('\t') || text.part(span.start as usize..).starts_with('\t') {
        "indent with spaces; YAML does not take tabs"
    } else if info.contains("anchor") {
        "define the anchor with `&name` before its alias `*name`, or put the text in quotes"
    } else {
        "see whether the indentation is right, and put text with `: `, ` #`, `{`, `[`, `*`, `&`, `!`, `%`, `@` or quotes into quotes"
    };
    Problem::new(Code::Yaml, span, format!("this is not YAML: {info}"), help)
}
