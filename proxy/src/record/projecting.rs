//! The projectors for readers of a finished recording.
//!
//! Generic code is compiled where its types are chosen. The binary is optimized for size, and its
//! own instance of a projector took twice the instructions.

use std::fs::File;
use std::io::{self, Write};

use tapewright_schemas::envelope::Envelope;
use tapewright_schemas::event::Event;
use tapewright_schemas::tape::Ending;
use tapewright_schemas::{capture, cassette};

/// Projects events to a cassette, with its spools in files.
#[derive(Debug)]
pub struct ToCassette(cassette::Projector<File>);

impl ToCassette {
    /// Uses this projector.
    #[must_use]
    pub fn by(projector: cassette::Projector<File>) -> Self {
        Self(projector)
    }

    /// Handles the next event, with its message if already parsed.
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

/// Projects events to a capture, with its spools in files.
#[derive(Debug)]
pub struct ToCapture(capture::Projector<File>);

impl ToCapture {
    /// Uses this projector.
    #[must_use]
    pub fn by(projector: capture::Projector<File>) -> Self {
        Self(projector)
    }

    /// Handles the next event, with its message if already parsed.
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
