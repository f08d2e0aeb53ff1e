//! How a further member is written after a value.

use std::ops::Range;

use tapewright_schemas::slices::Part as _;

use crate::document::Document;
use crate::edit::quoted;
use crate::node::{Layout, Map};
use crate::refusal::RefusalReason;

impl Document<'_> {
    /// The text between a value and that of the next member, whose name is `key`. `before` is the
    /// position of the first member's name.
    pub(crate) fn behind(
        &self,
        map: &Map,
        before: &Range<usize>,
        key: &str,
    ) -> Result<String, RefusalReason> {
        let end = self.line_end();
        Ok(match map.layout {
            Layout::Json => format!(",{}{}: ", self.lead(before), quoted(key)),
            Layout::YamlLines => {
                let column = self.line_start(before).chars().count();
                format!("{end}{}{key}: ", " ".repeat(column))
            }
            Layout::YamlFlow => format!(", {key}: "),
            Layout::TomlInline => format!(", {key} = "),
            Layout::TomlLines => {
                let line = self.line_start(before);
                let indent: String = line
                    .chars()
                    .take_while(|char| " \t".contains(*char))
                    .collect();
                format!("{end}{indent}{key} = ")
            }
            Layout::TomlDotted => return Err(RefusalReason::Dotted),
        })
    }

    /// The name of a member with the separator before its value.
    pub(crate) fn named(map: &Map, key: &str) -> Result<String, RefusalReason> {
        Ok(match map.layout {
            Layout::Json => format!("{}: ", quoted(key)),
            Layout::YamlLines | Layout::YamlFlow => format!("{key}: "),
            Layout::TomlInline | Layout::TomlLines => format!("{key} = "),
            Layout::TomlDotted => return Err(RefusalReason::Dotted),
        })
    }

    /// The line up to a place.
    fn line_start(&self, place: &Range<usize>) -> &str {
        let front = self.body.part(..place.start);
        front.rsplit('\n').next().unwrap_or_default()
    }

    /// The white space before a name in JSON, from the end of the line before.
    fn lead(&self, place: &Range<usize>) -> String {
        let line = self.line_start(place);
        if line.trim().is_empty() && place.start > line.len() {
            format!("{}{line}", self.line_end())
        } else {
            " ".to_owned()
        }
    }
}
