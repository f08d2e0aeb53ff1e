//! The help of every command.

use std::collections::BTreeMap;
use std::sync::Mutex;

use crate::support::system::output;
use crate::support::tapewright;

/// The words of the command lines whose help has examples.
pub(super) fn commands() -> Vec<Vec<String>> {
    let mut found = Vec::new();
    let mut waiting = vec![Vec::new()];
    while let Some(words) = waiting.pop() {
        let help = help(&words);
        let listed = help.split("\nCommands:\n").nth(1).unwrap_or_default();
        let names = listed.split("\n\n").next().unwrap_or_default().lines();
        for line in names.filter(|line| line.starts_with("  ") && !line.starts_with("   ")) {
            let name = line.split_whitespace().next().expect("a name");
            if name != "help" {
                waiting.push([words.clone(), vec![name.to_owned()]].concat());
            }
        }
        found.push(words);
    }
    assert!(found.len() > 10, "{found:?}");
    found
}

/// Helps that some test has asked for: they are the same for all.
static ASKED: Mutex<BTreeMap<Vec<String>, String>> = Mutex::new(BTreeMap::new());

pub(super) fn help(words: &[String]) -> String {
    if let Some(help) = ASKED.lock().expect("no panic").get(words) {
        return help.clone();
    }
    let done = output(tapewright().args(words).arg("--help"));
    let help = String::from_utf8(done.expect("the binary runs").stdout).expect("text");
    let mut all = ASKED.lock().expect("no panic");
    all.insert(words.to_vec(), help.clone());
    help
}
