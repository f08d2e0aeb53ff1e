//! `tapewright demo`: the whole loop on a server that is built in.

mod client;
mod server;

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use anyhow::{Context as _, bail};
use clap::Args;

use crate::exit::Exit;
use crate::report::{self, Mistake};

/// Record, replay and judge a session with a built-in server: offline, in seconds
///
/// A built-in client talks with a built-in server through the real recorder. Every
/// command is shown as you would type it, with what it prints.
#[derive(Debug, Args)]
#[command(verbatim_doc_comment, after_long_help = EXAMPLES)]
pub(crate) struct Arguments {
    /// Where to put the recording; without it a new folder for temporary files
    #[arg(long, value_name = "FOLDER")]
    folder: Option<PathBuf>,
    /// Be the server of the demonstration, on standard input and output
    #[arg(long, hide = true)]
    serve: bool,
}

const EXAMPLES: &str = "\
Examples:
  tapewright demo
  tapewright demo --folder /tmp/my-demo";

/// Runs the demonstration, or its server.
pub(crate) fn run(arguments: &Arguments) -> anyhow::Result<Exit> {
    if arguments.serve {
        server::serve()?;
        return Ok(Exit::Pass);
    }
    let folder = match &arguments.folder {
        Some(folder) => folder.clone(),
        None => std::env::temp_dir().join(format!("tapewright-demo-{}", std::process::id())),
    };
    std::fs::create_dir_all(&folder).with_context(|| {
        let what = format!("the folder `{}` could not be created", folder.display());
        Mistake::new(
            what,
            "name a folder that you may write to with `--folder FOLDER`",
        )
    })?;
    let stage = Stage {
        program: std::env::current_exe()?,
        folder,
    };
    stage.play()?;
    Ok(Exit::Pass)
}

/// The program and the folder that the demonstration plays in.
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
            "What is on it, with the call that never got an answer:",
            &["inspect", "demo.tape.jsonl"],
        )?;
        self.show(
            "The tape keeps more than the cassette; either is projected from it at any time:",
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
            "No secret has reached the disk:",
            &["scrub", "--check", "demo.json", "demo.tape.jsonl"],
        )?;
        self.show(
            "The session is judged by the invariants of the protocol:",
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
            "--capture",
            "demo.capture.json",
            "--",
        ];
        say(
            "A client and a server talk, with the recorder between them:",
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
            "The same client again, and no server: the recording answers, though it holds no key:",
            &arguments,
            "",
        )?;
        Self::talk(self.command(&arguments))
    }

    /// Lets the built-in client talk with what a command starts, and shows what was said.
    fn talk(mut command: Command) -> anyhow::Result<()> {
        let mut child = command
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .context("the command could not be started")?;
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
            .context("the command could not be started")?;
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
