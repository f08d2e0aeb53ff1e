//! Planted secrets that must not survive, and look-alikes that must.
//!
//! Every canary is assembled at run time, so that this file contains no token. A `{}` in a row is
//! the place of the canary.

use std::sync::Arc;

use tapewright_schemas::redact::{Redactor, Rules, Settings};

/// Plain under a name: nothing about its shape is secret.
const WORD: &str = "Canary7Zq";

const BODY: &str = "A1b2C3d4E5f6G7h8I9j0";

fn redactor() -> Redactor {
    let settings = Settings {
        keys: vec!["internalRef".to_owned()],
        patterns: vec!["EMP-(\\d{6})".to_owned()],
        values: vec![("DEPLOY_PASS".to_owned(), "corr\"ect horse".to_owned())],
        off: false,
    };
    Redactor::new(Arc::new(
        Rules::new(&settings).expect("the rules are valid"),
    ))
}

fn contains(haystack: &[u8], needle: &str) -> bool {
    haystack
        .windows(needle.len())
        .any(|window| window == needle.as_bytes())
}

/// Redacts as JSON when it is JSON, as free text otherwise.
fn redacted(text: &str) -> Vec<u8> {
    let mut redactor = redactor();
    match redactor.json(text.as_bytes()) {
        Ok(text) => text.into_owned(),
        Err(_) => redactor.text(text.as_bytes()).into_owned(),
    }
}

/// The error in the redaction of a template with a canary, if any.
fn verdict(template: &str, canary: &str) -> Option<String> {
    let text = template.replace("{}", canary);
    let shown = String::from_utf8_lossy(&redacted(&text)).into_owned();
    let (before, after) = template.split_once("{}")?;
    let marked = shown.contains("<REDACTED:") || shown.contains("_API_KEY");
    // Containers are replaced as a whole.
    let opens = [
        ":",
        "[",
        "{",
        "[\"",
        r#"[\""#,
        r#"":{"a":""#,
        r#"":{"value":""#,
        r#"":{"user":""#,
    ];
    // Other cookies, other parameters and the start of an escaped token are replaced with the
    // canary.
    let several = ["ookie", "Digest", "gh\\u0070_"]
        .iter()
        .any(|part| before.contains(part));
    let container = several || opens.iter().any(|open| before.ends_with(open));
    if shown.contains(canary) || !marked {
        Some(format!("survives: {text} -> {shown}"))
    } else if String::from_utf8_lossy(&redacted(&shown)) != shown {
        Some(format!(
            "not idempotent: {shown} -> {}",
            String::from_utf8_lossy(&redacted(&shown))
        ))
    } else if !(container || shown.starts_with(before) && shown.ends_with(after)) {
        Some(format!("damage: {text} -> {shown}"))
    } else {
        None
    }
}

fn check(rows: impl IntoIterator<Item = (String, String)>) {
    let rows = rows.into_iter();
    let wrong: Vec<_> = rows
        .filter_map(|(template, canary)| verdict(&template, &canary))
        .collect();
    assert!(
        wrong.is_empty(),
        "{} wrong:\n{}",
        wrong.len(),
        wrong.join("\n")
    );
}

