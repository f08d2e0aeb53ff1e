//! Certificates of a test authority, created for each test.

use std::io;
use std::net::TcpStream;
use std::path::PathBuf;
use std::sync::Arc;

use rcgen::{
    BasicConstraints, CertificateParams, DnType, ExtendedKeyUsagePurpose, IsCa, Issuer, KeyPair,
    KeyUsagePurpose, date_time_ymd,
};
use rustls::crypto::ring;
use rustls::pki_types::{CertificateDer, PrivateKeyDer, PrivatePkcs8KeyDer};
use rustls::server::WebPkiClientVerifier;
use rustls::{
    ClientConfig, ClientConnection, RootCertStore, ServerConfig, ServerConnection, StreamOwned,
};

use super::{PATIENCE, Upstream, Wire};

/// An authority, and one certificate that it signed.
pub(crate) struct Certificates {
    pub(crate) folder: tempfile::TempDir,
    authority: CertificateDer<'static>,
    certificate: CertificateDer<'static>,
    key: Vec<u8>,
}

impl Certificates {
    /// For this machine.
    pub(crate) fn new() -> Self {
        Self::of(&["localhost", "127.0.0.1"], (2020, 2040))
    }

    /// For these names and years of validity.
    pub(crate) fn of(names: &[&str], (from, to): (i32, i32)) -> Self {
        let key = KeyPair::generate().expect("a key");
        let mut params = CertificateParams::default();
        params
            .distinguished_name
            .push(DnType::CommonName, format!("authority {}", hex(&key)));
        params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        params.key_usages = vec![KeyUsagePurpose::KeyCertSign];
        let authority = params.self_signed(&key).expect("a certificate");
        let issuer = Issuer::new(params, key);
        let own_key = KeyPair::generate().expect("a key");
        let names: Vec<String> = names.iter().map(|name| (*name).to_owned()).collect();
        let mut params = CertificateParams::new(names).expect("names");
        params.not_before = date_time_ymd(from, 1, 1);
        params.not_after = date_time_ymd(to, 1, 1);
        params.extended_key_usages = vec![ExtendedKeyUsagePurpose::ServerAuth];
        let certificate = params.signed_by(&own_key, &issuer).expect("a certificate");
        let folder = tempfile::tempdir().expect("a folder");
        let write = |name: &str, text: String| {
            std::fs::write(folder.path().join(name), text).expect("a file");
        };
        write("ca.pem", authority.pem());
        write("cert.pem", certificate.pem());
        write("key.pem", own_key.serialize_pem());
        Self {
            authority: authority.der().clone(),
            certificate: certificate.der().clone(),
            key: own_key.serialize_der(),
            folder,
        }
    }

    /// Of a server that uses the certificate of an authority as its own.
    pub(crate) fn of_an_authority() -> Self {
        let key = KeyPair::generate().expect("a key");
        let mut params = CertificateParams::new(vec!["localhost".to_owned()]).expect("names");
        params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        let certificate = params.self_signed(&key).expect("a certificate");
        let folder = tempfile::tempdir().expect("a folder");
        std::fs::write(folder.path().join("ca.pem"), certificate.pem()).expect("a file");
        Self {
            authority: certificate.der().clone(),
            certificate: certificate.der().clone(),
            key: key.serialize_der(),
            folder,
        }
    }

    pub(crate) fn path(&self, name: &str) -> String {
        let path: PathBuf = self.folder.path().join(name);
        path.to_str().expect("a path").to_owned()
    }

    /// A server that shows the certificate.
    pub(crate) fn server_config(&self, protocols: &[&str]) -> Arc<ServerConfig> {
        self.server_config_of(protocols, rustls::ALL_VERSIONS)
    }

