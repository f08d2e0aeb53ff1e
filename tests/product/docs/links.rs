//! Links between pages lead to files that exist, and to headings that are there.

use std::collections::HashMap;
use std::fs;
use std::path::Path;

use regex::Regex;

use super::page::{self, Part};
use super::{pages, root};

/// The name of a heading in links, as mdBook and GitHub make it.
fn anchor(heading: &str) -> String {
    let letters = heading.trim().to_lowercase();
    let kept = letters
        .chars()
        .filter(|letter| letter.is_alphanumeric() || matches!(letter, ' ' | '-' | '_'));
    kept.map(|letter| if letter == ' ' { '-' } else { letter })
        .collect()
}

/// The text of a page without its code.
fn prose(name: &Path) -> Vec<String> {
    let text = fs::read_to_string(name).expect("a page");
    let mut lines = Vec::new();
    for part in page::read(&text) {
        if let Part::Text(line) = part {
            lines.push(line);
        }
    }
    lines
}

/// The anchors of a page: its headings, numbered where one comes again, and names that it gives.
fn anchors(name: &Path) -> Vec<String> {
    let mut seen: HashMap<String, usize> = HashMap::new();
    let mut found = Vec::new();
    let link = Regex::new(r"\[([^\]]*)\]\([^)]*\)").expect("a pattern");
    let given = Regex::new(r#"<a (?:id|name)="([^"]+)""#).expect("a pattern");
    for line in prose(name) {
        found.extend(given.captures_iter(&line).map(|one| one[1].to_owned()));
        let Some(rest) = line.strip_prefix('#') else {
            continue;
        };
        let heading = link
            .replace_all(rest.trim_start_matches('#'), "$1")
            .into_owned();
        let plain = anchor(&heading);
        let before = seen.entry(plain.clone()).or_default();
        found.push(if *before == 0 {
            plain
        } else {
            format!("{plain}-{before}")
        });
        *before += 1;
    }
    found
}

/// The error in a page's link.
fn wrong(from: &Path, target: &str) -> Option<String> {
    if target.contains("://") || target.starts_with("mailto:") {
        return None;
    }
    let (file, anchor) = target
        .split_once('#')
        .map_or((target, None), |(file, name)| (file, Some(name)));
    let to = if file.is_empty() {
        from.to_owned()
    } else {
        from.parent()?.join(file)
    };
    if !to.exists() {
        return Some(format!("there is no `{file}`"));
    }
    let anchor = anchor?;
    let is_page = to.extension().is_some_and(|end| end == "md");
    (is_page && !anchors(&to).iter().any(|one| one == anchor))
        .then(|| format!("`{file}` has no heading `#{anchor}`"))
}

#[test]
fn every_link_of_every_page_leads_somewhere() {
    let link = Regex::new(r"\]\(<?([^)\s>]+)>?\)").expect("a pattern");
    let code = Regex::new("`[^`]*`").expect("a pattern");
    let mut found = Vec::new();
    let mut links = 0;
    let folders = [
        ".",
        "docs",
        "docs/howto",
        "docs/reference",
        "docs/reference/formats",
        "docs/internals",
        "docs/revisions",
        "integrations/pytest",
        "integrations/vitest",
    ];
    for name in pages(&folders) {
        let path = root().join(&name);
        for line in prose(&path) {
            // The text of a link may be code, and code may look like a link.
            let plain = code.replace_all(&line, "code");
            for target in link.captures_iter(&plain) {
                links += 1;
                let wrong = wrong(&path, &target[1]);
                found.extend(wrong.map(|wrong| format!("{name}: {}: {wrong}", &target[1])));
            }
        }
    }
    assert!(links > 100, "{links}");
    assert!(found.is_empty(), "{}", found.join("\n"));
}

#[test]
fn every_page_is_in_the_book() {
    let summary = fs::read_to_string(root().join("docs/SUMMARY.md")).expect("the summary");
    for name in pages(&[
        "docs",
        "docs/howto",
        "docs/reference",
        "docs/reference/formats",
        "docs/revisions",
    ]) {
        let inside = name.trim_start_matches("docs/");
        let is_there = inside == "SUMMARY.md" || summary.contains(&format!("({inside})"));
        assert!(is_there, "{name} is missing in docs/SUMMARY.md");
    }
}
