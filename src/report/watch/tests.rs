//! Compares the drawing cell by cell with `tests/watch/*.txt` and the pictures of docs/watch.md.
//! `TAPEWRIGHT_BLESS=1` writes both again; look at them afterwards.

use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};

use ratatui::Terminal;
use ratatui::backend::TestBackend;
use ratatui::buffer::Buffer;
use ratatui::style::{Color, Modifier};

use super::{Look, draw};
use crate::watch::keys::Key;
use crate::watch::tests::{Played, example};
use crate::watch::{Fault, Panel, SourceUpdate, State};

fn drawn(state: &State, colour: bool) -> Buffer {
    let (columns, rows) = state.size;
    let mut terminal = Terminal::new(TestBackend::new(columns, rows)).unwrap();
    let draw = |frame: &mut ratatui::Frame<'_>| draw(state, frame.buffer_mut(), Look { colour });
    terminal.draw(draw).unwrap();
    terminal.backend().buffer().clone()
}

fn rows(buffer: &Buffer) -> Vec<String> {
    let width = usize::from(buffer.area.width).max(1);
    let rows = buffer.content().chunks(width);
    rows.map(|row| {
        let row: String = row.iter().map(ratatui::buffer::Cell::symbol).collect();
        row.trim_end().to_owned()
    })
    .collect()
}

fn kept(path: &str, found: &str) {
    let path: PathBuf = Path::new(env!("CARGO_MANIFEST_DIR")).join("..").join(path);
    if std::env::var_os("TAPEWRIGHT_BLESS").is_some() {
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(&path, found).unwrap();
    }
    let expected = fs::read_to_string(&path).unwrap_or_default();
    assert_eq!(
        found,
        expected,
        "{} differs; TAPEWRIGHT_BLESS=1 writes it anew",
        path.display()
    );
}

fn kept_text(name: &str, state: &State) {
    let text = rows(&drawn(state, false)).join("\n") + "\n";
    kept(&format!("tests/watch/{name}.txt"), &text);
}

#[test]
fn every_panel_is_as_it_is_written_down() {
    let mut played = Played::whole(example());
    played.press(&[Key::Char('g'), Key::Down, Key::Down]);
    kept_text("stream", &played.state);
    for (digit, name) in [
        ('2', "sessions"),
        ('3', "hangs"),
        ('4', "findings"),
        ('5', "faults"),
        ('6', "lanes"),
        ('7', "tools"),
    ] {
        played.press(&[Key::Char(digit)]);
        kept_text(name, &played.state);
    }
    played.press(&[Key::Char('?')]);
    kept_text("help", &played.state);
    played.press(&[Key::Escape, Key::Char('4'), Key::Enter]);
    kept_text("finding", &played.state);
    played.press(&[
        Key::Escape,
        Key::Char('1'),
        Key::Char('g'),
        Key::Down,
        Key::Enter,
    ]);
    kept_text("detail", &played.state);
}

#[test]
fn tools_are_sorted_by_a_column_and_the_same_key_turns_it_round() {
    let mut played = Played::whole(example());
    let mut order = |keys: &str| {
        let keys: Vec<Key> = keys.chars().map(Key::Char).collect();
        played.press(&keys);
        let rows = rows(&drawn(&played.state, false));
        let name = |row: &String| row.split(' ').next().unwrap().to_owned();
        rows[3..6].iter().map(name).collect::<Vec<_>>().join(" ")
    };
    assert_eq!(order("s"), "read search write");
    for (key, sorted, reversed) in [
        ("C", "write search read", "read search write"),
        ("F", "read search write", "write search read"),
        ("P", "write search read", "read search write"),
        ("M", "write read search", "search read write"),
        ("B", "read write search", "search write read"),
        ("T", "read search write", "write search read"),
    ] {
        assert_eq!(order(key), sorted, "{key}");
        assert_eq!(order(key), reversed, "{key} again");
    }
    // Elsewhere these keys do not change the order.
    assert_eq!(order("1B7"), "write search read");
}

#[test]
fn a_wide_terminal_tells_latency_in_two_parts_and_what_is_live_has_clocks() {
    let wire =
        Path::new(env!("CARGO_MANIFEST_DIR")).join("../tests/wire/handshake-http.tape.jsonl");
    let mut played = Played::whole(wire);
    played.state.resize(130, 24);
    played.press(&[Key::Char('g')]);
    kept_text("wide", &played.state);
    played.press(&[Key::Enter]);
    kept_text("latency", &played.state);
}

#[test]
fn pictures_for_the_pages_are_those_of_today() {
    let mut played = Played::whole(example());
    played.press(&[Key::Char('g'), Key::Down, Key::Down, Key::Down, Key::Down]);
    kept(
        "docs/images/watch-stream.svg",
        &svg(&drawn(&played.state, true)),
    );
    played.press(&[Key::Char('4'), Key::Enter]);
    kept(
        "docs/images/watch-finding.svg",
        &svg(&drawn(&played.state, true)),
    );
    played.press(&[Key::Escape, Key::Char('5')]);
    played.state.faults.has_control = true;
    let fault = |name: &str, spec: &str, counts: [u64; 3]| Fault {
        name: name.to_owned(),
        spec: spec.to_owned(),
        met: counts[0],
        fired: counts[1],
        holds: counts[2],
        is_off: false,
    };
    played.state.told(SourceUpdate::Faults(vec![
        fault("hang-1", "hang tool=search nth=2", [2, 1, 1]),
        fault("delay-1", "delay ms=800 tool=write", [2, 2, 0]),
    ]));
    played.press(&[Key::Down, Key::Enter]);
    kept(
        "docs/images/watch-faults.svg",
        &svg(&drawn(&played.state, true)),
    );
}

