//! Classifies the messages that belong to no request.

use tapewright_schemas::conversation::IdKey;
use tapewright_schemas::envelope::{Envelope, Kind};

use crate::script::{Script, Words};

/// What a player needs to know about an aside.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum AsideKind {
    /// Not a message of the protocol.
    Noise,
    /// A notification of this method.
    Notification(String),
    /// A request with an id of this key.
    Request(IdKey),
    /// A response to a request whose id has this key.
    Response(IdKey),
}

/// The kinds of all asides of a script.
pub(super) fn kinds(script: &Script) -> Vec<AsideKind> {
    let kind = |words: &Words| {
        let Words::Span(span) = words else {
            return AsideKind::Noise;
        };
        match Envelope::of_json(&script.source(*span)).kind {
            Kind::Notification { method, .. } => AsideKind::Notification(method.into_owned()),
            Kind::Request { id, .. } => AsideKind::Request(IdKey::exact(&id)),
            Kind::Response { id, .. } => AsideKind::Response(IdKey::exact(&id)),
            _ => AsideKind::Noise,
        }
    };
    script
        .asides
        .iter()
        .map(|aside| kind(&aside.words))
        .collect()
}
