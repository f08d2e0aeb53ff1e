//! Dynamic registration that does not state the type of the application.

use tapewright_schemas::event::{Direction, Side};
use tapewright_schemas::json;

use super::super::case::{Case, Kind, Severity};
use super::super::fold::{Fold, HttpSeen, Out};

pub(super) static APPLICATION_TYPE: Case = Case {
    id: "dcr-application-type",
    kind: Kind::AuthHardening,
    severity: Severity::Medium,
    spec_version: super::TARGET,
    summary: "the client registers without `application_type`",
    old_contract: "a client registers with its redirect URIs",
    new_contract: "a client says by `application_type` whether it is native or on the web; registration itself is deprecated",
    detection_signal: "a registration request without `application_type`",
    replacement: "send `application_type` \"native\" for redirects to the loopback or an own scheme, else \"web\"; better, use a client id metadata document",
    doc_link: "https://modelcontextprotocol.io/specification/2026-07-28/basic/authorization",
    sep: "SEP-837",
    begin: || Box::<ApplicationType>::default(),
};

#[derive(Debug, Default)]
struct ApplicationType;

impl Fold for ApplicationType {
    fn body(&mut self, seen: &HttpSeen<'_>, body: &[u8], out: &mut Out) {
        let posted = seen.asked.is_some_and(|asked| asked.method == "POST");
        if seen.dir != Direction::ToServer
            || !posted
            || json::find(body, &["redirect_uris"]).is_none()
        {
            return;
        }
        let pointer = "/application_type";
        if json::find(body, &["application_type"]).is_some() {
            out.pass(
                Side::Client,
                seen.seq,
                pointer,
                "the client says its `application_type`",
            );
        } else {
            out.fail(
                Side::Client,
                seen.seq,
                pointer,
                "the client registers without `application_type`",
            );
        }
    }

    fn undecided(&self) -> String {
        "no client registered".to_owned()
    }
}
