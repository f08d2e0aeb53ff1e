//! A child process as an upstream.

use std::ffi::OsString;
use std::io;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};

use tapewright_schemas::event::Peer;

use crate::system::guard::Group;
use crate::system::{Signal, process};
use crate::upstream::{Life, Link, OpenError, Upstream};

/// A command that is started for each conversation, exactly as it would be started
/// alone: same arguments, environment and working folder, and no shell.
#[derive(Clone)]
pub struct ChildProcess {
    program: OsString,
    arguments: Vec<OsString>,
    // On top of our environment.
    variables: Vec<(String, String)>,
    // Ours where there is none.
    folder: Option<PathBuf>,
    ahead: Arc<Ahead>,
}

/// The group of the next conversation, where its guard was started ahead.
#[derive(Default)]
struct Ahead(Mutex<Option<Group>>);

impl Ahead {
    fn put(&self, group: Option<Group>) -> Option<Group> {
        std::mem::replace(
            &mut self.0.lock().unwrap_or_else(PoisonError::into_inner),
            group,
        )
    }
}

impl Drop for Ahead {
    fn drop(&mut self) {
        if let Some(group) = self.put(None) {
            group.finish();
        }
    }
}

impl ChildProcess {
    /// A command; the program is looked up in `PATH` as the client would do.
    #[must_use]
    pub fn new(program: OsString, arguments: Vec<OsString>) -> Self {
        Self {
            program,
            arguments,
            variables: Vec::new(),
            folder: None,
            ahead: Arc::default(),
        }
    }

    /// Starts the guard of the next conversation now, if there is but one thread yet: it can
    /// then be a fork, which the client need not wait for as for a program that is loaded.
    pub fn start_guard(&self) {
        if let Some(unused) = self.ahead.put(Group::fork().ok()) {
            unused.finish();
        }
    }

    /// The same with these variables on top of our environment.
    #[must_use]
    pub fn with_env(mut self, variables: Vec<(String, String)>) -> Self {
        self.variables = variables;
        self
    }

    /// The same in this working folder, or in ours. A program with a path of its own is looked
    /// for from there.
    #[must_use]
    pub fn with_folder(mut self, folder: Option<PathBuf>) -> Self {
        self.folder = folder;
        self
    }

    fn error(&self, source: io::Error) -> OpenError {
        OpenError::Spawn {
            command: self.program.to_string_lossy().into_owned(),
            source,
        }
    }
}

impl std::fmt::Debug for ChildProcess {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        // Arguments and variables may hold secrets.
        out.debug_struct("ChildProcess")
            .field("program", &self.program)
            .finish_non_exhaustive()
    }
}

impl Upstream for ChildProcess {
    fn open(&self) -> Result<Link, OpenError> {
        // Without a guard a session is still worth having; its child then leads a group
        // of its own, which ends with us in every case but SIGKILL.
        let group = self.ahead.put(None).or_else(|| Group::start().ok());
        let mut command = process::command(&self.program, self.folder.as_deref())
            .map_err(|source| self.error(source))?;
        command
            .args(&self.arguments)
            .envs(self.variables.iter().map(|(name, value)| (name, value)));
        let started = Group::spawn(group, command).map_err(|source| self.error(source))?;
        Ok(Link {
            peer: Peer::Process { pid: started.pid },
            to_server: Box::new(started.input),
            to_client: Box::new(started.output),
            log: Some(Box::new(started.log)),
            ended: started.ended,
            life: Box::new(started.group),
        })
    }
}

impl Life for Group {
    fn signal(&self, signal: Signal) {
        Self::signal(self, signal);
    }

    fn finish(self: Box<Self>) {
        Self::finish(*self);
    }
}
