//! Collectors behind TLS.

use super::{Collector, LIMIT, RecorderFolder, calls, sorted};
use crate::support::Session;
use crate::support::http::tls::Certificates;

/// A session of five calls, with variables; the text on standard error is nothing.
fn session(place: &RecorderFolder, url: &str, variables: &[(&str, &str)]) {
    let mut command = place.recorder(url, &[]);
    command.envs(variables.iter().copied());
    let mut session = Session::start(command);
    calls(&mut session, 5);
    let errors = session.child.stderr.take().unwrap();
    assert!(session.finish(LIMIT).success());
    assert_eq!(std::io::read_to_string(errors).unwrap(), "");
}

#[test]
fn a_collector_with_a_certificate_of_a_private_authority_is_trusted_by_its_variable_and_by_nothing_else()
 {
    let (certificates, strange) = (Certificates::new(), Certificates::new());
    let (own, other) = (certificates.path("ca.pem"), strange.path("ca.pem"));
    for (name, authority, arrives) in [
        ("OTEL_EXPORTER_OTLP_CERTIFICATE", &own, true),
        ("OTEL_EXPORTER_OTLP_TRACES_CERTIFICATE", &own, true),
        ("OTEL_EXPORTER_OTLP_CERTIFICATE", &other, false),
        ("OTEL_EXPORTER_OTLP_CERTIFICATE", &String::new(), false),
    ] {
        // With no HTTP version negotiated, or with one.
        for protocols in [&[][..], &["http/1.1"]] {
            let collector = Collector::behind_tls(certificates.server_config(protocols));
            let place = RecorderFolder::new();
            let port = collector.server.address().port();
            session(
                &place,
                &format!("https://localhost:{port}"),
                &[(name, authority)],
            );
            let spans = collector.spans();
            let made = place.exported(&[]);
            let (sent, lost) = place.told();
            assert_eq!(sent + lost, made.len() as u64);
            if arrives {
                assert_eq!((sorted(spans), lost), (sorted(made), 0));
            } else {
                assert_eq!((spans.len(), sent), (0, 0), "{name} {authority}");
                assert_eq!(place.logged("spans_lost")[0]["why"], "unreachable");
            }
        }
    }
}

#[test]
fn a_certificate_of_another_host_is_none() {
    let certificates = Certificates::of(&["collector.example"], (2020, 2040));
    let collector = Collector::behind_tls(certificates.server_config(&["http/1.1"]));
    let place = RecorderFolder::new();
    let port = collector.server.address().port();
    let authority = certificates.path("ca.pem");
    let variable = ("OTEL_EXPORTER_OTLP_CERTIFICATE", authority.as_str());
    session(&place, &format!("https://localhost:{port}"), &[variable]);
    assert_eq!(collector.spans().len(), 0);
    assert_eq!(place.told().0, 0);
}
