//! Lists of names and values in OpenTelemetry variables: `name=value,name=value`, percent-encoded
//! as in W3C Baggage.

/// Reads a list; `None` if it is not one.
pub(super) fn pairs(text: &str) -> Option<Vec<(String, String)>> {
    let items = text.split(',').map(str::trim);
    let items = items.filter(|item| !item.is_empty());
    items
        .map(|item| {
            let (name, value) = item.split_once('=')?;
            let name = decoded(name.trim())?;
            let value = decoded(value.trim())?;
            (!name.is_empty()).then_some((name, value))
        })
        .collect()
}

/// A text without its percent-encoding.
fn decoded(text: &str) -> Option<String> {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.bytes();
    while let Some(byte) = rest.next() {
        if byte == b'%' {
            let digit = |byte: Option<u8>| char::from(byte?).to_digit(16);
            let (high, low) = (digit(rest.next())?, digit(rest.next())?);
            bytes.push(u8::try_from(high * 16 + low).ok()?);
        } else {
            bytes.push(byte);
        }
    }
    String::from_utf8(bytes).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_and_values_are_decoded() {
        let read = pairs(" api-key = s%3Dcret , b=a b,c=%C3%A9,,d=").unwrap();
        let expected = [("api-key", "s=cret"), ("b", "a b"), ("c", "é"), ("d", "")];
        let expected = expected.map(|(name, value)| (name.to_owned(), value.to_owned()));
        assert_eq!(read, expected);
        assert_eq!(pairs("").unwrap(), []);
    }

    #[test]
    fn what_is_no_list_is_refused() {
        for text in ["a", "=b", "a=%", "a=%4", "a=%zz", "a=%ff", "a=b,c"] {
            assert_eq!(pairs(text), None, "{text}");
        }
    }
}
