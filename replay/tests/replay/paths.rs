//! A recording of one machine, replayed on another.

use tapewright_replay::{Options, PathMap, PathMaps};

use super::stage::{Stage, cassette, exchange, options};

const RECORDED: &str = "/home/ann/project";
const HERE: &str = "/srv/bob";

fn mapped() -> Options {
    Options {
        paths: PathMaps::new(&[format!("{RECORDED}={HERE}/")]).unwrap(),
        ..options()
    }
}

fn read(root: &str) -> String {
    format!(r#"{{"name":"read","arguments":{{"path":"{root}/a.txt"}}}}"#)
}

fn text(root: &str) -> String {
    format!(r#"{{"content":[{{"type":"text","text":"{root}/a.txt: é\n"}}]}}"#)
}

#[test]
fn a_colleague_asks_with_its_paths_and_sees_its_paths() {
    let call = exchange("tools/call", &read(RECORDED), &text(RECORDED));
    let other = exchange("tools/list", "", "{}");
    let mut stage = Stage::with(&cassette(&[&other, &call]), mapped());
    assert_eq!(stage.result("tools/list", ""), "{}");
    let said = stage.result("tools/call", &read(HERE));
    assert_eq!(
        serde_json::from_str::<serde_json::Value>(&said).unwrap(),
        serde_json::from_str::<serde_json::Value>(&text(HERE)).unwrap()
    );
    let report = stage.report();
    assert_eq!((report.served, report.mapped), (2, 1));
    assert_eq!(report.mapped_requests[0].place, "/exchanges/1");
    let paths = [PathMap {
        recorded: RECORDED.to_owned(),
        here: HERE.to_owned(),
    }];
    assert_eq!(report.mapped_requests[0].paths, paths);
}

#[test]
fn without_a_map_other_paths_are_missed_and_nothing_is_turned() {
    let call = exchange("tools/call", &read(RECORDED), &text(RECORDED));
    let mut stage = Stage::new(&cassette(&[&call]));
    stage.missed("tools/call", &read(HERE));
    assert!(
        stage
            .result("tools/call", &read(RECORDED))
            .contains(RECORDED)
    );
    assert_eq!(stage.report().mapped, 0);
}

#[test]
fn a_miss_counts_no_mapped_request_and_speaks_of_the_clients_paths() {
    let call = exchange("tools/call", &read(RECORDED), "{}");
    let mut stage = Stage::with(&cassette(&[&call]), mapped());
    let error = stage.missed("tools/call", &read(&format!("{HERE}/sub")));
    assert!(!error.to_string().contains(RECORDED), "{error}");
    let difference = &error["data"]["nearest"][0]["differences"][0];
    assert_eq!(difference["recorded"], format!("\"{HERE}/a.txt\""));
    assert_eq!(difference["live"], format!("\"{HERE}/sub/a.txt\""));
    assert_eq!(stage.report().mapped, 0);
}

#[test]
fn roots_and_batches_are_turned_too() {
    let roots = format!(
        r#"{{"request":{{"jsonrpc":"2.0","id":1,"method":"go"}},"response":{{"jsonrpc":"2.0","id":1,"result":{{}}}},"stream":[
        {{"from":"server","message":{{"jsonrpc":"2.0","id":"r","method":"roots/list"}}}},
        {{"from":"client","message":{{"jsonrpc":"2.0","id":"r","result":{{"roots":[{{"uri":"file://{RECORDED}"}}]}}}}}}]}}"#
    );
    let call = exchange("tools/call", &read(RECORDED), &text(RECORDED));
    let mut stage = Stage::with(&cassette(&[&roots, &call]), mapped());
    assert_eq!(
        stage
            .send(r#"{"jsonrpc":"2.0","id":5,"method":"go"}"#)
            .len(),
        1
    );
    let reply =
        format!(r#"{{"jsonrpc":"2.0","id":"r","result":{{"roots":[{{"uri":"file://{HERE}"}}]}}}}"#);
    assert_eq!(stage.send(&reply).len(), 1);
    assert_eq!(stage.report().replied_otherwise, 0);
    let batch = format!(
        r#"[{{"jsonrpc":"2.0","id":6,"method":"tools/call","params":{}}}]"#,
        read(HERE)
    );
    let said = stage.send(&batch).concat();
    assert!(said.starts_with('[') && said.contains(HERE), "{said}");
    assert!(!said.contains(RECORDED), "{said}");
}
