//! The projectors for readers of a finished recording.
//!
//! What is generic is compiled where its types are chosen. The binary is compiled to be small, and took
//! twice the instructions for a projector of its own.

use std::fs::File;
use std::io::{self, Write};

use tapewright_schemas::envelope::Envelope;
use tapewright_schemas::event::Event;
use tapewright_schemas::tape::Ending;
use tapewright_schemas::{capture, cassette};

/// Makes a cassette of events, with its spools in files.
#[derive(Debug)]
pub struct ToCassette(cassette::Projector<File>);

impl ToCassette {
    /// By way of this projector.
    #[must_use]
    pub fn by(projector: cassette::Projector<File>) -> Self {
        Self(projector)
    }

    /// Takes the next event, with its message taken apart where it is already.
    pub fn observe_message(
        &mut self,
        event: &Event,
        message: Option<&Envelope<'_>>,
    ) -> io::Result<()> {
        self.0.observe_message(event, message)
    }

    /// Writes the cassette.
    pub fn finish(self, ending: &Ending, out: &mut dyn Write) -> io::Result<cassette::Summary> {
        self.0.finish(ending, out)
    }
}

/// Makes a capture of events, with its spools in files.
#[derive(Debug)]
pub struct ToCapture(capture::Projector<File>);

impl ToCapture {
    /// By way of this projector.
    #[must_use]
    pub fn by(projector: capture::Projector<File>) -> Self {
        Self(projector)
    }

    /// Takes the next event, with its message taken apart where it is already.
    pub fn observe_message(
        &mut self,
        event: &Event,
        message: Option<&Envelope<'_>>,
    ) -> io::Result<()> {
        self.0.observe_message(event, message)
    }

    /// Writes the capture.
    pub fn finish(self, ending: &Ending, out: &mut dyn Write) -> io::Result<cassette::Summary> {
        self.0.finish(ending, out)
    }
}
