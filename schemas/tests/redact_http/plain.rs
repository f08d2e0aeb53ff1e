//! Text that only looks like a secret is kept.

use tapewright_schemas::redact::Settings;

use super::tape::Tape;

#[rustfmt::skip]
const PLAIN_FIELDS: &[(&str, &str)] = &[
    ("Content-Type", "application/json; charset=utf-8"), ("Accept", "application/json, text/event-stream"),
    ("Last-Event-ID", "stream-1_0042"), ("Mcp-Protocol-Version", "2025-11-25"), ("Mcp-Method", "tools/call"),
    ("Mcp-Name", "get_token_count"), ("Mcp-Param-Region", "eu-west-1"), ("User-Agent", "node/22.1 (undici)"),
    ("WWW-Authenticate", "Bearer resource_metadata=\"https://x.example/.well-known/oauth-protected-resource/mcp\", scope=\"mcp:read mcp:write\", error=\"insufficient_scope\""),
    ("WWW-Authenticate", "Bearer realm=\"mcp\", error=\"invalid_token\", error_description=\"The access token expired\""),
    ("WWW-Authenticate", "Bearer error=\"invalid_token\", error_description=\"no signing key NjVBRjY5MDlCMUIwNzU4RTA2QzZFMDQ4QzQ2MDAy was found\""),
    ("Traceparent", "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"), ("ETag", "\"33a64df551425fcc55e4d42a148795d9f25f89d4\""),
    ("X-Request-Id", "550e8400-e29b-41d4-a716-446655440000"), ("Location", "https://x.example/mcp?state=open&code=US&page=2"),
    ("Location", "/authorize?x=1"), ("Retry-After", "120"), ("Cache-Control", "no-cache, no-transform"), ("Host", "127.0.0.1:8080"),
    ("X-RateLimit-Remaining", "4999"), ("Access-Control-Expose-Headers", "Mcp-Session-Id, WWW-Authenticate"), ("Idempotency-Key", "order-12-b"),
    ("Access-Control-Allow-Headers", "authorization, content-type, mcp-session-id"), ("Origin", "http://localhost:6274"), ("Vary", "Cookie"),
    ("Link", "<https://x.example/items?page=2&per_page=50>; rel=\"next\""), ("X-Token-Count", "12"), ("Server", "uvicorn"),
];

#[test]
fn what_is_no_secret_stays() {
    let mut tape = Tape::new(&Settings::default());
    for (name, value) in PLAIN_FIELDS {
        let line = tape.response(&[(name, value)]);
        let expected = serde_json::to_string(&[name, value]).unwrap();
        assert!(line.contains(&expected), "{expected}\n{line}");
    }
    for target in [
        "/mcp",
        "/mcp?state=open&code=US",
        "/search?q=token&page=2#top",
        "/.well-known/oauth-protected-resource/mcp",
        "/items/550e8400-e29b-41d4-a716-446655440000?key=a&sort_key=b",
        "*",
        "example.com:443",
        "http://example.com/a?b=c",
        "/x?cursor=eyJvIjoxfQ&limit=10&password_hint=pet",
        "/register?client_id=abc",
        "/cb?error=invalid_token&error_description=the+client+id+7f3K9xQ2mZ8pL4vN1cR6+is+not+known",
        "/x?a&b=&=c",
        "?",
        "",
    ] {
        let line = tape.request(target, &[]);
        assert!(
            line.contains(&serde_json::to_string(target).unwrap()),
            "{line}"
        );
    }
    for body in [
        "a=b&c=d",
        "Accepted",
        "code=US&state=open",
        "Is it open? code=yes & state=no",
        "grant_type=client_credentials&client_id=app&scope=mcp%3Aread&resource=https%3A%2F%2Fx.example%2Fmcp",
        "<input name=\"q\" value=\"shoes\">",
        "session terminated",
    ] {
        let line = tape.body(body);
        assert!(
            line.contains(&serde_json::to_string(body).unwrap()),
            "{line}"
        );
    }
    let metadata = r#"{"resource":"https://x.example/mcp","authorization_servers":["https://as.example"],"bearer_methods_supported":["header"],"scopes_supported":["mcp"]}"#;
    let server = r#"{"issuer":"https://as.example","token_endpoint":"https://as.example/token","code_challenge_methods_supported":["S256"],"grant_types_supported":["authorization_code"]}"#;
    for body in [metadata, server] {
        assert!(tape.body(body).contains(body));
    }
    let cookie = tape.response(&[(
        "Set-Cookie",
        "sid=x1; Path=/mcp; Domain=x.example; Max-Age=10; HttpOnly; Secure; SameSite=Lax",
    )]);
    assert!(cookie.contains("sid=<REDACTED:cookie#1>; Path=/mcp; Domain=x.example; Max-Age=10; HttpOnly; Secure; SameSite=Lax"), "{cookie}");
    let cookie = tape.request("/", &[("Cookie", "sid=x1; theme=dark9")]);
    assert!(
        cookie.contains("sid=<REDACTED:cookie#1>; theme=<REDACTED:cookie#2>"),
        "{cookie}"
    );
    let scheme = tape.request("/", &[("Authorization", "Bearer x1y2")]);
    assert!(
        scheme.contains("Bearer <REDACTED:bearer-token#1>"),
        "{scheme}"
    );
}