    pub(crate) fn server_config_of(
        &self,
        protocols: &[&str],
        versions: &[&'static rustls::SupportedProtocolVersion],
    ) -> Arc<ServerConfig> {
        let key = PrivateKeyDer::Pkcs8(PrivatePkcs8KeyDer::from(self.key.clone()));
        let mut config = ServerConfig::builder_with_provider(Arc::new(ring::default_provider()))
            .with_protocol_versions(versions)
            .expect("versions")
            .with_no_client_auth()
            .with_single_cert(vec![self.certificate.clone()], key)
            .expect("a certificate");
        config.alpn_protocols = protocols
            .iter()
            .map(|name| name.as_bytes().to_vec())
            .collect();
        Arc::new(config)
    }

    /// A server that also requires a certificate of the authority from its clients.
    pub(crate) fn demanding(
        &self,
        protocol: &str,
        version: &'static rustls::SupportedProtocolVersion,
    ) -> Arc<ServerConfig> {
        let provider = Arc::new(ring::default_provider());
        let mut roots = RootCertStore::empty();
        roots.add(self.authority.clone()).expect("an authority");
        let verifier = WebPkiClientVerifier::builder_with_provider(roots.into(), provider.clone());
        let key = PrivateKeyDer::Pkcs8(PrivatePkcs8KeyDer::from(self.key.clone()));
        let mut config = ServerConfig::builder_with_provider(provider)
            .with_protocol_versions(&[version])
            .expect("a version")
            .with_client_cert_verifier(verifier.build().expect("a verifier"))
            .with_single_cert(vec![self.certificate.clone()], key)
            .expect("a certificate");
        config.alpn_protocols = vec![protocol.as_bytes().to_vec()];
        Arc::new(config)
    }

    /// A client that trusts the authority.
    pub(crate) fn client_config(&self, protocols: &[&str]) -> Arc<ClientConfig> {
        client_config(self.authority.clone(), protocols)
    }
}

/// Authorities with different keys have different names, as outside of tests.
fn hex(key: &KeyPair) -> String {
    use std::fmt::Write as _;
    let mut name = String::new();
    for byte in key.public_key_raw().iter().rev().take(16) {
        write!(name, "{byte:02x}").expect("a string");
    }
    name
}

/// A client that only trusts one authority.
pub(crate) fn client_config(
    authority: CertificateDer<'static>,
    protocols: &[&str],
) -> Arc<ClientConfig> {
    let mut roots = RootCertStore::empty();
    roots.add(authority).expect("an authority");
    let mut config = ClientConfig::builder_with_provider(Arc::new(ring::default_provider()))
        .with_safe_default_protocol_versions()
        .expect("versions")
        .with_root_certificates(roots)
        .with_no_client_auth();
    config.alpn_protocols = protocols
        .iter()
        .map(|name| name.as_bytes().to_vec())
        .collect();
    Arc::new(config)
}

/// The next connection of a server, after the TLS handshake.
pub(crate) fn accept(upstream: &Upstream, config: &Arc<ServerConfig>) -> io::Result<Wire> {
    served(upstream.accept_socket(), config)
}

/// A server's side of TLS over a socket.
pub(crate) fn served(mut socket: TcpStream, config: &Arc<ServerConfig>) -> io::Result<Wire> {
    socket.set_read_timeout(Some(PATIENCE))?;
    let mut session = ServerConnection::new(Arc::clone(config)).map_err(io::Error::other)?;
    while session.is_handshaking() {
        session.complete_io(&mut socket)?;
    }
    let stream = StreamOwned::new(session, socket.try_clone()?);
    Ok(Wire::over(socket, Box::new(stream)))
}

/// Answers the first bytes of a client with a TLS alert, and waits until it has left.
pub(crate) fn alert(upstream: &Upstream, number: u8) {
    let mut wire = upstream.accept();
    wire.take(5);
    wire.send([21, 3, 3, 0, 2, 2, number]);
    wire.rest();
}

/// A client's side of TLS over a socket, for the name `localhost`.
pub(crate) fn connect(mut socket: TcpStream, config: &Arc<ClientConfig>) -> io::Result<Wire> {
    socket.set_read_timeout(Some(PATIENCE))?;
    let name = "localhost".try_into().expect("a name");
    let mut session = ClientConnection::new(Arc::clone(config), name).map_err(io::Error::other)?;
    while session.is_handshaking() {
        session.complete_io(&mut socket)?;
    }
    let stream = StreamOwned::new(session, socket.try_clone()?);
    Ok(Wire::over(socket, Box::new(stream)))
}
