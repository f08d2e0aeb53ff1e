//! A certificate authority of tapewright's own, for clients that are configured to trust it.

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
use crate::system::FolderProblem;

pub use self::hosts::{BadHost, Hosts};

/// Issues certificates for the hosts that clients connect to.
pub struct Authority {
    settings: AuthoritySettings,
    // One key for all hosts, which never leaves this process.
    leaf_key: KeyPair,
    state: Mutex<State>,
}

/// A callback for a change, with the file that clients must trust from then on.
pub type Changed = dyn Fn(Change, &Path) + Send + Sync;

/// The settings of an authority.
pub struct AuthoritySettings {
    /// The folder of authorities: one for all hosts, and one for each set of hosts.
    pub folder: PathBuf,
    /// The hosts whose tunnels are intercepted.
    pub hosts: Hosts,
    /// The clock.
    pub now: Box<dyn Fn() -> SystemTime + Send + Sync>,
    /// Called when clients must trust another certificate, with the change and their file.
    pub changed: Box<Changed>,
}

/// Why there is a new authority.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Change {
    /// The key of the existing one is missing.
    KeyLost,
    /// There was none before.
    Made,
    /// The existing one would have expired.
    Renewed {
        /// The time of its expiry.
        end: SystemTime,
    },
    /// The existing one was from an earlier version, and had no expiry.
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
        /// The system's error.
        #[source]
        source: io::Error,
    },
    /// Its files have unexpected content.
    #[error("the certificate authority in `{}` is damaged", path.display())]
    Damaged {
        /// The folder.
        path: PathBuf,
    },
    /// Other users may read or write its folder.
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
    /// Another recorder keeps it locked.
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

/// The state that changes during a recording.
struct State {
    kept: StoredAuthority,
    leaves: HashMap<String, Leaf>,
    // The time of the next attempt to renew the authority, since 1970.
    again: Duration,
}

/// The server side of TLS for one host.
struct Leaf {
    config: Arc<ServerConfig>,
    // The start of its validity, since 1970: a clock may be set back.
    from: Duration,
    // When it is replaced by a new certificate, since 1970.
    until: Duration,
}

/// The maximum number of hosts with cached certificates.
const MOST_HOSTS: usize = 1_024;
/// How long before its expiry a certificate is renewed.
const DAY: Duration = Duration::from_secs(24 * 3_600);
/// How long to wait for another recorder that creates the authority.
const PATIENCE: Duration = Duration::from_secs(10);
/// The interval between attempts to renew an authority.
const AGAIN: Duration = Duration::from_secs(3_600);

impl Authority {
    /// Opens the authority in a folder; creates it if there is none, and renews it shortly before
    /// its expiry.
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

    /// The file with the certificate that clients must trust, as PEM.
    #[must_use]
    pub fn certificate(&self) -> PathBuf {
        let state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        state.kept.certificate.clone()
    }

    /// Whether tunnels to this host are intercepted.
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

    /// Takes over the authority if another recorder has renewed it, or renews it.
    fn renew(&self, state: &mut State, now: Duration) {
        let AuthoritySettings { folder, hosts, .. } = &self.settings;
        // A connection is waiting. The current authority can be used for a while.
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
