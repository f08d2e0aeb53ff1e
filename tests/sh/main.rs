//! A small shell for systems without one: Wine runs the scripts of the tests with it.
//!
//! It knows the part of the language that these scripts use, and ends with status 2 at anything else. Under another name
//! it is that command: `cat`, `true`, `sleep`.

#![expect(
    clippy::disallowed_methods,
    reason = "it ends with the status of its script"
)]

mod commands;
mod expand;
mod parse;
mod programs;
mod run;

use std::path::Path;
use std::process::exit;

use self::run::Shell;

fn main() {
    let mut words = std::env::args();
    let own = words.next().unwrap_or_default();
    let name = Path::new(&own).file_stem().unwrap_or_default();
    let name = name.to_string_lossy().into_owned();
    let words: Vec<String> = words.collect();
    exit(if name == "sh" {
        interpret(&words)
    } else {
        Shell::new(Vec::new()).call(&[&[name], words.as_slice()].concat())
    });
}

/// `sh -c SCRIPT [NAME ARGUMENT…]`, or `sh FILE [ARGUMENT…]`.
fn interpret(words: &[String]) -> i32 {
    let (script, words) = match words {
        [option, script, rest @ ..] if option == "-c" => (Ok(script.clone()), rest),
        [file, ..] => (std::fs::read_to_string(file), words),
        [] => return refuse("no script"),
    };
    let script = match script {
        Ok(script) => script,
        Err(error) => return refuse(&error.to_string()),
    };
    match parse::script(&script) {
        Ok(list) => Shell::new(words.to_vec()).all(&list),
        Err(why) => refuse(&why),
    }
}

#[expect(clippy::print_stderr, reason = "a shell tells so")]
fn refuse(why: &str) -> i32 {
    eprintln!("sh: {why}");
    2
}
