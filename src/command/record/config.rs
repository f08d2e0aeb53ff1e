//! Entries for the configuration of clients.

use std::ffi::OsString;
use std::path::Path;

use anyhow::Context as _;

/// A name for the server that a command starts: the package behind a launcher, or the
/// program itself.
pub(crate) fn label(command: &[OsString]) -> String {
    let words: Vec<String> = command
        .iter()
        .map(|word| word.to_string_lossy().into_owned())
        .collect();
    let base = |word: &str| {
        let name = word.rsplit(['/', '\\']).next().unwrap_or(word);
        // `server-filesystem@1.2.3` without its version.
        name.split('@')
            .next()
            .filter(|name| !name.is_empty())
            .unwrap_or(name)
            .to_owned()
    };
    let Some((program, rest)) = words.split_first() else {
        return "server".to_owned();
    };
    let launcher = Path::new(program)
        .file_stem()
        .unwrap_or_default()
        .to_string_lossy()
        .into_owned();
    let is_wrapper = matches!(
        launcher.as_str(),
        "npx" | "bunx" | "uvx" | "pnpm" | "yarn" | "bun" | "uv" | "deno" | "node" | "pipx"
    ) || launcher.starts_with("python");
    let package = rest.iter().find(|word| {
        !word.starts_with('-') && !matches!(word.as_str(), "run" | "dlx" | "exec" | "x")
    });
    match package {
        Some(package) if is_wrapper => script(package).unwrap_or_else(|| base(package)),
        _ => base(program),
    }
}

/// The name of the package that a script belongs to: `…/server-everything/dist/index.js` is
/// `server-everything`.
fn script(path: &str) -> Option<String> {
    const SCRIPTS: [&str; 8] = ["js", "mjs", "cjs", "ts", "mts", "cts", "py", "rb"];
    const FOLDERS: [&str; 7] = ["dist", "build", "out", "src", "bin", "lib", "node_modules"];
    let path = Path::new(path);
    let ending = path.extension()?.to_str()?;
    let name = path.file_stem()?.to_str()?;
    let says_nothing = matches!(name, "index" | "main" | "__main__" | "server" | "cli");
    if !SCRIPTS.contains(&ending) || !says_nothing {
        return None;
    }
    let folders = path
        .parent()?
        .iter()
        .rev()
        .filter_map(|folder| folder.to_str());
    folders
        .filter(|folder| !matches!(*folder, "." | ".." | "/"))
        .find(|folder| !FOLDERS.contains(folder))
        .map(str::to_owned)
}

/// A paste-ready entry that runs this very command.
pub(super) fn entry(label: &str) -> anyhow::Result<String> {
    let program = std::env::current_exe().context("the path of this program is not known")?;
    let arguments: Vec<String> = std::env::args()
        .skip(1)
        .filter(|word| word != "--print-config")
        .collect();
    let entry = serde_json::json!({
        "mcpServers": { label: { "command": program, "args": arguments } }
    });
    Ok(format!("{entry:#}\n"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_label_names_the_server_and_not_its_launcher() {
        let of = |words: &[&str]| label(&words.iter().map(OsString::from).collect::<Vec<_>>());
        assert_eq!(
            of(&["npx", "-y", "@modelcontextprotocol/server-filesystem", "."]),
            "server-filesystem"
        );
        assert_eq!(of(&["npx", "-y", "@scope/thing@1.2.3"]), "thing");
        assert_eq!(of(&["uv", "run", "server.py"]), "server.py");
        assert_eq!(
            of(&["/usr/bin/python3.11", "-u", "/srv/tool.py"]),
            "tool.py"
        );
        assert_eq!(of(&["/opt/my-server", "--stdio"]), "my-server");
        assert_eq!(
            of(&["node", "x/server-everything/dist/index.js", "stdio"]),
            "server-everything"
        );
        assert_eq!(of(&["node", "dist/index.js"]), "index.js");
    }
}
