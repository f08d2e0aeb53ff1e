//! How things are painted: with the terminal's own colours, so that light and dark ones fit, and
//! without any where `NO_COLOR` says so.

use ratatui::style::{Color, Modifier, Style};

use crate::watch::Tone;

/// How things are painted.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Look {
    /// With colours.
    pub(crate) colour: bool,
}

impl Look {
    /// A tone.
    pub(super) fn of(self, tone: Tone) -> Style {
        let plain = Style::new();
        match tone {
            Tone::Plain | Tone::Json => plain,
            Tone::Head => plain.add_modifier(Modifier::BOLD),
            Tone::Dim => plain.add_modifier(Modifier::DIM),
            Tone::Bad => self.coloured(Color::Red).add_modifier(Modifier::BOLD),
            Tone::Warn => self.coloured(Color::Yellow),
        }
    }

    /// A name in JSON.
    pub(super) fn name(self) -> Style {
        self.coloured(Color::Blue)
    }

    /// Our part of a time.
    pub(super) fn ours(self) -> Style {
        self.coloured(Color::Magenta)
    }

    /// What goes on.
    pub(super) fn live(self) -> Style {
        self.coloured(Color::Green)
    }

    /// The row that is chosen: no colour of a background is right on every terminal.
    pub(super) fn chosen() -> Style {
        Style::new().add_modifier(Modifier::REVERSED)
    }

    fn coloured(self, colour: Color) -> Style {
        if self.colour {
            Style::new().fg(colour)
        } else {
            Style::new()
        }
    }
}
