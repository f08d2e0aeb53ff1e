//! Names next to their values: `"--name", "value"`, `["name", "value"]` and `"name": …, "value":
//! …`.

use memchr::memmem;

use super::{Value, Walk};
use crate::json::Text;
use crate::redact::argv::user_password;
use crate::redact::names::Class;
use crate::redact::value::is_opaque;
use crate::slices::PartMut as _;

impl Walk<'_, '_, '_> {
    /// An option in an array: `"--name"`, whose value is the next string, or one of curl's that
    /// contains a password; returns `true` if it is fully handled.
    pub(super) fn option(&mut self, text: Text) -> bool {
        let source = text.span.of(self.lexer.text);
        if let Some(value) = user_option(source).filter(|_| self.is_of_curl(text.span.start)) {
            if !value.is_empty() {
                self.user(text);
                return true;
            }
            self.set_flag(USER);
        } else if source.starts_with(b"--") && !source.contains(&b'=') {
            let name = self.finder.names.classify(source, &self.rules.custom);
            if name.class == Class::Secret {
                self.set_flag(name.kind);
            }
        }
        false
    }

    /// A blob whose text contains a secret is replaced as a whole.
    pub(super) fn blob(&mut self, text: Text) -> bool {
        let (rules, depth) = (self.rules, self.depth + 1);
        self.with_meaning(text, |finder, meaning| finder.blob(rules, meaning, depth))
    }

    fn set_flag(&mut self, kind: &'static str) {
        let frames = self.finder.frames.part_mut(self.base..);
        if let Some(parent) = frames.last_mut()
            && !parent.object
        {
            parent.flag = Some(kind);
        }
    }

    /// Whether the name of curl is nearby, so that `-u` is not a group or user id.
    fn is_of_curl(&self, at: usize) -> bool {
        let text = self.lexer.text;
        let near = at.saturating_sub(NEAR)..text.len().min(at + NEAR);
        memmem::find(text.get(near).unwrap_or_default(), b"curl").is_some()
    }

    /// `user:password`, also after an option: the user is kept.
    pub(super) fn user(&mut self, text: Text) {
        let rules = self.rules;
        self.with_meaning(text, |finder, meaning| {
            let from = finder.edits.len();
            if let Some(password) = user_password(meaning) {
                finder.named(rules, meaning, password, "password");
            }
            finder.tokens(rules, meaning);
            finder.edits.settle(meaning, from);
        });
    }

    /// A string of an array that may be one of two, `["X-Api-Key", "…"]`; returns the kind of the
    /// second.
    #[inline]
    pub(super) fn couple(
        &mut self,
        text: Text,
        first: bool,
        couple: Option<&'static str>,
    ) -> Option<&'static str> {
        let source = text.span.of(self.lexer.text);
        if couple.is_some() {
            // A list of names has no values: this must be the last of two, and look like a secret.
            return couple.filter(|_| self.lexer.next() == Some(b']') && is_opaque(source));
        }
        if first && source.len() <= LONGEST_PAIR_NAME && !source.starts_with(b"-") {
            let name = self.finder.names.classify(source, &self.rules.custom);
            if name.class == Class::Secret
                && let Some(parent) = self.parent_mut()
            {
                parent.couple = Some(name.kind);
            }
        }
        None
    }

    /// `"name": "Authorization"`: the member `value` of the same object is secret.
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

/// The text after an option of curl that takes a user and a password; empty if it is the next
/// string.
fn user_option(source: &[u8]) -> Option<&[u8]> {
    let short = source
        .strip_prefix(b"-u")
        .or_else(|| source.strip_prefix(b"-U"));
    let long = || {
        let rest = source
            .strip_prefix(b"--user")
            .or_else(|| source.strip_prefix(b"--proxy-user"))?;
        (rest.is_empty() || rest.starts_with(b"=")).then_some(rest)
    };
    short.or_else(long)
}

/// The kind of a string that is a user and a password.
pub(super) const USER: &str = "user and password";

/// The maximum distance of an option from its command, in bytes.
const NEAR: usize = 512;

/// Names of headers and variables are short.
const LONGEST_PAIR_NAME: usize = 96;
