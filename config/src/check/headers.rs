//! Headers are only checked on transports that have them.

use super::Check;
use crate::issue::Code;
use crate::source::SourceSpot;
use crate::suite::expect::Expect;
use crate::suite::server::Target;

pub(super) fn check(check: &Check<'_>) {
    let suite = check.suite;
    for test in &suite.tools {
        one(check, &test.expect, &test.server, &test.place);
    }
    for test in &suite.resources {
        one(check, &test.expect, &test.server, &test.place);
    }
    for test in &suite.prompts {
        one(check, &test.expect, &test.server, &test.place);
    }
}

fn one(check: &Check<'_>, expect: &Expect, server: &str, place: &SourceSpot) {
    if expect.response_headers.is_empty() && expect.response_headers_absent.is_empty() {
        return;
    }
    let is_url = |target: &Target| matches!(target, Target::Url(_));
    if check
        .suite
        .server(server)
        .is_some_and(|server| !is_url(&server.target))
    {
        let message = format!("answers of `{server}` have no headers: it is not reached over HTTP");
        let help = "check headers on a server with `url`".to_owned();
        check.warn(place, "/expect", Code::Unused, message, help);
    }
}
