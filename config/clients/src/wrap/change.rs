//! The changes to the parts of an entry.

use std::ops::Range;

use crate::document::{Document, Process};
use crate::node::{Content, Layout, Map, Member, Node};
use crate::refusal::RefusalReason;
use crate::shape::Command;

use super::{Meaning, Part, RecordOptions};

/// A part of the body to be replaced.
pub(super) struct Change {
    pub(super) range: Range<usize>,
    pub(super) new: String,
    pub(super) path: Vec<String>,
    pub(super) from: Part,
    pub(super) members: Vec<(String, Meaning)>,
}

impl Document<'_> {
    /// The one member with a URL.
    pub(super) fn remote<'d>(&self, node: &'d Node) -> Result<Option<&'d Member>, RefusalReason> {
        let Some(map) = node.map() else {
            return Ok(None);
        };
        let mut found: Option<&Member> = None;
        for url in self.client.shape.urls {
            match (map.get(url)?, found) {
                (Some(member), Some(first)) => {
                    return Err(RefusalReason::Both(first.key.clone(), member.key.clone()));
                }
                (Some(member), None) => found = Some(member),
                (None, _) => {}
            }
        }
        if let Some(member) = found
            && member.value.text().is_none()
        {
            return Err(held_or(&member.value, || {
                RefusalReason::BadType(member.key.clone())
            }));
        }
        Ok(found)
    }

    pub(super) fn process_changes(
        &self,
        process: &Process<'_>,
        how: &RecordOptions,
    ) -> Result<Vec<Change>, RefusalReason> {
        let mut arguments = vec!["record".to_owned()];
        arguments.extend(how.options.iter().cloned());
        arguments.push("--".to_owned());
        arguments.extend(process.words.iter().cloned());
        match process.command {
            Command::List(name) => {
                let member = Self::free(process, name)?;
                arguments.insert(0, how.program.clone());
                let meaning = Meaning::List(arguments);
                Ok(vec![self.replaced(process, member, meaning)])
            }
            Command::Pair {
                program,
                arguments: list,
            } => {
                let member = Self::free(process, program)?;
                let meaning = Meaning::Text(how.program.clone());
                let mut first = self.replaced(process, member, meaning);
                let meaning = Meaning::List(arguments);
                if process.map.get(list)?.is_some() {
                    let member = Self::free(process, list)?;
                    return Ok(vec![first, self.replaced(process, member, meaning)]);
                }
                first.new += &self.behind(process.map, &member.key_span, list)?;
                first.new += &meaning.written();
                first.members.push((list.to_owned(), meaning));
                Ok(vec![first])
            }
        }
    }

    /// A member that is there and can be replaced alone.
    fn free<'d>(process: &Process<'d>, name: &str) -> Result<&'d Member, RefusalReason> {
        let member = process.map.get(name)?.ok_or(RefusalReason::NoProcess)?;
        match member.value.held_within() {
            Some(held) => Err(RefusalReason::NotReplaceable(held)),
            None => Ok(member),
        }
    }

    /// A value that becomes another one.
    fn replaced(&self, process: &Process<'_>, member: &Member, meaning: Meaning) -> Change {
        let mut change = Change {
            range: member.value.span.clone(),
            new: meaning.written(),
            path: process.path.clone(),
            from: Part::Value,
            members: vec![(member.key.clone(), meaning)],
        };
        let is_yaml = matches!(process.map.layout, Layout::YamlLines | Layout::YamlFlow);
        let is_list = matches!(member.value.kind, Content::List(_));
        if is_yaml && is_list && !self.slice(&change.range).starts_with('[') {
            // Lines with dashes may be indented no deeper than the name, where brackets may not.
            change.range.start = member.key_span.end;
            change.new = format!(": {}", change.new);
            change.from = Part::KeyEnd;
        }
        change
    }

    pub(super) fn remote_changes(
        &self,
        node: &Node,
        url: &Member,
        how: &RecordOptions,
    ) -> Result<Vec<Change>, RefusalReason> {
        let map = node.map().ok_or(RefusalReason::NoProcess)?;
        if let Some(held) = url.value.held_within() {
            return Err(RefusalReason::NotReplaceable(held));
        }
        let value = url.value.text().unwrap_or_default().to_owned();
        if let Some(gateway) = &how.gateway {
            let meaning = Meaning::Text(gateway.clone());
            return Ok(vec![Change {
                range: url.value.span.clone(),
                new: meaning.written(),
                path: Vec::new(),
                from: Part::Value,
                members: vec![(url.key.clone(), meaning)],
            }]);
        }
        for name in self.client.shape.credentials {
            if map
                .get(name)?
                .is_some_and(|member| member.value.is_filled())
            {
                return Err(RefusalReason::Credentials((*name).to_owned()));
            }
        }
        let mut arguments = vec!["record".to_owned()];
        arguments.extend(how.options.iter().cloned());
        arguments.extend(["--upstream".to_owned(), value]);
        let mut changes: Vec<Change> = self.kind_change(node)?.into_iter().collect();
        changes.push(self.bridge(map, url, how, arguments)?);
        Ok(changes)
    }

    /// The URL, which becomes a command.
    fn bridge(
        &self,
        map: &Map,
        url: &Member,
        how: &RecordOptions,
        mut arguments: Vec<String>,
    ) -> Result<Change, RefusalReason> {
        let mut members = Vec::new();
        let mut new = Self::named(map, self.client.shape.command.member())?;
        match self.client.shape.command {
            Command::List(name) => {
                arguments.insert(0, how.program.clone());
                let meaning = Meaning::List(arguments);
                new += &meaning.written();
                members.push((name.to_owned(), meaning));
            }
            Command::Pair {
                program,
                arguments: list,
            } => {
                let first = Meaning::Text(how.program.clone());
                let second = Meaning::List(arguments);
                new += &first.written();
                new += &self.behind(map, &url.key_span, list)?;
                new += &second.written();
                members.extend([(program.to_owned(), first), (list.to_owned(), second)]);
            }
        }
        Ok(Change {
            range: url.key_span.start..url.value.span.end,
            new,
            path: Vec::new(),
            from: Part::Key,
            members,
        })
    }

    /// The change to the member that defines the transport.
    fn kind_change(&self, node: &Node) -> Result<Option<Change>, RefusalReason> {
        let (Some(kind), Some(map)) = (self.client.shape.kind, node.map()) else {
            return Ok(None);
        };
        let Some(member) = map.get(kind.member)? else {
            return Ok(None);
        };
        if let Some(held) = member.value.held_within() {
            return Err(RefusalReason::NotReplaceable(held));
        }
        let meaning = Meaning::Text(kind.process.to_owned());
        Ok(Some(Change {
            range: member.value.span.clone(),
            new: meaning.written(),
            path: Vec::new(),
            from: Part::Value,
            members: vec![(kind.member.to_owned(), meaning)],
        }))
    }
}

fn held_or(node: &Node, why: impl FnOnce() -> RefusalReason) -> RefusalReason {
    node.held.map_or_else(why, RefusalReason::NotReplaceable)
}
