//! The input after `:`.

use super::*;

/// Types a command and presses enter.
fn commands(played: &mut Played, text: &str) -> Vec<OutsideRequest> {
    played.press(&[Key::Char(':')]);
    played.types(text);
    played.press(&[Key::Enter])
}

#[test]
fn a_command_goes_to_a_row_an_event_an_id_or_a_time() {
    let mut played = Played::whole(example());
    for (typed, row) in [
        ("3", 2),
        ("0", 0),
        ("999999999999", 11),
        // The answer of the seventh exchange, whose request is event 19.
        ("event 20", 6),
        ("id 8", 7),
        // After the cursor, and then from the beginning.
        ("id 0", 0),
        ("at 0.1", 3),
        ("at 101ms", 4),
        ("at 0.4 s", 8),
    ] {
        commands(&mut played, typed);
        assert_eq!(played.state.stream.list.cursor, row, "{typed}");
        assert_eq!(played.state.message, None, "{typed}");
    }
    for typed in ["event 999", "id nobody", "at 2h"] {
        commands(&mut played, typed);
        assert!(played.state.message.is_some(), "{typed}");
        assert_eq!(played.state.stream.list.cursor, 8, "{typed}");
    }
    // From any overlay as well.
    played.press(&[Key::Char('4'), Key::Enter]);
    commands(&mut played, "ev 5");
    assert_eq!(
        (
            played.state.panel,
            played.state.over.len(),
            played.state.stream.list.cursor
        ),
        (Panel::Stream, 0, 1)
    );
}

#[test]
fn a_command_does_what_a_key_does_and_as_little_is_typed_as_is_clear() {
    let mut played = Played::whole(example());
    commands(&mut played, "hangs");
    assert_eq!(played.state.panel, Panel::Hangs);
    commands(&mut played, "filter status:error");
    assert_eq!(
        (played.state.panel, played.state.stream.count()),
        (Panel::Stream, 2)
    );
    commands(&mut played, "fil tol:x");
    let prompt = played.state.prompt.take().unwrap();
    assert!(prompt.problem.unwrap().contains("unknown word `tol:`"));
    commands(&mut played, "sort bytes");
    assert_eq!(played.state.panel, Panel::Tools);
    assert!(
        matches!(&*commands(&mut played, "rep"), [OutsideRequest::Copy(text)] if text.contains("replay"))
    );
    commands(&mut played, "help");
    assert_eq!(played.state.over.last().unwrap().what, OverlayContent::Help);
    assert_eq!(commands(&mut played, "q"), [OutsideRequest::Quit]);
}

#[test]
fn what_is_no_command_says_what_would_be_one() {
    let mut played = Played::whole(example());
    for (typed, told) in [
        ("s", "which one: sessions, sort, stream?"),
        ("delete", "no command `delete`"),
        ("event", "`event NUMBER`, such as `event 20`"),
        ("event x", "`event NUMBER`"),
        ("id", "`id ID`"),
        ("at noon", "`at TIME`, such as `at 2.5s`"),
        ("sort size", "calls, failed, p50, p99, bytes or name"),
        ("quit now", "`quit` takes nothing"),
    ] {
        assert_eq!(commands(&mut played, typed), [], "{typed}");
        let prompt = played.state.prompt.as_ref().unwrap();
        let problem = prompt.problem.clone().unwrap();
        assert!(problem.contains(told), "{typed}: {problem}");
        played.press(&[Key::Escape]);
        assert_eq!(played.state.prompt, None);
    }
    // Empty input does nothing, and the tab key completes.
    assert_eq!(commands(&mut played, " "), []);
    assert_eq!(played.state.prompt, None);
    played.types(":ev");
    played.press(&[Key::Tab]);
    played.types("20");
    assert_eq!(played.state.prompt.as_ref().unwrap().text, "event 20");
    played.press(&[Key::Control('u'), Key::Backspace]);
    assert_eq!(played.state.prompt, None);
}

#[test]
fn rows_are_marked_and_only_those_are_shown_until_escape() {
    let mut played = Played::whole(example());
    commands(&mut played, "3");
    played.types("mG");
    commands(&mut played, "7");
    // In the detail of an exchange as well.
    played.press(&[Key::Enter]);
    played.types("mqM");
    assert_eq!(played.state.stream.count(), 2);
    assert_eq!(lines(&played.state)[0], "2 tools/call Answered");
    // Removing a mark removes the row.
    played.types("gm");
    assert_eq!(played.state.stream.count(), 1);
    played.types("gm");
    assert_eq!(played.state.stream.count(), 0);
    played.press(&[Key::Escape]);
    assert_eq!(played.state.stream.count(), 12);
    // With a filter, both must hold.
    played.types("gm");
    commands(&mut played, "filter tool:search");
    commands(&mut played, "marks");
    assert_eq!(played.state.stream.count(), 0);
    // On the panel of tools the same letter sorts.
    played.types("sM");
    assert_eq!(played.state.panel, Panel::Tools);
}
