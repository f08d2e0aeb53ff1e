//! `_meta` of stateless requests (2026-07-28, basic/index §_meta).

use tapewright_schemas::json;
use tapewright_schemas::slices::Part as _;

/// Adds members to the `_meta` of `params`, each as name and source text, where they are absent.
/// Existing members are left verbatim; parameters that are not an object, or whose `_meta` is not
/// one, are unchanged: such a request is deliberately wrong.
pub(super) fn with(params: Option<&[u8]>, wanted: &[(String, String)]) -> Vec<u8> {
    let params = params.unwrap_or(b"{}").trim_ascii();
    let mut here = Vec::new();
    let mut meta: Option<&[u8]> = None;
    let mut empty = true;
    let whole = json::members(params, |name, value| {
        empty = false;
        if name == b"_meta" {
            meta = Some(value);
        }
    });
    if whole.is_none() {
        return params.to_vec();
    }
    if let Some(meta) = meta {
        let names = json::members(meta, |name, _| here.push(name.to_vec()));
        if names.is_none() {
            return params.to_vec();
        }
    }
    let mut added = Vec::new();
    for (name, value) in wanted {
        if here.iter().any(|there| there == name.as_bytes()) {
            continue;
        }
        if !added.is_empty() {
            added.push(b',');
        }
        added.push(b'"');
        json::escape(name, &mut added);
        added.extend_from_slice(b"\":");
        added.extend_from_slice(value.as_bytes());
    }
    if added.is_empty() {
        return params.to_vec();
    }
    let comma = |is_last: bool| if is_last { b"".as_slice() } else { b"," };
    if let Some((at, meta)) = meta.and_then(|meta| Some((inside(params, meta)?, meta))) {
        // After the opening brace.
        let open = meta.iter().position(|byte| *byte == b'{').unwrap_or(0);
        let (before, after) = params.split_at(at + open + 1);
        return [before, &added, comma(here.is_empty()), after].concat();
    }
    let rest = params.part(1..);
    [b"{\"_meta\":{", added.as_slice(), b"}", comma(empty), rest].concat()
}

/// The position of a part within its whole.
fn inside(whole: &[u8], part: &[u8]) -> Option<usize> {
    (part.as_ptr() as usize).checked_sub(whole.as_ptr() as usize)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn merged(params: Option<&str>) -> String {
        let wanted = [
            ("v".to_owned(), "\"1\"".to_owned()),
            ("c".to_owned(), "{}".to_owned()),
        ];
        let text = with(params.map(str::as_bytes), &wanted);
        String::from_utf8(text).unwrap()
    }

    #[test]
    fn members_are_added_where_they_are_absent() {
        for (params, merged_params) in [
            (None, r#"{"_meta":{"v":"1","c":{}}}"#),
            (Some("{}"), r#"{"_meta":{"v":"1","c":{}}}"#),
            (Some(r#"{"a":1}"#), r#"{"_meta":{"v":"1","c":{}},"a":1}"#),
            (
                Some(r#"{"a":1,"_meta":{"v":"0"}}"#),
                r#"{"a":1,"_meta":{"c":{},"v":"0"}}"#,
            ),
            (
                Some(r#"{"_meta": { } }"#),
                r#"{"_meta": {"v":"1","c":{} } }"#,
            ),
            (
                Some(r#"{"_meta":{"c":1,"v":2}}"#),
                r#"{"_meta":{"c":1,"v":2}}"#,
            ),
            (Some("[1]"), "[1]"),
            (Some(r#"{"_meta":3}"#), r#"{"_meta":3}"#),
        ] {
            assert_eq!(merged(params), merged_params);
            assert!(json::is_valid(merged(params).as_bytes()));
        }
    }
}
