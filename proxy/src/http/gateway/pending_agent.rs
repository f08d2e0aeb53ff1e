//! Serves while an agent runs next to the gateway.

use std::io;
use std::sync::mpsc::{Receiver, sync_channel};

use tapewright_schemas::event::Exit;
use tokio::sync::mpsc;

use super::ServeError;
use crate::agent::{Agent, Signals};
use crate::http::listen::ReachableAt;

/// An agent that is ready to start. From here on, it receives the signals.
pub(crate) struct PendingAgent<S> {
    start: S,
    ends: mpsc::Receiver<i32>,
    told: Receiver<Option<Exit>>,
}

/// Prepares to start the result of `agent`.
pub(crate) fn prepare_agent(
    agent: impl FnOnce(&ReachableAt) -> Agent,
) -> io::Result<PendingAgent<impl FnOnce(&ReachableAt) -> Result<(), ServeError>>> {
    let signals = Signals::catch()?;
    let (ended, ends) = mpsc::channel(1);
    let (tell, told) = sync_channel(1);
    let start = move |reached: &ReachableAt| {
        let agent = agent(reached);
        let program = agent.program.to_string_lossy().into_owned();
        let is_over = move |exit| {
            // Both channels have space for their only value.
            tell.try_send(exit).ok();
            ended.try_send(0).ok();
        };
        let started = agent.start(signals, is_over);
        started.map_err(|source| ServeError::Agent { program, source })
    };
    Ok(PendingAgent { start, ends, told })
}

impl<S> PendingAgent<S> {
    /// Returns how the agent ended, if known. `serve` gets the receiver for that event and the
    /// function that starts the agent from the gateway's address.
    pub(crate) fn until_over<T>(
        self,
        serve: impl FnOnce(mpsc::Receiver<i32>, S) -> Result<T, ServeError>,
    ) -> Result<Option<Exit>, ServeError> {
        serve(self.ends, self.start)?;
        Ok(self.told.try_recv().ok().flatten())
    }
}
