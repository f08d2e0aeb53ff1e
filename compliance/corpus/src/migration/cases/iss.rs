//! Authorization responses without their issuer.

use tapewright_schemas::event::{RequestHead, ResponseHead, Side};
use tapewright_schemas::json;

use super::super::case::{Case, Kind, Severity};
use super::super::fold::{Fold, HttpSeen, Out};
use super::credentials::is_parameter;

pub(super) static ISS: Case = Case {
    id: "iss-missing",
    kind: Kind::AuthHardening,
    severity: Severity::High,
    spec_version: super::TARGET,
    summary: "the authorization response does not name its issuer",
    old_contract: "an authorization response carries `code` and `state`",
    new_contract: "authorization servers name themselves by `iss` (RFC 9207), and clients compare it",
    detection_signal: "a redirect with `code` and without `iss`, or metadata without `authorization_response_iss_parameter_supported`",
    replacement: "let the authorization server send `iss`, and say so in its metadata; compare it in the client with the issuer of the request",
    doc_link: "https://modelcontextprotocol.io/specification/2026-07-28/basic/authorization",
    sep: "SEP-2468",
    begin: || Box::<Iss>::default(),
};

#[derive(Debug, Default)]
struct Iss;

impl Fold for Iss {
    fn response(&mut self, seen: &HttpSeen<'_>, head: &ResponseHead, out: &mut Out) {
        if (300..400).contains(&head.status)
            && let Some(location) = head.fields.get("location")
        {
            redirected(location, seen.seq, "Location", out);
        }
    }

    fn request(&mut self, seen: &HttpSeen<'_>, head: &RequestHead, out: &mut Out) {
        // The redirect as it comes back to a client. A token request has its `code` in the body.
        redirected(&head.target, seen.seq, "target", out);
    }

    fn body(&mut self, seen: &HttpSeen<'_>, body: &[u8], out: &mut Out) {
        let path = seen.asked.map_or("", |asked| asked.path.as_str());
        let metadata = [
            "/.well-known/oauth-authorization-server",
            "/.well-known/openid-configuration",
        ];
        let is_metadata = metadata.iter().any(|known| path.contains(known));
        if !is_metadata || json::find(body, &["issuer"]).is_none() {
            return;
        }
        let says = json::find(body, &["authorization_response_iss_parameter_supported"]);
        let pointer = "/authorization_response_iss_parameter_supported";
        if says == Some(b"true") {
            out.pass(
                Side::Server,
                seen.seq,
                pointer,
                "the authorization server says that it sends `iss`",
            );
        } else {
            out.fail(
                Side::Server,
                seen.seq,
                pointer,
                "the authorization server does not say that it sends `iss`",
            );
        }
    }

    fn undecided(&self) -> String {
        "no authorization response crossed, and no metadata of an authorization server".to_owned()
    }
}

fn redirected(target: &str, seq: u64, pointer: &str, out: &mut Out) {
    let Some((_, query)) = target.split_once('?') else {
        return;
    };
    if !is_parameter(query, "code") || !is_parameter(query, "state") {
        return;
    }
    if is_parameter(query, "iss") {
        out.pass(
            Side::Server,
            seq,
            pointer,
            "the authorization response names its issuer",
        );
    } else {
        out.fail(
            Side::Server,
            seq,
            pointer,
            "an authorization response has no `iss`",
        );
    }
}
