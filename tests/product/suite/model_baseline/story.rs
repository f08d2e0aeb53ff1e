//! The story of docs/model-baselines.md, as written.

use std::fs;
use std::path::Path;

use super::super::stage::{Stage, said};

/// The commands of a page's consoles, each with its output.
fn consoles(page: &str) -> Vec<(String, String)> {
    let mut all: Vec<(String, String)> = Vec::new();
    let mut is_console = false;
    for line in page.lines() {
        // Consoles in lists are indented.
        let line = line.strip_prefix("   ").unwrap_or(line);
        if let Some(language) = line.strip_prefix("```") {
            is_console = language == "console";
        } else if is_console {
            match (line.strip_prefix("$ "), all.last_mut()) {
                (Some(command), _) => all.push((command.to_owned(), String::new())),
                (None, Some((_, told))) => {
                    told.push_str(line);
                    told.push('\n');
                }
                (None, None) => panic!("{line}"),
            }
        }
    }
    all
}

#[test]
fn the_commands_of_the_page_say_what_it_says() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let page = root.join("docs/model-baselines.md");
    let mut text = fs::read_to_string(&page).unwrap();
    let stage = Stage::new();
    let folder = root.join("docs/model-baselines");
    for name in ["agents.yaml", "invariants.json"] {
        stage.write(name, &fs::read_to_string(folder.join(name)).unwrap());
    }
    for entry in fs::read_dir(folder.join("cassettes")).unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_name().unwrap().to_string_lossy();
        stage.write(
            &format!("cassettes/{name}"),
            &fs::read_to_string(&path).unwrap(),
        );
    }
    let binary = Path::new(env!("CARGO_BIN_EXE_tapewright"));
    let path = format!("{}:/usr/bin:/bin", binary.parent().unwrap().display());
    let mut status = 0;
    let consoles = consoles(&text);
    assert!(consoles.len() > 5, "{consoles:?}");
    for (command, wanted) in consoles {
        if command == "echo $?" {
            assert_eq!(wanted, format!("{status}\n"), "{command}");
            continue;
        }
        let mut shell = std::process::Command::new("sh");
        shell
            .args(["-c", &command])
            .current_dir(stage.path(""))
            .env_clear()
            .env("PATH", &path)
            .env("HOME", stage.path("home"));
        let told = said(&mut shell);
        status = told.status;
        let got = told.out + &told.err;
        if std::env::var_os("TAPEWRIGHT_BLESS").is_some() {
            let indented = |text: &str| {
                text.lines()
                    .map(|line| format!("   {line}").trim_end().to_owned() + "\n")
                    .collect::<String>()
            };
            let before = format!("   $ {command}\n{}", indented(&wanted));
            let after = format!("   $ {command}\n{}", indented(&got));
            text = text.replace(&before, &after);
            fs::write(&page, &text).unwrap();
        } else {
            assert_eq!(got, wanted, "{command}");
        }
    }
}
