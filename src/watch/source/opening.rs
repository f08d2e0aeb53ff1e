//! Finds the peers of a session by its opening.

use std::collections::HashMap;

use tapewright_schemas::conversation::shown;
use tapewright_schemas::envelope::{Envelope, Kind};
use tapewright_schemas::event::Event;
use tapewright_schemas::summary::{Introduction, Peer};

use crate::watch::Introduced;

/// Follows the openings of sessions.
#[derive(Debug, Default)]
pub(super) struct Openings {
    // Those that are not answered yet, with their requests' contents.
    open: HashMap<u32, (Introduction, String)>,
}

/// How many openings are followed at once.
const OPEN: usize = 1_000;

impl Openings {
    /// Takes the next event. Returns the peers if it declares them.
    pub(super) fn observe(
        &mut self,
        event: &Event,
        message: Option<&Envelope<'_>>,
    ) -> Option<Introduced> {
        let session = event.session.0;
        match &message?.kind {
            Kind::Request { method, params, .. }
                if matches!(&**method, "initialize" | "server/discover") =>
            {
                let mut introduction = Introduction::default();
                introduction.request(method, *params);
                let told = told(&introduction);
                if self.open.len() < OPEN {
                    self.open
                        .insert(session, (introduction, method.to_string()));
                }
                Some(told)
            }
            Kind::Response {
                result: Some(result),
                ..
            } if !self.open.is_empty() => {
                let (mut introduction, method) = self.open.remove(&session)?;
                introduction.answer(&method, result);
                Some(told(&introduction))
            }
            _ => None,
        }
    }
}

fn told(introduction: &Introduction) -> Introduced {
    let name = |peer: &Option<Peer>| {
        let peer = peer.as_ref()?;
        let name = format!("{} {}", peer.name, peer.version);
        Some(shown(name.trim_end()))
    };
    Introduced {
        client: name(&introduction.client),
        server: name(&introduction.server),
        revision: introduction.protocol_version().map(shown),
    }
}
