//! The certificate authority of `--intercept`, on the disk and on the command line.

use std::fs;
use std::path::Path;
use std::process::Output;

use rcgen::{BasicConstraints, CertificateParams, IsCa, KeyPair};
use rustls::pki_types::CertificateDer;
use rustls::pki_types::pem::PemObject as _;

use crate::support::http::tls::{client_config, connect};
use crate::support::http::{Gateway, Upstream, tunnel};
use crate::support::system::set_mode;
use crate::support::tapewright;

const INTERCEPT: [&str; 3] = ["--forward-proxy", "127.0.0.1:0", "--intercept"];

/// The result of a recording that is refused.
fn refused(folder: &Path, options: &[&str]) -> Output {
    tapewright()
        .arg("record")
        .arg("-o")
        .arg(folder.join("run.tape.jsonl"))
        .args(INTERCEPT)
        .args(options)
        .env("TAPEWRIGHT_HOME", folder.join("home"))
        .output()
        .unwrap()
}

/// A folder with a stored authority.
#[cfg(unix)]
fn kept() -> tempfile::TempDir {
    let mut gateway = Gateway::start(&INTERCEPT);
    gateway.signal("TERM");
    gateway.ended();
    fs::remove_file(gateway.tape()).unwrap();
    std::mem::replace(&mut gateway.folder, tempfile::tempdir().unwrap())
}

#[test]
fn only_tunnels_to_named_hosts_are_read_and_the_authority_vouches_for_no_others() {
    let (named, other) = (Upstream::start(), Upstream::start());
    let options = [&INTERCEPT[..], &["--intercept-host", "localhost"]].concat();
    let gateway = Gateway::start(&options);
    // Forwarded without interception: the server gets data that is not TLS.
    let mut client = tunnel(&gateway, &other.address().to_string());
    let mut server = other.accept();
    client.send("\x16 whatever");
    assert_eq!(server.text(10), "\x16 whatever");
    drop((client, server));
    // Read, with the authority for this host alone.
    let folder = gateway.folder.path().join("home/authority/only/localhost");
    let own = CertificateDer::from_pem_file(folder.join("ca.pem")).unwrap();
    let told = Path::new("only").join("localhost").join("ca.pem");
    assert!(
        gateway.errors().contains(told.to_str().unwrap()),
        "{}",
        gateway.errors()
    );
    let client = tunnel(&gateway, &format!("localhost:{}", named.address().port()));
    connect(client.into_socket(), &client_config(own, &[])).unwrap();
    assert!(!gateway.folder.path().join("home/authority/ca.pem").exists());
}

#[cfg(unix)]
#[test]
fn an_authority_that_others_may_read_or_write_is_refused_with_what_to_do() {
    let folder = kept();
    let authority = folder.path().join("home/authority");
    for (file, mode, tight) in [("", 0o750, 0o700), ("ca.key", 0o644, 0o600)] {
        let path = authority.join(file);
        set_mode(&path, mode);
        let output = refused(folder.path(), &[]);
        set_mode(&path, tight);
        let said = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(2), "{said}");
        for word in [
            "open to other users",
            &format!("{mode:04o}"),
            "remove",
            "chmod",
        ] {
            assert!(said.contains(word), "{word}: {said}");
        }
        assert!(output.stdout.is_empty(), "nobody is served");
    }
}

#[test]
fn an_authority_without_an_end_is_replaced_and_the_user_told() {
    let folder = tempfile::tempdir().unwrap();
    let authority = folder.path().join("home/authority");
    fs::create_dir_all(&authority).unwrap();
    set_mode(&authority, 0o700);
    // In the form of earlier versions.
    let key = KeyPair::generate().unwrap();
    let mut params = CertificateParams::default();
    params.is_ca = IsCa::Ca(BasicConstraints::Constrained(0));
    let old = params.self_signed(&key).unwrap();
    for (name, text) in [("ca.key", key.serialize_pem()), ("ca.pem", old.pem())] {
        fs::write(authority.join(name), text).unwrap();
        set_mode(&authority.join(name), 0o600);
    }
    let upstream = Upstream::start();
    let gateway = Gateway::start_in(folder, &INTERCEPT);
    let said = gateway.errors();
    assert!(
        said.contains("takes the place of one without an end"),
        "{said}"
    );
    assert!(said.contains("store of certificates"), "{said}");
    let port = upstream.address().port();
    let reach = |trusted: CertificateDer<'static>| {
        let client = tunnel(&gateway, &format!("localhost:{port}"));
        connect(client.into_socket(), &client_config(trusted, &["http/1.1"]))
    };
    let new = gateway.folder.path().join("home/authority/ca.pem");
    assert!(reach(old.der().clone()).is_err());
    assert!(reach(CertificateDer::from_pem_file(new).unwrap()).is_ok());
}

#[test]
fn what_is_no_host_to_intercept_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    for host in ["*.example.com", "https://example.com", ""] {
        let output = refused(folder.path(), &["--intercept-host", host]);
        let said = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(2), "{said}");
        assert!(said.contains("--intercept-host"), "{said}");
    }
    assert!(!folder.path().join("home/authority").exists());
}
