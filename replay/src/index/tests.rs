use std::fmt::Write as _;

use tapewright_schemas::redact::{Rules, Settings};

use super::*;

#[test]
fn threads_keep_the_order() {
    let mut text = String::from(r#"{"version":"1","exchanges":["#);
    for number in 0..9_000 {
        let comma = if number == 0 { "" } else { "," };
        let name = number % 4_000;
        write!(
            text,
            r#"{comma}{{"request":{{"id":{number},"method":"tools/call","params":{{"name":"{name}"}}}},"response":{{"id":{number},"result":{{}}}}}}"#
        )
        .unwrap();
    }
    text.push_str("]}");
    let script = Arc::new(Script::load(text.into_bytes()).unwrap());
    let rules = Arc::new(Rules::new(&Settings::default()).unwrap());
    let index = Index::new(Arc::clone(&script), Arc::new(Options::new(rules)));
    assert_eq!(script.takes.len(), 9_000);
    let alone = in_order(index.exact_keys_of(0..9_000));
    let shared = index.exact_keys();
    assert_eq!(shared.concat().len(), alone.len());
    assert_eq!(Chains::of(shared), Chains::of(vec![alone]));
}
