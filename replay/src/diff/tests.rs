use tapewright_schemas::redact::Settings;

use super::*;

/// A recording of long calls, each with one distinctive word, which `word` makes.
fn script(count: usize, word: impl Fn(usize) -> String) -> Arc<Script> {
    let pad = "pad ".repeat(300);
    let exchanges: Vec<_> = (0..count)
        .map(|id| {
            let word = word(id);
            format!(
                r#"{{"request":{{"id":{id},"method":"tools/call","params":{{"name":"t","arguments":{{"a":"{pad}","b":"{word}"}}}}}},"response":{{"id":{id},"result":{{}}}}}}"#
            )
        })
        .collect();
    let text = format!(r#"{{"version":"1","exchanges":[{}]}}"#, exchanges.join(","));
    Arc::new(Script::load(text.into_bytes()).unwrap())
}

fn options() -> DiffOptions {
    DiffOptions {
        exact: false,
        ignore: Ignore::default(),
        rules: Arc::new(Rules::new(&Settings::default()).unwrap()),
    }
}

/// How many requests of the earlier recording are examined for each later one.
fn looked_at(count: usize, before: Words, after: Words) -> usize {
    let (before, after) = (script(count, before), script(count, after));
    let (_, matcher) = Pairs::matched(&before, &after, &options());
    matcher.looked_at() / count
}

/// Makes the word of a call.
type Words = fn(usize) -> String;

#[test]
fn the_work_for_one_request_does_not_grow_with_the_recording() {
    let own = |id| format!("word {id}");
    let other = |id| format!("other {id}");
    let same = |_| "word".to_owned();
    // Each placeholder replaces a different secret.
    let secret = |id| format!("<REDACTED:token#{}>", id + 1);
    let secrets = |id| format!("<REDACTED:token#{}>", id + 1_000);
    let variable = |id| format!("<REDACTED:env#{}>", id + 1);
    let cases: [(Words, Words, usize); 7] = [
        (own, own, 1),
        (own, other, 0),
        (same, other, 0),
        (own, same, 0),
        (same, same, 1),
        (secret, secrets, 140),
        (variable, other, 140),
    ];
    for (case, (before, after, most)) in cases.into_iter().enumerate() {
        for count in [40, 160, 640] {
            let looked_at = looked_at(count, before, after);
            assert!(looked_at <= most, "case {case}, of {count}: {looked_at}");
        }
    }
}

#[test]
fn what_differs_in_all_is_paired_in_order_and_what_is_alike_by_what_it_says() {
    let before = script(50, |id| format!("word {id}"));
    let after = script(50, |id| format!("word {}", 99 - id));
    let found = diff(&before, &after, &options());
    assert_eq!(found.exchanges.len(), 50);
    for (place, one) in found.exchanges.iter().enumerate() {
        assert_eq!(one.change, Change::Changed);
        assert_eq!(one.before, Some(format!("/exchanges/{place}")));
        assert_eq!(one.after, one.before);
    }
    let turned = script(50, |id| format!("word {}", 49 - id));
    let found = diff(&before, &turned, &options());
    for (place, one) in found.exchanges.iter().enumerate() {
        assert_eq!(one.change, Change::Same);
        assert_eq!(one.after, Some(format!("/exchanges/{}", 49 - place)));
    }
}
