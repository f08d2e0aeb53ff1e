//! The exit status of a server is that of its recorder.

use tapewright_schemas::event::Exit;

use super::scene::{LIMIT, Scene};

fn is_passed_on(status: i32) {
    let scene = Scene::new();
    let session = scene.start(&["exit", &status.to_string()]);
    let ended = session.finish(LIMIT);
    assert_eq!(ended.code(), Some(status));
    let events = scene.tape().events;
    let told =
        |event: &_| tapewright_schemas::event::Event::exit(event) == Some(Exit::Code(status));
    assert!(events.iter().any(told));
}

#[test]
fn the_status_of_the_server_is_ours() {
    for status in [0, 1, 42, 255] {
        is_passed_on(status);
    }
}

/// Access violation, and a process ended by Ctrl-C, as Windows reports them.
#[cfg(windows)]
#[test]
fn a_status_of_32_bits_is_ours() {
    for status in [0xC000_0005_u32, 0xC000_013A, 256] {
        is_passed_on(status.cast_signed());
    }
}
