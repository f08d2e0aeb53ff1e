//! Console events to the recorder that are meant for the server as well.

use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{SyncSender, sync_channel};
use std::thread;

use tokio::runtime::Builder;
use tokio::signal::windows::{ctrl_break, ctrl_c, ctrl_close, ctrl_logoff, ctrl_shutdown};

use super::process::Signal;

/// Calls `told` for each Ctrl-C, Ctrl-Break, and the closing of the console, until it returns
/// false. Blocks. `caught` is called as soon as they end this process no more.
pub(super) fn each(caught: impl FnOnce(), mut told: impl FnMut(Signal) -> bool) -> io::Result<()> {
    let runtime = Builder::new_current_thread().build()?;
    runtime.block_on(async {
        let (mut interrupt, mut stop, mut close) = (ctrl_c()?, ctrl_break()?, ctrl_close()?);
        let (mut logoff, mut shutdown) = (ctrl_logoff()?, ctrl_shutdown()?);
        caught();
        loop {
            let (signal, came) = tokio::select! {
                came = interrupt.recv() => (Signal::INT, came),
                came = stop.recv() => (Signal::QUIT, came),
                came = close.recv() => (Signal::HUP, came),
                came = logoff.recv() => (Signal::TERM, came),
                came = shutdown.recv() => (Signal::TERM, came),
            };
            if came.is_none() || !told(signal) {
                return Ok(());
            }
        }
    })
}

/// Like `each`, on a separate thread. They are caught when it returns.
pub(super) fn heard(told: impl FnMut(Signal) -> bool + Send + 'static) -> io::Result<()> {
    let thread = thread::Builder::new().name("signals".to_owned());
    let (ready, is_ready) = sync_channel(1);
    thread.spawn(move || {
        let caught = ready.clone();
        if let Err(error) = each(|| drop(caught.send(Ok(()))), told) {
            // After the start, the error has no receiver.
            ready.send(Err(error)).ok();
        }
    })?;
    is_ready.recv().unwrap_or(Ok(()))
}

/// Sends each signal that arrives to `notify`, from a separate thread.
pub(crate) fn forward<T: Send + 'static>(
    notify: SyncSender<T>,
    wrap: fn(i32) -> T,
) -> io::Result<()> {
    heard(move |signal| notify.send(wrap(signal.as_raw())).is_ok())
}

/// A flag that the first Ctrl-C or Ctrl-Break sets; the second ends this process with status 130.
pub fn interruption() -> io::Result<Arc<AtomicBool>> {
    let flag = Arc::new(AtomicBool::new(false));
    let told = Arc::clone(&flag);
    heard(move |_| {
        if told.swap(true, Ordering::SeqCst) {
            #[expect(
                clippy::disallowed_methods,
                reason = "who asks twice does not want to wait"
            )]
            std::process::exit(130);
        }
        true
    })?;
    Ok(flag)
}

/// The name of a signal, such as `SIGTERM`.
pub(crate) fn name(signal: i32) -> String {
    let name = match Signal::from_named_raw(signal) {
        Some(Signal::HUP) => "CTRL_CLOSE",
        Some(Signal::INT) => "CTRL_C",
        Some(Signal::QUIT) => "CTRL_BREAK",
        Some(Signal::TERM) => "CTRL_SHUTDOWN",
        _ => return format!("signal {signal}"),
    };
    name.to_owned()
}

/// Whether a signal is a normal way to stop a server, rather than a crash.
pub(crate) fn is_ending(signal: i32) -> bool {
    Signal::from_named_raw(signal).is_some_and(|signal| signal != Signal::KILL)
}

/// Ends this process in the same way as its child: here by its status, which the caller returns.
pub fn die_by(_signal: i32) {}
