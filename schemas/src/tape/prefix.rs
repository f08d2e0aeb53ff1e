//! The beginning of nearly all lines, in the spelling of tapewright's encoder.
//!
//! A line has eight or nine members, of which one has the content and the others where and when it
//! was. Those are at the beginning, in one order, without white space or escapes: comparing them
//! with the expected text costs a tenth of parsing them as any JSON. Any other spelling is left to
//! the general parser.

use crate::era::Era;
use crate::event::{Carrier, Direction};
use crate::slices::{Front as _, Part as _};

/// The members that were read, in their order on the line.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Prefix {
    pub(super) seq: Option<u64>,
    pub(super) at_us: Option<u64>,
    pub(super) session: Option<u32>,
    pub(super) conduit: Option<u32>,
    pub(super) dir: Option<Direction>,
    pub(super) number: Option<u64>,
    pub(super) via: Option<Carrier>,
    pub(super) era: Option<Era>,
    /// The end of the last of them; 0 if there is none.
    pub(super) end: usize,
}

/// Reads the beginning of a line.
pub(super) fn prefix(line: &[u8]) -> Prefix {
    let mut at = At { line, end: 0 };
    let Some(seq) = at.number(b"{\"seq\":") else {
        return Prefix::default();
    };
    Prefix {
        seq: Some(seq),
        at_us: at.number(b",\"at_us\":"),
        session: at.number(b",\"session\":"),
        conduit: at.number(b",\"conduit\":"),
        dir: at.word(b",\"dir\":\"", DIRECTIONS, Direction::name),
        number: at.number(b",\"number\":"),
        via: at.word(b",\"via\":\"", Carrier::ALL, Carrier::name),
        era: at.word(b",\"era\":\"", ERAS, Era::name),
        end: at.end,
    }
}

/// A text, and how far it has been read.
pub(super) struct At<'l> {
    pub(super) line: &'l [u8],
    pub(super) end: usize,
}

/// Numbers of this many digits always fit.
const DIGITS: usize = 19;

const DIRECTIONS: &[Direction] = &[Direction::ToServer, Direction::ToClient];
const ERAS: &[Era] = &[Era::Handshake, Era::Stateless];

impl At<'_> {
    /// A number after these bytes, if that is what comes next.
    #[inline]
    pub(super) fn number<T: TryFrom<u64>>(&mut self, before: &[u8]) -> Option<T> {
        let rest = self.line.part(self.end..).strip_prefix(before)?;
        let (mut value, mut digits) = (0_u64, 0);
        for byte in rest.front(DIGITS) {
            let digit = byte.wrapping_sub(b'0');
            if digit > 9 {
                break;
            }
            value = value * 10 + u64::from(digit);
            digits += 1;
        }
        // JSON has no leading zeros.
        let is_number = digits == 1 || digits > 1 && rest.first() != Some(&b'0');
        let ends = matches!(rest.get(digits), Some(b',' | b'}'));
        if !is_number || !ends {
            return None;
        }
        let value = T::try_from(value).ok()?;
        self.end += before.len() + digits;
        Some(value)
    }

    /// One of these words after these bytes, if that is what comes next.
    #[inline]
    fn word<T: Copy>(
        &mut self,
        before: &[u8],
        all: &[T],
        name: fn(T) -> &'static str,
    ) -> Option<T> {
        let rest = self.line.part(self.end..).strip_prefix(before)?;
        // No word has anything in it that could be escaped.
        let is_next = |word: &str| {
            let behind = rest.strip_prefix(word.as_bytes());
            behind.is_some_and(|behind| behind.first() == Some(&b'"'))
        };
        let found = all.iter().copied().find(|one| is_next(name(*one)))?;
        self.end += before.len() + name(found).len() + 1;
        Some(found)
    }
}

#[cfg(test)]
mod tests {
    use super::super::known::KnownHeads;
    use super::super::proof::Proof;
    use super::super::record::{Line, Record, parse};
    use super::*;

    fn end(line: &str) -> usize {
        prefix(line.as_bytes()).end
    }

