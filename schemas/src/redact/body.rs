//! The walk over a JSON text: its grammar and its secrets in one pass.

mod pairs;
mod words;

use self::pairs::USER;
use super::edits::Rank;
use super::finder::{Finder, MAX_NESTING};
use super::lexer::Lexer;
use super::names::{Area, Class, Name, Role};
use super::rules::Rules;
use super::value::is_opaque;
use super::work;
use crate::json::{Invalid, MAX_DEPTH, Span, Text, unescape};
use crate::slices::{Part as _, PartMut as _};

/// An open container.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Frame {
    object: bool,
    /// Its members are schemas by name.
    schema_map: bool,
    /// It is part of the schema of a secret of this kind.
    schema: Option<&'static str>,
    /// All its strings are secret.
    all: Option<&'static str>,
    /// The string before was `--name` with a secret name.
    flag: Option<&'static str>,
    /// A string of this array was read.
    begun: bool,
    /// The first of its strings is this secret name.
    couple: Option<&'static str>,
    /// Another member of the object marks `value` as a secret.
    pair_name: Option<&'static str>,
    /// The position of `value`, until its name is known.
    pair_value: Option<Value>,
    /// It is such a value itself, and starts here.
    pair_start: Option<usize>,
    area: Area,
}

#[derive(Clone, Copy, Debug)]
enum Value {
    Text(Text),
    Other { start: usize, end: usize },
}

/// A secret container that is being skipped.
#[derive(Debug)]
struct Capture {
    depth: usize,
    start: usize,
    kind: &'static str,
}

/// One walk.
struct Walk<'f, 'r, 't> {
    finder: &'f mut Finder,
    rules: &'r Rules,
    lexer: Lexer<'t>,
    /// Strings around this text.
    depth: usize,
    /// The frames of outer walks end here.
    base: usize,
    /// The start of the current member or element.
    member: usize,
    name: Name,
    capture: Option<Capture>,
    /// The outline's next member: its name, and where its value begins.
    outlined: Option<(Text, usize)>,
}

impl Finder {
    /// Validates that `text` is one JSON value and notes its secrets. If it is not, the secrets
    /// noted so far remain, and so do the open containers until the next walk.
    pub(super) fn walk(&mut self, rules: &Rules, text: &[u8], depth: usize) -> Result<(), Invalid> {
        let (from, base) = (self.edits.len(), self.frames.len());
        let mut walk = self.start(rules, text, depth);
        let verdict = walk.run();
        work::read(walk.lexer.at);
        self.frames.truncate(base);
        self.edits.seal(text, from);
        verdict
    }

    /// A walk at the start of `text`.
    fn start<'w, 'r, 't>(
        &'w mut self,
        rules: &'r Rules,
        text: &'t [u8],
        depth: usize,
    ) -> Walk<'w, 'r, 't> {
        let base = self.frames.len();
        Walk {
            finder: self,
            rules,
            lexer: Lexer { text, at: 0 },
            depth,
            base,
            member: 0,
            name: Name::NONE,
            capture: None,
            outlined: None,
        }
    }

    /// Walks the beginning of a JSON text, up to its end or the first error, and returns how far
    /// its secrets are noted.
    pub(super) fn walk_front(&mut self, rules: &Rules, text: &[u8], depth: usize) -> usize {
        let (from, base) = (self.edits.len(), self.frames.len());
        let mut walk = self.start(rules, text, depth);
        let whole = walk.run().is_ok();
        work::read(walk.lexer.at);
        let mut reached = if whole { text.len() } else { walk.member };
        if let Some(capture) = walk.capture.take() {
            walk.finder
                .edits
                .value(capture.start..text.len(), capture.kind, 0);
            reached = text.len();
        }
        self.frames.truncate(base);
        self.edits.seal(text, from);
        reached
    }
}

