//! Readable help: within 80 columns, in plain words, and consistent.

use std::collections::HashMap;
use std::fmt::Write as _;

use super::golden::{folder, run};
use super::helps::{commands, help};

const COLUMNS: usize = 80;

/// Phrases that no help uses, and their replacements. `.ci/language` has those for errors.
const AVOIDED: [(&str, &str); 16] = [
    ("Whether ", "an imperative: `Replay`, `Forward`, `Allow`"),
    ("How long ", "`Time limit for …`"),
    ("that is there", "`existing`"),
    ("where there is", "`if there is`"),
    (" anew", "`again`"),
    ("is told", "`is reported`, `is shown`"),
    ("can be given several times", "`repeatable`"),
    ("more than once", "`repeatable`"),
    ("what is under way", "the thing: `open exchanges`"),
    ("standard error", "`stderr`"),
    ("standard output", "`stdout`"),
    ("stands beside", "`is next to`"),
    ("come about", "`connect`"),
    ("put to the test", "`exercised`, `tested`"),
    ("no time", "`invalid duration`"),
    ("in seconds", "a duration with a unit"),
];

#[test]
fn no_line_of_any_help_is_wider_than_a_terminal() {
    for words in commands() {
        for text in [help(&words), short(&words)] {
            for line in text.lines() {
                let width = line.chars().count();
                assert!(width <= COLUMNS, "{words:?} has {width} columns: {line}");
            }
        }
    }
}

#[test]
fn no_help_has_a_phrase_that_we_avoid() {
    let mut found = Vec::new();
    for words in commands() {
        let text = help(&words);
        let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
        for (phrase, better) in AVOIDED {
            if text.contains(phrase) {
                found.push(format!("{words:?}: `{phrase}`; say {better}"));
            }
        }
    }
    assert!(found.is_empty(), "{found:#?}");
}

/// The options of a command, grouped by the headings in its help.
fn groups(words: &[String]) -> String {
    let text = help(words);
    let text = text.split("\nExamples:").next().unwrap_or_default();
    let mut groups = format!("tapewright {}\n", words.join(" "));
    for line in text.lines() {
        let option = line.trim_start();
        let is_prose = line.starts_with("Start with") || line.starts_with("All filters");
        if line.ends_with(':') && !is_prose && line.starts_with(char::is_uppercase) {
            writeln!(groups, "  {line}").expect("text");
        } else if let Some((_, name)) = option.split_once("--").filter(|_| option.starts_with('-'))
        {
            let name = name.split([' ', ',', '[', '.']).next().unwrap_or_default();
            writeln!(groups, "    --{name}").expect("text");
        }
    }
    groups
}

/// Options are grouped with related ones. The groups are in a file, so that a change to them is
/// visible.
#[test]
fn options_stand_under_their_headings() {
    let mut all: Vec<String> = commands().iter().map(|words| groups(words)).collect();
    all.sort();
    let found = all.concat();
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/golden/help_groups.txt");
    if std::env::var_os("TAPEWRIGHT_BLESS").is_some() {
        std::fs::write(path, &found).expect("a file");
    }
    let expected = std::fs::read_to_string(path).unwrap_or_default();
    assert!(
        found == expected,
        "TAPEWRIGHT_BLESS=1 writes {path}:\n{found}"
    );
    // Nothing is listed under a heading of another command's options.
    for text in &all {
        let headings: Vec<&str> = text.lines().filter(|line| line.ends_with(':')).collect();
        let mut distinct = headings.clone();
        distinct.sort_unstable();
        distinct.dedup();
        assert_eq!(
            headings.len(),
            distinct.len(),
            "a heading stands twice: {text}"
        );
    }
}

#[test]
fn every_command_is_listed_with_the_first_line_of_its_help() {
    for words in commands() {
        let text = help(&words);
        let Some((_, listed)) = text.split_once("\nCommands:\n") else {
            continue;
        };
        let listed = listed.split("\n\n").next().unwrap_or_default();
        for line in listed.lines() {
            let (name, about) = line.trim().split_once("  ").expect("a line about it");
            if name == "help" {
                continue;
            }
            let of_it = help(&[words.clone(), vec![name.to_owned()]].concat());
            assert_eq!(of_it.lines().next(), Some(about.trim()), "{words:?} {name}");
        }
    }
}

