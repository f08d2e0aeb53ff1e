//! A certificate authority of our own, for clients that were told to trust it.

mod hosts;
mod leaf;
mod stored;
#[cfg(test)]
mod tests;

use std::collections::HashMap;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use rcgen::KeyPair;
use rustls::ServerConfig;
use rustls::crypto::ring;
use rustls::pki_types::{CertificateDer, PrivateKeyDer, PrivatePkcs8KeyDer};

use self::leaf::{SKEW, WEEK, leaf};
use self::stored::StoredAuthority;
use crate::http::origin::versions;
use crate::system::folder::FolderProblem;

pub use self::hosts::{BadHost, Hosts};

/// Makes certificates for the hosts that clients ask for.
pub struct Authority {
    settings: AuthoritySettings,
    // One key serves all hosts: it never leaves this process.
    leaf_key: KeyPair,
    state: Mutex<State>,
}

/// Hears of a change, and of the file that clients have to trust from then on.
pub type Changed = dyn Fn(Change, &Path) + Send + Sync;

/// Which authority, and whom it tells what.
pub struct AuthoritySettings {
    /// Where authorities are kept: one for any host, and one for each set of hosts.
    pub folder: PathBuf,
    /// Whose tunnels are opened.
    pub hosts: Hosts,
    /// The time.
    pub now: Box<dyn Fn() -> SystemTime + Send + Sync>,
    /// Told when what clients have to trust is another: the change, and their file.
    pub changed: Box<Changed>,
}

