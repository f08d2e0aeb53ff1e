//! A form that is the same for equal values.

use tapewright_schemas::json::number;
use tapewright_schemas::order::Order as _;

use super::Json;

impl Json {
    /// Bytes that are equal for equal values. Different values may share them: all fractions look
    /// alike, since they are compared as floats.
    pub(crate) fn canonical(&self) -> Vec<u8> {
        let mut out = Vec::new();
        self.write_canonical(&mut out);
        out
    }

    fn write_canonical(&self, out: &mut Vec<u8>) {
        match self {
            Self::Null => out.push(b'n'),
            Self::Bool(value) => out.push(if *value { b't' } else { b'f' }),
            Self::Number(text) if number::is_whole(text.as_bytes()) => {
                out.push(b'#');
                number::write_value(text.as_bytes(), out);
            }
            Self::Number(_) => out.push(b'.'),
            Self::String(text) => write_text(text, out),
            Self::Array(elements) => {
                out.push(b'[');
                for one in elements {
                    one.write_canonical(out);
                }
                out.push(b']');
            }
            Self::Object(members) => {
                let mut members: Vec<_> = members.iter().collect();
                members.order_by_key(|(name, _)| *name);
                out.push(b'{');
                for (name, value) in members {
                    write_text(name, out);
                    value.write_canonical(out);
                }
                out.push(b'}');
            }
        }
    }
}

fn write_text(text: &str, out: &mut Vec<u8>) {
    out.push(b'"');
    out.extend_from_slice(text.len().to_string().as_bytes());
    out.push(b':');
    out.extend_from_slice(text.as_bytes());
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_values_have_one_form() {
        let of = |text: &str| Json::read(text.as_bytes()).unwrap().canonical();
        assert_eq!(
            of(r#"{"a":1.0,"b":[100,0.1]}"#),
            of(r#"{"b":[1e2,0.1000000000000000055],"a":1}"#)
        );
        assert_ne!(of(r#"["a","b"]"#), of(r#"["ab"]"#));
        assert_ne!(of(r#"{"a":"b"}"#), of(r#"["a","b"]"#));
    }
}
