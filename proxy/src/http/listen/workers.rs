//! The threads that serve connections.
//!
//! Each has its own runtime, and a connection stays on its thread, together with the connections to
//! the server that its exchanges use. A runtime that moves tasks between threads makes processors
//! wait for each other's caches, which costs a tenth of an exchange.

use std::cell::Cell;
use std::future::Future;
use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread::JoinHandle;
use std::time::Duration;

use tokio::net::TcpStream;
use tokio::runtime::{Builder, Handle, Runtime};
use tokio::sync::oneshot;
use tokio_util::task::TaskTracker;

/// The threads that serve connections.
#[derive(Debug, Default)]
pub(crate) struct Workers(Vec<Worker>);

#[derive(Debug)]
struct Worker {
    runtime: Handle,
    // The number of its connections.
    connections: Arc<AtomicUsize>,
    // Dropping it ends the thread.
    stop: Option<oneshot::Sender<()>>,
    thread: Option<JoinHandle<()>>,
}

/// Identifies a thread that serves connections; 0 is any other thread.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct WorkerId(usize);

impl WorkerId {
    /// The current thread.
    pub(crate) fn current() -> Self {
        CURRENT.get()
    }
}

thread_local! {
    static CURRENT: Cell<WorkerId> = const { Cell::new(WorkerId(0)) };
}

/// More would wait for the thread that writes the tape.
const MOST: usize = 8;

/// The timeout for dropping remaining tasks.
const LEAVE: Duration = Duration::from_millis(100);

impl Workers {
    /// Starts one thread for every two processors. The client, the server and the writer of the
    /// tape need processors as well: if all of them compete, more threads answer no more requests,
    /// and latencies grow.
    pub(crate) fn start() -> io::Result<Self> {
        let processors = std::thread::available_parallelism().map_or(1, usize::from);
        Self::of(processors.div_ceil(2).min(MOST))
    }

    fn of(count: usize) -> io::Result<Self> {
        (1..=count)
            .map(|number| Worker::start(WorkerId(number)))
            .collect::<io::Result<_>>()
            .map(Self)
    }

    /// No threads: connections are served by the runtime that accepts them.
    pub(crate) fn none() -> Self {
        Self::default()
    }

    /// Serves a connection on the thread with the fewest.
    pub(super) fn serve<F>(
        &self,
        tasks: &TaskTracker,
        stream: TcpStream,
        serve: impl FnOnce(TcpStream) -> F + Send + 'static,
    ) where
        F: Future<Output = ()> + Send + 'static,
    {
        let fewest = |worker: &&Worker| worker.connections.load(Ordering::Relaxed);
        let Some(worker) = self.0.iter().min_by_key(fewest) else {
            tasks.spawn(serve(stream));
            return;
        };
        // A socket is registered with a runtime. If it cannot be moved to the other one, it is
        // closed.
        let Ok(stream) = stream.into_std() else {
            return;
        };
        let served = Counted::new(&worker.connections);
        let task = async move {
            if let Ok(stream) = TcpStream::from_std(stream) {
                serve(stream).await;
            }
            drop(served);
        };
        tasks.spawn_on(task, &worker.runtime);
    }
}

impl Worker {
    fn start(id: WorkerId) -> io::Result<Self> {
        let runtime = Builder::new_current_thread().enable_all().build()?;
        let handle = runtime.handle().clone();
        let (stop, stopped) = oneshot::channel();
        let thread = std::thread::Builder::new()
            .name("http".to_owned())
            .spawn(move || run(runtime, id, stopped))?;
        Ok(Self {
            runtime: handle,
            connections: Arc::default(),
            stop: Some(stop),
            thread: Some(thread),
        })
    }
}

fn run(runtime: Runtime, id: WorkerId, stopped: oneshot::Receiver<()>) {
    CURRENT.set(id);
    runtime.spawn(tick());
    // The channel is never used, only dropped.
    runtime.block_on(stopped).ok();
    runtime.shutdown_timeout(LEAVE);
}

/// The duration of the permanent timer.
const TICK: Duration = Duration::from_secs(10);

/// Ensures that the runtime always has a timer that is due before the timeouts of heads. A timer
/// that becomes the next one due interrupts the wait for connections, with two system calls, and
/// each head sets one.
async fn tick() {
    loop {
        tokio::time::sleep(TICK).await;
    }
}

impl Drop for Workers {
    fn drop(&mut self) {
        for worker in &mut self.0 {
            drop(worker.stop.take());
        }
        for worker in &mut self.0 {
            if let Some(thread) = worker.thread.take() {
                // Its connections have ended; a panic was reported when it occurred.
                thread.join().ok();
            }
        }
    }
}

/// Counts a connection while it is served.
struct Counted(Arc<AtomicUsize>);

impl Counted {
    fn new(connections: &Arc<AtomicUsize>) -> Self {
        connections.fetch_add(1, Ordering::Relaxed);
        Self(Arc::clone(connections))
    }
}

impl Drop for Counted {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use tokio::io::AsyncReadExt as _;
    use tokio::net::TcpListener;
    use tokio::sync::mpsc;

    use super::*;

    /// How many of `count` open connections each thread serves.
    fn served_by(workers: &Workers, count: usize) -> BTreeMap<usize, usize> {
        let runtime = Builder::new_current_thread().enable_all().build().unwrap();
        runtime.block_on(async {
            let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
            let address = listener.local_addr().unwrap();
            let tasks = TaskTracker::new();
            let (tell, mut told) = mpsc::channel(count);
            let (mut clients, mut places) = (Vec::new(), BTreeMap::new());
            for _ in 0..count {
                clients.push(TcpStream::connect(address).await.unwrap());
                let (stream, _) = listener.accept().await.unwrap();
                let tell = tell.clone();
                workers.serve(&tasks, stream, |mut stream| async move {
                    tell.send(WorkerId::current().0).await.unwrap();
                    assert_eq!(stream.read(&mut [0]).await.unwrap(), 0);
                });
                *places.entry(told.recv().await.unwrap()).or_default() += 1;
            }
            drop(clients);
            tasks.close();
            tasks.wait().await;
            places
        })
    }

    #[test]
    fn connections_are_shared_out_evenly() {
        let workers = Workers::of(3).unwrap();
        assert_eq!(served_by(&workers, 7).into_values().max(), Some(3));
        // All of those have ended.
        assert_eq!(
            served_by(&workers, 3),
            BTreeMap::from([(1, 1), (2, 1), (3, 1)])
        );
    }

    #[test]
    fn without_workers_whoever_accepts_serves() {
        assert_eq!(served_by(&Workers::none(), 2), BTreeMap::from([(0, 2)]));
    }
}
