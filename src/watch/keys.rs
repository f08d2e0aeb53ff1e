//! The keys, as they come from a terminal or a test.

/// A key that was pressed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Key {
    /// A character.
    Char(char),
    /// A character while Control was held.
    Control(char),
    /// Enter.
    Enter,
    /// Escape.
    Escape,
    /// The key that deletes what stands in front of the cursor.
    Backspace,
    /// Tab.
    Tab,
    /// Tab while Shift was held.
    BackTab,
    /// An arrow.
    Up,
    /// An arrow.
    Down,
    /// An arrow.
    Left,
    /// An arrow.
    Right,
    /// A page up.
    PageUp,
    /// A page down.
    PageDown,
    /// To the beginning.
    Home,
    /// To the end.
    End,
}

use super::list::Move;

impl Key {
    /// Where it moves a cursor, if it does: the arrows, and the keys of mcpsnoop, less and vi.
    pub(crate) fn moves(self) -> Option<Move> {
        Some(match self {
            Self::Up | Self::Char('k') => Move::Up,
            Self::Down | Self::Char('j') => Move::Down,
            Self::PageUp | Self::Control('b' | 'u') => Move::PageUp,
            Self::PageDown | Self::Control('f' | 'd') | Self::Char(' ') => Move::PageDown,
            Self::Home | Self::Char('g') => Move::First,
            Self::End | Self::Char('G') => Move::Last,
            _ => return None,
        })
    }
}
