//! The names that frameworks give to tools.

/// Whether a model that asks for `asked` means the tool `tool` of some server: by its own name, or
/// with a prefix, as in `server__tool`, `mcp__server__tool` or `mcp_server_tool`.
pub(super) fn means(asked: &str, tool: &str) -> bool {
    let (asked, tool) = (plain(asked), plain(tool));
    let Some(prefix) = asked.strip_suffix(&tool) else {
        return false;
    };
    prefix.is_empty()
        || prefix.ends_with("__")
        || prefix.ends_with('.')
        || prefix.starts_with("mcp_") && prefix.ends_with('_')
}

/// Whether the prefix of the tool's name is the name of the server.
pub(super) fn names_server(asked: &str, tool: &str, server: &str) -> bool {
    let (asked, server) = (plain(asked), plain(server));
    let prefix = asked.strip_suffix(&plain(tool)).unwrap_or_default();
    let prefix = prefix.trim_end_matches(['_', '.']);
    !server.is_empty() && (prefix == server || prefix.ends_with(&format!("_{server}")))
}

/// A name with the letters that every provider takes.
fn plain(name: &str) -> String {
    let letter = |letter: char| {
        if letter.is_ascii_alphanumeric() || letter == '.' {
            letter
        } else {
            '_'
        }
    };
    name.chars().map(letter).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_tool_is_meant_by_its_name_and_with_its_server_in_front() {
        for asked in [
            "get-sum",
            "get_sum",
            "fs__get-sum",
            "mcp__fs__get-sum",
            "mcp_fs_get-sum",
            "fs.get-sum",
        ] {
            assert!(means(asked, "get-sum"), "{asked}");
        }
        for asked in ["sum", "forget-sum", "get-sums", "my_get-sum", ""] {
            assert!(!means(asked, "get-sum"), "{asked}");
        }
        assert!(names_server("mcp__my-fs__read", "read", "my-fs"));
        assert!(names_server("my-fs__read", "read", "my-fs"));
        assert!(!names_server("mcp__your-fs__read", "read", "my-fs"));
        assert!(!names_server("read", "read", "my-fs"));
        assert!(!names_server("read", "read", ""));
    }
}
