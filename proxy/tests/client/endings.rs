//! How conversations end.

use std::time::Duration;

use tapewright_proxy::client::{Client, ClientError, Settings};
use tapewright_proxy::clock::Clock;
use tapewright_proxy::system::Signal;
use tapewright_schemas::event::Exit;

use crate::server::{LIMIT, Server, settings};

#[test]
fn an_orderly_end_is_the_end_of_input() {
    let server = Server::with_end(|voice, line| {
        let Some(line) = line else {
            voice.log("goodbye\n");
            return voice.exit(3);
        };
        voice.answer(line);
    });
    let mut client = server.client();
    client.request("x", None, LIMIT).unwrap();
    let settings = Settings {
        grace: LIMIT,
        ..settings()
    };
    client.close();
    let client = Client::open(&server, settings, Clock::start()).unwrap();
    let ended = client.close();
    assert_eq!(ended.exit, Some(Exit::Code(3)));
    assert_eq!(ended.log, "goodbye");
    assert!(server.signals.lock().unwrap().is_empty());
}

#[test]
fn a_server_that_stays_is_told_and_then_made_to_end() {
    let server = Server::with_end(|_, _| {});
    let settings = Settings {
        grace: Duration::from_millis(60),
        ..settings()
    };
    let client = Client::open(&server, settings, Clock::start()).unwrap();
    let ended = client.close();
    assert_eq!(ended.exit, Some(Exit::Signal(Signal::KILL.as_raw())));
    assert_eq!(
        *server.signals.lock().unwrap(),
        [Signal::TERM, Signal::KILL]
    );
}

#[test]
fn a_client_that_is_dropped_leaves_no_server() {
    let server = Server::with_end(|_, _| {});
    drop(server.client());
    assert_eq!(*server.signals.lock().unwrap(), [Signal::KILL]);
}

#[test]
fn a_server_that_ends_is_quoted() {
    let server = Server::with_end(|voice, line| {
        if line.is_some() {
            voice.log("Traceback:\n  token=sk-ant-api03-abcdefghijklmnopqrstuvwxyz0123\n");
            voice.exit(7);
        }
    });
    let error = server
        .client()
        .request("tools/list", None, LIMIT)
        .unwrap_err();
    let text = error.to_string();
    assert!(
        matches!(
            error,
            ClientError::Ended {
                exit: Some(Exit::Code(7)),
                ..
            }
        ),
        "{text}"
    );
    assert!(text.starts_with("the server ended before it answered `tools/list`: it exited with status 7; its last output on stderr:\n    Traceback:"), "{text}");
    assert!(!text.contains("abcdefghij"), "{text}");
}

#[test]
fn what_a_server_said_before_it_ended_counts() {
    let server = Server::with_end(|voice, line| {
        if let Some(line) = line {
            voice.answer(line);
            voice.exit(0);
        }
    });
    let mut client = server.client();
    assert!(client.request("x", None, LIMIT).is_ok());
    let error = client.request("y", None, LIMIT).unwrap_err();
    assert!(
        matches!(
            error,
            ClientError::Ended { .. } | ClientError::NotTaken { .. }
        ),
        "{error}"
    );
}
