//! The pages for users are true: their commands print what the pages show, and their links work.
//!
//! A block `console` contains commands after `$ ` and their output, where `…` matches anything; a
//! block `sh` contains only commands. Each page is run in a separate folder, with test servers and
//! addresses in place of the names. Marks after the language define the rest: `file=NAME` for a
//! block that is a file, `status=0|1` for the exit status of its commands, `without=NAME` for a
//! file that must not exist yet, `given=run` for a recorded agent, `not-run` for commands that need
//! an account, a screen or a network. `TAPEWRIGHT_BLESS=1` writes the actual output, so that you
//! can review the difference.

mod links;
mod page;
mod shown;
mod stage;

use std::fs;
use std::path::{Path, PathBuf};

use self::page::{Block, Part};
use self::stage::Stage;
use crate::support::http::Gateway;
use crate::support::peer;

/// Pages that another test runs: it provides the answers of their model, or they are about another
/// program (`fleet/tests`).
const ELSEWHERE: [&str; 3] = ["docs/agents.md", "docs/fleet.md", "docs/model-baselines.md"];

/// The maximum number of blocks that are not run, so that the mark remains the exception.
const NOT_RUN: usize = 12;

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

/// The pages in these folders, by the name that they have in the repository.
fn pages(folders: &[&str]) -> Vec<String> {
    let mut found = Vec::new();
    for folder in folders {
        let names = fs::read_dir(root().join(folder)).expect("a folder");
        let paths = names.map(|entry| entry.expect("a name").path());
        let is_page = |path: &PathBuf| path.extension().is_some_and(|end| end == "md");
        let pages = paths.filter(is_page);
        found.extend(pages.map(|path| {
            let name = path.file_name().expect("a name").to_string_lossy();
            Path::new(folder).join(&*name).display().to_string()
        }));
    }
    found.sort();
    found
}

/// Runs the commands of a block. Output that differs from the page replaces it, and is reported.
fn play(stage: &mut Stage, block: &mut Block) -> Vec<String> {
    let mut wrong = Vec::new();
    let mut lines = Vec::new();
    let steps = page::steps(block);
    let mark = block.mark("status").unwrap_or("0");
    // The next command shows the status.
    let next = steps.iter().skip(1).map(|step| step.line() == "echo $?");
    let told: Vec<bool> = next.chain([false]).collect();
    for (at, step) in steps.into_iter().enumerate() {
        let line = step.line();
        let said = stage.run(&line);
        let status = said.status.unwrap_or(0);
        // The mark applies to the last command if each shows its output.
        let is_marked = at + 1 == told.len() || block.language == "sh";
        let wanted = if is_marked { mark } else { "0" };
        if !told[at] && !wanted.split('|').any(|one| one == status.to_string()) {
            wrong.push(format!("`{line}` ended with {status}\n{}", said.text));
        }
        lines.extend(step.command);
        let shown: Vec<&str> = step.shown.iter().map(String::as_str).collect();
        let shown_end = shown.iter().rposition(|line| !line.is_empty());
        let (shown, behind) = shown.split_at(shown_end.map_or(0, |at| at + 1));
        let text: Vec<&str> = said.text.trim_end().lines().collect();
        if block.language == "sh" || shown::matches(shown, &text) {
            lines.extend(shown.iter().map(|&line| line.to_owned()));
        } else {
            wrong.push(format!(
                "`{line}` says\n{}\nand not\n{}",
                text.join("\n"),
                shown.join("\n")
            ));
            lines.extend(text.iter().map(|&line| line.to_owned()));
        }
        lines.extend(behind.iter().map(|&line| line.to_owned()));
    }
    block.lines = lines;
    wrong
}

/// Runs a page from its beginning to its end.
fn follow(name: &str, remote: &str) -> Vec<String> {
    let path = root().join(name);
    let text = fs::read_to_string(&path).expect("a page");
    let mut parts = page::read(&text);
    let mut stage = Stage::new(remote);
    let mut wrong = Vec::new();
    for part in &mut parts {
        let Part::Block(block) = part else { continue };
        if let Some(file) = block.mark("file") {
            stage.write(file, &block.lines);
        }
        let is_run = !block.marks.iter().any(|mark| mark == "not-run");
        if is_run && matches!(block.language.as_str(), "console" | "sh") {
            if let Some(name) = block.mark("without").or(block.mark("given")) {
                stage.remove(name);
            }
            if let Some(name) = block.mark("given") {
                stage.give(name);
            }
            let found = play(&mut stage, block);
            let place = format!("{name}:{}", block.line);
            wrong.extend(found.into_iter().map(|text| format!("{place}: {text}\n")));
        }
    }
    if !wrong.is_empty() && std::env::var_os("TAPEWRIGHT_BLESS").is_some() {
        fs::write(&path, page::write(&parts)).expect("a page");
    }
    wrong
}

fn all_true(pages: &[String]) {
    let server = peer().display().to_string();
    let remote = Gateway::start(&["--listen", "127.0.0.1:0", "--", &server, "suite"]);
    let url = remote.line["listening"].as_str().expect("a URL");
    let pages = pages
        .iter()
        .filter(|page| !ELSEWHERE.contains(&page.as_str()));
    // One page alone, while it is written.
    let alone = std::env::var("TAPEWRIGHT_PAGE").unwrap_or_default();
    let pages = pages.filter(|page| page.contains(&alone));
    let wrong: Vec<String> = pages.flat_map(|page| follow(page, url)).collect();
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn the_commands_of_the_guides_say_what_the_pages_show() {
    let mut pages = pages(&["docs"]);
    pages.push("README.md".to_owned());
    all_true(&pages);
}

#[test]
fn the_commands_of_the_how_tos_say_what_the_pages_show() {
    all_true(&pages(&["docs/howto"]));
}

#[test]
fn few_blocks_are_not_run() {
    let mut pages = pages(&["docs", "docs/howto"]);
    pages.push("README.md".to_owned());
    let mut found = Vec::new();
    for name in pages {
        let text = fs::read_to_string(root().join(&name)).expect("a page");
        for part in page::read(&text) {
            let Part::Block(block) = part else { continue };
            let known = ["bash", "shell"].contains(&block.language.as_str());
            assert!(!known, "{name}:{}: write `sh` or `console`", block.line);
            if block.marks.iter().any(|mark| mark == "not-run") {
                found.push(format!("{name}:{}", block.line));
            }
        }
    }
    assert!(found.len() <= NOT_RUN, "{found:#?}");
}
