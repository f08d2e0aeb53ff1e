//! Data that looks like a secret: it must be preserved byte by byte.

use std::sync::Arc;

use tapewright_schemas::redact::{Redactor, Rules, Settings};

/// Redacts as JSON when it is JSON, as free text otherwise.
fn redacted(text: &str) -> Vec<u8> {
    let mut redactor = Redactor::new(Arc::new(
        Rules::new(&Settings::default()).expect("the rules are valid"),
    ));
    match redactor.json(text.as_bytes()) {
        Ok(text) => text.into_owned(),
        Err(_) => redactor.text(text.as_bytes()).into_owned(),
    }
}

#[test]
fn data_comes_out_as_it_went_in() {
    let base64 = "iVBORw0KGgoAAAANSUhEUgAAAAUA/+AAFCAYAAACNbyblAAAAHElEQVQI12P4".repeat(40);
    let mut damaged = Vec::new();
    for text in DATA {
        let out = String::from_utf8_lossy(&redacted(text)).into_owned();
        if out != *text {
            damaged.push(format!("{text}\n -> {out}"));
        }
    }
    assert!(
        damaged.is_empty(),
        "{} damaged:\n{}",
        damaged.len(),
        damaged.join("\n")
    );
    for text in [
        format!("{{\"type\":\"image\",\"data\":\"{base64}\",\"mimeType\":\"image/png\"}}"),
        format!("{{\"blob\":\"{}\"}}", base64.replace(['+', '/'], "-")),
        format!("{{\"msg\":\"{}\"}}", "y".repeat(5_000)),
    ] {
        assert_eq!(String::from_utf8(redacted(&text)).unwrap(), text);
    }
}

