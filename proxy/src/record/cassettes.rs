//! The thread that projects finished tapes, next to the writer.

use std::collections::{HashMap, VecDeque};
use std::path::PathBuf;
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::thread::{self, JoinHandle};

use super::finish::{Finished, Problem, Projection, SessionFiles};
use super::follow::Drafts;
use super::names::Target;
use crate::system::files::Identity;

/// The tapes of one session, to be projected to a cassette and a capture.
#[derive(Clone, Debug)]
pub(crate) struct Job {
    pub(crate) session: u32,
    pub(crate) tapes: Vec<PathBuf>,
    pub(crate) target: Target,
    pub(crate) number: u32,
    /// Whether a tape is incomplete.
    pub(crate) gaps: bool,
}

/// Projects tapes one after the other.
#[derive(Debug)]
pub(crate) struct Cassettes {
    jobs: Option<SyncSender<Job>>,
    thread: Option<JoinHandle<Written>>,
    // The results if no thread could be started.
    here: Written,
}

/// The results so far.
#[derive(Debug, Default)]
pub(crate) struct Written {
    sessions: HashMap<PathBuf, SessionOutput>,
    order: VecDeque<PathBuf>,
    pub(crate) unlisted: u64,
    pub(crate) problems: Vec<Problem>,
}

#[derive(Debug)]
struct SessionOutput {
    files: SessionFiles,
    // The files last written as the cassette and the capture.
    left: [Option<Identity>; 2],
}

/// The number of waiting sessions above which the writer blocks.
const WAITING: usize = 256;
/// The maximum number of listed sessions.
const LISTED: usize = 10_000;
/// The maximum number of reported problems.
const TOLD: usize = 1_000;

impl Cassettes {
    pub(crate) fn start() -> Self {
        let (sender, receiver) = sync_channel(WAITING);
        let thread = thread::Builder::new()
            .name("cassettes".to_owned())
            .spawn(move || work(&receiver));
        match thread {
            Ok(thread) => Self {
                jobs: Some(sender),
                thread: Some(thread),
                here: Written::default(),
            },
            Err(_) => Self {
                jobs: None,
                thread: None,
                here: Written::default(),
            },
        }
    }

    /// Queues the tapes of a session. Blocks if too many sessions are waiting.
    pub(crate) fn project(&mut self, job: Job) {
        let Some(jobs) = &self.jobs else {
            return self.here.project(&job);
        };
        if let Err(refused) = jobs.send(job) {
            self.here.project(&refused.0);
        }
    }

    /// Waits for all queued projections.
    pub(crate) fn finish(&mut self) -> Written {
        drop(self.jobs.take());
        let here = std::mem::take(&mut self.here);
        match self.thread.take().map(JoinHandle::join) {
            Some(Ok(mut written)) => {
                written.add(here);
                written
            }
            Some(Err(_)) => {
                let mut written = here;
                let why = "the thread that writes cassettes stopped unexpectedly".to_owned();
                written.tell(Problem::Unwritten {
                    path: PathBuf::new(),
                    why,
                });
                written
            }
            None => here,
        }
    }
}

fn work(jobs: &Receiver<Job>) -> Written {
    let mut written = Written::default();
    while let Ok(job) = jobs.recv() {
        written.project(&job);
    }
    written
}

impl Written {
    /// The files of every session, in the order in which their first projection finished.
    pub(crate) fn into_files(mut self) -> (Vec<SessionFiles>, u64, Vec<Problem>) {
        let sessions = &mut self.sessions;
        let files = self.order.iter().filter_map(|first| sessions.remove(first));
        let files = files.map(|session| session.files).collect();
        (files, self.unlisted, self.problems)
    }

    fn project(&mut self, job: &Job) {
        let Some(first) = job.tapes.first() else {
            return;
        };
        let known = self.sessions.get(first);
        let left = known.map_or([None, None], |session| session.left);
        let mut target = job.target.clone();
        if let Some(SessionOutput { files, .. }) = known {
            target.cassette = files.cassette.clone().or(target.cassette);
            target.capture = files.capture.clone().or(target.capture);
        }
        let mut finished = Finished::default();
        finished.gaps.count = u64::from(job.gaps);
        let projection = Projection {
            tapes: &job.tapes,
            number: job.number,
            target: &target,
            before: &left,
            ours: left.map(|left| left.is_some()),
            together: false,
        };
        projection.write(Drafts::default(), &mut finished);
        finished
            .problems
            .drain(..)
            .for_each(|problem| self.tell(problem));
        let left = [&finished.cassette, &finished.capture]
            .map(|path| path.as_deref().and_then(Identity::of));
        if !self.sessions.contains_key(first) {
            self.order.push_back(first.clone());
            if self.order.len() > LISTED
                && let Some(oldest) = self.order.pop_front()
            {
                self.sessions.remove(&oldest);
                self.unlisted += 1;
            }
        }
        let files = SessionFiles {
            session: job.session,
            tapes: job.tapes.clone(),
            cassette: finished.cassette,
            capture: finished.capture,
        };
        self.sessions
            .insert(first.clone(), SessionOutput { files, left });
    }

    fn tell(&mut self, problem: Problem) {
        if self.problems.len() < TOLD {
            self.problems.push(problem);
        }
    }

    fn add(&mut self, other: Self) {
        self.sessions.extend(other.sessions);
        self.order.extend(other.order);
        self.unlisted += other.unlisted;
        self.problems.extend(other.problems);
    }
}
