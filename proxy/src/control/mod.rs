//! The live control API: lists, adds, changes and removes faults while messages flow, and shows the
//! traffic. docs/control.openapi.yaml describes it.
//!
//! It has a separate thread and runtime, so that it can never delay a message.

mod address;
mod answer;
mod view;

use std::io;
use std::sync::Arc;

use tapewright_engine::fault::FaultSet;
use tokio::sync::watch;

pub use self::address::{BadListenAddress, ListenAddress};
use self::answer::Control;
pub(crate) use self::answer::{decoded, shown};
pub use self::view::View;
use crate::http::listen::{Limits, Listener, Phase, ReachableAt};

/// A control that serves until it is dropped.
#[derive(Debug)]
pub struct Serving {
    phase: watch::Sender<Phase>,
    thread: Option<std::thread::JoinHandle<()>>,
    /// Its address.
    pub address: String,
    /// The token that clients need; `None` if the owner of the socket is sufficient.
    pub token: Option<String>,
}

/// Serves the control of a fault set, and the contents of a view.
pub fn serve(
    fault_set: Arc<FaultSet>,
    view: Arc<View>,
    place: &ListenAddress,
) -> io::Result<Serving> {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()?;
    let listener = runtime.block_on(Listener::bind(place.clone(), None, LIMITS))?;
    let listener = listener.ours();
    let address = match listener.reached()? {
        ReachableAt::Origin(origin) => origin,
        ReachableAt::Socket(_) => place.to_string(),
    };
    let token = match place {
        ListenAddress::Tcp(_) => Some(
            crate::front::token()
                .ok_or_else(|| io::Error::other("the system has no random numbers"))?,
        ),
        ListenAddress::Unix(_) => None,
    };
    let control = Control {
        fault_set,
        view,
        token: token.clone().map(Into::into),
    };
    let (phase, phases) = watch::channel(Phase::Serving);
    let thread = std::thread::Builder::new()
        .name("control".to_owned())
        .spawn(move || {
            runtime.block_on(listener.serve(control, phases));
        })?;
    Ok(Serving {
        phase,
        thread: Some(thread),
        address,
        token,
    })
}

impl Drop for Serving {
    fn drop(&mut self) {
        self.phase.send_replace(Phase::Stopping);
        if let Some(thread) = self.thread.take() {
            // Its result does not matter.
            drop(thread.join());
        }
    }
}

/// A few clients with small requests.
const LIMITS: Limits = Limits {
    connections: 16,
    exchanges: 16,
    head_bytes: 16 * 1024,
    head_time: std::time::Duration::from_secs(30),
    body_time: std::time::Duration::from_secs(10),
    tap_bytes: 0,
};
