//! Running commands.

use std::collections::HashMap;
use std::fs::File;
use std::io::{self, PipeWriter, Write as _};
use std::path::Path;
use std::process;

use super::commands;
use super::expand::{expand, whole};
use super::parse::{Command, Join, List, Token};

/// Where output goes.
#[derive(Debug)]
pub(crate) enum Sink {
    Out,
    Error,
    Nowhere,
    File(File),
    Pipe(PipeWriter),
    Text(Vec<u8>),
}

/// What ends a script before its end.
#[derive(Debug)]
pub(crate) enum Stop {
    Exit(i32),
    Refused(String),
}

impl From<String> for Stop {
    fn from(why: String) -> Self {
        Self::Refused(why)
    }
}

impl From<io::Error> for Stop {
    fn from(error: io::Error) -> Self {
        Self::Refused(error.to_string())
    }
}

#[derive(Debug)]
pub(crate) struct Shell {
    /// The name of the script and its arguments.
    words: Vec<String>,
    pub(crate) variables: HashMap<String, String>,
    pub(crate) functions: HashMap<String, List>,
    status: i32,
    pub(crate) out: Sink,
    pub(crate) error: Sink,
}

impl Shell {
    pub(crate) fn new(words: Vec<String>) -> Self {
        Self {
            words,
            variables: HashMap::new(),
            functions: HashMap::new(),
            status: 0,
            out: Sink::Out,
            error: Sink::Error,
        }
    }

    pub(crate) fn arguments(&self) -> Vec<String> {
        self.words.iter().skip(1).cloned().collect()
    }

    /// Drops that many arguments; `None` if there are fewer.
    pub(crate) fn shift(&mut self, count: usize) -> Option<()> {
        (count < self.words.len()).then(|| drop(self.words.drain(1..=count)))
    }

    pub(crate) fn set(&mut self, name: &str, value: String) {
        self.variables.insert(name.to_owned(), value);
    }

    /// The value of a variable of the script or the environment, or of an argument.
    pub(crate) fn value(&self, name: &str) -> String {
        if let Ok(number) = name.parse::<usize>() {
            return self.words.get(number).cloned().unwrap_or_default();
        }
        match name {
            "?" => self.status.to_string(),
            "#" => self.words.len().saturating_sub(1).to_string(),
            "$" => process::id().to_string(),
            "@" => self.arguments().join(" "),
            _ => {
                let own = self.variables.get(name).cloned();
                own.or_else(|| std::env::var(name).ok()).unwrap_or_default()
            }
        }
    }

    /// The status of a whole script.
    pub(crate) fn all(&mut self, list: &List) -> i32 {
        match self.list(list) {
            Ok(()) => self.status,
            Err(Stop::Exit(status)) => status,
            Err(Stop::Refused(why)) => super::refuse(&why),
        }
    }

    /// The status of a single command.
    pub(crate) fn call(&mut self, words: &[String]) -> i32 {
        match self.simple(words, &[]) {
            Ok(status) | Err(Stop::Exit(status)) => status,
            Err(Stop::Refused(why)) => super::refuse(&why),
        }
    }

    /// What a script writes.
    pub(crate) fn captured(&mut self, list: &List) -> String {
        let before = std::mem::replace(&mut self.out, Sink::Text(Vec::new()));
        let variables = self.variables.clone();
        let status = self.all(list);
        self.variables = variables;
        self.status = status;
        match std::mem::replace(&mut self.out, before) {
            Sink::Text(text) => String::from_utf8_lossy(&text).into_owned(),
            _ => String::new(),
        }
    }

    fn list(&mut self, list: &List) -> Result<(), Stop> {
        for (join, command) in list {
            let is_due = match join {
                Join::Always => true,
                Join::IfSuccessful => self.status == 0,
                Join::IfFailed => self.status != 0,
            };
            if is_due {
                self.status = self.command(command)?;
            }
        }
        Ok(())
    }

    fn holds(&mut self, condition: &List) -> Result<bool, Stop> {
        self.list(condition)?;
        Ok(self.status == 0)
    }

