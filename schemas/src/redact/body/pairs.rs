//! Names that stand beside their values: `"--name", "value"` and `"name": …, "value": …`.

use super::{Frame, Value, Walk};
use crate::json::Text;
use crate::redact::names::Class;

impl Walk<'_, '_, '_> {
    /// `"--name"` in an array: the string after it is its value.
    pub(super) fn flag(&mut self, source: &[u8]) {
        let Some(parent) = self
            .finder
            .frames
            .get_mut(self.base..)
            .and_then(<[Frame]>::last_mut)
        else {
            return;
        };
        let name = self.finder.names.classify(source, &self.rules.custom);
        if !parent.object && name.class == Class::Secret && !source.contains(&b'=') {
            parent.flag = Some(name.kind);
        }
    }

    /// `"name": "Authorization"`: the member `value` beside it is secret.
    pub(super) fn pair_name(&mut self, text: Text) {
        let source = text.span.of(self.lexer.text);
        if source.len() > LONGEST_PAIR_NAME {
            return;
        }
        let name = self.finder.names.classify(source, &self.rules.custom);
        if name.class != Class::Secret {
            return;
        }
        let Some(parent) = self.parent_mut() else {
            return;
        };
        parent.pair_name = Some(name.kind);
        match parent.pair_value.take() {
            Some(Value::Text(value)) => self.secret_string(value, name.kind),
            Some(Value::Other { start, end }) => self.finder.edits.value(start..end, name.kind, 0),
            None => {}
        }
    }
}

/// Names of headers and variables are short.
const LONGEST_PAIR_NAME: usize = 96;
