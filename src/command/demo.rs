//! `tapewright demo`: records, replays and checks a built-in server.

mod client;
mod server;

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use anyhow::{Context as _, bail};
use clap::Args;

use self::server::Scale;
use crate::exit::Exit;
use crate::report::{self, Mistake};

/// Record, replay and check a built-in server, offline
///
/// A built-in client talks to a built-in server through the real recorder. Each
/// command is shown as you would type it, with its output.
#[derive(Debug, Args)]
#[command(verbatim_doc_comment, after_long_help = EXAMPLES)]
pub(crate) struct Arguments {
    /// Write the recording to this folder [default: a new temporary folder]
    #[arg(long, value_name = "FOLDER")]
    folder: Option<PathBuf>,
    /// Run only the built-in weather server, on stdin and stdout
    #[arg(long)]
    serve: bool,
    /// With `--serve`, answer in degrees Fahrenheit, like a changed server
    #[arg(long, requires = "serve")]
    fahrenheit: bool,
}

const EXAMPLES: &str = "\
Examples:
  tapewright demo
  tapewright demo --folder /tmp/my-demo
  tapewright demo --serve --fahrenheit";

/// Runs the demonstration, or its server.
pub(crate) fn run(arguments: &Arguments) -> anyhow::Result<Exit> {
    if arguments.serve {
        let scale = if arguments.fahrenheit {
            Scale::Fahrenheit
        } else {
            Scale::Celsius
        };
        server::serve(scale)?;
        return Ok(Exit::Pass);
    }
    let folder = match &arguments.folder {
        Some(folder) => folder.clone(),
        None => std::env::temp_dir().join(format!("tapewright-demo-{}", std::process::id())),
    };
    std::fs::create_dir_all(&folder).with_context(|| {
        let what = format!("cannot create the folder `{}`", folder.display());
        Mistake::new(what, "choose a writable folder with `--folder FOLDER`")
    })?;
    let stage = Stage {
        program: std::env::current_exe()?,
        folder,
    };
    stage.play()?;
    Ok(Exit::Pass)
}

/// The program, and the folder of the demonstration.
struct Stage {
    program: PathBuf,
    folder: PathBuf,
}

impl Stage {
    fn play(&self) -> anyhow::Result<()> {
        report::out(&format!("$ cd {}\n\n", self.folder.display()))?;
        self.record()?;
        self.replay()?;
        self.show(
            "What was recorded, including the call without an answer:",
            &["inspect", "demo.tape.jsonl"],
        )?;
        self.show(
            "The tape has more than the cassette, and can be converted at any time:",
            &[
                "export",
                "demo.tape.jsonl",
                "--as",
                "capture",
                "-o",
                "again.capture.json",
            ],
        )?;
        self.show(
            "No secret was written to disk:",
            &["scrub", "--check", "demo.json", "demo.tape.jsonl"],
        )?;
        self.show(
            "The session is checked against the invariants of the protocol:",
            &["compliance", "invariants", "--capture", "demo.json"],
        )?;
        report::out(&format!(
            "The files are in {}\nTo record your own server, put this in place of its command:\n\n  tapewright record -o session.json -- YOUR-SERVER ITS-ARGUMENTS\n",
            self.folder.display()
        ))
    }

    fn record(&self) -> anyhow::Result<()> {
        let arguments = [
            "record",
            "-o",
            "demo.json",
            "--save-capture",
            "demo.capture.json",
            "--",
        ];
        say(
            "A client and a server talk through the recorder:",
            &arguments,
            " tapewright demo --serve",
        )?;
        let mut command = self.command(&arguments);
        command.arg(&self.program).args(["demo", "--serve"]);
        Self::talk(command)?;
        self.expect("demo.json")
    }

    fn replay(&self) -> anyhow::Result<()> {
        let arguments = ["replay", "demo.json"];
        say(
            "The same client without the server; the recording answers, and contains no key:",
            &arguments,
            "",
        )?;
        Self::talk(self.command(&arguments))
    }

    /// Lets the built-in client talk to the server that a command starts, and shows the
    /// conversation.
    fn talk(mut command: Command) -> anyhow::Result<()> {
        let mut child = command
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .context("cannot start the command")?;
        let (Some(input), Some(output)) = (child.stdin.take(), child.stdout.take()) else {
            bail!("the command has no standard streams");
        };
        let said = client::talk(input, output)?;
        let status = child.wait()?;
        report::out(&said)?;
        if !status.success() {
            bail!("the command ended with {status}");
        }
        report::out("\n")
    }

    fn command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(&self.program);
        command.args(arguments).current_dir(&self.folder);
        command
    }

    /// Shows a command and what it prints.
    fn show(&self, why: &str, arguments: &[&str]) -> anyhow::Result<()> {
        say(why, arguments, "")?;
        let output = self
            .command(arguments)
            .stdin(Stdio::null())
            .output()
            .context("cannot start the command")?;
        report::out(&String::from_utf8_lossy(&output.stdout))?;
        report::out(&String::from_utf8_lossy(&output.stderr))?;
        if !output.status.success() {
            bail!(
                "`tapewright {}` ended with {}",
                arguments.join(" "),
                output.status
            );
        }
        report::out("\n")
    }

    fn expect(&self, name: &str) -> anyhow::Result<()> {
        if !Path::new(&self.folder).join(name).exists() {
            bail!("`{name}` was not written");
        }
        Ok(())
    }
}

fn say(why: &str, arguments: &[&str], more: &str) -> anyhow::Result<()> {
    report::out(&format!(
        "# {why}\n$ tapewright {}{more}\n",
        arguments.join(" ")
    ))
}
