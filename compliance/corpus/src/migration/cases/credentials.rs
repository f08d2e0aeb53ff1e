//! Credentials of one authorization server that are used with another.

use std::collections::{BTreeMap, BTreeSet};

use tapewright_schemas::event::{Direction, RequestHead, Side};

use super::super::case::{Case, Kind, Severity};
use super::super::fold::{Fold, HttpSeen, Out};

pub(super) static CREDENTIALS: Case = Case {
    id: "as-credentials-not-rebound",
    kind: Kind::AuthHardening,
    severity: Severity::Medium,
    spec_version: super::TARGET,
    summary: "a client id of one authorization server is used with another",
    old_contract: "a client keeps its registration, whichever authorization server the resource names",
    new_contract: "client credentials are bound to their issuer; the client registers again with any other issuer",
    detection_signal: "the same `client_id` in requests to two authorization servers",
    replacement: "keep credentials under the issuer, and register again when the issuer changes",
    doc_link: "https://modelcontextprotocol.io/specification/2026-07-28/basic/authorization",
    sep: "SEP-2352",
    begin: || Box::<Credentials>::default(),
};

#[derive(Debug, Default)]
struct Credentials {
    // The server at which each client id was first used.
    used: BTreeMap<String, String>,
    hosts: BTreeSet<String>,
}

/// The maximum number of client ids and servers that are remembered.
const MOST: usize = 1_024;

impl Fold for Credentials {
    fn request(&mut self, seen: &HttpSeen<'_>, head: &RequestHead, out: &mut Out) {
        if let Some((_, query)) = head.target.split_once('?') {
            self.form(seen, query, "target", out);
        }
    }

    fn body(&mut self, seen: &HttpSeen<'_>, body: &[u8], out: &mut Out) {
        let kind = seen
            .asked
            .and_then(|asked| asked.fields.get("content-type"));
        let is_form =
            kind.is_some_and(|kind| kind.starts_with("application/x-www-form-urlencoded"));
        if seen.dir == Direction::ToServer
            && is_form
            && let Ok(form) = std::str::from_utf8(body)
        {
            self.form(seen, form, "client_id", out);
        }
    }

    fn end(&mut self, out: &mut Out) {
        if self.hosts.len() > 1 {
            let what = "each authorization server got its own credentials";
            out.pass(Side::Client, 0, "client_id", what);
        }
    }

    fn undecided(&self) -> String {
        match self.hosts.len() {
            0 => "no client asked an authorization server".to_owned(),
            _ => "only one authorization server was asked".to_owned(),
        }
    }
}

impl Credentials {
    fn form(&mut self, seen: &HttpSeen<'_>, form: &str, pointer: &str, out: &mut Out) {
        let mut values = form.split('&').filter_map(|pair| pair.split_once('='));
        let Some((_, id)) = values.find(|(name, _)| *name == "client_id") else {
            return;
        };
        let host = seen.asked.map_or("", |asked| asked.host.as_str());
        // The URL of a metadata document is a client id that is valid with every authorization
        // server.
        if host.is_empty() || id.is_empty() || id.starts_with("http") || self.hosts.len() >= MOST {
            return;
        }
        self.hosts.insert(host.to_owned());
        let first = match self.used.get(id) {
            Some(first) => first,
            None if self.used.len() < MOST => self
                .used
                .entry(id.to_owned())
                .or_insert_with(|| host.to_owned()),
            None => return,
        };
        if first != host {
            let what = format!("the client id of `{first}` is used with `{host}`");
            out.fail(Side::Client, seen.seq, pointer, &what);
        }
    }
}

/// Whether a query has a parameter of this name.
pub(super) fn is_parameter(query: &str, name: &str) -> bool {
    let mut names = query.split('&').filter_map(|pair| pair.split('=').next());
    names.any(|one| one == name)
}
