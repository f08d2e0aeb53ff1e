//! TLS for tapewright's own listeners.

use std::path::Path;
use std::sync::Arc;

use rustls::ServerConfig;
use rustls::crypto::ring;
use rustls::pki_types::PrivateKeyDer;
use rustls::pki_types::pem::PemObject as _;

use crate::http::origin::{TlsProblem, certificates, versions};

/// The server side of TLS, with a certificate chain and its key as PEM.
pub fn server_config(
    certificate: &Path,
    key: &Path,
    only_1_3: bool,
) -> Result<Arc<ServerConfig>, TlsProblem> {
    let chain = certificates(certificate)?;
    let key = PrivateKeyDer::from_pem_file(key).map_err(|source| TlsProblem::Pem {
        path: key.to_path_buf(),
        source,
    })?;
    let mut config = ServerConfig::builder_with_provider(Arc::new(ring::default_provider()))
        .with_protocol_versions(versions(only_1_3))?
        .with_no_client_auth()
        .with_single_cert(chain, key)?;
    config.alpn_protocols = vec![b"h2".to_vec(), b"http/1.1".to_vec()];
    Ok(Arc::new(config))
}