impl Walk<'_, '_, '_> {
    fn run(&mut self) -> Result<(), Invalid> {
        if self.depth == 0 && self.base == 0 {
            self.finder.outline.clear();
        }
        loop {
            let opened = self.value()?;
            if !opened && self.after_value()? {
                return Ok(());
            }
        }
    }

    /// Whether the current member belongs to the outermost object.
    fn is_outermost(&self) -> bool {
        self.finder.frames.len() == 1 && self.depth == 0 && self.base == 0
    }

    /// Reads the start of a value; returns `true` if it opened a container with members.
    #[inline]
    fn value(&mut self) -> Result<bool, Invalid> {
        match self.lexer.next() {
            Some(b'"') => {
                let text = self.lexer.string()?;
                if self.capture.is_none() {
                    self.string(text);
                } else {
                    self.captured_string(text);
                }
                Ok(false)
            }
            Some(byte @ (b'{' | b'[')) => self.open(byte == b'{'),
            Some(b'-' | b'0'..=b'9') => {
                let span = self.lexer.number()?;
                self.scalar(span, true);
                Ok(false)
            }
            Some(byte @ (b't' | b'f' | b'n')) => {
                let span = self.lexer.literal(byte)?;
                self.scalar(span, false);
                Ok(false)
            }
            _ => Err(self.lexer.refuse()),
        }
    }

    /// Reads the text between two values; returns `true` at the end of the text.
    #[inline]
    fn after_value(&mut self) -> Result<bool, Invalid> {
        loop {
            let object = match self.finder.frames.part(self.base..).last() {
                Some(frame) => frame.object,
                None => {
                    return if self.lexer.next().is_none() {
                        self.finder.outline.end();
                        Ok(true)
                    } else {
                        Err(self.lexer.refuse())
                    };
                }
            };
            if let Some((name, start)) = self.outlined.take_if(|_| self.finder.frames.len() == 1) {
                let end = self.lexer.at;
                self.finder.outline.push(name, Span { start, end });
            }
            match self.lexer.next() {
                Some(b',') => {
                    self.lexer.at += 1;
                    if object {
                        self.key()?;
                    } else {
                        self.member = self.lexer.at;
                        self.name = Name::NONE;
                    }
                    return Ok(false);
                }
                Some(b'}') if object => self.close(),
                Some(b']') if !object => self.close(),
                _ => return Err(self.lexer.refuse()),
            }
        }
    }

    fn open(&mut self, object: bool) -> Result<bool, Invalid> {
        if self.finder.frames.len() - self.base == MAX_DEPTH {
            return Err(Invalid::TooDeep);
        }
        let start = self.lexer.at;
        self.lexer.at += 1;
        let close = if object { b'}' } else { b']' };
        let empty = self.lexer.next() == Some(close);
        let frame = if self.capture.is_some() || empty {
            Frame {
                object,
                ..Frame::default()
            }
        } else {
            self.frame(object, start)
        };
        self.finder.frames.push(frame);
        if empty {
            self.close();
            return Ok(false);
        }
        if object {
            self.key()?;
        } else {
            self.name = Name::NONE;
        }
        Ok(true)
    }

    /// The frame of a container with members that starts at `start`.
    fn frame(&mut self, object: bool, start: usize) -> Frame {
        let name = self.name;
        let parent = self.parent();
        let mut frame = Frame {
            object,
            ..Frame::default()
        };
        let (mut schema, mut all, mut secret, mut pair) = (None, None, None, false);
        if let Some(parent) = parent {
            frame.area = name.area.within(parent.area, object);
            schema = parent.schema;
            all = parent.all;
            secret = parent.pair_name.filter(|_| name.role == Role::PairValue);
            pair = name.role == Role::PairValue;
            if name.class == Class::Secret {
                let schema_map = parent.schema_map && object;
                if schema_map && self.begins_schema() {
                    frame.schema = Some(name.kind);
                    return frame;
                }
                secret = Some(name.kind);
            }
        }
        if let Some(kind) = secret {
            let depth = self.finder.frames.len();
            self.capture = Some(Capture { depth, start, kind });
            return frame;
        }
        frame.schema_map = object && name.role == Role::SchemaMap;
        frame.pair_start = pair.then_some(start);
        if !frame.schema_map {
            frame.schema = schema;
            let described = matches!(name.role, Role::SchemaWord);
            let in_array = parent.is_some_and(|parent| !parent.object);
            frame.all = all.or(schema.filter(|_| !described && !in_array));
        }
        frame
    }

    /// Whether the object whose first member is next is a JSON Schema.
    fn begins_schema(&mut self) -> bool {
        let mut ahead = Lexer {
            text: self.lexer.text,
            at: self.lexer.at,
        };
        let Ok(key) = ahead.key() else { return false };
        let name = self
            .finder
            .names
            .classify(key.span.of(ahead.text), &self.rules.custom);
        matches!(name.role, Role::SchemaWord | Role::SchemaMap)
            || key.span.of(ahead.text) == b"default"
    }

    fn close(&mut self) {
        self.lexer.at += 1;
        let end = self.lexer.at;
        let Some(frame) = self.finder.frames.pop() else {
            return;
        };
        if let Some(capture) = self
            .capture
            .take_if(|capture| capture.depth == self.finder.frames.len())
        {
            self.finder.edits.value(capture.start..end, capture.kind, 0);
        }
        if let Some(start) = frame.pair_start
            && let Some(parent) = self.parent_mut()
        {
            parent.pair_value = Some(Value::Other { start, end });
        }
    }

    #[inline]
    fn key(&mut self) -> Result<(), Invalid> {
        self.member = self.lexer.at;
        let key = self.lexer.key()?;
        if self.is_outermost() {
            self.outlined = Some((key, self.lexer.at));
        }
        if self.capture.is_some() {
            return Ok(());
        }
        let source = key.span.of(self.lexer.text);
        if key.escaped
            || source.len() >= self.rules.shortest_token
            || self.finder.learned.may_stand_in(source)
        {
            self.odd_key(key);
        } else {
            self.name = self.finder.names.classify(source, &self.rules.custom);
        }
        Ok(())
    }

    /// A name that has escapes, or is long enough to hold a secret itself.
    fn odd_key(&mut self, key: Text) {
        let rules = self.rules;
        let name = self.with_meaning(key, |finder, meaning| {
            let from = finder.edits.len();
            finder.tokens(rules, meaning);
            let tokens = finder.edits.since(from);
            if tokens.iter().all(|edit| edit.rank == Rank::Value) {
                finder.names.classify(meaning, &rules.custom)
            } else {
                Name::NONE
            }
        });
        self.name = name;
    }

    #[inline]
    fn string(&mut self, text: Text) {
        let name = self.name;
        let source = text.span.of(self.lexer.text);
        if let Some(kind) = self.secret_kind(text, name) {
            return self.secret_string(text, kind);
        }
        if name.class == Class::Weak && is_opaque(source) {
            return self.secret_string(text, name.kind);
        }
        match name.role {
            Role::PairName => self.pair_name(text),
            Role::PairValue => {
                if let Some(parent) = self.parent_mut() {
                    parent.pair_value = Some(Value::Text(text));
                }
            }
            Role::Blob if self.blob(text) => return,
            _ if source.starts_with(b"-") && self.option(text) => return,
            _ => {}
        }
        if source.len() >= self.rules.shortest {
            let (rules, depth) = (self.rules, self.depth + 1);
            let place = self.place(name);
            self.with_meaning(text, |finder, meaning| {
                let around = std::mem::replace(&mut finder.place, place);
                let from = finder.edits.len();
                finder.free_text(rules, meaning, depth);
                finder.place = around;
                if name.role == Role::Told {
                    finder.told(rules, meaning, 0..meaning.len());
                    finder.edits.settle(meaning, from);
                }
            });
        }
    }

    /// The kind of a string that is secret because of its place.
    #[inline]
    fn secret_kind(&mut self, text: Text, name: Name) -> Option<&'static str> {
        if name.class == Class::Secret {
            return Some(name.kind);
        }
        let parent = self.parent_mut()?;
        if parent.object {
            if name.role == Role::PairValue && parent.pair_name.is_some() {
                return parent.pair_name;
            }
            let described = matches!(name.role, Role::SchemaWord | Role::SchemaMap);
            return parent.all.or(parent.schema.filter(|_| !described));
        }
        let first = !std::mem::replace(&mut parent.begun, true);
        let (flag, couple, all) = (parent.flag.take(), parent.couple.take(), parent.all);
        flag.or(all).or_else(|| self.couple(text, first, couple))
    }

    fn secret_string(&mut self, text: Text, kind: &'static str) {
        let rules = self.rules;
        if kind == USER {
            return self.user(text);
        }
        self.with_meaning(text, |finder, meaning| {
            let from = finder.edits.len();
            finder.named(rules, meaning, 0..meaning.len(), kind);
            // A scheme word, or the name of a cookie, may contain a secret.
            finder.tokens(rules, meaning);
            finder.edits.settle(meaning, from);
        });
    }

    /// A string inside a container that is replaced as a whole.
    fn captured_string(&mut self, text: Text) {
        let kind = self.capture.as_ref().map(|capture| capture.kind);
        self.with_meaning(text, |finder, meaning| {
            finder.learn(meaning, kind.unwrap_or_default());
        });
    }

    #[inline]
    fn scalar(&mut self, span: Span, number: bool) {
        if self.capture.is_some() {
            return;
        }
        let name = self.name;
        let Span { start, end } = span;
        if name.class == Class::Open
            && name.role == Role::Other
            && !(number && self.rules.has_numbers)
        {
            return;
        }
        let source = span.of(self.lexer.text);
        if source == b"null" {
            return;
        }
        let Some(parent) = self.parent_mut() else {
            return;
        };
        let schema = parent.schema_map && !number;
        let paired = parent.pair_name.filter(|_| name.role == Role::PairValue);
        if name.role == Role::PairValue {
            parent.pair_value = Some(Value::Other { start, end });
        }
        let data = number && name.numbers_are_data || schema;
        let named = name.class == Class::Secret && !data;
        let weak = name.class == Class::Weak && number && is_opaque(source);
        let kind = if named || weak {
            Some(name.kind)
        } else {
            paired
        };
        if let Some(kind) = kind.or_else(|| self.configured(source, name)) {
            self.finder.edits.value(start..end, kind, 0);
        }
    }

    /// Calls `search` with the value of a string and maps its findings to the source.
    #[inline]
    fn with_meaning<T>(&mut self, text: Text, search: impl FnOnce(&mut Finder, &[u8]) -> T) -> T {
        let source = text.span.of(self.lexer.text);
        let from = self.finder.edits.len();
        if !text.escaped {
            let found = search(self.finder, source);
            self.finder.edits.lift(from, source, None, text.span.start);
            return found;
        }
        let level = self.depth.min(MAX_NESTING);
        let mut meaning = self.finder.buffer(level);
        unescape(source, &mut meaning);
        let found = search(self.finder, &meaning);
        self.finder
            .edits
            .lift(from, source, Some(&meaning), text.span.start);
        self.finder.give_back(level, meaning);
        found
    }

    fn parent(&self) -> Option<Frame> {
        self.finder.frames.part(self.base..).last().copied()
    }

    #[inline]
    fn parent_mut(&mut self) -> Option<&mut Frame> {
        self.finder.frames.part_mut(self.base..).last_mut()
    }
}
