//! Small pieces of JSON text.

use crate::event::{Effect, Offset};
use crate::json::{self, push_number};

/// Appends `text` as a JSON string with its quotes.
pub(crate) fn push_string(text: &str, out: &mut Vec<u8>) {
    out.push(b'"');
    json::escape(text, out);
    out.push(b'"');
}

/// Appends an effect on a message, as an object.
pub(crate) fn push_effect(effect: &Effect, out: &mut Vec<u8>) {
    // Its place shows which message it is about.
    let faulted = effect.clone().about(None);
    // Writing to memory does not fail, and an effect always has a JSON text.
    let _never_fails = serde_json::to_writer(out, &faulted);
}

/// Appends a time in milliseconds, to the microsecond and without trailing zeros.
pub(crate) fn push_millis(at: Offset, out: &mut Vec<u8>) {
    push_number(at.0 / 1_000, out);
    let micros = at.0 % 1_000;
    if micros == 0 {
        return;
    }
    out.push(b'.');
    // Three decimal places, written as a number of four digits.
    let start = out.len();
    push_number(micros + 1_000, out);
    out.remove(start);
    while out.last() == Some(&b'0') {
        out.pop();
    }
}

/// Joins arguments so that a POSIX shell takes them apart again.
pub(crate) fn shell_line(arguments: &[String]) -> String {
    let mut line = String::new();
    for argument in arguments {
        if !line.is_empty() {
            line.push(' ');
        }
        let plain = |byte: u8| byte.is_ascii_alphanumeric() || b"_@%+=:,./-".contains(&byte);
        if !argument.is_empty() && argument.bytes().all(plain) {
            line.push_str(argument);
        } else {
            line.push('\'');
            line.push_str(&argument.replace('\'', r"'\''"));
            line.push('\'');
        }
    }
    line
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_exact_and_short() {
        let text = |us| {
            let mut out = Vec::new();
            push_millis(Offset(us), &mut out);
            String::from_utf8(out).unwrap()
        };
        let cases = [
            (0, "0"),
            (1, "0.001"),
            (1_500, "1.5"),
            (10, "0.01"),
            (20_030, "20.03"),
            (9_000, "9"),
        ];
        for (us, expected) in cases {
            assert_eq!(text(us), expected);
        }
        assert_eq!(text(u64::MAX), "18446744073709551.615");
    }

    #[test]
    fn arguments_are_quoted_for_a_shell() {
        let line = |arguments: &[&str]| {
            shell_line(
                &arguments
                    .iter()
                    .map(|&one| one.to_owned())
                    .collect::<Vec<_>>(),
            )
        };
        assert_eq!(
            line(&["npx", "-y", "@scope/server@1.0"]),
            "npx -y @scope/server@1.0"
        );
        assert_eq!(
            line(&["sh", "-c", "echo 'a b'", ""]),
            r"sh -c 'echo '\''a b'\''' ''"
        );
    }
}