/// How an authority came to be another one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Change {
    /// There was one, and its key is gone.
    KeyLost,
    /// There was none.
    Made,
    /// It would have ended then.
    Renewed {
        /// When.
        end: SystemTime,
    },
    /// It was one of an earlier version, without an end.
    Replaced,
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
    #[error("the certificate authority in `{}` is damaged", path.display())]
    Damaged {
        /// The folder.
        path: PathBuf,
    },
    /// Others may look into its folder, or write there.
    #[error("`{}` of the certificate authority is open to other users (mode {mode:04o})", path.display())]
    Loose {
        /// The file or folder.
        path: PathBuf,
        /// Its permissions.
        mode: u32,
    },
    /// Its folder, or a file in it, belongs to another user.
    #[error("`{}` of the certificate authority belongs to another user", path.display())]
    Foreign {
        /// The file or folder.
        path: PathBuf,
    },
    /// Another recorder does not let go of it.
    #[error("another process is using the certificate authority in `{}`", path.display())]
    Locked {
        /// The folder.
        path: PathBuf,
    },
    /// A certificate could not be made.
    #[error("cannot create a certificate")]
    Make(#[from] rcgen::Error),
    /// A certificate cannot be used.
    #[error("invalid certificate")]
    Use(#[from] rustls::Error),
}

impl From<FolderProblem> for AuthorityProblem {
    fn from(problem: FolderProblem) -> Self {
        match problem {
            FolderProblem::Files { path, source } => Self::Files { path, source },
            FolderProblem::Loose { path, mode } => Self::Loose { path, mode },
            FolderProblem::Foreign { path } => Self::Foreign { path },
            FolderProblem::Locked { path } => Self::Locked { path },
        }
    }
}

/// What changes while a recording goes on.
struct State {
    kept: StoredAuthority,
    leaves: HashMap<String, Leaf>,
    // When it is tried again to renew the authority, since 1970.
    again: Duration,
}

/// The server side of TLS for one host.
struct Leaf {
    config: Arc<ServerConfig>,
    // From when on clients accept it, since 1970: a clock may be set back.
    from: Duration,
    // When a new certificate takes its place, since 1970.
    until: Duration,
}

/// For how many hosts certificates are kept.
const MOST_HOSTS: usize = 1_024;
/// How long before its end a certificate is renewed.
const DAY: Duration = Duration::from_secs(24 * 3_600);
/// How long to wait for another recorder that makes the authority.
const PATIENCE: Duration = Duration::from_secs(10);
/// How long until it is tried again to renew an authority.
const AGAIN: Duration = Duration::from_secs(3_600);

impl Authority {
    /// The authority that is kept in a folder; made there when there is none, and renewed
    /// when its end is near.
    pub fn open(settings: AuthoritySettings) -> Result<Self, AuthorityProblem> {
        let now = since_1970((settings.now)());
        let (kept, change) =
            StoredAuthority::open(&settings.folder, &settings.hosts, now, PATIENCE)?;
        if let Some(change) = change {
            (settings.changed)(change, &kept.certificate);
        }
        Ok(Self {
            settings,
            leaf_key: KeyPair::generate()?,
            state: Mutex::new(State {
                kept,
                leaves: HashMap::new(),
                again: Duration::ZERO,
            }),
        })
    }

    /// The certificate that clients have to trust, in PEM.
    #[must_use]
    pub fn certificate(&self) -> PathBuf {
        let state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        state.kept.certificate.clone()
    }

    /// Whether tunnels to this host are opened.
    pub(super) fn covers(&self, host: &str) -> bool {
        self.settings.hosts.cover(host)
    }

    /// The server side of TLS for one host.
    pub(super) fn config_for(&self, host: &str) -> Result<Arc<ServerConfig>, AuthorityProblem> {
        let host = host.trim_end_matches('.');
        let now = since_1970((self.settings.now)());
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        let state = &mut *state;
        if state.kept.ends <= now + WEEK && state.again <= now {
            self.renew(state, now);
        }
        let leaf = state.leaves.get(host);
        if let Some(leaf) = leaf.filter(|leaf| (leaf.from..leaf.until).contains(&now)) {
            return Ok(Arc::clone(&leaf.config));
        }
        let leaf = Leaf {
            config: self.make(&state.kept, host, now)?,
            from: now.saturating_sub(SKEW),
            until: (now + WEEK).min(state.kept.ends).saturating_sub(DAY),
        };
        let config = Arc::clone(&leaf.config);
        if state.leaves.len() >= MOST_HOSTS {
            state.leaves.clear();
        }
        state.leaves.insert(host.to_owned(), leaf);
        Ok(config)
    }

    /// Takes the authority that another recorder has renewed in the meantime, or renews it.
    fn renew(&self, state: &mut State, now: Duration) {
        let AuthoritySettings { folder, hosts, .. } = &self.settings;
        // A connection waits. What there is can be used for a while.
        let Ok((kept, change)) = StoredAuthority::open(folder, hosts, now, Duration::ZERO) else {
            state.again = now + AGAIN;
            return;
        };
        let end = UNIX_EPOCH + state.kept.ends;
        let change = change.unwrap_or(Change::Renewed { end });
        (self.settings.changed)(change, &kept.certificate);
        state.kept = kept;
        state.leaves.clear();
    }

    fn make(
        &self,
        kept: &StoredAuthority,
        host: &str,
        now: Duration,
    ) -> Result<Arc<ServerConfig>, AuthorityProblem> {
        let made = leaf(&kept.issuer, &self.leaf_key, host, now, kept.ends)?;
        let chain: Vec<CertificateDer<'static>> = vec![made.der().clone()];
        let key = PrivatePkcs8KeyDer::from(self.leaf_key.serialize_der());
        let mut config = ServerConfig::builder_with_provider(Arc::new(ring::default_provider()))
            .with_protocol_versions(versions(false))?
            .with_no_client_auth()
            .with_single_cert(chain, PrivateKeyDer::Pkcs8(key))?;
        config.alpn_protocols = vec![b"h2".to_vec(), b"http/1.1".to_vec()];
        Ok(Arc::new(config))
    }
}

fn since_1970(time: SystemTime) -> Duration {
    time.duration_since(UNIX_EPOCH).unwrap_or_default()
}
