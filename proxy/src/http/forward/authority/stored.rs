//! An authority, as stored between recordings.
//!
//! `ca.key` is the authority: its description, its key and its certificate in one file, so that
//! they are always consistent. `ca.pem` is the file that clients trust: the certificate, and that
//! of the previous authority as long as recorders that still use it may run.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, UNIX_EPOCH};

use rcgen::{
    BasicConstraints, CertificateParams, DistinguishedName, DnType, IsCa, Issuer, KeyPair,
    KeyUsagePurpose, date_time_ymd,
};
use rustls::RootCertStore;
use rustls::client::WebPkiServerVerifier;
use rustls::client::danger::ServerCertVerifier as _;
use rustls::crypto::ring;
use rustls::pki_types::pem::PemObject as _;
use rustls::pki_types::{CertificateDer, PrivatePkcs8KeyDer, ServerName, UnixTime};

use super::leaf::leaf;
use super::{AuthorityProblem, Change, Hosts};
use crate::system::folder::Folder;
use tapewright_schemas::slices::Part as _;

/// The lifetime of an authority.
pub(super) const YEAR: Duration = Duration::from_secs(365 * 24 * 3_600);
/// How long before its expiry it is renewed when a recording starts.
const AHEAD: Duration = Duration::from_secs(30 * 24 * 3_600);
/// How far the clocks of clients may be behind.
const SKEW: Duration = Duration::from_secs(24 * 3_600);

/// The file of the authority.
const KEY: &str = "ca.key";
/// The file for clients.
const CERTIFICATE: &str = "ca.pem";
/// The text before the time in the first line of the key's file.
const MARK: &str = "tapewright authority, made ";

/// An authority, as stored.
pub(super) struct StoredAuthority {
    /// Signs certificates.
    pub(super) issuer: Issuer<'static, KeyPair>,
    /// When it expires, since 1970.
    pub(super) ends: Duration,
    /// The file that clients must trust.
    pub(super) certificate: PathBuf,
}

/// The content of an authority's file.
struct Record {
    // Since 1970.
    made: Duration,
    // The hosts, as a text.
    hosts: String,
    key: KeyPair,
    // As PEM.
    certificate: String,
}

impl StoredAuthority {
    /// The authority for `hosts` under `root`, at the time `now`; it is created or renewed if
    /// necessary. Waits for `patience` for other recorders that do the same.
    pub(super) fn open(
        root: &Path,
        hosts: &Hosts,
        now: Duration,
        patience: Duration,
    ) -> Result<(Self, Option<Change>), AuthorityProblem> {
        let mut folder = Folder::at(root)?;
        if !hosts.is_any() {
            folder = folder.inside("only")?.inside(&hosts.folder())?;
        }
        folder.lock(patience)?;
        let (record, change) = match found(&folder, hosts)? {
            Found::Record(record) if is_fresh(&record, now) => {
                show_again(&folder, &record)?;
                (record, None)
            }
            former => {
                let (record, change) = make(&folder, former, hosts, now)?;
                (Box::new(record), Some(change))
            }
        };
        let certificate = record.certificate.clone();
        let kept = Self {
            ends: record.made + YEAR,
            certificate: folder.path().join(CERTIFICATE),
            issuer: Issuer::new(params(record.made, hosts), record.key),
        };
        if !kept.is_sound(&certificate, hosts, now) {
            return Err(damaged(&folder));
        }
        Ok((kept, change))
    }

    /// Whether clients that trust the certificate accept certificates made with the key.
    fn is_sound(&self, certificate: &str, hosts: &Hosts, now: Duration) -> bool {
        let example = hosts.example();
        let accepted = || {
            let own = CertificateDer::from_pem_slice(certificate.as_bytes()).ok()?;
            let made = leaf(
                &self.issuer,
                &KeyPair::generate().ok()?,
                &example,
                now,
                self.ends,
            );
            let mut roots = RootCertStore::empty();
            roots.add(own).ok()?;
            let provider = Arc::new(ring::default_provider());
            let client = WebPkiServerVerifier::builder_with_provider(Arc::new(roots), provider);
            let name = ServerName::try_from(example.as_str()).ok()?;
            let now = UnixTime::since_unix_epoch(now);
            let leaf = made.ok()?;
            let seen = client.build().ok()?;
            let accepted = seen.verify_server_cert(leaf.der(), &[], &name, &[], now);
            accepted.ok()
        };
        accepted().is_some()
    }
}

/// The content of a folder.
enum Found {
    Nothing,
    /// An authority of an earlier version, without its creation time.
    Unlimited,
    Record(Box<Record>),
}

