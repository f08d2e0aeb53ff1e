//! Secrets on a command line.

use std::ops::Range;

use super::finder::Finder;
use super::names::Class;
use super::rules::Rules;
use crate::slices::Part as _;

/// What the previous argument implies for this one.
#[derive(Clone, Copy, Debug, Default)]
pub(super) enum Expect {
    /// Nothing.
    #[default]
    Any,
    /// It is a header.
    Header,
    /// It is the value of a secret option.
    Secret(&'static str),
    /// It is a program of a shell.
    Script,
    /// It is a user name and a password.
    User,
}

impl Finder {
    /// Notes the secrets of one argument and returns what it implies for the next one.
    pub(super) fn argument(&mut self, rules: &Rules, argument: &[u8], expect: Expect) -> Expect {
        let from = self.edits.len();
        let next = if let Some(next) = self.whole_argument(rules, argument, expect) {
            self.tokens(rules, argument);
            next
        } else {
            self.free_text(rules, argument, 0);
            after(self, rules, argument)
        };
        self.edits.settle(argument, from);
        next
    }

    /// An argument that is secret as a whole, or from a separator on.
    fn whole_argument(&mut self, rules: &Rules, argument: &[u8], expect: Expect) -> Option<Expect> {
        let option = argument.starts_with(b"-");
        match expect {
            Expect::Secret(kind) if !option => {
                self.named(rules, argument, 0..argument.len(), kind);
                return Some(Expect::Any);
            }
            Expect::Script => return None,
            Expect::User => {
                if let Some(password) = user_password(argument) {
                    self.named(rules, argument, password, "password");
                    return Some(Expect::Any);
                }
            }
            _ => {}
        }
        let separator = if matches!(expect, Expect::Header) {
            b':'
        } else {
            b'='
        };
        let at = memchr::memchr(separator, argument)?;
        let name = argument.part(..at);
        let plain = |byte: &u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_' | b'.');
        if !name.iter().all(plain) {
            return None;
        }
        let name = self.names.classify(name, &rules.custom);
        if name.class != Class::Secret {
            return None;
        }
        self.named(rules, argument, at + 1..argument.len(), name.kind);
        Some(Expect::Any)
    }
}

fn after(finder: &mut Finder, rules: &Rules, argument: &[u8]) -> Expect {
    match argument {
        b"-H" | b"--header" | b"--proxy-header" => Expect::Header,
        b"-c" | b"/c" | b"/C" | b"-Command" => Expect::Script,
        b"-b" | b"--cookie" => Expect::Secret("cookie"),
        b"-u" | b"--user" | b"-U" | b"--proxy-user" => Expect::User,
        [b'-', name @ ..] if !name.contains(&b'=') && !name.contains(&b' ') => {
            let name = finder.names.classify(name, &rules.custom);
            if name.class == Class::Secret {
                Expect::Secret(name.kind)
            } else {
                Expect::Any
            }
        }
        _ => Expect::Any,
    }
}

/// The password of `user:password`; `1000:1000` is not one.
pub(super) fn user_password(argument: &[u8]) -> Option<Range<usize>> {
    let colon = memchr::memchr(b':', argument)?;
    let password = argument.part(colon + 1..);
    let ids = argument
        .iter()
        .all(|byte| byte.is_ascii_digit() || *byte == b':');
    (!ids && !password.is_empty() && !password.starts_with(b"//"))
        .then_some(colon + 1..argument.len())
}
