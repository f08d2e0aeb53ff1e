//! What nearly all lines begin with, read where it is spelled as our encoder spells it.
//!
//! A line has eight or nine members, of which one says something and the others where and when
//! it was. Those stand at the beginning, in one order, without white space or escapes: to compare
//! them with what is expected costs a tenth of reading them as any JSON. Whatever is spelled
//! otherwise is left to who reads that.

use crate::era::Era;
use crate::event::{Carrier, Direction};
use crate::slices::Part as _;

/// The members that were read, in the order in which they stand.
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
    /// Where the last of them ends; 0 when there is none.
    pub(super) end: usize,
}

/// Reads what a line begins with.
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
        dir: at.word(b",\"dir\":\"", Direction::from_name),
        number: at.number(b",\"number\":"),
        via: at.word(b",\"via\":\"", Carrier::from_name),
        era: at.word(b",\"era\":\"", Era::from_name),
        end: at.end,
    }
}

/// How far a line is read.
struct At<'l> {
    line: &'l [u8],
    end: usize,
}

/// So many digits are a number that fits, whatever they are.
const DIGITS: usize = 19;
/// Our words are shorter.
const WORD: usize = 24;

impl At<'_> {
    /// A number behind these bytes, if that is what comes next.
    fn number<T: TryFrom<u64>>(&mut self, before: &[u8]) -> Option<T> {
        let rest = self.line.part(self.end..).strip_prefix(before)?;
        let mut value = 0_u64;
        let mut digits = 0;
        for byte in rest {
            if !byte.is_ascii_digit() {
                break;
            }
            digits += 1;
            if digits > DIGITS {
                return None;
            }
            value = value * 10 + u64::from(byte - b'0');
        }
        // JSON has no zeros in front.
        let is_number = digits == 1 || digits > 1 && rest.first() != Some(&b'0');
        let ends = matches!(rest.get(digits), Some(b',' | b'}'));
        if !is_number || !ends {
            return None;
        }
        let value = T::try_from(value).ok()?;
        self.end += before.len() + digits;
        Some(value)
    }

    /// One of our words behind these bytes, if that is what comes next.
    fn word<T>(&mut self, before: &[u8], read: fn(&str) -> Option<T>) -> Option<T> {
        let rest = self.line.part(self.end..).strip_prefix(before)?;
        let length = rest.iter().take(WORD).position(|byte| *byte == b'"')?;
        let word = std::str::from_utf8(rest.part(..length)).ok()?;
        // No word has anything in it that could be escaped.
        let value = read(word)?;
        self.end += before.len() + length + 1;
        Some(value)
    }
}

#[cfg(test)]
mod tests {
    use super::super::known::KnownHeads;
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
        let told = |line: &str| match parse(Line::Lent(line.as_bytes()), &mut KnownHeads::default())
        {
            Ok(Record::Event(event, proof)) => {
                assert_eq!(
                    proof.envelope(&event).is_some(),
                    line.contains("\"message\":"),
                    "{line}"
                );
                Ok(Some(event))
            }
            Ok(Record::Footer(_)) => unreachable!("none has a footer"),
            Ok(Record::Unknown) => Ok(None),
            Err(why) => Err(why),
        };
        for line in lines {
            // White space in front: read as any JSON is.
            assert_eq!(told(line), told(&format!(" {line}")), "{line}");
        }
    }
}
