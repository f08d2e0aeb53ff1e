//! The page "Test an agent in CI without keys" is true, command by command.

use std::process::Command;

use serde_json::json;

use super::super::stage::{Stage, said};
use super::{KEY, command, provider};

const PAGE: &str = include_str!("../../../../docs/agents.md");

/// A code block of the page's first part: its language and its lines, without their margin.
fn blocks() -> Vec<(String, Vec<&'static str>)> {
    let (_, part) = PAGE
        .split_once("## Test an agent in CI without keys")
        .expect("the part");
    let (part, _) = part.split_once("\n## ").expect("its end");
    let mut all: Vec<(String, Vec<&str>)> = Vec::new();
    let mut is_open = false;
    for line in part.lines() {
        let plain = line.trim_start();
        if let Some(language) = plain.strip_prefix("```") {
            is_open = !is_open;
            if is_open {
                all.push((language.to_owned(), Vec::new()));
            }
        } else if is_open {
            let (_, lines) = all.last_mut().expect("a block");
            lines.push(line.strip_prefix("   ").unwrap_or(plain));
        }
    }
    all
}

/// A text with each number, and the unit of a time after it, replaced by `#`.
fn plain(text: &str) -> String {
    let mut out = String::new();
    let mut rest = text;
    while let Some(at) = rest.find(|letter: char| letter.is_ascii_digit()) {
        // Names and dates are kept: `gpt-5`, `2026-11-24`.
        let (before, found) = rest.split_at(at);
        out.push_str(before);
        let length = found
            .find(|letter: char| !letter.is_ascii_digit() && letter != '.')
            .unwrap_or(found.len());
        let (number, behind) = found.split_at(length);
        let units = [" ms", " s"];
        let unit = units.iter().find(|unit| behind.starts_with(*unit));
        let is_count = behind.starts_with(" tokens") || before.ends_with('$');
        match unit {
            Some(unit) => {
                out.push('#');
                rest = behind.strip_prefix(unit).unwrap_or(behind);
            }
            None if is_count => {
                out.push('#');
                rest = behind;
            }
            None => {
                out.push_str(number);
                rest = behind;
            }
        }
    }
    out + rest
}

#[test]
fn every_command_of_the_page_says_what_the_page_says() {
    let stage = Stage::new();
    let provider = provider(&json!([
        {"tools": [{"name": "get_weather", "arguments": {"city": "Sacramento"}}]},
        {"text": "It is sunny in Sacramento."},
    ]));
    let mut files = vec!["agents.yaml", "weather_server.py"];
    let mut commands = 0;
    for (language, lines) in blocks() {
        match language.as_str() {
            "python" | "yaml" if lines.first().is_some_and(|line| !line.starts_with("- run")) => {
                let name = files.pop().expect("as many files as blocks");
                stage.write(name, &(lines.join("\n") + "\n"));
            }
            "console" => {
                let (first, told) = lines.split_first().expect("a command");
                let words: Vec<&str> = first.trim_start_matches("$ ").split(' ').collect();
                let said = run(&stage, &provider, &words);
                assert_eq!(said.status, 0, "{first}: {}{}", said.out, said.err);
                let told: Vec<_> = told.iter().map(|line| plain(line)).collect();
                let found: Vec<_> = said.out.trim_end().lines().map(plain).collect();
                assert_eq!(found, told, "{first}: {}", said.err);
                commands += 1;
            }
            _ => {}
        }
    }
    assert_eq!((commands, files.len()), (4, 0));
    assert!(stage.path("report.xml").exists());
    // The parts of steps 5 and 6 that are not commands.
    std::fs::remove_file(stage.path("weather_server.py")).expect("a file");
    let said = run(&stage, &provider, &["tapewright", "run", "agents.yaml"]);
    assert_eq!(said.status, 0, "{}{}", said.out, said.err);
    let suite = stage.read("agents.yaml");
    stage.write("agents.yaml", &suite.replace("in Sacramento?", "in Oslo?"));
    let said = run(&stage, &provider, &["tapewright", "run", "agents.yaml"]);
    assert_eq!(said.status, 2, "{}{}", said.out, said.err);
    let told = said.out + &said.err;
    assert!(told.contains("rerun with --record"), "{told}");
}

/// A command of the page. There is only a provider if it has keys.
fn run(
    stage: &Stage,
    provider: &crate::support::provider::Provider,
    words: &[&str],
) -> super::super::stage::CommandOutput {
    let is_variable = |word: &&&str| word.contains("=…");
    let keys = words.iter().take_while(is_variable).count();
    match &words[keys..] {
        ["tapewright", "run", rest @ ..] => {
            let provider = (keys > 0).then_some(provider);
            let mut command = command(stage, provider, rest);
            said(command.env("CI", (keys == 0).to_string()))
        }
        [program, rest @ ..] => {
            assert!(!words.contains(&KEY));
            said(Command::new(program).args(rest).current_dir(stage.path("")))
        }
        [] => panic!("no command"),
    }
}
