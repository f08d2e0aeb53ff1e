//! Finding the request that carried out a tool use.

use std::collections::HashMap;

use super::done::ToolCall;
use super::name::{means, names_server};
use super::{How, TOLERANCE_US, Use};

/// For each use the index in `done` of the request that carried it out; `done` is in order.
pub(super) fn all(uses: &[Use], done: &[ToolCall]) -> Vec<Option<(usize, How)>> {
    let mut finding = Finding {
        uses,
        done,
        found: vec![None; uses.len()],
        is_taken: vec![false; done.len()],
    };
    finding.by_id();
    finding.by_rest(Fit::Arguments);
    finding.by_rest(Fit::Name);
    finding.found
}

/// What must match in addition to name and time.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Fit {
    Arguments,
    Name,
}

struct Finding<'a> {
    uses: &'a [Use],
    done: &'a [ToolCall],
    found: Vec<Option<(usize, How)>>,
    is_taken: Vec<bool>,
}

impl Finding<'_> {
    fn by_id(&mut self) {
        let with_ids = self.uses.iter().enumerate();
        let by_id: HashMap<&str, usize> = with_ids
            .filter_map(|(at, one)| Some((one.id.as_deref()?, at)))
            .collect();
        for (at, call) in self.done.iter().enumerate() {
            let mut marks = call.marks.iter();
            let meant = marks.find_map(|mark| by_id.get(mark.as_str()).copied());
            // A retry has the same id; the first request is the one that was requested.
            if let Some(meant) = meant
                && self.found.get(meant) == Some(&None)
            {
                self.take(meant, at, How::Id);
            }
        }
    }

    fn by_rest(&mut self, fit: Fit) {
        for (place, one) in self.uses.iter().enumerate() {
            if self.found.get(place) != Some(&None) {
                continue;
            }
            let fits = |(at, call): &(usize, &ToolCall)| {
                self.is_taken.get(*at) == Some(&false) && is_fit(one, call, fit)
            };
            let fitting: Vec<_> = self.done.iter().enumerate().filter(fits).collect();
            let is_named =
                |(_, call): &&(usize, &ToolCall)| names_server(&one.name, &call.tool, &call.server);
            let best = fitting.iter().find(is_named).or_else(|| fitting.first());
            let Some((at, call)) = best.copied() else {
                continue;
            };
            let how = match fit {
                Fit::Name => How::Name,
                Fit::Arguments if fitting.len() > 1 || self.has_rival(place, call) => How::Order,
                Fit::Arguments => How::Arguments,
            };
            self.take(place, at, how);
        }
    }

    /// Whether another use could also have been meant.
    fn has_rival(&self, place: usize, call: &ToolCall) -> bool {
        let mut all = self.uses.iter().enumerate();
        all.any(|(at, one)| {
            let is_free = !matches!(self.found.get(at), Some(Some((_, How::Id))));
            at != place && is_free && is_fit(one, call, Fit::Arguments)
        })
    }

    fn take(&mut self, place: usize, at: usize, how: How) {
        if let (Some(found), Some(taken)) = (self.found.get_mut(place), self.is_taken.get_mut(at)) {
            *found = Some((at, how));
            *taken = true;
        }
    }
}

fn is_fit(one: &Use, call: &ToolCall, fit: Fit) -> bool {
    let until = one.until_us.unwrap_or(u64::MAX);
    call.at_us.saturating_add(TOLERANCE_US) >= one.from_us
        && call.at_us <= until.saturating_add(TOLERANCE_US)
        && (fit == Fit::Name || one.arguments == call.arguments)
        && means(&one.name, &call.tool)
}
