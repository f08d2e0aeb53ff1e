//! Verification of servers over TLS.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use rustls::client::WebPkiServerVerifier;
use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::crypto::{CryptoProvider, WebPkiSupportedAlgorithms, ring};
use rustls::pki_types::pem::PemObject as _;
use rustls::pki_types::{CertificateDer, ServerName, UnixTime};
use rustls::{
    ClientConfig, DigitallySignedStruct, RootCertStore, SignatureScheme, SupportedProtocolVersion,
    version,
};
use rustls_platform_verifier::Verifier;

/// How servers are verified.
#[derive(Clone, Debug, Default)]
pub struct TlsSettings {
    /// Additional roots, as PEM.
    pub ca_bundle: Option<PathBuf>,
    /// Accept any certificate.
    pub skip_verify: bool,
    /// Use only TLS 1.3.
    pub only_1_3: bool,
}

/// Why TLS cannot be used.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum TlsProblem {
    /// A file of certificates or keys cannot be read.
    #[error("`{}` cannot be read as PEM", path.display())]
    Pem {
        /// The file.
        path: PathBuf,
        /// The error.
        #[source]
        source: rustls::pki_types::pem::Error,
    },
    /// A file contains no certificate.
    #[error("no certificate in `{}`", path.display())]
    NoCertificate {
        /// The file.
        path: PathBuf,
    },
    /// The combination of settings is not usable.
    #[error("invalid TLS settings")]
    Unusable(#[from] rustls::Error),
}

/// The client side of TLS, with support for HTTP/2.
pub fn client_config(settings: &TlsSettings) -> Result<Arc<ClientConfig>, TlsProblem> {
    let provider = Arc::new(ring::default_provider());
    let builder = ClientConfig::builder_with_provider(Arc::clone(&provider))
        .with_protocol_versions(versions(settings.only_1_3))?;
    let verifier = verifier(settings, &provider)?;
    let mut config = builder
        .dangerous()
        .with_custom_certificate_verifier(verifier)
        .with_no_client_auth();
    config.alpn_protocols = vec![b"h2".to_vec(), b"http/1.1".to_vec()];
    Ok(Arc::new(config))
}

/// The TLS versions to use.
pub(crate) fn versions(only_1_3: bool) -> &'static [&'static SupportedProtocolVersion] {
    static ONLY_1_3: [&SupportedProtocolVersion; 1] = [&version::TLS13];
    if only_1_3 {
        &ONLY_1_3
    } else {
        rustls::ALL_VERSIONS
    }
}

/// The certificates of a PEM file.
pub(crate) fn certificates(path: &Path) -> Result<Vec<CertificateDer<'static>>, TlsProblem> {
    let pem = |source| TlsProblem::Pem {
        path: path.to_path_buf(),
        source,
    };
    let found: Result<Vec<_>, _> = CertificateDer::pem_file_iter(path).map_err(pem)?.collect();
    let found = found.map_err(pem)?;
    if found.is_empty() {
        return Err(TlsProblem::NoCertificate {
            path: path.to_path_buf(),
        });
    }
    Ok(found)
}

fn verifier(
    settings: &TlsSettings,
    provider: &Arc<CryptoProvider>,
) -> Result<Arc<dyn ServerCertVerifier>, TlsProblem> {
    if settings.skip_verify {
        let algorithms = provider.signature_verification_algorithms;
        return Ok(Arc::new(AnyCertificate(algorithms)));
    }
    let Some(path) = &settings.ca_bundle else {
        return Ok(Arc::new(Verifier::new(Arc::clone(provider))?));
    };
    let extra = certificates(path)?;
    let mut roots = RootCertStore::empty();
    roots.add_parsable_certificates(extra.iter().cloned());
    // The system's roots are used as well; if it has none, only those in the file.
    match Verifier::new_with_extra_roots(extra, Arc::clone(provider)) {
        Ok(verifier) => Ok(Arc::new(verifier)),
        Err(error) => {
            WebPkiServerVerifier::builder_with_provider(Arc::new(roots), Arc::clone(provider))
                .build()
                .map(|verifier| verifier as Arc<dyn ServerCertVerifier>)
                .map_err(|_| error.into())
        }
    }
}

/// Accepts every certificate, for `--insecure-skip-verify`.
#[derive(Debug)]
struct AnyCertificate(WebPkiSupportedAlgorithms);

impl ServerCertVerifier for AnyCertificate {
    fn verify_server_cert(
        &self,
        _end_entity: &CertificateDer<'_>,
        _intermediates: &[CertificateDer<'_>],
        _server_name: &ServerName<'_>,
        _ocsp_response: &[u8],
        _now: UnixTime,
    ) -> Result<ServerCertVerified, rustls::Error> {
        Ok(ServerCertVerified::assertion())
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        cert: &CertificateDer<'_>,
        dss: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        rustls::crypto::verify_tls12_signature(message, cert, dss, &self.0)
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        cert: &CertificateDer<'_>,
        dss: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        rustls::crypto::verify_tls13_signature(message, cert, dss, &self.0)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.0.supported_schemes()
    }
}