#[test]
fn nothing_that_a_peer_says_reaches_the_terminal_as_a_command() {
    let mut played = Played::whole(example());
    let mut check = |keys: &[Key]| {
        played.press(keys);
        let buffer = drawn(&played.state, true);
        for row in rows(&buffer) {
            let is_risky = |char: char| {
                char.is_control()
                    || matches!(char, '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2060}'..='\u{206f}')
            };
            assert!(!row.contains(is_risky), "{row:?}");
        }
        rows(&buffer).join("\n")
    };
    check(&[Key::Char('a'), Key::Char('g')]);
    let detail = check(&[
        Key::Char('a'),
        Key::Char('g'),
        Key::Down,
        Key::Enter,
        Key::PageDown,
        Key::PageDown,
    ]);
    assert!(detail.contains("\\u001b]0;owned"), "{detail}");
    check(&[Key::Escape, Key::Char('G'), Key::Up, Key::Up, Key::Enter]);
    for panel in Panel::ALL {
        let digit = char::from_digit(u32::try_from(panel.place()).unwrap() + 1, 10).unwrap();
        check(&[Key::Escape, Key::Escape, Key::Char(digit)]);
    }
    check(&[Key::Char('/'), Key::Char('\u{202e}')]);
}

#[test]
fn without_colours_there_are_none_and_no_background_ever() {
    let mut played = Played::whole(example());
    played.press(&[Key::Char('g')]);
    let buffer = drawn(&played.state, false);
    assert!(buffer.content().iter().all(|cell| cell.fg == Color::Reset));
    let buffer = drawn(&played.state, true);
    assert!(buffer.content().iter().any(|cell| cell.fg == Color::Red));
    assert!(buffer.content().iter().all(|cell| cell.bg == Color::Reset));
}

/// The picture of a terminal.
fn svg(buffer: &Buffer) -> String {
    let (columns, lines) = (buffer.area.width, buffer.area.height);
    let (width, height) = (
        f32::from(columns) * CELL.0 + 20.0,
        f32::from(lines) * CELL.1 + 20.0,
    );
    let mut out = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {width} {height}\" width=\"{width}\" font-family=\"ui-monospace,Menlo,Consolas,monospace\" font-size=\"14\">\n<rect width=\"100%\" height=\"100%\" rx=\"8\" fill=\"#16181d\"/>\n"
    );
    let width = usize::from(columns).max(1);
    for (y, row) in buffer.content().chunks(width).enumerate() {
        let mut at = 0;
        while let Some(first) = row.get(at) {
            let same = |cell: &&ratatui::buffer::Cell| cell.style() == first.style();
            let run: Vec<_> = row.iter().skip(at).take_while(same).collect();
            let text: String = run.iter().map(|cell| cell.symbol()).collect();
            run_of(&mut out, first, (at, y), run.len(), &text);
            at += run.len();
        }
    }
    out + "</svg>\n"
}

/// The size of a cell.
const CELL: (f32, f32) = (8.43, 18.0);

#[expect(clippy::cast_precision_loss, reason = "cells of a picture")]
fn run_of(
    out: &mut String,
    cell: &ratatui::buffer::Cell,
    at: (usize, usize),
    length: usize,
    text: &str,
) {
    let is_reversed = cell.modifier.contains(Modifier::REVERSED);
    let (x, y) = (at.0 as f32 * CELL.0 + 10.0, at.1 as f32 * CELL.1 + 10.0);
    let colour = match cell.fg {
        Color::Red => "#ff6b6b",
        Color::Yellow => "#e5c07b",
        Color::Green => "#8cc265",
        Color::Blue => "#61afef",
        Color::Magenta => "#c678dd",
        _ => "#d7dae0",
    };
    if is_reversed {
        let width = length as f32 * CELL.0;
        writeln!(out, "<rect x=\"{x:.1}\" y=\"{y:.1}\" width=\"{width:.1}\" height=\"{}\" fill=\"{colour}\"/>", CELL.1).unwrap();
    }
    if text.trim().is_empty() {
        return;
    }
    let fill = if is_reversed { "#16181d" } else { colour };
    let mut style = String::new();
    if cell.modifier.contains(Modifier::BOLD) {
        style += " font-weight=\"bold\"";
    }
    if cell.modifier.contains(Modifier::DIM) {
        style += " opacity=\"0.6\"";
    }
    let text = text
        .replace('&', "&amp;")
        .replace('<', "&lt;")
        .replace('>', "&gt;");
    let length = length as f32 * CELL.0;
    writeln!(
        out,
        "<text x=\"{x:.1}\" y=\"{:.1}\" textLength=\"{length:.1}\" xml:space=\"preserve\" fill=\"{fill}\"{style}>{text}</text>",
        y + 13.5
    )
    .unwrap();
}
