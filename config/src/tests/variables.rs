//! Variables: forms, precedence, text that is not replaced.

use super::{load_text, load_with, shown};
use crate::template::{Reference, Template};
use crate::{EnvFiles, Environment};

fn environment(given: &[(&str, &str)], process: &[(&str, &str)]) -> Environment {
    let map = |pairs: &[(&str, &str)]| {
        pairs
            .iter()
            .map(|(name, value)| ((*name).to_owned(), (*value).to_owned()))
            .collect()
    };
    Environment::new(map(given), map(process))
}

/// The name of the first tool test, which contains `text`.
fn filled(variables: &str, text: &str, dotenv: &str, environment: &Environment) -> String {
    // The text is preceded by a letter, since names may not be empty.
    let name = serde_json::to_string(&format!("x{text}")).unwrap();
    let suite = format!(
        "servers: {{s: {{command: [x]}}}}\nvariables:\n{variables}\ntools:\n  - {{name: {name}, server: s, tool: x}}\n"
    );
    let loaded = load_with(
        &[("suite.yaml", &suite), (".env", dotenv)],
        environment,
        &EnvFiles::Beside,
    );
    let Some(suite) = loaded.suite else {
        return shown(&loaded).join("\n");
    };
    suite.tools[0].name.strip_prefix('x').unwrap().to_owned()
}

const VARIABLES: &str = "  a: {value: 1}\n  b: {from_env: B_SOURCE, default: fallback}\n  c: {value: '${a}/z'}\n  flag: {value: true}\n  ratio: {value: 1.50}";

#[test]
fn every_form_is_replaced_once() {
    let empty = Environment::default();
    let cases = [
        ("${a} $a ${ a }", "1 1 1"),
        ("$${a} $$5 $5 $$$$", "${a} $5 $5 $$"),
        ("${Z:-d e} ${Z:-}|", "d e |"),
        ("${A:-${B}}", "${B}"),
        ("${c}", "${a}/z"),
        ("${flag} ${ratio} ${b}", "true 1.5 fallback"),
        ("${a.b} ${a-b} ${1A} ${} ${x", "${a.b} ${a-b} ${1A} ${} ${x"),
        ("^foo$$ ^foo$", "^foo$ ^foo$"),
    ];
    for (text, expected) in cases {
        assert_eq!(filled(VARIABLES, text, "", &empty), expected, "{text}");
    }
}

#[test]
fn the_nearest_value_wins() {
    let none = Environment::default();
    let process = environment(
        &[],
        &[("a", "process"), ("B_SOURCE", "source"), ("EMPTY", "")],
    );
    let given = environment(&[("a", "given")], &[("a", "process")]);
    assert_eq!(filled(VARIABLES, "$a", "", &none), "1");
    assert_eq!(filled(VARIABLES, "$a", "a=file", &none), "file");
    assert_eq!(filled(VARIABLES, "$a", "a=file", &process), "process");
    assert_eq!(filled(VARIABLES, "$a", "a=file", &given), "given");
    assert_eq!(filled(VARIABLES, "$b", "B_SOURCE=file", &none), "file");
    assert_eq!(filled(VARIABLES, "$b", "B_SOURCE=file", &process), "source");
    assert_eq!(
        filled(VARIABLES, "$b", "b=named\nB_SOURCE=file", &process),
        "named"
    );
    assert_eq!(
        filled(VARIABLES, "[${EMPTY:-x}${EMPTY:?}]", "", &process),
        "[]"
    );
}

#[test]
fn what_has_no_value_is_an_error_at_the_reference() {
    let none = Environment::default();
    assert_eq!(
        filled(VARIABLES, "- ${nope}", "", &none),
        "suite.yaml:9:16 /tools/0/name variable: `nope` has no value"
    );
    assert!(filled(VARIABLES, "${N:?tell me}", "", &none).ends_with("`N` is required: tell me"));
}

