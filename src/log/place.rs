//! URLs without secrets.

use tapewright_schemas::slices::Part as _;

/// A URL, or the target of a request, without the parts that may contain a secret: user, password,
/// query and fragment.
pub(crate) fn place(target: &str) -> String {
    let end = target.find(['?', '#']).unwrap_or(target.len());
    let target = target.part(..end);
    let Some((scheme, rest)) = target.split_once("://") else {
        return target.to_owned();
    };
    let (authority, path) = rest.split_at(rest.find('/').unwrap_or(rest.len()));
    let host = authority.rsplit('@').next().unwrap_or_default();
    format!("{scheme}://{host}{path}")
}

#[cfg(test)]
mod tests {
    use super::place;

    #[test]
    fn a_place_has_neither_user_nor_query() {
        for (target, told) in [
            ("/mcp?token=x", "/mcp"),
            ("/mcp#x", "/mcp"),
            ("http://u:p@h:1/a?b", "http://h:1/a"),
            ("http://u:p@h", "http://h"),
            ("h:443", "h:443"),
            ("?x", ""),
        ] {
            assert_eq!(place(target), told);
        }
    }
}
