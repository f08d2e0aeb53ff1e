//! Statistics about files that are known before opening them, in the engine's form, for excluding
//! files.

use std::collections::{BTreeSet, HashSet};
use std::sync::Arc;

use datafusion::arrow::array::{
    ArrayRef, BooleanArray, StringViewArray, TimestampMicrosecondArray,
};
use datafusion::common::pruning::PruningStatistics;
use datafusion::common::{Column, ScalarValue};

use crate::columns::UTC;
use crate::source::{File, Named, Tape};

/// What is known about the rows of one file, or of one tape. `None` is unknown.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Known<'a> {
    gateway: &'a str,
    tape: &'a str,
    label: Option<&'a str>,
    first_us: Option<i64>,
    last_us: Option<i64>,
    tools: Option<&'a BTreeSet<String>>,
}

impl<'a> Known<'a> {
    /// From the name of a tape.
    pub(crate) fn of_name(name: &'a Named) -> Self {
        Self {
            gateway: &name.gateway,
            tape: &name.tape,
            label: None,
            first_us: name.from_us,
            last_us: None,
            tools: None,
        }
    }

    /// From the facts about a file in its entry.
    pub(crate) fn of_file(tape: &'a Tape, file: &'a File) -> Self {
        Self {
            gateway: &tape.gateway,
            tape: &tape.tape,
            label: Some(&tape.label),
            first_us: file.first_us,
            last_us: file.last_us,
            tools: file.tools.as_ref(),
        }
    }

    /// The least and the greatest text of a column, if known.
    fn texts(&self, column: &str) -> Option<(&'a str, &'a str)> {
        let one = match column {
            "gateway" => Some(self.gateway),
            "tape" => Some(self.tape),
            "label" => self.label,
            "tool" => {
                let tools = self.tools?;
                return Some((tools.first()?.as_str(), tools.last()?.as_str()));
            }
            _ => None,
        };
        one.map(|text| (text, text))
    }

    /// Whether a column may have one of these values.
    fn may_have(&self, column: &str, values: &HashSet<ScalarValue>) -> bool {
        let mut texts = values
            .iter()
            .filter_map(|value| value.try_as_str().flatten());
        match (column, self.tools) {
            ("tool", Some(tools)) => texts.any(|text| tools.contains(text)),
            ("tool", None) => true,
            _ => match self.texts(column) {
                Some((one, _)) => texts.any(|text| text == one),
                None => true,
            },
        }
    }
}

/// The statistics of several files.
pub(crate) struct All<'a>(pub(crate) Vec<Known<'a>>);

impl All<'_> {
    fn bounds(&self, column: &Column, is_least: bool) -> Option<ArrayRef> {
        let name = column.name();
        match name {
            "gateway" | "tape" | "label" | "tool" => {
                let text = |one: &Known<'_>| {
                    let (least, greatest) = one.texts(name)?;
                    Some(if is_least { least } else { greatest }.to_owned())
                };
                let texts: StringViewArray = self.0.iter().map(text).collect();
                Some(Arc::new(texts))
            }
            "at" => {
                let time = |one: &Known<'_>| if is_least { one.first_us } else { one.last_us };
                let times: TimestampMicrosecondArray = self.0.iter().map(time).collect();
                Some(Arc::new(times.with_timezone(UTC)))
            }
            _ => None,
        }
    }
}

impl PruningStatistics for All<'_> {
    fn min_values(&self, column: &Column) -> Option<ArrayRef> {
        self.bounds(column, true)
    }

    fn max_values(&self, column: &Column) -> Option<ArrayRef> {
        self.bounds(column, false)
    }

    fn num_containers(&self) -> usize {
        self.0.len()
    }

    fn null_counts(&self, _column: &Column) -> Option<ArrayRef> {
        None
    }

    fn row_counts(&self) -> Option<ArrayRef> {
        None
    }

    // Never reports that a file has only such values: that would gain nothing, and would be wrong
    // if there are nulls.
    fn contained(&self, column: &Column, values: &HashSet<ScalarValue>) -> Option<BooleanArray> {
        let name = column.name();
        if !matches!(name, "gateway" | "tape" | "label" | "tool") {
            return None;
        }
        let contained = |one: &Known<'_>| (!one.may_have(name, values)).then_some(false);
        Some(self.0.iter().map(contained).collect())
    }
}
