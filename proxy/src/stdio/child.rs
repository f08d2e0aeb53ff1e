//! A child process as an upstream.

use std::ffi::OsString;
use std::io;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};

use tapewright_schemas::event::Peer;

use crate::system::guard::Group;
use crate::system::{Signal, process};
use crate::upstream::{Life, Link, OpenError, Upstream};

/// A command that is started for each conversation, exactly as without tapewright: same arguments,
/// environment and working folder, and no shell.
#[derive(Clone)]
pub struct ChildProcess {
    program: OsString,
    arguments: Vec<OsString>,
    // Added to tapewright's environment.
    variables: Vec<(String, String)>,
    // By default tapewright's own.
    folder: Option<PathBuf>,
    ahead: Arc<Ahead>,
}

/// The group for the next conversation, if its guard was already started.
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
    /// A command; the program is searched in `PATH` as by the client.
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

    /// Starts the guard for the next conversation now, if there is only one thread: it can then be
    /// a fork, for which the client waits less than for loading a program.
    pub fn start_guard(&self) {
        if let Some(unused) = self.ahead.put(Group::fork().ok()) {
            unused.finish();
        }
    }

    /// Adds these variables to tapewright's environment.
    #[must_use]
    pub fn with_env(mut self, variables: Vec<(String, String)>) -> Self {
        self.variables = variables;
        self
    }

    /// Sets the working folder; by default tapewright's own. A relative path to the program is
    /// relative to it.
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
        // Arguments and variables may contain secrets.
        out.debug_struct("ChildProcess")
            .field("program", &self.program)
            .finish_non_exhaustive()
    }
}

impl Upstream for ChildProcess {
    fn open(&self) -> Result<Link, OpenError> {
        // A session without a guard is better than none; its child then leads its own group, which
        // ends with tapewright except after SIGKILL.
        let group = self.ahead.put(None).or_else(|| Group::start().ok());
        let folder = self.folder.as_deref();
        let mut command = process::command(&self.program, folder, &self.variables)
            .map_err(|source| self.error(source))?;
        command.args(&self.arguments);
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
