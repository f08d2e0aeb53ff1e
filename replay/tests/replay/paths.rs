//! A recording from one machine, replayed on another.

use tapewright_replay::{Here, LearnedMap, Options, PathMap, PathMaps, Script};
use tapewright_schemas::made_in::MadeIn;

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
        learned: false,
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
fn a_map_the_wrong_way_round_is_told() {
    let call = exchange("tools/call", &read(RECORDED), "{}");
    let backwards = || Options {
        paths: PathMaps::new(&[format!("{HERE}={RECORDED}")]).unwrap(),
        ..options()
    };
    let mut stage = Stage::with(&cassette(&[&call]), backwards());
    let error = stage.missed("tools/call", &read(HERE));
    let map = format!("{RECORDED}={HERE}");
    assert_eq!(error["data"]["fitting_map"], map);
    let message = error["message"].as_str().unwrap();
    let hint = format!("`--map` is the wrong way round, use `--map {map}`");
    assert!(message.ends_with(&hint), "{message}");
    // The paths of both sides are shown verbatim.
    let difference = &error["data"]["nearest"][0]["differences"][0];
    assert_eq!(difference["recorded"], format!("\"{RECORDED}/a.txt\""));
    assert_eq!(difference["live"], format!("\"{HERE}/a.txt\""));
    // If more than the path differs, a mapping may not be the cause.
    for asked in [
        read(&format!("{HERE}/sub")),
        read(HERE).replace("}}", r#","line":1}}"#),
    ] {
        let mut stage = Stage::with(&cassette(&[&call]), backwards());
        let error = stage.missed("tools/call", &asked);
        assert!(error["data"]["fitting_map"].is_null(), "{error}");
    }
    let mut stage = Stage::with(&cassette(&[&call]), mapped());
    let error = stage.missed("tools/call", &read(&format!("{HERE}/sub")));
    assert!(error["data"]["fitting_map"].is_null(), "{error}");
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

/// A cassette that Ann made in her project, and its mappings for Bob.
fn anns(exchanges: &[&str], maps: &[&str], here: (&str, &str)) -> Stage {
    let made = MadeIn::of(RECORDED, "/home/ann");
    let meta = format!(
        r#"{{"version":"1","meta":{{"made_in_folder":"{}","made_in_home":"{}"}},"#,
        made.folder, made.home
    );
    let text = cassette(exchanges).replacen(r#"{"version":"1","#, &meta, 1);
    assert!(text.contains("made_in_home"), "{text}");
    let mut paths = PathMaps::new(maps).unwrap();
    let script = Script::load(text.as_bytes().to_vec()).unwrap();
    let (folder, home) = (here.0.to_owned(), here.1.to_owned());
    paths.learn(&script, &Here { folder, home });
    Stage::with(&text, Options { paths, ..options() })
}

fn learned(stage: &Stage) -> Vec<(String, String)> {
    let maps = stage.report().learned_maps.into_iter();
    maps.map(|map| (map.recorded, map.here)).collect()
}

fn pairs(pairs: &[(&str, &str)]) -> Vec<(String, String)> {
    let pairs = pairs.iter();
    pairs
        .map(|(one, other)| ((*one).to_owned(), (*other).to_owned()))
        .collect()
}

const BOB: (&str, &str) = ("/home/bob/src/project", "/home/bob");

#[test]
fn the_recorded_folder_and_home_are_ours_by_default() {
    let call = exchange("tools/call", &read(RECORDED), &text(RECORDED));
    let config = exchange(
        "tools/call",
        &read("/home/ann/.config"),
        &text("/home/ann/.config"),
    );
    let mut stage = anns(&[&call, &config], &[], BOB);
    assert!(stage.result("tools/call", &read(BOB.0)).contains(BOB.0));
    let said = stage.result("tools/call", &read("/home/bob/.config"));
    assert!(said.contains("/home/bob/.config/a.txt"), "{said}");
    let one = |recorded: &str, here: &str| LearnedMap {
        recorded: recorded.to_owned(),
        here: here.to_owned(),
        requests: 1,
        messages: 1,
    };
    let report = stage.report();
    assert_eq!(
        report.learned_maps,
        [one(RECORDED, BOB.0), one("/home/ann", BOB.1)]
    );
    assert_eq!((report.served, report.mapped), (2, 2));
    assert!(report.mapped_requests[0].paths[0].learned);
}

#[test]
fn whoever_recorded_it_learns_nothing_and_homes_of_others_are_left_alone() {
    let call = exchange("tools/call", &read(RECORDED), &text(RECORDED));
    let mut stage = anns(&[&call], &[], (RECORDED, "/home/ann"));
    assert_eq!(learned(&stage), []);
    assert!(
        stage
            .result("tools/call", &read(RECORDED))
            .contains(RECORDED)
    );
    // Ann worked in another place of her own home.
    let stage = anns(&[&call], &[], ("/home/ann/other", "/home/ann"));
    assert_eq!(learned(&stage), pairs(&[(RECORDED, "/home/ann/other")]));
    // It has no path of Ann's, but another user's home.
    let brew = exchange("tools/call", &read("/home/linuxbrew"), "{}");
    let mut stage = anns(&[&brew], &[], BOB);
    assert_eq!(learned(&stage), []);
    assert_eq!(stage.result("tools/call", &read("/home/linuxbrew")), "{}");
}

#[test]
fn what_is_mapped_by_hand_is_not_learned() {
    let call = exchange("tools/call", &read(RECORDED), &text(RECORDED));
    let stage = anns(&[&call], &["/home/ann=/srv/ann"], BOB);
    assert_eq!(learned(&stage), []);
    let map = format!("{RECORDED}=/srv/p");
    let stage = anns(&[&call], &[&map], BOB);
    assert_eq!(learned(&stage), pairs(&[("/home/ann", BOB.1)]));
    // A client that starts servers in its home, and one that has neither folder nor home.
    let stage = anns(&[&call], &[], (BOB.1, BOB.1));
    assert_eq!(learned(&stage), pairs(&[("/home/ann", BOB.1)]));
    assert_eq!(learned(&anns(&[&call], &[], ("/", ""))), []);
}

#[test]
fn a_path_that_a_rule_hides_is_not_told() {
    let call = exchange("tools/call", &read(RECORDED), &text(RECORDED));
    let settings = tapewright_schemas::redact::Settings {
        patterns: vec!["bob".to_owned()],
        ..Default::default()
    };
    let rules = tapewright_schemas::redact::Rules::new(&settings).unwrap();
    let mut stage = Stage::with(
        &cassette(&[&call]),
        Options {
            rules: std::sync::Arc::new(rules),
            ..mapped()
        },
    );
    stage.result("tools/call", &read(HERE));
    let told = serde_json::to_string(&stage.report()).unwrap();
    assert!(told.contains("/srv/<REDACTED:"), "{told}");
    assert!(!told.contains("bob"), "{told}");
}

#[test]
fn what_was_recorded_here_matches_as_it_came() {
    // An episode that was added on this machine is in the same cassette.
    let anns_call = exchange("tools/call", &read(RECORDED), "{\"who\":\"ann\"}");
    let own = exchange("tools/call", &read(BOB.0), "{\"who\":\"bob\"}");
    let mut stage = anns(&[&anns_call, &own], &[], BOB);
    assert!(stage.result("tools/call", &read(BOB.0)).contains("ann"));
    assert!(stage.result("tools/call", &read(BOB.0)).contains("bob"));
    let report = stage.report();
    assert_eq!((report.served, report.mapped), (2, 1));
}
