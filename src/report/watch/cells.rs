//! Writes text into cells.

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::style::Style;
use ratatui::text::Span;

/// A row of cells that is filled from the left.
pub(super) struct Cells<'b> {
    buffer: &'b mut Buffer,
    x: u16,
    y: u16,
    end: u16,
}

impl<'b> Cells<'b> {
    /// The row `y` of an area.
    pub(super) fn row(buffer: &'b mut Buffer, area: Rect, y: u16) -> Self {
        let area = area.intersection(buffer.area);
        // A row outside the area takes no text.
        let is_there = y >= area.top() && y < area.bottom();
        Self {
            x: area.left(),
            y,
            end: if is_there { area.right() } else { area.left() },
            buffer,
        }
    }

    /// How many columns are left.
    pub(super) fn left(&self) -> u16 {
        self.end.saturating_sub(self.x)
    }

    /// Writes a text, cut to the remaining width.
    pub(super) fn put(&mut self, text: &str, style: Style) {
        let left = self.left();
        if left == 0 || text.is_empty() {
            return;
        }
        let is_long = Span::raw(text).width() > usize::from(left);
        let room = if is_long { left - 1 } else { left };
        let (x, _) = self
            .buffer
            .set_stringn(self.x, self.y, text, usize::from(room), style);
        self.x = x;
        if is_long && self.left() > 0 {
            let (x, _) = self.buffer.set_stringn(self.x, self.y, "…", 1, style);
            // Nothing may follow a text that was cut.
            self.x = x.max(self.end);
        }
    }

    /// Writes a text into a column of this width, followed by a gap.
    pub(super) fn column(&mut self, text: &str, width: u16, style: Style) {
        let end = self.x.saturating_add(width).min(self.end);
        let mut column = Cells {
            buffer: &mut *self.buffer,
            x: self.x,
            y: self.y,
            end,
        };
        column.put(text, style);
        self.x = end.saturating_add(1).min(self.end);
    }

    /// Like `column`, right-aligned.
    pub(super) fn right(&mut self, text: &str, width: u16, style: Style) {
        let room = usize::from(width);
        self.column(&format!("{text:>room$}"), width, style);
    }

    /// Moves back by this many columns, for example into the gap behind a column.
    pub(super) fn back(&mut self, columns: u16) {
        self.x = self.x.saturating_sub(columns);
    }

    /// Writes a text, and leaves this many columns at the end.
    pub(super) fn until(&mut self, columns: u16, text: &str, style: Style) {
        let width = self.left().saturating_sub(columns);
        self.column(text, width.saturating_sub(1), style);
    }
}
