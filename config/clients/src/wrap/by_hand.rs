//! The change to make by hand, if it cannot be made automatically.

use crate::document::Document;
use crate::edit::quoted;
use crate::refusal::{Refusal, RefusalReason};
use crate::shape::Command;

use super::RecordOptions;

impl Document<'_> {
    /// A refusal with the change to make by hand. It does not repeat contents of the file.
    pub(super) fn refusal(&self, why: RefusalReason, how: &RecordOptions) -> Refusal {
        let is_of_text = matches!(
            why,
            RefusalReason::Twice(_)
                | RefusalReason::BadType(_)
                | RefusalReason::NotReplaceable(_)
                | RefusalReason::Dotted
                | RefusalReason::Unsure
        );
        let by_hand = if is_of_text {
            self.by_hand(how)
        } else {
            Vec::new()
        };
        Refusal { why, by_hand }
    }

    fn by_hand(&self, how: &RecordOptions) -> Vec<String> {
        let options: Vec<String> = how.options.iter().map(|option| quoted(option)).collect();
        let words = [
            vec![quoted("record")],
            options,
            vec![quoted("--"), "…".to_owned()],
        ];
        let words = words.concat().join(", ");
        let program = quoted(&how.program);
        match self.client.shape.command {
            Command::Pair {
                program: member,
                arguments,
            } => vec![
                format!("set `{member}` to {program}"),
                format!("set `{arguments}` to [{words}]"),
                format!("where `…` is what `{member}` and `{arguments}` say now"),
            ],
            Command::List(member) => vec![
                format!("set `{member}` to [{program}, {words}]"),
                format!("where `…` is what `{member}` says now"),
            ],
        }
    }
}