    pub(crate) fn command(&mut self, command: &Command) -> Result<i32, Stop> {
        match command {
            Command::Simple(tokens) => return self.redirected(tokens),
            Command::While {
                until,
                condition,
                body,
            } => {
                while self.holds(condition)? != *until {
                    self.list(body)?;
                }
                return Ok(0);
            }
            Command::If {
                condition,
                then,
                otherwise,
            } => {
                let chosen = if self.holds(condition)? {
                    then
                } else {
                    otherwise
                };
                self.status = 0;
                self.list(chosen)?;
            }
            Command::For { name, words, body } => {
                for word in words {
                    let Token::Word(word) = word else { continue };
                    for value in expand(self, word)?.words() {
                        self.set(name, value);
                        self.list(body)?;
                    }
                }
            }
            Command::Case { word, arms } => {
                let text = whole(self, word)?;
                self.status = 0;
                'arms: for (patterns, list) in arms {
                    for pattern in patterns {
                        if expand(self, pattern)?.fits(&text) {
                            self.list(list)?;
                            break 'arms;
                        }
                    }
                }
            }
            Command::Function(name, body) => {
                self.functions.insert(name.clone(), body.clone());
                return Ok(0);
            }
            Command::Group(body) => self.list(body)?,
            Command::Pipe(writer, reader) => return self.pipe(writer, reader),
        }
        Ok(self.status)
    }

    /// A simple command, with its output where its redirections say.
    fn redirected(&mut self, tokens: &[Token]) -> Result<i32, Stop> {
        self.with_words(tokens, Self::simple)
    }

    /// Calls `act` with the words of a simple command and what it assigns, its output being where its
    /// redirections say.
    pub(crate) fn with_words<T>(
        &mut self,
        tokens: &[Token],
        act: impl FnOnce(&mut Self, &[String], &[(String, String)]) -> Result<T, Stop>,
    ) -> Result<T, Stop> {
        let mut words = Vec::new();
        let mut assigned = Vec::new();
        let (mut out, mut error) = (None, None);
        let mut tokens = tokens.iter();
        while let Some(token) = tokens.next() {
            match token {
                Token::Word(word) => match assignment(word) {
                    Some((name, value)) if words.is_empty() => {
                        assigned.push((name.to_owned(), whole(self, value)?));
                    }
                    _ => words.extend(expand(self, word)?.words()),
                },
                Token::Operator("2>/dev/null") => error = Some(Sink::Nowhere),
                Token::Operator(">&2") => out = Some(Sink::Error),
                Token::Operator(to @ (">" | ">>")) => {
                    let Some(Token::Word(path)) = tokens.next() else {
                        return Err("output to nothing".to_owned().into());
                    };
                    let path = whole(self, path)?;
                    out = Some(opened(&path, *to == ">>")?);
                }
                Token::Operator(other) => return Err(format!("{other} is not known").into()),
            }
        }
        let before = (
            out.map(|out| std::mem::replace(&mut self.out, out)),
            error.map(|error| std::mem::replace(&mut self.error, error)),
        );
        let done = act(self, &words, &assigned);
        if let Some(out) = before.0 {
            self.out = out;
        }
        if let Some(error) = before.1 {
            self.error = error;
        }
        done
    }

    fn simple(&mut self, words: &[String], assigned: &[(String, String)]) -> Result<i32, Stop> {
        let Some((name, arguments)) = words.split_first() else {
            for (name, value) in assigned {
                self.set(name, value.clone());
            }
            return Ok(0);
        };
        if let Some(body) = self.functions.get(name).cloned() {
            let words = std::mem::replace(&mut self.words, words.to_vec());
            let done = self.list(&body);
            self.words = words;
            return done.map(|()| self.status);
        }
        if name == "exec" {
            let [name, arguments @ ..] = arguments else {
                return Err("exec of nothing is not known".to_owned().into());
            };
            return Err(Stop::Exit(self.other(name, arguments, assigned)?));
        }
        match commands::run(self, name, arguments) {
            Some(done) => done,
            None => self.other(name, arguments, assigned),
        }
    }

    /// Writes to standard output.
    pub(crate) fn write(&mut self, bytes: &[u8]) -> io::Result<()> {
        match &mut self.out {
            Sink::Out => {
                let mut out = io::stdout().lock();
                out.write_all(bytes)?;
                out.flush()
            }
            Sink::Error => io::stderr().write_all(bytes),
            Sink::Nowhere => Ok(()),
            Sink::File(file) => file.write_all(bytes),
            Sink::Pipe(pipe) => pipe.write_all(bytes),
            Sink::Text(text) => text.write_all(bytes),
        }
    }
}

/// `NAME=VALUE`
fn assignment(word: &str) -> Option<(&str, &str)> {
    let (name, value) = word.split_once('=')?;
    let is_name = name
        .chars()
        .all(|one| one.is_ascii_alphanumeric() || one == '_');
    (is_name && name.starts_with(|one: char| !one.is_ascii_digit())).then_some((name, value))
}

fn opened(path: &str, is_kept: bool) -> io::Result<Sink> {
    if path == "/dev/null" {
        return Ok(Sink::Nowhere);
    }
    let mut options = File::options();
    options
        .create(true)
        .append(is_kept)
        .write(!is_kept)
        .truncate(!is_kept);
    options.open(Path::new(path)).map(Sink::File)
}
