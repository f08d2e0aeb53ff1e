//! Ensures that no process outlives tapewright: every child is in a job that ends with it.
//!
//! A job object ends all its processes when its last handle is closed, which the system does
//! however tapewright ends, including `TerminateProcess`. A child is started suspended, assigned to
//! its job, and only then resumed, so that it and its descendants are never unguarded. Therefore no
//! second process is necessary, unlike on other systems.

use std::io;
use std::process::{Command, ExitCode, Stdio};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use process_wrap::tokio::{ChildWrapper, CommandWrap, CreationFlags, JobObject, KillOnDrop};
use tapewright_schemas::event::Exit;
use tokio::runtime::Builder;
use tokio::sync::watch;
use windows::Win32::System::Threading::PROCESS_CREATION_FLAGS;

use super::pipe::Pipe;
use super::process::{Signal, exit_of, window};
use crate::system::Started;

/// Runs the guard if this process was started as one: there is none here.
#[must_use]
pub fn run_if_asked() -> Option<ExitCode> {
    None
}

/// The job of a session's child.
#[derive(Debug)]
pub struct Group {
    wanted: watch::Sender<Wanted>,
    // The job, after its child has exited: descendants may live until the session is over.
    left: Left,
}

/// A job whose child has exited.
type Left = Arc<Mutex<Option<Box<dyn ChildWrapper>>>>;

/// The requested state of a job.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Wanted {
    /// Running.
    #[default]
    Running,
    /// Killed.
    Killed,
}

impl Group {
    /// Nothing can be started ahead of a child.
    ///
    /// # Errors
    ///
    /// Always.
    pub fn fork() -> io::Result<Self> {
        Err(io::ErrorKind::Unsupported.into())
    }

    /// Like [`Self::fork`].
    ///
    /// # Errors
    ///
    /// Always.
    pub fn start() -> io::Result<Self> {
        Err(io::ErrorKind::Unsupported.into())
    }

    /// Starts a child in its own job.
    ///
    /// # Errors
    ///
    /// The program cannot be started, or cannot be assigned to a job.
    pub(crate) fn spawn(_: Option<Self>, mut command: Command) -> io::Result<Started> {
        command
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        let mut wrapped = CommandWrap::from(tokio::process::Command::from(command));
        wrapped
            .wrap(CreationFlags(PROCESS_CREATION_FLAGS(window())))
            .wrap(KillOnDrop)
            .wrap(JobObject);
        // It is only used to wait for the exit.
        let runtime = Builder::new_current_thread().build()?;
        let within = runtime.enter();
        let mut child = wrapped.spawn()?;
        drop(within);
        let (Some(stdin), Some(stdout), Some(stderr)) = (
            child.stdin().take(),
            child.stdout().take(),
            child.stderr().take(),
        ) else {
            return Err(io::ErrorKind::BrokenPipe.into());
        };
        let pid = child.id().unwrap_or_default();
        let (wanted, told) = watch::channel(Wanted::default());
        let left = Left::default();
        let over = Arc::clone(&left);
        Ok(Started {
            pid,
            input: Pipe::of(stdin.into_owned_handle()?),
            output: Pipe::of(stdout.into_owned_handle()?),
            log: Pipe::of(stderr.into_owned_handle()?),
            ended: Box::new(move || {
                let exit = runtime.block_on(wait(child.as_mut(), told.clone()));
                leave(&over, child, &told);
                exit
            }),
            group: Self { wanted, left },
        })
    }

    /// Ends the job, if that is the meaning of the signal: processes get the console's events
    /// themselves.
    pub fn signal(&self, signal: Signal) {
        if signal.ends() {
            self.wanted.send_replace(Wanted::Killed);
            end_rest(&self.left);
        }
    }

    /// Ends everything that the child of the session left behind: the job ends with its last
    /// handle.
    pub fn finish(self) {
        self.signal(Signal::KILL);
        drop(lock(&self.left).take());
    }
}

/// Keeps the job of a child that has exited: what the child has started may live until the session
/// is over, or until its end is requested.
fn leave(left: &Left, child: Box<dyn ChildWrapper>, told: &watch::Receiver<Wanted>) {
    *lock(left) = Some(child);
    // The request may have come before the job was there to be ended.
    if *told.borrow() == Wanted::Killed {
        end_rest(left);
    }
}

/// Ends the processes of a job whose child has exited.
fn end_rest(left: &Left) {
    if let Some(child) = lock(left).as_mut() {
        // There may be none left.
        child.start_kill().ok();
    }
}

fn lock(left: &Left) -> MutexGuard<'_, Option<Box<dyn ChildWrapper>>> {
    left.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Waits for the child alone, and ends the job if requested.
async fn wait(child: &mut dyn ChildWrapper, mut told: watch::Receiver<Wanted>) -> io::Result<Exit> {
    tokio::select! {
        status = child.inner_mut().wait() => return Ok(exit_of(status?)),
        // An error means that the job has no more handles.
        _ = told.wait_for(|wanted| *wanted == Wanted::Killed) => {}
    }
    child.start_kill()?;
    Ok(exit_of(child.inner_mut().wait().await?))
}