#[rustfmt::skip]
const DATA: &[&str] = &[
    r#"{"path":"a","pattern":"b","patch":"c","patVersion":1,"dsnName":"x","cvvRequired":true,"mnemonicLength":12,"spatial":"d"}"#,
    r#"{"text":"curl -u $USER:$PASSWORD https://x.example; curl -u <user>:<password> x; docker -u 1000:1000 run; ps -u root"}"#,
    r#"{"text":"the machine learning login page; machine x login bob; machine says password hello"}"#,
    r#"{"text":"root:$DB_PASSWORD@tcp(db:3306)/app; user:password@tcp(localhost:3306)/test; mail bob@tcp(x)"}"#,
    r#"{"text":"postgres listens on db:5432: see docs; 10.0.0.1:5432:5432; -p 5432:5432; localhost:5432:app:bob"}"#,
    r#"{"url":"https://shop.example/?code=SUMMER26&page=2","doc":"https://x.example/errors?code=404"}"#,
    r#"{"cursor":"eyJvZmZzZXQiOjEwMCwibGltaXQiOjEwLCJ0b2tlbl9jb3VudCI6NX0=","b":"eyJ0eXBlIjoicGFzc3dvcmQifQ=="}"#,
    r#"{"text":"Bot MTk4 says hi; SSWS authentication; A3-PAPER; 1/12/2026; 2/10: see"}"#,
    r#"{"name":"tokenizer","max_tokens":512,"tokens":[1,2],"token_count":"7","token_type":"bearer"}"#,
    r#"{"primary_key":"id","sort_key":"a","key":"value","public_key":"abc","keyboard":"qwerty"}"#,
    r#"{"_meta":{"progressToken":"abc-123"},"nextPageToken":"CAUQAA","pageToken":"x","nextToken":"y"}"#,
    r#"{"continuationToken":"a","syncToken":"b","cancellationToken":"c","nextCursor":"eyJvIjoxfQ"}"#,
    r#"{"cursor":"eyJvZmZzZXQiOjEwMCwibGltaXQiOjEwfQ=="}"#,
    r#"{"cursor":"eyJvZmZzZXQiOjEwMH0.eyJsaW1pdCI6MTB9"}"#,
    r#"{"secretary":"Bob","author":"Ann","authority":"x","monkey":"y","password_policy":"strict","password_length":12}"#,
    r#"{"passwordMin":8,"password_url":"https://x.example/reset","password_hint":"pet","tokenUrl":"https://x.example/t"}"#,
    r#"{"token_endpoint":"https://x.example/token","authorization_endpoint":"https://x.example/a","cookie_policy":"none"}"#,
    r#"{"tools":[{"name":"login","inputSchema":{"type":"object","properties":{"password":{"type":"string"},"token":{"description":"t","minLength":8},"api_key":{"anyOf":[{"type":"string"},{"type":"null"}]}},"required":["password"]}}]}"#,
    r##"{"patternProperties":{"secret":{"$ref":"#/$defs/secret"}},"$defs":{"secret":{"type":"object","properties":{"kind":{"const":"none"}}}}}"##,
    r#"{"definitions":{"credentials":{"title":"Credentials","type":"object"}},"properties":{"password":true}}"#,
    r#"{"password":null,"token":"","secrets":[],"credentials":{}}"#,
    r#"{"sha":"da39a3ee5e6b4b0d3255bfef95601890afd80709","md5":"d41d8cd98f00b204e9800998ecf8427e"}"#,
    r#"{"sha256":"e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"}"#,
    r#"{"digest":"sha256:e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"}"#,
    r#"{"integrity":"sha512-z4PhNX7vuL3xVChQ1m2AB9Yg5AULVxXcg/SpIdNs6c5H0NE8XYXysP+DGNKHfuwvY7kxvUdBeoGlODJ6+SfaPg=="}"#,
    r#"{"id":"123e4567-e89b-12d3-a456-426614174000","mail":"a.b+c@example.com","n":-1.5e10,"big":12345678901234567890}"#,
    r#"{"when":"2026-01-02T03:04:05.678Z","path":"/usr/lib/x86_64-linux-gnu/libc.so.6","win":"C:\\new\\table"}"#,
    r#"{"model":"claude-sonnet-4-5-20250929","other":"gpt-4o-mini-2024-07-18","uri":"file:///home/u/a%20b.txt"}"#,
    r#"{"camel":"thisIsAVeryLongCamelCaseIdentifierWithTwoDigits42","snake":"a_very_long_snake_case_name_for_a_thing"}"#,
    r#"{"class":"sk-top-container-id-1 sk-learn risk-averse task-force desk-lamp","x":"ask-me-anything-about-it-2024"}"#,
    r#"{"js":"function(e,t){return e.token=t.token,e.key?n(e):{a:1}};var r=a=>b?c:d"}"#,
    r#"{"text":"the password: must be 8 characters long"}"#,
    r#"{"text":"token: string\npassword: required\nsecret: true\nsecret: null\ntoken type: bearer"}"#,
    r#"{"text":"def login(user: str, password: str, token: Optional[str] = None) -> None:"}"#,
    r#"{"text":"interface A { token?: string; password: string | undefined; apiKey: SecretStr }"}"#,
    r#"{"text":"self.token = token; password = getpass(); api_key=os.getenv(\"X\"); key = cache_key"}"#,
    r#"{"text":"const token = await client.getToken({ audience });"}"#,
    r#"{"text":"use token::Token; let s = Secret::new(); token == other"}"#,
    r#"{"text":"use --password to set it, or --token-file path, or --max-tokens 5"}"#,
    r#"{"text":"Authorization: Bearer <token>\nX-Api-Key: ${API_KEY}\npassword={{password}}\ntoken: $TOKEN"}"#,
    r#"{"text":"Bearer authentication is basic; Basic authentication is not; bearer tokens expire"}"#,
    r#"{"text":"SyntaxError: Unexpected token: foo at 1:2; next page token: abc1234"}"#,
    r#"{"text":"see https://example.com:8080/@user/a:b?x=1&key=abc#frag and mailto:a@b.example"}"#,
    r#"{"text":"git@github.com:owner/repo.git ssh://git@host/x http://localhost:3000/@vite/client"}"#,
    r#"{"text":"-----BEGIN CERTIFICATE-----\nMIIDdzCCAl+gAwIBAgIEAgAAuTAN\n-----END CERTIFICATE-----"}"#,
    r#"{"text":"-----BEGIN PUBLIC KEY-----\nMFkwEwYHKoZIzj0CAQYI\n-----END PUBLIC KEY-----"}"#,
    r#"{"text":"ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIJ1 user@host"}"#,
    r#"{"text":"hf_hub_download and npm_config_registry and glsa_dashboard and r8_snorm"}"#,
    r#"{"text":"the key-value store; en-us1; 12:AA:BB:CC:DD:EE:FF; SG.Config.Default; dp.pt.width"}"#,
    r#"{"argument":{"name":"city","value":"Paris"},"headers":[{"name":"Accept","value":"text/html"}]}"#,
    r#"{"prompts":[{"name":"x","arguments":[{"name":"api_key","description":"the key","required":true}]}]}"#,
    r#"{"params":{"name":"get_secret","arguments":{"id":"a"}}}"#,
    r#"{"env":["PATH=/usr/bin","LANG=C.UTF-8","KEY=abc"],"args":["--verbose","x","--tokenizer","bpe"]}"#,
    r#"{"auth":"oauth2","authentication":"basic","signature":"fn add(a: u8, b: u8) -> u8","pin":13,"session":"abc"}"#,
    r#"{"usage":{"prompt_tokens":12,"completion_tokens":34,"total_tokens":46,"access_tokens":3}}"#,
    r#"{"has_password":true,"requires_token":false,"showPassword":"yes","is_secret":true}"#,
    r#"{"PWD":"/home/me/project","OLDPWD":"/home/me","pwd":"C:\\Users\\me"}"#,
    "PWD=/home/me/project OLDPWD=/home/me",
    r#"{"a":"<REDACTED:token#4>","password":"[REDACTED:hint=password]","token":"<ANTHROPIC_API_KEY>","pwd":"********"}"#,
    r#"{"Authorization":"Bearer <REDACTED:jwt#1>","cookie":"a=<REDACTED:cookie#1>; b=<REDACTED:cookie#2>; Path=/"}"#,
    r#" { "a" : [ 1 , 2.50 , { "a" : "\u00e9\/" , "a" : null } ] } "#,
    "plain noise without anything",
    "Listening on http://127.0.0.1:3000/mcp (session: none)",
    "warning: unused variable: `token` at src/main.rs:10:5",
    "error[E0308]: expected `&str`, found `String`: password.rs",
    "npm WARN deprecated tokenizer@1.0.0: use other",
    "commit da39a3ee5e6b4b0d3255bfef95601890afd80709 (HEAD -> main)",
    "{\"truncated\": \"json\", \"number\": 12",
    "{\"properties\":{\"password\":{\"type\":\"string\",\"description\":\"the password\"",
    "2026-01-02 03:04:05,678 - INFO - tokens=512 max_tokens: 1024 cache-key=abc",
    "Password must be at least 8 characters. Token is required.",
    "password: ",
    "token=",
    "secret:\n",
    ":",
    "=",
    "--",
    "://",
    "a://:@",
    "",
    "the secret: it never ends",
    "cookie: yummy treats are here",
    "author: Jane Doe, authority: none, tokenizer: bpe",
    "https://example.com/oauth?response_type=code&client_id=abc&state=xyz&grant_type=authorization_code",
    "x-ratelimit-remaining-tokens: 5000",
    "content-type: application/json; charset=utf-8",
    "postgres://localhost:5432/db",
    "postgres://user@host/db",
    "postgres://user:${PGPASSWORD}@host/db",
    "password=<your-password> token=<YOUR_TOKEN> secret=%s api_key={api_key} pwd=****",
    // Programs.
    "PASSWORD_HASHERS = [\n    'django.contrib.auth.hashers.PBKDF2PasswordHasher',\n]",
    "AUTH_PASSWORD_VALIDATORS = [{'NAME': 'django.contrib.auth.password_validation.MinimumLengthValidator'}]",
    "fetch(url, { method: 'POST', credentials: 'include', headers })",
    "credentials: 'same-origin', credentials: \"omit\", withCredentials: true",
    r#"{"text":"fetch(url, { credentials: 'include' })","code":"fetch(url, { credentials: \"include\" })"}"#,
    "sessionId = uuid4()\nsession_id = uuid.uuid4()\nsessionId: crypto.randomUUID()",
    "token = secrets.token_hex(16)\napi_key = generate_key()\nsecret = rand()",
    "sed 's/password=.*//' config && sed -E 's/token=[^ ]+/token=/' file",
    r#"{"command":"sed -i 's/password=.*//g' .env","args":["-e","s/api_key=[a-z]*//"]}"#,
    "grep -n 'password=' . ; if (password === '') return; password.length < 8",
    "const password = req.body.password; let token = ctx.request.token;",
    "password = input('Password: ')\npassword = getpass.getpass()\nDB_PASSWORD = env('DB_PASSWORD')",
    "docker run -e PASSWORD=\"$PASSWORD\" -e 'API_KEY=${API_KEY}' x",
    "apiKey: \"{{ api_key }}\"\ntoken: '${{ secrets.NPM_TOKEN }}'\npassword: \"%DB_PASSWORD%\"",
    r#"{"env":{"API_KEY":"${input:api_key}","GITHUB_TOKEN":"$GITHUB_TOKEN"},"headers":{"Authorization":"Bearer ${TOKEN}"}}"#,
    "password: !Ref DbPassword\nsecret: !secret api_password\ntoken: !vault",
    // Documentation.
    "export API_KEY=\"<your api key>\"\napi_key = \"xxx\"\ntoken = \"...\"",
    "Authorization: Bearer YOUR_TOKEN_HERE",
    "curl -H 'Authorization: Bearer YOUR_API_TOKEN' -H 'X-Api-Key: YOUR_API_KEY' https://x.example",
    r#"{"headers":{"Authorization":"Bearer YOUR_TOKEN_HERE","X-Api-Key":"your-api-key-here"}}"#,
    "api_key=YOUR_API_KEY token: your-token-here password=YOUR_PASSWORD secret_key = 'your-secret-key'",
    "export OPENAI_API_KEY=your_api_key_here\nGITHUB_TOKEN=your_github_token\nAPI_KEY=INSERT_KEY_HERE",
    "API_TOKEN=REPLACE_ME token=TODO",
];
