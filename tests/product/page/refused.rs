//! Requests that get nothing from a page.

use super::{Page, Recorded};

/// Paths with data about a recording.
const KNOWLEDGE: [&str; 6] = [
    "/api/head",
    "/api/rows",
    "/api/state",
    "/api/events",
    "/api/faults",
    "/api/exchange/-/1",
];

fn status(page: &Page, method: &str, path: &str, fields: &[(&str, &str)]) -> u16 {
    let fields: Vec<(&str, String)> = fields
        .iter()
        .map(|(name, value)| (*name, (*value).to_owned()))
        .collect();
    let answer = page.ask(method, path, &fields, "{\"enabled\":false}");
    if answer.status >= 400 {
        assert!(!answer.body.contains("search"), "{}", answer.body);
        assert!(!answer.body.contains(&page.token), "{}", answer.body);
    }
    answer.status
}

#[test]
fn without_the_token_of_the_run_nothing_is_told() {
    let mut recorded = Recorded::start(&["--page-bodies"]);
    recorded.call(1, "search");
    let page = &recorded.page;
    let longer = format!("Bearer {}0", page.token);
    let shorter = format!("Bearer {}", &page.token[1..]);
    let (_, right) = page.bearer();
    for path in KNOWLEDGE {
        assert_eq!(status(page, "GET", path, &[]), 401, "{path}");
        for wrong in ["Bearer", "Bearer ", "Basic Og==", &longer, &shorter] {
            let fields = [("authorization", wrong)];
            assert_eq!(status(page, "GET", path, &fields), 401, "{path} {wrong}");
        }
        // Nowhere else does it count.
        let cookie = [("cookie", &*format!("token={}", page.token))];
        assert_eq!(status(page, "GET", path, &cookie), 401, "{path}");
        let query = format!("{path}?token={}", page.token);
        assert_eq!(status(page, "GET", &query, &[]), 401, "{path}");
    }
    let write = [("sec-fetch-site", "same-origin")];
    assert_eq!(status(page, "PUT", "/api/faults/x", &write), 401);
    let write = [write[0], ("authorization", &*right)];
    assert_eq!(status(page, "PUT", "/api/faults/x", &write), 404);
}

#[test]
fn a_name_that_was_made_to_point_here_is_not_ours() {
    let mut recorded = Recorded::start(&["--page-host", "dev.example"]);
    recorded.call(1, "search");
    let page = &recorded.page;
    let (_, right) = page.bearer();
    let port = page.address.rsplit_once(':').unwrap().1;
    for path in KNOWLEDGE
        .iter()
        .chain(&["/", "/live.js"])
        .filter(|path| **path != "/api/events")
    {
        let with = |host: &str| {
            status(
                page,
                "GET",
                path,
                &[("host", host), ("authorization", &right)],
            )
        };
        for foreign in [
            "evil.example",
            &format!("evil.example:{port}"),
            "localhost",
            "127.0.0.1:1",
            "",
        ] {
            assert_eq!(with(foreign), 403, "{path} {foreign}");
        }
        for ours in ["dev.example", &format!("localhost:{port}"), &page.address] {
            assert_ne!(with(ours), 401, "{path} {ours}");
            // Bodies are withheld.
            let wanted = if path.contains("exchange") { 403 } else { 200 };
            assert_eq!(with(ours), wanted, "{path} {ours}");
        }
    }
}

#[test]
fn pages_of_other_sites_get_nothing_and_change_nothing() {
    let mut recorded = Recorded::start(&["--fault", "hang tool=nobody"]);
    recorded.call(1, "search");
    let page = &recorded.page;
    let (_, right) = page.bearer();
    let own = format!("http://{}", page.address);
    let token = ("authorization", &*right);
    for path in ["/api/rows", "/api/state", "/api/head"] {
        let with =
            |name: &'static str, value: &str| status(page, "GET", path, &[token, (name, value)]);
        for origin in [
            "http://evil.example",
            "null",
            "http://localhost:1",
            "https://localhost",
        ] {
            assert_eq!(with("origin", origin), 403, "{path} {origin}");
        }
        assert_eq!(with("origin", &own), 200);
        for site in ["cross-site", "same-site", "other"] {
            assert_eq!(with("sec-fetch-site", site), 403, "{path} {site}");
        }
        assert_eq!(with("sec-fetch-site", "same-origin"), 200);
    }
    let name = page.get("/api/faults")["faults"][0]["name"]
        .as_str()
        .unwrap()
        .to_owned();
    let fault = format!("/api/faults/{name}");
    for fields in [
        &[token][..],
        &[token, ("sec-fetch-site", "none")],
        &[token, ("sec-fetch-site", "same-site")],
        &[token, ("sec-fetch-site", "cross-site")],
        &[
            token,
            ("sec-fetch-site", "same-origin"),
            ("origin", "http://evil.example"),
        ],
    ] {
        assert_eq!(status(page, "PUT", &fault, fields), 403, "{fields:?}");
        assert_eq!(page.get("/api/faults")["faults"][0]["enabled"], true);
    }
    // The files can be opened by a link from anywhere, but not be loaded by other pages.
    let link = [
        ("sec-fetch-site", "cross-site"),
        ("sec-fetch-mode", "navigate"),
        ("sec-fetch-dest", "document"),
    ];
    assert_eq!(status(page, "GET", "/", &link), 200);
    let frame = [link[0], link[1], ("sec-fetch-dest", "iframe")];
    assert_eq!(status(page, "GET", "/", &frame), 403);
    let script = [
        link[0],
        ("sec-fetch-mode", "no-cors"),
        ("sec-fetch-dest", "script"),
    ];
    assert_eq!(status(page, "GET", "/live.js", &script), 403);
}

#[test]
fn every_answer_says_what_a_browser_may_do_with_it() {
    let recorded = Recorded::start(&[]);
    let page = &recorded.page;
    let with_token = [page.bearer()];
    for (path, cached) in [
        ("/", "no-cache"),
        ("/live.js", "no-cache"),
        ("/api/head", "no-store"),
        ("/nothing", "no-store"),
    ] {
        let answer = page.ask("GET", path, &with_token, "");
        for wanted in [
            "content-security-policy: default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self' data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'; require-trusted-types-for 'script'",
            "x-content-type-options: nosniff",
            "referrer-policy: no-referrer",
            "cross-origin-resource-policy: same-origin",
            &format!("cache-control: {cached}"),
        ] {
            assert!(
                answer.head.contains(wanted),
                "{path} has no {wanted}: {}",
                answer.head
            );
        }
        assert!(!answer.head.contains("access-control"), "{}", answer.head);
        assert!(!answer.head.contains("set-cookie"), "{}", answer.head);
    }
    let first = page.ask("GET", "/live.js", &[], "");
    let tag = first
        .head
        .split("etag: ")
        .nth(1)
        .unwrap()
        .lines()
        .next()
        .unwrap();
    let again = page.ask("GET", "/live.js", &[("if-none-match", tag.to_owned())], "");
    assert_eq!((again.status, again.body.as_str()), (304, ""));
    for (method, path) in [
        ("POST", "/"),
        ("DELETE", "/api/faults/x"),
        ("POST", "/api/rows"),
    ] {
        let fields = [page.bearer(), ("sec-fetch-site", "same-origin".to_owned())];
        let status = page.ask(method, path, &fields, "").status;
        assert!([404, 405].contains(&status), "{method} {path}: {status}");
    }
}