fn shapes() -> Vec<String> {
    let hex = "0a1b2c3d4e5f60718293a4b5c6d7e8f9";
    let jwt = [
        "eyJhbGciOiJIUzI1NiJ9",
        "eyJzdWIiOiIxMjM0In0",
        "SflKxwRJSMeKKF2QT4fwpMeJ",
    ]
    .join(".");
    [
        format!("sk-{}-{BODY}", "ant"),
        format!("sk-{}-api03-{BODY}{BODY}", "ant"),
        format!("sk-{}-{BODY}", "proj"),
        format!("sk-{}-{BODY}", "svcacct"),
        format!("sk-{}{}", BODY, "K1l2"),
        format!("AIza{}{BODY}K1l2M3n4", "Sy"),
        format!("ya29{}a0AfH6SM{BODY}", "."),
        format!("GOCSPX{}{BODY}", "-"),
        format!("AKIA{}", "QYLPMN5HFIQR7XYA"),
        format!("ASIA{}", "QYLPMN5HFIQR7XYA"),
        format!("ghp{}{BODY}K1l2M3n4O5p6Q7r8", "_"),
        format!("gho{}{BODY}", "_"),
        format!("ghu{}{BODY}", "_"),
        format!("ghs{}{BODY}", "_"),
        format!("ghr{}{BODY}", "_"),
        format!("github{}pat_11ABCDEFG0{BODY}", "_"),
        format!("glpat{}{BODY}", "-"),
        format!("xoxb{}123456789012-{BODY}", "-"),
        format!("xoxp{}123456789012-{BODY}", "-"),
        format!("xapp{}1-A01-{BODY}", "-"),
        format!("sk{}live_{BODY}", "_"),
        format!("sk{}test_{BODY}", "_"),
        format!("rk{}live_{BODY}", "_"),
        format!("whsec{}{BODY}", "_"),
        format!("SG{}{BODY}.{BODY}{BODY}", "."),
        format!("npm{}{BODY}K1l2M3n4O5p6Q7r8", "_"),
        format!("hf{}{BODY}AbCdEfGh", "_"),
        jwt,
        format!("SK{hex}"),
        format!("dop{}v1_{hex}{hex}", "_"),
        format!("123456789{}AAF1b2C3d4E5f6G7h8I9j0K1l2M3n4O5p6Q", ":"),
        format!("pypi{}AgEIcHlwaS5vcmc{BODY}", "-"),
        format!("cio{}", "a1B2c3D4e5F6g7H8a1B2c3D4e5F6g7H8"),
        format!("rubygems{}{hex}", "_"),
        format!("shpat{}{hex}", "_"),
        format!("sq0atp{}{BODY}", "-"),
        format!("key{}{hex}", "-"),
        format!("{hex}{}us14", "-"),
        format!("lin{}api_{BODY}", "_"),
        format!("ntn{}1234567890{BODY}", "_"),
        format!("secret{}{BODY}{BODY}", "_"),
        format!("figd{}{BODY}", "_"),
        format!("PMAK{}0a1b2c3d4e5f607182930a1b-{hex}", "-"),
        format!("dapi{hex}"),
        format!("ATATT3{}{BODY}", "xFfGF0"),
        format!("hvs{}CAESI{BODY}", "."),
        format!("glsa{}{BODY}_1a2b3c4d", "_"),
        format!("NRAK{}A1B2C3D4E5F6G7H8I9J0K1L2M3N", "-"),
        format!("dp{}pt.{BODY}{BODY}", "."),
        format!("sbp{}{hex}", "_"),
        format!("r8{}{BODY}", "_"),
        format!("gsk{}{BODY}", "_"),
        format!("xai{}{BODY}{BODY}", "-"),
        format!("pplx{}{BODY}", "-"),
        format!("tvly{}dev-{BODY}", "-"),
        format!("lsv2{}pt_{hex}", "_"),
        format!("pcsk{}{BODY}", "_"),
        format!("nfp{}{BODY}", "_"),
        format!("dckr{}pat_{BODY}", "_"),
        format!("sntrys{}{BODY}{BODY}", "_"),
        format!("AGE-SECRET-KEY{}1QPZRY9X8GF2TVDW0S3JN54", "-"),
        // A number may begin with any digit.
        format!("1{}34567890123456:{hex}", "/"),
        format!("2{}861234567890123/1201234567890123:{hex}", "/"),
    ]
    .to_vec()
}

/// Places where a canary of any shape may be.
const PLACES: &[&str] = &[
    r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"x","arguments":{"a":"{}"}}}"#,
    r#"{"error":{"code":-1,"message":"bad credentials {} given"}}"#,
    r#"{"result":{"content":[{"type":"text","text":"{\"a\":{\"b\":\"{}\"}}"}]}}"#,
    r#"{"text":"{\"text\":\"{\\\"b\\\":\\\"see {}\\\"}\"}"}"#,
    r#"{"text":"line one\n{}\nline three"}"#,
    r#"{"method":"{}"}"#,
    r#"{"id":"{}"}"#,
    r#"{"{}":1}"#,
    r#"["a","{}"]"#,
    "server: using {} now",
    "{}",
    "x=({})",
    r#"{"a":"{}","b":"#,
    "https://x.example/?q={}&r=1",
    "Authorization: Bearer {}",
];

#[test]
fn no_shape_survives_anywhere() {
    let shapes = shapes();
    check(PLACES.iter().flat_map(|place| {
        shapes
            .iter()
            .map(|canary| ((*place).to_owned(), canary.clone()))
    }));
}

