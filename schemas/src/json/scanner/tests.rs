//! The grammar, against examples and against `serde_json`.

use proptest::prelude::*;

use super::*;

fn verdict(text: &[u8]) -> bool {
    is_valid(text)
}

#[test]
fn accepts_what_the_grammar_allows() {
    for text in [
        "null",
        " true ",
        "-0",
        "1e400",
        "0.1E-9",
        "123456789012345678901234567890",
        "\"\\ud83d\"",
        "{}",
        "[]",
        "[[],{}]",
        "{\"a\":{\"b\":[1,2,\"\"]}}",
        "\"\u{7f}é\"",
    ] {
        assert!(verdict(text.as_bytes()), "{text}");
    }
}

#[test]
fn refuses_what_it_does_not() {
    for text in [
        "",
        " ",
        "nul",
        "nulL",
        "01",
        "1.",
        ".5",
        "+1",
        "-",
        "1e",
        "\"",
        "\"\\x\"",
        "\"\\u12g4\"",
        "\"a\nb\"",
        "{",
        "}",
        "[1,]",
        "{,}",
        "{\"a\"}",
        "{\"a\":}",
        "{\"a\":1,}",
        "[1 2]",
        "{1:2}",
        "1 2",
        "[}",
        "{]",
        "\u{feff}{}",
    ] {
        assert!(!verdict(text.as_bytes()), "{text}");
    }
    assert!(!verdict(b"\"\xff\""));
}

#[test]
fn brackets_must_match_at_every_depth() {
    for depth in [1, 2, 63, 64, 65, 127, 128, 129, 200, MAX_DEPTH] {
        let open = |level: usize| {
            if level.is_multiple_of(3) {
                "{\"a\":"
            } else {
                "["
            }
        };
        let close = |level: usize| if level.is_multiple_of(3) { "}" } else { "]" };
        let begin: String = (0..depth).map(open).collect();
        let end: Vec<&str> = (0..depth).rev().map(close).collect();
        assert!(
            verdict(format!("{begin}1{}", end.concat()).as_bytes()),
            "{depth}"
        );
        for wrong in [0, depth / 2, depth - 1] {
            let mut end = end.clone();
            end[wrong] = if end[wrong] == "]" { "}" } else { "]" };
            assert!(
                !verdict(format!("{begin}1{}", end.concat()).as_bytes()),
                "{depth} {wrong}"
            );
        }
    }
}

#[test]
fn depth_is_bounded() {
    let deep = "[".repeat(MAX_DEPTH + 1);
    let mut scanner = Scanner::new(deep.as_bytes());
    for _ in 0..MAX_DEPTH {
        scanner.next_token().unwrap();
    }
    assert_eq!(scanner.next_token(), Err(Invalid::TooDeep));
}

#[test]
fn long_strings_end_where_they_end() {
    for length in 0..130 {
        let text = format!("\"{}\"", "y".repeat(length));
        let mut scanner = Scanner::new(text.as_bytes());
        let expected = Token::String(Text {
            span: Span {
                start: 1,
                end: length + 1,
            },
            escaped: false,
        });
        assert_eq!(scanner.next_token(), Ok(Some(expected)));
        assert_eq!(scanner.next_token(), Ok(None));
    }
}

proptest! {
    #[test]
    fn agrees_with_serde_json(text in r#"[\[\]{},: \\"truefalsnl0-9.eE+\-u]{0,24}"#) {
        let theirs = serde_json::from_str::<&serde_json::value::RawValue>(&text).is_ok();
        prop_assert_eq!(verdict(text.as_bytes()), theirs);
    }

    #[test]
    fn agrees_on_damaged_json(mut bytes in any::<Vec<u8>>(), at in any::<prop::sample::Index>(), with in any::<u8>()) {
        bytes = serde_json::to_vec(&bytes).unwrap();
        let at = at.index(bytes.len());
        bytes[at] = with;
        let theirs = serde_json::from_slice::<&serde_json::value::RawValue>(&bytes).is_ok();
        prop_assert_eq!(verdict(&bytes), theirs);
    }
}