fn found(folder: &Folder, hosts: &Hosts) -> Result<Found, AuthorityProblem> {
    let Some(text) = folder.read(KEY)? else {
        return Ok(Found::Nothing);
    };
    match Record::read(&text) {
        Ok(None) => Ok(Found::Unlimited),
        Ok(Some(record)) if record.hosts == hosts.text() => Ok(Found::Record(Box::new(record))),
        _ => Err(damaged(folder)),
    }
}

/// Restores the file for clients, if it was removed or changed.
fn show_again(folder: &Folder, record: &Record) -> Result<(), AuthorityProblem> {
    let shown = folder.read(CERTIFICATE)?.unwrap_or_default();
    if shown.contains(&record.certificate) {
        return Ok(());
    }
    Ok(folder.write(CERTIFICATE, &record.certificate)?)
}

/// Creates an authority in place of the existing one.
fn make(
    folder: &Folder,
    former: Found,
    hosts: &Hosts,
    now: Duration,
) -> Result<(Record, Change), AuthorityProblem> {
    // Read in any case: a file that others can access is refused, and an old one shows that there
    // was an authority before.
    let shown = folder.read(CERTIFICATE)?;
    let was_shown = shown.is_some_and(|text| text.contains("-----BEGIN CERTIFICATE-----"));
    let record = Record::make(hosts, now)?;
    let mut trusted = record.certificate.clone();
    let change = match former {
        Found::Nothing if was_shown => Change::KeyLost,
        Found::Nothing => Change::Made,
        Found::Unlimited => Change::Replaced,
        Found::Record(former) => {
            let ends = former.made + YEAR;
            if now < ends {
                trusted.push_str(&former.certificate);
            }
            Change::Renewed {
                end: UNIX_EPOCH + ends,
            }
        }
    };
    // First the file for clients: after a crash in between, they trust both.
    folder.write(CERTIFICATE, &trusted)?;
    folder.write(KEY, &record.text())?;
    Ok((record, change))
}

/// A file that tapewright did not write.
struct Damaged;

impl Record {
    fn make(hosts: &Hosts, now: Duration) -> Result<Self, AuthorityProblem> {
        let made = Duration::from_secs(now.as_secs());
        let key = KeyPair::generate()?;
        let certificate = params(made, hosts).self_signed(&key)?.pem();
        Ok(Self {
            made,
            hosts: hosts.text(),
            key,
            certificate,
        })
    }

    fn text(&self) -> String {
        let Self { made, hosts, .. } = self;
        let key = self.key.serialize_pem();
        format!(
            "{MARK}{} for {hosts}\n{key}{}",
            made.as_secs(),
            self.certificate
        )
    }

    /// The content of a file; `None` for an authority of an earlier version, without its creation
    /// time.
    fn read(text: &str) -> Result<Option<Self>, Damaged> {
        let key = PrivatePkcs8KeyDer::from_pem_slice(text.as_bytes()).map_err(|_| Damaged)?;
        let key = KeyPair::try_from(&key).map_err(|_| Damaged)?;
        let first = text.lines().next().unwrap_or_default();
        let Some(said) = first.strip_prefix(MARK) else {
            return Ok(None);
        };
        let (made, hosts) = said.split_once(" for ").ok_or(Damaged)?;
        let made = made.parse().map_err(|_| Damaged)?;
        let start = text.find("-----BEGIN CERTIFICATE-----").ok_or(Damaged)?;
        Ok(Some(Self {
            made: Duration::from_secs(made),
            hosts: hosts.to_owned(),
            key,
            certificate: text.part(start..).to_owned(),
        }))
    }
}

fn damaged(folder: &Folder) -> AuthorityProblem {
    AuthorityProblem::Damaged {
        path: folder.path().to_owned(),
    }
}

/// Whether an authority can be used for a while. One with a creation time in the future was created
/// with a wrong clock.
fn is_fresh(record: &Record, now: Duration) -> bool {
    now + AHEAD < record.made + YEAR && record.made <= now + SKEW
}

/// The content of an authority's certificate.
fn params(made: Duration, hosts: &Hosts) -> CertificateParams {
    let mut params = CertificateParams::default();
    params.not_before = date_time_ymd(1970, 1, 1) + made.saturating_sub(SKEW);
    params.not_after = date_time_ymd(1970, 1, 1) + made + YEAR;
    let mut name = DistinguishedName::new();
    // Unique names: clients use them to find the certificate that signed another.
    let made = made.as_secs();
    name.push(
        DnType::CommonName,
        format!("tapewright recording authority, made {made}"),
    );
    params.distinguished_name = name;
    params.is_ca = IsCa::Ca(BasicConstraints::Constrained(0));
    params.key_usages = vec![KeyUsagePurpose::KeyCertSign, KeyUsagePurpose::CrlSign];
    params.name_constraints = hosts.constraints();
    params
}
