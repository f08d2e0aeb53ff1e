//! The output of `watch`: the state of a view, drawn into cells.
//!
//! Every text of a peer passes [`safe`] before it is drawn, so it cannot move the cursor, change
//! colours or reverse the direction of writing.

mod cells;
mod frame;
mod help;
mod look;
mod page;
mod panels;
mod rows;
pub(crate) mod terminal;
mod texts;

#[cfg(test)]
mod tests;

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::style::Color;

use self::cells::Cells;
use crate::report::safe;
use crate::watch::{Overlay, OverlayContent, Panel, Row, State, Tone};

pub(crate) use self::frame::banner;
pub(crate) use self::look::Look;
pub(crate) use self::texts::{
    BUSY, COPIED, HIDDEN, METADATA_ONLY, NO_CAPABILITIES, NO_CONTROL, NO_FAILURE, NO_RECORDING,
    NOT_COPIED, NOT_FOUND, address, copied, export, fault, marked, model, no_bodies, no_command,
    no_terminal, note, nothing_to_watch, refused, replay,
};

/// Draws everything.
pub(crate) fn draw(state: &State, buffer: &mut Buffer, look: Look) {
    let area = buffer.area;
    frame::title(state, &mut Cells::row(buffer, area, area.y), look);
    let mut y = area.y + 1;
    if let Some(text) = banner(state) {
        Cells::row(buffer, area, y).put(&text, look.of(Tone::Bad));
        y += 1;
    }
    frame::tabs(state, &mut Cells::row(buffer, area, y), look);
    let rows = area.height.saturating_sub(y - area.y + 3);
    let list = Rect::new(area.x, y + 1, area.width, rows);
    match state.over.last() {
        Some(over) => overlay(over, buffer, list, look),
        None => panel(state, buffer, list, look),
    }
    let bottom = area.bottom();
    if area.height >= 2 {
        frame::status(
            state,
            &mut Cells::row(buffer, area, bottom.saturating_sub(2)),
            look,
        );
    }
    frame::keys(
        state,
        &mut Cells::row(buffer, area, bottom.saturating_sub(1)),
        look,
    );
}

/// The rows of an overlay at the current width.
pub(crate) fn rows(state: &State, over: &Overlay) -> Vec<Row> {
    let width = usize::from(state.size.0).max(20);
    match over.what {
        OverlayContent::Help => help::rows(),
        OverlayContent::Finding(at) => page::finding_at(state, at, width),
        OverlayContent::Line(number) => page::line(state, number, over.said.as_ref(), width),
    }
}

fn overlay(over: &Overlay, buffer: &mut Buffer, area: Rect, look: Look) {
    let shown = over.rows.iter().enumerate().skip(over.list.top);
    for (y, (at, row)) in (area.top()..area.bottom()).zip(shown) {
        let mut cells = Cells::row(buffer, area, y);
        let name = match row.tone {
            Tone::Json => name_end(&row.text),
            _ => 0,
        };
        let (name, rest) = row.text.split_at_checked(name).unwrap_or(("", &row.text));
        cells.put(name, look.name());
        cells.put(rest, look.of(row.tone));
        if at == over.list.cursor {
            // One bar, regardless of the colours below it.
            let chosen = Look::chosen().fg(Color::Reset);
            buffer.set_style(Rect::new(area.x, y, area.width, 1), chosen);
        }
    }
}

/// The end of the name in a row of JSON.
fn name_end(text: &str) -> usize {
    let is_name = text.trim_start().starts_with('"');
    let end = text.find("\": ").filter(|_| is_name);
    end.map_or(0, |end| end + 1)
}

fn panel(state: &State, buffer: &mut Buffer, area: Rect, look: Look) {
    let list = state.list(state.panel);
    let count = state.count(state.panel);
    if count == 0 {
        let mut cells = Cells::row(buffer, area, area.y);
        cells.put(texts::empty(state), look.of(Tone::Dim));
        return;
    }
    let hangs = match state.panel {
        Panel::Hangs => state.hangs(),
        _ => Vec::new(),
    };
    let tools = match state.panel {
        Panel::Tools => state.tools(),
        _ => Vec::new(),
    };
    for (y, at) in (area.top()..area.bottom()).zip(list.top..count) {
        let mut cells = Cells::row(buffer, area, y);
        match state.panel {
            Panel::Stream => rows::stream(state, state.stream.get(at), &mut cells, look),
            Panel::Lanes => rows::lane(state, state.lanes.get(at), &mut cells, look),
            Panel::Hangs => rows::hang(state, hangs.get(at).copied(), &mut cells, look),
            Panel::Sessions => panels::session(state, at, &mut cells, look),
            Panel::Findings => panels::finding(state, at, &mut cells, look),
            Panel::Faults => panels::fault(state, at, &mut cells, look),
            Panel::Tools => panels::tool(state, tools.get(at).copied(), &mut cells, look),
        }
        if at == list.cursor {
            buffer.set_style(Rect::new(area.x, y, area.width, 1), Look::chosen());
        }
    }
}

/// The name of a part of a recording, for people.
fn part_name(state: &State, part: u16) -> String {
    let part = state.store.parts.all.get(usize::from(part));
    part.map_or_else(String::new, |part| safe(&part.name))
}
