//! Restoring the original entry.

use std::ops::Range;

use crate::document::Document;
use crate::edit::{Edit, in_order};
use crate::format::Format;
use crate::node::{Map, Member, Node};
use crate::refusal::RefusalReason;
use crate::wrap::{OriginalEntry, Part, Slice};

/// The result of unwrapping.
#[derive(Debug, PartialEq, Eq)]
pub struct Restored {
    /// The changes to the file.
    pub edits: Vec<Edit>,
}

impl Document<'_> {
    /// Returns the edits that restore the original slices of a server.
    ///
    /// # Errors
    ///
    /// [`RefusalReason::Edited`] if the wrapped entry was changed since; the rest of the file may
    /// have changed. A client may also have reformatted the JSON.
    pub fn unwrap(&self, kept: &OriginalEntry) -> Result<Restored, RefusalReason> {
        let entry = self.entry(&kept.name)?;
        let mut edits = Vec::new();
        for slice in &kept.slices {
            let range = self.locate(entry.node, slice)?;
            edits.push(self.edit(&range, slice.original.clone()));
        }
        let edits = in_order(edits).ok_or(RefusalReason::Unsure)?;
        Ok(Restored { edits })
    }

    /// The current position of the recorder's slice.
    fn locate(&self, node: &Node, slice: &Slice) -> Result<Range<usize>, RefusalReason> {
        let edited = || {
            let first = slice.members.first().map(|(name, _)| name.clone());
            RefusalReason::Edited(first.unwrap_or_default())
        };
        let mut node = node;
        for step in &slice.path {
            let member = node.map().map(|map| map.get(step)).transpose()?.flatten();
            node = &member.ok_or_else(edited)?.value;
        }
        let map = node.map().ok_or_else(edited)?;
        let members = Self::unchanged(map, slice)?;
        let (Some(first), Some(last)) = (members.first(), members.last()) else {
            return Err(edited());
        };
        let start = match slice.from {
            Part::Key => first.key_span.start,
            Part::KeyEnd => first.key_span.end,
            Part::Value => first.value.span.start,
        };
        let range = start..last.value.span.end;
        if self.slice(&range) == slice.ours || self.is_laid_out_anew(&members, &range) {
            Ok(range)
        } else {
            Err(edited())
        }
    }

    /// The members of the recorder's slice, which still have the values that it wrote.
    fn unchanged<'d>(map: &'d Map, slice: &Slice) -> Result<Vec<&'d Member>, RefusalReason> {
        let each = slice.members.iter().map(|(name, meaning)| {
            let member = map.get(name)?;
            let member = member.filter(|member| meaning.is_of(&member.value));
            member.ok_or_else(|| RefusalReason::Edited(name.clone()))
        });
        each.collect()
    }

    /// Whether a range contains only these members, with any white space.
    fn is_laid_out_anew(&self, members: &[&Member], range: &Range<usize>) -> bool {
        if self.format != Format::Json {
            return false;
        }
        let comments = &self.tree.comments;
        let has_comment = comments
            .iter()
            .any(|comment| comment.start < range.end && range.start < comment.end);
        let is_gap = |(first, second): (&&Member, &&Member)| {
            let gap = first.value.span.end..second.key_span.start;
            first.value.span.end <= second.key_span.start
                && self.slice(&gap).trim_matches([' ', '\t', '\r', '\n']) == ","
        };
        let pairs = members.iter().zip(members.iter().skip(1));
        !has_comment && pairs.into_iter().all(is_gap)
    }
}
