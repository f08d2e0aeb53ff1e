//! Programs, and pipes between them.

use std::io::{self, Read as _};
use std::process::{self, Stdio};
use std::thread::{self, JoinHandle};

use super::parse::{Command, Token};
use super::run::{Shell, Sink, Stop};

/// A program that was started.
#[derive(Debug)]
struct Running {
    child: process::Child,
    output: Option<JoinHandle<io::Result<Vec<u8>>>>,
}

impl Shell {
    /// A program.
    pub(crate) fn other(
        &mut self,
        name: &str,
        arguments: &[String],
        assigned: &[(String, String)],
    ) -> Result<i32, Stop> {
        let running = self.started(program(name, arguments, assigned))?;
        self.ended(running)
    }

    /// Starts a program; what it writes is read meanwhile if the shell wants it.
    fn started(&self, mut program: process::Command) -> Result<Running, Stop> {
        let is_read = matches!(self.out, Sink::Text(_));
        let out = if is_read {
            Stdio::piped()
        } else {
            given(&self.out)?
        };
        program.stdout(out).stderr(given(&self.error)?);
        let mut child = program.spawn()?;
        let output = child.stdout.take().map(|mut output| {
            thread::spawn(move || {
                let mut text = Vec::new();
                output.read_to_end(&mut text).map(|_| text)
            })
        });
        Ok(Running { child, output })
    }

    /// Waits for the end of a program; its status.
    fn ended(&mut self, mut running: Running) -> Result<i32, Stop> {
        let text = running.output.map(JoinHandle::join);
        if let Some(text) = text {
            let text = text.map_err(|_| "a program was not read".to_owned())??;
            self.write(&text)?;
        }
        Ok(running.child.wait()?.code().unwrap_or(1))
    }

    /// The reader, which is a program, starts first. The writer changes no variable.
    pub(crate) fn pipe(&mut self, writer: &Command, reader: &[Token]) -> Result<i32, Stop> {
        let (input, output) = io::pipe()?;
        let running = self.with_words(reader, |shell, words, assigned| {
            let Some((name, arguments)) = words.split_first() else {
                return Err("nothing behind a pipe".to_owned().into());
            };
            if shell.functions.contains_key(name) {
                return Err("only a program can be behind a pipe".to_owned().into());
            }
            let mut program = program(name, arguments, assigned);
            program.stdin(input);
            shell.started(program)
        })?;
        let before = std::mem::replace(&mut self.out, Sink::Pipe(output));
        let variables = self.variables.clone();
        let done = self.command(writer);
        self.variables = variables;
        // The reader sees the end of its input.
        self.out = before;
        match done {
            Ok(_) | Err(Stop::Exit(_)) => self.ended(running),
            refused => refused,
        }
    }
}

fn program(name: &str, arguments: &[String], assigned: &[(String, String)]) -> process::Command {
    let mut program = process::Command::new(name);
    program.args(arguments).envs(assigned.iter().cloned());
    program
}

/// The output of a program.
fn given(sink: &Sink) -> io::Result<Stdio> {
    Ok(match sink {
        Sink::Out => io::stdout().into(),
        Sink::Error => io::stderr().into(),
        Sink::File(file) => file.try_clone()?.into(),
        Sink::Pipe(pipe) => pipe.try_clone()?.into(),
        Sink::Nowhere | Sink::Text(_) => Stdio::null(),
    })
}
