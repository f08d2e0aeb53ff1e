//! A certificate authority of our own, for clients that were told to trust it.

use std::collections::HashMap;
use std::fs::{self, OpenOptions};
use std::io::{self, Write as _};
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use rcgen::{
    BasicConstraints, CertificateParams, DistinguishedName, DnType, ExtendedKeyUsagePurpose, IsCa,
    Issuer, KeyPair, KeyUsagePurpose,
};
use rustls::ServerConfig;
use rustls::crypto::ring;
use rustls::pki_types::{CertificateDer, PrivateKeyDer, PrivatePkcs8KeyDer};

use crate::http::origin::versions;

/// Makes certificates for the hosts that clients ask for.
pub struct Authority {
    issuer: Issuer<'static, KeyPair>,
    certificate: PathBuf,
    // One key serves all hosts: it never leaves this process.
    leaf_key: KeyPair,
    configs: Mutex<HashMap<String, Arc<ServerConfig>>>,
}

/// Why there is no authority.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum AuthorityProblem {
    /// Its files cannot be read or written.
    #[error("the certificate authority in `{}` cannot be read or written", path.display())]
    Files {
        /// The file or folder.
        path: PathBuf,
        /// What the system said.
        #[source]
        source: io::Error,
    },
    /// Its files hold something else.
    #[error("the certificate authority in `{}` is damaged; remove its files to have a new one made", path.display())]
    Damaged {
        /// The folder.
        path: PathBuf,
        /// What is wrong.
        #[source]
        source: rcgen::Error,
    },
    /// A certificate could not be made.
    #[error("a certificate could not be made")]
    Make(#[from] rcgen::Error),
    /// A certificate cannot be used.
    #[error("a certificate cannot be used")]
    Use(#[from] rustls::Error),
}

/// For how many hosts certificates are kept.
const MOST_HOSTS: usize = 1_024;

impl Authority {
    /// The authority that is kept in `folder`; made there when there is none. The key is
    /// for its owner alone.
    pub fn kept_in(folder: &Path) -> Result<Self, AuthorityProblem> {
        let certificate = folder.join("ca.pem");
        let key = folder.join("ca.key");
        let files = |path: &Path| {
            let path = path.to_path_buf();
            move |source| AuthorityProblem::Files { path, source }
        };
        let damaged = |source| AuthorityProblem::Damaged {
            path: folder.to_path_buf(),
            source,
        };
        let key = if certificate.exists() && key.exists() {
            let text = fs::read_to_string(&key).map_err(files(&key))?;
            KeyPair::from_pem(&text).map_err(damaged)?
        } else {
            fs::create_dir_all(folder).map_err(files(folder))?;
            let made = KeyPair::generate()?;
            let signed = params().self_signed(&made)?;
            write(&key, &made.serialize_pem()).map_err(files(&key))?;
            write(&certificate, &signed.pem()).map_err(files(&certificate))?;
            made
        };
        Ok(Self {
            issuer: Issuer::new(params(), key),
            certificate,
            leaf_key: KeyPair::generate()?,
            configs: Mutex::default(),
        })
    }

    /// The certificate that clients have to trust, in PEM.
    #[must_use]
    pub fn certificate(&self) -> &Path {
        &self.certificate
    }

    /// The server side of TLS for one host.
    pub(super) fn config_for(&self, host: &str) -> Result<Arc<ServerConfig>, AuthorityProblem> {
        let mut configs = self.configs.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(config) = configs.get(host) {
            return Ok(Arc::clone(config));
        }
        let mut params = CertificateParams::new(vec![host.to_owned()])?;
        params.distinguished_name = name(host);
        params.extended_key_usages = vec![ExtendedKeyUsagePurpose::ServerAuth];
        params.use_authority_key_identifier_extension = true;
        let certificate = params.signed_by(&self.leaf_key, &self.issuer)?;
        let chain: Vec<CertificateDer<'static>> = vec![certificate.der().clone()];
        let key = PrivatePkcs8KeyDer::from(self.leaf_key.serialize_der());
        let mut config = ServerConfig::builder_with_provider(Arc::new(ring::default_provider()))
            .with_protocol_versions(versions(false))?
            .with_no_client_auth()
            .with_single_cert(chain, PrivateKeyDer::Pkcs8(key))?;
        config.alpn_protocols = vec![b"h2".to_vec(), b"http/1.1".to_vec()];
        let config = Arc::new(config);
        if configs.len() >= MOST_HOSTS {
            configs.clear();
        }
        configs.insert(host.to_owned(), Arc::clone(&config));
        Ok(config)
    }
}

/// What the certificate of every authority of ours says.
fn params() -> CertificateParams {
    let mut params = CertificateParams::default();
    params.distinguished_name = name("tapewright recording authority (this machine only)");
    params.is_ca = IsCa::Ca(BasicConstraints::Constrained(0));
    params.key_usages = vec![KeyUsagePurpose::KeyCertSign, KeyUsagePurpose::CrlSign];
    params
}

fn name(common: &str) -> DistinguishedName {
    let mut name = DistinguishedName::new();
    name.push(DnType::CommonName, common);
    name
}

/// Writes a file for its owner alone, whole or not at all.
fn write(path: &Path, text: &str) -> io::Result<()> {
    let fresh = path.with_extension(format!("{}.new", std::process::id()));
    let mut file = OpenOptions::new()
        .write(true)
        .create_new(true)
        .mode(0o600)
        .open(&fresh)?;
    file.write_all(text.as_bytes())
        .and_then(|()| fs::rename(&fresh, path))
        .inspect_err(|_| drop(fs::remove_file(&fresh)))
}