    #[test]
    fn a_line_is_read_up_to_what_it_says() {
        let line = r#"{"seq":7,"at_us":0,"session":1,"conduit":2,"dir":"to_client","number":3,"via":"post_answer","era":"handshake","message":{}}"#;
        let wanted = Prefix {
            seq: Some(7),
            at_us: Some(0),
            session: Some(1),
            conduit: Some(2),
            dir: Some(Direction::ToClient),
            number: Some(3),
            via: Some(Carrier::PostAnswer),
            era: Some(Era::Handshake),
            end: line.find(",\"message\"").unwrap(),
        };
        assert_eq!(prefix(line.as_bytes()), wanted);
        let few = r#"{"seq":7,"at_us":18446744073709,"stderr":"x"}"#;
        assert_eq!(end(few), few.find(",\"stderr\"").unwrap());
    }

    #[test]
    fn what_is_spelled_otherwise_is_left() {
        for line in [
            "",
            "{",
            "{\"seq\":",
            "{\"seq\":1",
            "{\"seq\":01,",
            "{\"seq\":-1,",
            "{\"seq\":1.0,",
            "{\"seq\":1e2,",
            "{\"seq\":1 ,",
            "{ \"seq\":1,",
            "{\"seq\":18446744073709551616,",
            "{\"at_us\":1,",
        ] {
            assert_eq!(prefix(line.as_bytes()), Prefix::default(), "{line}");
        }
        let before = "{\"seq\":1,\"at_us\":2".len();
        for rest in [
            ",\"session\":4294967296,\"conduit\":1}",
            ",\"dir\":\"up\",\"number\":1}",
            ",\"dir\":\"to\\u005fclient\"}",
            ",\"dir\":\"to_client",
            ", \"dir\":\"to_client\"}",
            "}",
        ] {
            assert_eq!(end(&format!("{{\"seq\":1,\"at_us\":2{rest}")), before);
        }
    }

    #[test]
    fn a_line_is_the_same_however_it_begins() {
        let lines = [
            r#"{"seq":1,"at_us":2,"session":3,"conduit":4,"dir":"to_server","number":5,"via":"post","era":"handshake","message":{"id":1}}"#,
            r#"{"seq":1,"at_us":2,"dir":"to_client","number":0,"message":[],"eol":"crlf"}"#,
            r#"{"seq":1,"at_us":2,"dir":"to_client","seq":7,"era":"stateless","dir":"to_server","text":"x"}"#,
            r#"{"seq":1,"at_us":2,"began":"session_id"}"#,
            r#"{"seq":1,"at_us":2}"#,
            r#"{"seq":1,"dir":"to_client","closed":"end of input"}"#,
            r#"{"seq":1,"at_us":2,"dir":"to_client" ,"closed":"end of input"}"#,
            r#"{"seq":1,"at_us":2,"dir":"to_client","via":"smoke","message":1}"#,
            r#"{"seq":1,"at_us":2,"conduit":4294967296,"message":1}"#,
            r#"{"seq":1,"at_us":2,"dir":"to_client","message":1"#,
            r#"{"seq":1,"at_us":2"#,
            r#"{"seq":1,"at_us":2]"#,
            r#"{"seq":1,"at_us":2,}"#,
            r#"{"seq":1,"at_us":02,"message":1}"#,
        ];
        let told = |line: &str| {
            let (mut heads, mut proof) = (KnownHeads::default(), Proof::default());
            match parse(Line::Lent(line.as_bytes()), &mut heads, &mut proof)? {
                Record::Event(event) => {
                    let is_message = line.contains("\"message\":");
                    assert_eq!(proof.envelope(&event).is_some(), is_message, "{line}");
                    Ok(Some(event))
                }
                Record::Footer(_) => unreachable!("none has a footer"),
                Record::Unknown => Ok::<_, String>(None),
            }
        };
        for line in lines {
            // With leading white space it is read as any JSON.
            assert_eq!(told(line), told(&format!(" {line}")), "{line}");
        }
    }
}