/// An option takes the same kind of value in every command.
#[test]
fn an_option_has_one_kind_of_value() {
    let mut kinds: HashMap<String, (String, Vec<String>)> = HashMap::new();
    let mut found = Vec::new();
    for words in commands() {
        let text = help(&words);
        let options = text.split("\nExamples:").next().unwrap_or_default();
        for line in options.lines() {
            let words_of = line.trim_start();
            let Some((_, option)) = words_of
                .split_once("--")
                .filter(|_| words_of.starts_with('-'))
            else {
                continue;
            };
            let option = option.split("  ").next().unwrap_or_default();
            let (name, value) = option.split_once(' ').unwrap_or((option, ""));
            let value = value.trim_end_matches("...");
            let kind = (value.to_owned(), words.clone());
            let first = kinds.entry(name.to_owned()).or_insert_with(|| kind.clone());
            let differs = first.0 != kind.0 && !DIFFERENT.contains(&name);
            if differs {
                found.push(format!("--{name}: {first:?} and {kind:?}"));
            }
        }
    }
    assert!(kinds.len() > 60, "{kinds:?}");
    assert!(found.is_empty(), "{found:#?}");
}

/// Options with a value of another kind elsewhere, and why that is right.
const DIFFERENT: [&str; 7] = [
    // A glob over ids of exchanges for baselines, words for tests.
    "filter", // Some reports can be files as well.
    "format", // A folder for several servers, or a flag where there is one place.
    "record", "models", // A file, or a folder as well.
    "output", // The server of the suite that a recording is of.
    "label", "control",
];

/// The options of a help, each with its value: `("--timeout", "<DURATION>")`.
fn options(text: &str) -> Vec<(String, String)> {
    let text = text.split("\nExamples:").next().unwrap_or_default();
    let lines = text.lines().map(str::trim_start);
    let options = lines
        .filter(|line| line.starts_with('-'))
        .filter_map(|line| {
            let option = line.split("  ").next()?;
            let long = option.get(option.find("--")?..)?;
            let end = long.find([' ', '[']).unwrap_or(long.len());
            let (name, value) = long.split_at(end);
            Some((
                name.to_owned(),
                value.trim().trim_matches(['[', ']', '=']).to_owned(),
            ))
        });
    options.collect()
}

#[test]
fn every_duration_is_spelled_the_same() {
    let mut asked = 0;
    for words in commands() {
        for (name, value) in options(&help(&words)) {
            if value != "<DURATION>" {
                continue;
            }
            let typed = [&words[..], &[name.clone(), "5x".to_owned()]].concat();
            let done = crate::support::tapewright().args(typed).output();
            let done = done.expect("the binary runs");
            let said = String::from_utf8_lossy(&done.stderr);
            let expected = "invalid duration `5x`; write it like `200ms`, `5s` or `2m`";
            assert_eq!(done.status.code(), Some(2), "{words:?} {name}: {said}");
            assert!(said.contains(expected), "{words:?} {name}: {said}");
            asked += 1;
        }
    }
    assert!(asked > 20, "{asked} durations");
}

/// Commands with report formats have the same two options everywhere.
#[test]
fn every_command_with_formats_has_a_short_way_to_json() {
    for words in commands() {
        let options = options(&help(&words));
        let has = |name: &str| options.iter().any(|(option, _)| option == name);
        // The report of a recorder is about the suites of `--suite`, on stderr.
        let is_recorder = words == ["record"];
        assert_eq!(has("--format") && !is_recorder, has("--json"), "{words:?}");
    }
}

/// Wherever a recording is read, a folder of recordings is too: the help documents it.
#[test]
fn every_recording_can_be_a_folder() {
    let mut read = Vec::new();
    // A baseline is for one suite.
    let is_baseline = |words: &[String]| words.first().is_some_and(|one| one == "model-baseline");
    for words in commands().into_iter().filter(|words| !is_baseline(words)) {
        let text = help(&words);
        let (_, arguments) = text.split_once("\nArguments:\n").unwrap_or_default();
        let arguments = arguments.split("\nOptions:").next().unwrap_or_default();
        for name in ["RECORDING", "BEFORE", "AFTER", "PATH", "SUITE"] {
            let Some((_, about)) = arguments
                .split_once(&format!("{name}>"))
                .or_else(|| arguments.split_once(&format!("{name}]")))
            else {
                continue;
            };
            let about = about.split("\n\n").next().unwrap_or_default();
            assert!(about.contains("older"), "{words:?} {name}: {about}");
            read.push(words.clone());
        }
    }
    assert!(read.len() > 12, "{read:?}");
}

#[test]
fn a_file_that_does_not_exist_is_answered_with_the_one_that_does() {
    let folder = folder(&[("session.json", "{}")]);
    let (status, _, said) = run(folder.path(), &["inspect", "sesion.json"]);
    assert_eq!(status, 2, "{said}");
    assert!(
        said.contains("hint: did you mean `session.json`?"),
        "{said}"
    );
}

fn short(words: &[String]) -> String {
    let output = crate::support::tapewright().args(words).arg("-h").output();
    String::from_utf8(output.expect("the binary runs").stdout).expect("text")
}
