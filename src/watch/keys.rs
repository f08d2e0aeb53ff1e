//! Keys, from a terminal or a test.

/// A pressed key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Key {
    /// A character.
    Char(char),
    /// A character with Control.
    Control(char),
    /// Enter.
    Enter,
    /// Escape.
    Escape,
    /// The key that deletes the character in front of the cursor.
    Backspace,
    /// Tab.
    Tab,
    /// Tab with Shift.
    BackTab,
    /// Arrow up.
    Up,
    /// Arrow down.
    Down,
    /// Arrow left.
    Left,
    /// Arrow right.
    Right,
    /// Page up.
    PageUp,
    /// Page down.
    PageDown,
    /// Home.
    Home,
    /// End.
    End,
}

use super::list::Move;

impl Key {
    /// The move of the cursor, if it is one: the arrows, and the keys of mcpsnoop, less and vi.
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
