//! The modules of the page, and the single script that a file makes of them.
//!
//! The served page loads them unchanged. A file opened from a disk cannot: a module may not import
//! another there, and a policy by hashes does not cover import maps. So [`script`] wraps each
//! module in a function that returns its exports, after the modules that it imports. This requires
//! two things of a module, which a test checks: each import is one line, and exports are declared
//! and named in one place.

use std::sync::LazyLock;

use super::files;

/// The names of the modules, each after those that it imports.
pub(super) const MODULES: &[&str] = &[
    "text",
    "filter",
    "agent",
    "row",
    "model",
    "view",
    "json",
    "waterfall",
    "overview",
    "list",
    "lanes",
    "tree",
    "copy",
    "clip",
    "drift",
    "panels",
    "findings",
    "faults",
    "detail",
    "keys",
    "split",
    "start",
];

/// The modules that only files have.
const OF_FILES: &[&str] = &["file", "open"];

/// The text of a module.
pub(super) fn text(name: &str) -> &'static str {
    files::text(&format!("{name}.js"))
}

/// The script of a file.
pub(super) fn script() -> &'static str {
    static SCRIPT: LazyLock<String> = LazyLock::new(|| {
        let mut out = String::from("\"use strict\";\n");
        for name in MODULES.iter().chain(OF_FILES) {
            wrap(name, text(name), &mut out);
        }
        out
    });
    &SCRIPT
}

/// Appends a module as a function that is called at once.
fn wrap(name: &str, text: &str, out: &mut String) {
    let mut exported = Vec::new();
    out.extend(["const $", name, " = (() => {\n"]);
    for line in text.lines().filter(|line| !line.starts_with("//")) {
        if let Some((names, from)) = imported(line) {
            out.extend(["const {", names, "} = $", from, ";\n"]);
        } else if let Some(rest) = line.strip_prefix("export ") {
            exported.extend(declared(rest));
            out.extend([rest, "\n"]);
        } else {
            out.extend([line, "\n"]);
        }
    }
    out.extend(["return { ", &exported.join(", "), " };\n})();\n"]);
}

/// The names that a line imports, and the module that they come from.
fn imported(line: &str) -> Option<(&str, &str)> {
    let rest = line.strip_prefix("import {")?;
    let (names, from) = rest.split_once("} from \"./")?;
    Some((names, from.strip_suffix(".js\";")?))
}

/// The name that a line declares.
fn declared(line: &str) -> Option<&str> {
    let line = line.strip_prefix("async ").unwrap_or(line);
    let mut kinds = ["const ", "function ", "class "].into_iter();
    let rest = kinds.find_map(|kind| line.strip_prefix(kind))?;
    let is_word = |char: char| char.is_ascii_alphanumeric() || char == '_';
    rest.split(|char| !is_word(char))
        .next()
        .filter(|name| !name.is_empty())
}

/// What no script of the page may do: turn text into markup or code, or contact other hosts.
#[cfg(test)]
pub(super) const FORBIDDEN: [&str; 9] = [
    "innerHTML",
    "outerHTML",
    "insertAdjacent",
    "document.write",
    "eval(",
    "Function(",
    "createPolicy",
    "http:",
    "https:",
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn modules_import_from_those_before_them_what_is_exported_there() {
        let mut known: Vec<(&str, Vec<&str>)> = Vec::new();
        for name in MODULES.iter().chain(OF_FILES) {
            let text = text(name);
            for line in text.lines().filter(|line| line.starts_with("import")) {
                let (names, from) = imported(line).unwrap_or_else(|| panic!("{name}: {line}"));
                let there = known.iter().find(|(one, _)| *one == from);
                let (_, exported) = there.unwrap_or_else(|| panic!("{name} before {from}"));
                for one in names.split(',').map(str::trim) {
                    assert!(exported.contains(&one), "{name}: {from} has no {one}");
                }
            }
            let exports = text.lines().filter_map(|line| line.strip_prefix("export "));
            let declared = exports.map(|rest| declared(rest).unwrap_or_else(|| panic!("{rest}")));
            known.push((name, declared.collect()));
        }
    }

    #[test]
    fn a_script_has_no_imports_and_no_exports_left() {
        for line in script().lines() {
            assert!(
                !line.starts_with("import") && !line.starts_with("export"),
                "{line}"
            );
        }
        assert!(script().contains("const $start = (() => {\n"));
        assert!(script().contains("return { start };\n})();"));
    }

    #[test]
    fn nothing_in_them_makes_markup_or_code_or_asks_a_network() {
        for name in MODULES.iter().chain(OF_FILES) {
            let text = text(name);
            assert!(
                !text.contains("</") && !text.contains("<!--") && !text.contains("{{"),
                "{name}"
            );
            for way in FORBIDDEN.into_iter().chain(["import(", "fetch("]) {
                assert!(!text.contains(way), "{name}: {way}");
            }
            assert!(text.lines().count() <= 300, "{name} is long");
        }
    }
}