#[test]
fn no_named_value_survives() {
    let mut rows = Vec::new();
    for name in "password passwd pwd passphrase secret token authorization Authorization cookie \
             credential credentials api_key apikey apiKey ApiKey API_KEY api-key api.key \
             x-api-key X-API-Key private_key privateKey access_key secret_key signing_key \
             encryption_key client_secret clientSecret session_id sessionId Mcp-Session-Id \
             connection_string auth_token authToken bearer otp AWS_SECRET_ACCESS_KEY \
             userPassword PGPASSWORD Set-Cookie Proxy-Authorization internal_ref \
             refreshToken aws_access_key_id"
        .split(' ')
    {
        for place in [
            r#"{"NAME":"{}"}"#,
            r#"{"a":[{"NAME": "{}"}],"b":1}"#,
            r#"{"NAME":["{}"]}"#,
            r#"{"NAME":{"value":"{}"}}"#,
            r#"{"text":"{\"NAME\":\"{}\"}"}"#,
            r#"{"text":"{\"t\":\"{\\\"NAME\\\":\\\"{}\\\"}\"}"}"#,
            r#"{"text":"{\"NAME\":[\"{}\"]}"}"#,
            r#"{"name":"NAME","value":"{}"}"#,
            r#"{"value":"{}","name":"NAME"}"#,
            r#"{"key":"NAME","x":1,"value":["{}"]}"#,
            r#"{"value":{"a":"{}"},"header":"NAME"}"#,
            r#"{"env":["NAME={}","B=c"]}"#,
            r#"{"args":["--NAME","{}","x"]}"#,
            r#"{"args":["--NAME={}","x"]}"#,
            r#"{"text":"run with --NAME {} now"}"#,
            r#"{"text":"NAME: {}\nHost: x"}"#,
            r#"{"text":"NAME={}\nB=c"}"#,
            r#"{"error":{"message":"NAME: {}"}}"#,
            r#"{"url":"https://x.example/a?NAME={}&b=c"}"#,
            r#"{"properties":{"NAME":"{}"}}"#,
            r#"{"properties":{"NAME":{"type":"string","default":"{}"}}}"#,
            r#"{"properties":{"NAME":{"type":"string","examples":["{}"]}}}"#,
            "NAME: {}",
            "NAME={}",
            "NAME = '{}'",
            "export NAME=\"{}\"",
            "{'NAME': '{}'}",
            "{'NAME' => '{}'}",
            r#"{"NAME":"{}", oops"#,
            r#"{"NAME":["{}"], oops"#,
            r#"{"text":"{\"NAME\":\"{}\"}", oops"#,
            "curl -H 'NAME: {}' x",
        ] {
            rows.push((place.replace("NAME", name), WORD.to_owned()));
        }
    }
    check(rows);
}

