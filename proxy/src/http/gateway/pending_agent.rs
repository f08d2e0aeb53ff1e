//! Serving for as long as an agent runs beside us.

use std::io;
use std::sync::mpsc::{Receiver, sync_channel};

use tapewright_schemas::event::Exit;
use tokio::sync::mpsc;

use super::ServeError;
use crate::agent::{Agent, Signals};
use crate::http::listen::ReachableAt;

/// An agent that is ready to start. From here on, signals go to the agent.
pub(crate) struct PendingAgent<S> {
    start: S,
    ends: mpsc::Receiver<i32>,
    told: Receiver<Option<Exit>>,
}

/// What `agent` makes, to be started.
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
            // Both have room for the one end that there is.
            tell.try_send(exit).ok();
            ended.try_send(0).ok();
        };
        let started = agent.start(signals, is_over);
        started.map_err(|source| ServeError::Agent { program, source })
    };
    Ok(PendingAgent { start, ends, told })
}

impl<S> PendingAgent<S> {
    /// How it ended, where that is known. `serve` is told of the end and is given what starts it, once it is known how we are
    /// reached.
    pub(crate) fn until_over<T>(
        self,
        serve: impl FnOnce(mpsc::Receiver<i32>, S) -> Result<T, ServeError>,
    ) -> Result<Option<Exit>, ServeError> {
        serve(self.ends, self.start)?;
        Ok(self.told.try_recv().ok().flatten())
    }
}
