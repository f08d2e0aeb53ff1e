//! YAML, by the marks of `granit-parser`.

use std::ops::Range;

use granit_parser::{Event, Parser, ScalarStyle, StructureStyle};

use super::{Tree, Unreadable};
use crate::node::{Content, Layout, MAX_DEPTH, Map, Member, Node, Obstacle};

/// Reads a text.
pub(super) fn read(text: &str) -> Result<Tree, Unreadable> {
    let options = granit_parser::options! {
        flow_nesting_limit: MAX_DEPTH,
        block_nesting_limit: MAX_DEPTH,
    };
    let mut builder = Builder::default();
    for event in Parser::new_from_str_with_options(text, options) {
        let (event, span) = event.map_err(|error| {
            let at = error.marker().byte_offset().unwrap_or(text.len());
            Unreadable::at(text, at, error.info())
        })?;
        let offset = |marker: granit_parser::Marker| {
            let offset = marker.byte_offset().unwrap_or(text.len());
            offset.min(text.len())
        };
        let span = offset(span.start)..offset(span.end);
        builder
            .event(&event, span.clone())
            .map_err(|what| Unreadable::at(text, span.start, what))?;
    }
    let empty = || Node::new(0..0, Content::Other);
    Ok(Tree {
        root: builder.root.unwrap_or_else(empty),
        comments: Vec::new(),
    })
}

#[derive(Default)]
struct Builder {
    frames: Vec<Frame>,
    root: Option<Node>,
    documents: usize,
}

/// A collection whose end is still to come.
struct Frame {
    start: Range<usize>,
    is_flow: bool,
    held: Option<Obstacle>,
    parts: Parts,
}

enum Parts {
    List(Vec<Node>),
    Map {
        members: Vec<Member>,
        key: Option<(String, Range<usize>)>,
        has_merge: bool,
    },
}

impl Builder {
    fn event(&mut self, event: &Event<'_>, span: Range<usize>) -> Result<(), &'static str> {
        match event {
            Event::DocumentStart(..) => {
                self.documents += 1;
                if self.documents > 1 {
                    return Err("more than one document");
                }
            }
            Event::Scalar(text, style, anchor, tag) => {
                let held = held(*anchor, tag.is_some()).or(match style {
                    ScalarStyle::Literal | ScalarStyle::Folded => Some(Obstacle::Block),
                    _ => None,
                });
                if !self.key(text, &span) {
                    let kind = scalar(text, *style);
                    self.place(Node { span, kind, held });
                }
            }
            Event::Alias(_) => {
                let kind = Content::Other;
                let held = Some(Obstacle::Alias);
                if self.wants_key() {
                    return Err("a name may not be an alias here");
                }
                self.place(Node { span, kind, held });
            }
            Event::SequenceStart(style, anchor, tag) => {
                let parts = Parts::List(Vec::new());
                self.open(*style, held(*anchor, tag.is_some()), span, parts)?;
            }
            Event::MappingStart(style, anchor, tag) => {
                let parts = Parts::Map {
                    members: Vec::new(),
                    key: None,
                    has_merge: false,
                };
                self.open(*style, held(*anchor, tag.is_some()), span, parts)?;
            }
            Event::SequenceEnd | Event::MappingEnd => {
                if let Some(frame) = self.frames.pop() {
                    self.place(frame.close(&span));
                }
            }
            _ => {}
        }
        Ok(())
    }

    fn wants_key(&self) -> bool {
        let parts = self.frames.last().map(|frame| &frame.parts);
        matches!(parts, Some(Parts::Map { key: None, .. }))
    }

    /// Handles a scalar as the name of a member, if one is next.
    fn key(&mut self, text: &str, span: &Range<usize>) -> bool {
        let Some(Frame {
            parts:
                Parts::Map {
                    key: key @ None,
                    has_merge,
                    ..
                },
            ..
        }) = self.frames.last_mut()
        else {
            return false;
        };
        *has_merge |= text == "<<";
        *key = Some((text.to_owned(), span.clone()));
        true
    }

    fn open(
        &mut self,
        style: StructureStyle,
        held: Option<Obstacle>,
        start: Range<usize>,
        parts: Parts,
    ) -> Result<(), &'static str> {
        if self.wants_key() {
            return Err("a name may not be a collection here");
        }
        if self.frames.len() >= MAX_DEPTH {
            return Err("nested too deeply");
        }
        let is_flow = style == StructureStyle::Flow;
        self.frames.push(Frame {
            start,
            is_flow,
            held,
            parts,
        });
        Ok(())
    }

    fn place(&mut self, value: Node) {
        match self.frames.last_mut().map(|frame| &mut frame.parts) {
            None => self.root = Some(value),
            Some(Parts::List(items)) => items.push(value),
            Some(Parts::Map { members, key, .. }) => {
                if let Some((key, key_span)) = key.take() {
                    members.push(Member {
                        key,
                        key_span,
                        value,
                    });
                }
            }
        }
    }
}

impl Frame {
    /// The whole collection. A block collection begins with its first part, or with the `-` before
    /// it, and ends with its last.
    fn close(self, end: &Range<usize>) -> Node {
        let (kind, last, has_merge) = match self.parts {
            Parts::List(items) => {
                let last = items.last().map(|item| item.span.end);
                (Content::List(items), last, false)
            }
            Parts::Map {
                members, has_merge, ..
            } => {
                let last = members.last();
                let last = last.map(|last| last.value.span.end.max(last.key_span.end));
                let layout = if self.is_flow {
                    Layout::YamlFlow
                } else {
                    Layout::YamlLines
                };
                (Content::Map(Map { members, layout }), last, has_merge)
            }
        };
        let end = match last {
            Some(last) if !self.is_flow => last,
            _ => end.end,
        };
        let span = self.start.start..end.max(self.start.start);
        let held = self.held.or(has_merge.then_some(Obstacle::Merge));
        Node { span, kind, held }
    }
}

fn held(anchor: usize, has_tag: bool) -> Option<Obstacle> {
    if anchor != 0 {
        Some(Obstacle::Anchor)
    } else {
        has_tag.then_some(Obstacle::Tag)
    }
}

/// A plain scalar that is a number is an argument like any other, and an empty one is not an
/// argument.
fn scalar(text: &str, style: ScalarStyle) -> Content {
    let is_nothing = matches!(text, "" | "~" | "null" | "Null" | "NULL");
    if style == ScalarStyle::Plain && is_nothing {
        Content::Other
    } else {
        Content::Text(text.to_owned())
    }
}
