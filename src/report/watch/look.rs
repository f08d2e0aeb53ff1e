//! Styles: the terminal's own colours, which fit light and dark themes, and none with `NO_COLOR`.

use ratatui::style::{Color, Modifier, Style};

use crate::watch::Tone;

/// The style of the view.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Look {
    /// Whether to use colours.
    pub(crate) colour: bool,
}

impl Look {
    /// The style of a tone.
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

    /// The recorder's part of a duration.
    pub(super) fn ours(self) -> Style {
        self.coloured(Color::Magenta)
    }

    /// Something in progress.
    pub(super) fn live(self) -> Style {
        self.coloured(Color::Green)
    }

    /// The selected row: no background colour is right on every terminal.
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