#[test]
fn keys_types_and_references_of_schemas_stay() {
    let loaded = load_text(
        "servers: {s: {command: [x]}}\nvariables: {n: {value: 5}, k: {value: key}}\ntools:\n  - name: x\n    server: s\n    tool: x\n    args: {\"$k\": \"${n}\", schema: {\"$ref\": \"$k\"}}\n    expect:\n      - matcher: {schema: {\"$ref\": \"#/$defs/x\", \"$defs\": {x: {pattern: \"$k\"}}}}\n",
    );
    assert_eq!(shown(&loaded), Vec::<String>::new());
    let suite = loaded.suite.unwrap();
    let args = serde_json::to_string(&suite.tools[0].args).unwrap();
    assert_eq!(args, r#"{"$k":"5","schema":{"$ref":"key"}}"#);
    let matcher = suite.tools[0].expect.assertions[0].value["matcher"].to_string();
    assert_eq!(
        matcher,
        r##"{"schema":{"$ref":"#/$defs/x","$defs":{"x":{"pattern":"key"}}}}"##
    );
}

#[test]
fn references_of_compositions_stay_and_variables_do_not() {
    let loaded = load_text(
        "servers: {s: {command: [x]}}\nvariables: {v: {value: '${a.b}'}, a: {value: no}}\ncompositions:\n  - name: c\n    nodes:\n      - {id: a, tool: x}\n      - id: b\n        tool: x\n        needs: [a]\n        args: {whole: \"${a}\", text: \"$v ${a.x[0].y}!\", plain: \"$a\", escaped: \"$${a.b}\", list: [\"${a.z}\"]}\n    output: a\n",
    );
    assert_eq!(shown(&loaded), Vec::<String>::new());
    let suite = loaded.suite.unwrap();
    let args = &suite.compositions[0].nodes[1].args;
    let mut found = Vec::new();
    args.references(&mut |pointer, reference| {
        found.push(format!("{pointer} {}:{}", reference.id, reference.path));
    });
    assert_eq!(found, ["/whole a:", "/text a:x[0].y", "/list/0 a:z"]);
    let filled = args.fill(&mut |reference: &Reference| match reference.path.as_str() {
        "" => Ok(serde_json::json!({"n": 1})),
        "z" => Ok(serde_json::json!(null)),
        "x[0].y" => Ok(serde_json::json!([1, "q"])),
        _ => Err(reference.clone()),
    });
    let expected = serde_json::json!({
        "whole": {"n": 1}, "text": "${a.b} [1,\"q\"]!", "plain": "no", "escaped": "${a.b}", "list": [null],
    });
    assert_eq!(filled, Ok(expected));
    assert!(matches!(
        suite.compositions[0].nodes[0].args,
        Template::Value(_)
    ));
}

#[test]
fn secrets_are_known_and_not_shown() {
    let environment = environment(
        &[],
        &[
            ("API_TOKEN", "t-1"),
            ("PLAIN", "p-1"),
            ("BEARER", "b-1"),
            ("OPENAI", "o-1"),
        ],
    );
    let suite = "servers:\n  s:\n    url: https://a.example\n    auth: {bearer_token_env: BEARER}\n    headers: {X-K: {env: OPENAI}}\nvariables:\n  who: {from_env: API_TOKEN}\n  password: {value: w-1}\n  unused_secret: {value: u-1}\ntools:\n  - {name: \"$who $PLAIN $password\", server: s, tool: x}\n";
    let loaded = load_with(&[("suite.yaml", suite)], &environment, &EnvFiles::Beside);
    let suite = loaded.suite.unwrap();
    let mut values: Vec<_> = suite
        .secrets
        .pairs()
        .iter()
        .map(|(_, value)| value.as_str())
        .collect();
    values.sort_unstable();
    assert_eq!(values, ["b-1", "o-1", "t-1", "w-1"]);
    let debug = format!("{:?} {environment:?}", suite.secrets);
    assert!(values.iter().all(|value| !debug.contains(value)), "{debug}");
}