#[test]
fn no_other_secret_survives() {
    let rows = [
        (r#"{"password":{}}"#, "12345678"),
        (r#"{"secret":{}}"#, "1.5e300"),
        (r#"{"text":"{\"otp\":{}}"}"#, "12345678"),
        (r#"{"headers":{"Authorization":"Bearer {}"}}"#, WORD),
        (
            r#"{"headers":{"Authorization":"Basic {}"}}"#,
            "dXNlcjpodW50ZXIyMg==",
        ),
        (r#"{"text":"Basic {} in prose"}"#, "dXNlcjpodW50ZXIyMg=="),
        (r#"{"text":"Bearer {} in prose"}"#, WORD),
        ("authorization: bearer {}", WORD),
        ("AUTHORIZATION: BEARER {}", WORD),
        (
            r#"Authorization: Digest username="bob", response="{}""#,
            WORD,
        ),
        ("Cookie: a={}; b=2", WORD),
        ("Cookie: a=1; b={}", WORD),
        ("Set-Cookie: sid={}; Path=/; HttpOnly", WORD),
        (r#"{"cookie":"theme=dark; sid={}"}"#, WORD),
        ("postgres://user:{}@host/db", WORD),
        ("redis://:{}@host:6379", WORD),
        ("postgres://user:{}@host/db", "pa/ss#w0rd"),
        (r#"{"a":"mongodb+srv://u:{}@h.example/?x=1"}"#, WORD),
        (
            "https://acct.blob.example/c?sv=2022&sig={}&se=1",
            "aB3dE5fG7hI9jK1lM3nO5pQ7%3D",
        ),
        (r#"{"text":"employee EMP-{} left"}"#, "778899"),
        (r#"{"text":"say {} to"}"#, r#"corr\"ect horse"#),
        ("say {} to", r#"corr"ect horse"#),
        (r#"{"text":"escaped gh\u0070_{}"}"#, "A1b2C3d4E5f6G7h8I9j0"),
        (r#"{"\u0070assword":"{}"}"#, WORD),
        (r#"{"text":"{\"pass\u0077ord\":\"{}\"}"}"#, WORD),
        (r#"{"api\u005fkey":"{}"}"#, WORD),
        (r#"{"auth":"{}"}"#, "user:hunter2"),
        (r#"{"signature":"{}"}"#, "0a1b2c3d4e5f60718293a4b5c6d7e8f9"),
        (r#"{"pin":{}}"#, "4711"),
        (r#"{"pin":"{}"}"#, "4711"),
        ("API key: {}", WORD),
        ("Access token: {}", WORD),
        ("**Password:** {}", WORD),
        ("password is here, Password: {}.", WORD),
        ("data: {\"password\":\"{}\"}", WORD),
        (
            "INFO call {\"name\":\"Authorization\",\"value\":\"{}\"}",
            WORD,
        ),
        ("Server=db;Password={};Database=x", WORD),
        (
            "https://discord.com/api/webhooks/123456789012345678/{}",
            BODY,
        ),
        (
            "https://hooks.slack.com/services/{}",
            "T01ABCDEF/B01ABCDEF/A1b2C3d4E5f6",
        ),
        ("[\"--api-key\", \"{}\"]x", WORD),
    ];
    check(rows.map(|(place, canary)| (place.to_owned(), canary.to_owned())));
}

#[test]
fn command_lines_are_redacted() {
    for (argv, expected) in [
        (
            vec!["srv", "--api-key", WORD, "x"],
            "srv --api-key <REDACTED:api-key#1> x",
        ),
        (
            vec!["srv", "--token=Canary 7Zq", "x"],
            "srv --token=<REDACTED:token#1> x",
        ),
        (
            vec!["curl", "-H", "Authorization: Bearer Canary7Zq"],
            "curl -H Authorization: Bearer <REDACTED:bearer-token#1>",
        ),
        (
            vec!["curl", "-H", "X-Api-Key: Canary 7Zq"],
            "curl -H X-Api-Key: <REDACTED:api-key#1>",
        ),
        (
            vec!["curl", "-u", "bob:Canary7Zq"],
            "curl -u bob:<REDACTED:password#1>",
        ),
        (
            vec!["env", "API_KEY=Canary 7Zq", "srv"],
            "env API_KEY=<REDACTED:api-key#1> srv",
        ),
        (
            vec!["docker", "-e", "MY_SECRET=Canary7Zq"],
            "docker -e MY_SECRET=<REDACTED:secret#1>",
        ),
        (
            vec!["psql", "postgres://u:Canary7Zq@h/db"],
            "psql postgres://u:<REDACTED:url-password#1>@h/db",
        ),
        (
            vec!["sh", "-c", "TOKEN=Canary7Zq exec srv"],
            "sh -c TOKEN=<REDACTED:token#1> exec srv",
        ),
        (
            vec!["docker", "-u", "1000:1000", "-p", "80:80", "img"],
            "docker -u 1000:1000 -p 80:80 img",
        ),
        (
            vec!["srv", "--password", "--verbose"],
            "srv --password --verbose",
        ),
        (
            vec!["npx", "-y", "@scope/tokenizer", "--max-tokens", "5"],
            "npx -y @scope/tokenizer --max-tokens 5",
        ),
    ] {
        let argv: Vec<_> = argv
            .into_iter()
            .map(|argument| argument.as_bytes().to_vec())
            .collect();
        let redacted = redactor().argv(&argv);
        assert_eq!(String::from_utf8(redacted.join(&b' ')).unwrap(), expected);
        assert_eq!(redactor().argv(&redacted), redacted);
    }
}

#[test]
fn bytes_that_are_no_utf8_are_redacted() {
    let line = [
        b"\xff\xfe password=".as_slice(),
        WORD.as_bytes(),
        b" \x80 ",
        shapes()[10].as_bytes(),
        b"\xff",
    ]
    .concat();
    let redacted = redactor().text(&line).into_owned();
    assert!(!contains(&redacted, WORD) && !contains(&redacted, &shapes()[10]));
    assert!(redacted.starts_with(b"\xff\xfe password=<") && redacted.ends_with(b">\xff"));
    assert!(redactor().json(b"\"\xff\"").is_err());
}

#[test]
fn what_surrounds_a_secret_stays() {
    let github = &shapes()[10];
    for (text, expected) in [
        (
            format!(
                r#"{{ "a" : 1.0 ,"headers":{{"Authorization": "Bearer {WORD}"}}, "b":"\u00e9{github}\/" }}"#
            ),
            r#"{ "a" : 1.0 ,"headers":{"Authorization": "Bearer <REDACTED:bearer-token#1>"}, "b":"\u00e9<REDACTED:github-token#1>\/" }"#,
        ),
        (
            format!(
                r#"{{"password":"{WORD}","again":"{WORD} password={WORD}","token":12345,"otp":"12345"}}"#
            ),
            r#"{"password":"<REDACTED:password#1>","again":"<REDACTED:password#1> password=<REDACTED:password#1>","token":"<REDACTED:token#1>","otp":"<REDACTED:token#1>"}"#,
        ),
        (
            format!(r#"{{"t":"{{\"token\":true,\"a\":[\"{github}\"],\"secret\":{{\"x\":1}}}}"}}"#),
            r#"{"t":"{\"token\":\"<REDACTED:token#1>\",\"a\":[\"<REDACTED:github-token#1>\"],\"secret\":\"<REDACTED:secret#1>\"}"}"#,
        ),
        (
            format!("Set-Cookie: sid={WORD}; Path=/; HttpOnly"),
            "Set-Cookie: sid=<REDACTED:cookie#1>; Path=/; HttpOnly",
        ),
        (
            format!("{{\"a\":\"sk-ant-{BODY} sk-ant-{BODY}x sk-ant-{BODY}\"}}"),
            "{\"a\":\"<ANTHROPIC_API_KEY> <ANTHROPIC_API_KEY#2> <ANTHROPIC_API_KEY>\"}",
        ),
        (
            format!(r#"{{"password":"{github}","value":"{WORD}","name":"X-Api-Key"}}"#),
            r#"{"password":"<REDACTED:github-token#1>","value":"<REDACTED:api-key#1>","name":"X-Api-Key"}"#,
        ),
    ] {
        assert_eq!(String::from_utf8(redacted(&text)).unwrap(), expected);
    }
}

#[test]
fn places_hold_secrets_and_lose_nothing_else() {
    let rows = [
        r#"{"text":"curl -s -u admin:{} https://x.example/a"}"#,
        r#"{"text":"curl --user 'admin:{}' https://x.example/a"}"#,
        r#"{"dial":"root:{}@tcp(127.0.0.1:3306)/db?parseTime=true"}"#,
        r#"{"text":"machine api.example login bob password {}"}"#,
        r#"{"text":"machine api.example\n  login bob\n  password {}\n"}"#,
        r#"{"text":"db.example:5432:prod:bob:{}"}"#,
        r#"{"url":"http://127.0.0.1:9/callback?code={}&state=abcabcabc"}"#,
        r#"{"env":[{"name":"API_KEY","value":"{}"},{"name":"PATH","value":"/bin"}]}"#,
        r#"{"pat":"{}"}"#,
        r#"{"storageKey":"{}"}"#,
        r#"{"mnemonic":"{}"}"#,
        r#"{"securityAnswer":"{}"}"#,
    ];
    check(rows.map(|template| (template.to_owned(), WORD.to_owned())));
    // Passwords as they are.
    for word in [
        "Zq7=ab/c", "Zq7'(ab)", "$Zq7ab!x", "*Zq7ab*x", "{Zq7ab,x", "Zq7:ab%x",
    ] {
        let rows = [
            r#"{"text":"curl -u \"admin:{}\" https://x.example/a"}"#,
            r#"{"dial":"root:{}@tcp(127.0.0.1:3306)/db"}"#,
            r#"{"text":"DSN=root:{}@tcp(127.0.0.1:3306)/db"}"#,
        ];
        check(rows.map(|template| (template.to_owned(), word.to_owned())));
    }
    for word in [r"Zq7\\:ab", r"$Zq7ab!x", "*Zq7ab*x", "Zq7=ab"] {
        let rows = [
            r#"{"text":"db.example:5432:prod:bob:{}"}"#,
            r#"{"text":"db.example:5432:prod:bob:{}\nother:5432:a"}"#,
            r#"{"text":"machine api.example login bob password {}"}"#,
        ];
        check(rows.map(|template| (template.to_owned(), word.to_owned())));
    }
    // JSON in base64, with a member that is secret by its name.
    let hidden = ["eyJwYXNzd29yZCI6IkNhbmFyeTda", "cSIsInVzZXIiOiJib2IifQ=="].concat();
    check([(r#"{"blob":"{}"}"#.to_owned(), hidden)]);
    for hidden in [
        ["ewogICJwYXNzd29yZCI6", "ICJDYW5hcnk3WnEifQ=="],
        ["eyAiYXBpS2V5IjogIkNh", "bmFyeTdacSJ9"],
    ] {
        check([(r#"{"blob":"{}"}"#.to_owned(), hidden.concat())]);
    }
    // A token with five parts.
    let parts = [
        "eyJhbGciOiJkaXIiLCJlbmMiOiJB",
        "MTI4R0NNIn0..48V1_ALb6US04U3b.5eym8TW_c8.XFBoMYUZ",
    ];
    check([(r#"{"text":"see {} there"}"#.to_owned(), parts.concat())]);
}
