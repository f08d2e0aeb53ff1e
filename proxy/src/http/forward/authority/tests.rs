//! What clients accept that trust an authority, throughout its life.

use std::fs;
use std::sync::atomic::{AtomicU64, Ordering};

use rustls::client::{ClientConnection, WebPkiServerVerifier};
use rustls::pki_types::pem::PemObject as _;
use rustls::pki_types::{ServerName, UnixTime};
use rustls::{ClientConfig, RootCertStore, ServerConnection};

use super::*;

/// Days since 1970 at the start of every test.
const START: u64 = 20_000;

/// A clock that is set by hand, and the reported changes.
#[derive(Clone, Default)]
struct World {
    seconds: Arc<AtomicU64>,
    told: Arc<Mutex<Vec<Change>>>,
}

impl World {
    fn new() -> Self {
        let world = Self::default();
        world.at_day(0.0);
        world
    }

    /// Days after the start.
    fn at_day(&self, day: f64) {
        let seconds = Duration::from_secs_f64(day * 86_400.0).as_secs();
        self.seconds
            .store(START * 86_400 + seconds, Ordering::Relaxed);
    }

    fn now(&self) -> Duration {
        Duration::from_secs(self.seconds.load(Ordering::Relaxed))
    }

    fn open(&self, folder: &Path, hosts: &[&str]) -> Result<Authority, AuthorityProblem> {
        let texts: Vec<String> = hosts.iter().map(|host| (*host).to_owned()).collect();
        let (clock, told) = (self.clone(), Arc::clone(&self.told));
        Authority::open(AuthoritySettings {
            folder: folder.join("authority"),
            hosts: Hosts::of(&texts).unwrap(),
            now: Box::new(move || UNIX_EPOCH + clock.now()),
            changed: Box::new(move |change, _| told.lock().unwrap().push(change)),
        })
    }

    fn told(&self) -> Vec<Change> {
        std::mem::take(&mut *self.told.lock().unwrap())
    }

    /// Whether a client that now trusts the certificates in a file accepts a handshake `days` from
    /// now.
    fn trusts(&self, roots: &RootCertStore, authority: &Authority, host: &str, days: f64) -> bool {
        let server = authority.config_for(host).unwrap();
        let provider = Arc::new(ring::default_provider());
        let verifier = WebPkiServerVerifier::builder_with_provider(
            Arc::new(roots.clone()),
            Arc::clone(&provider),
        )
        .build()
        .unwrap();
        let now = self.now().as_secs_f64() + days * 86_400.0;
        let at = UnixTime::since_unix_epoch(Duration::from_secs_f64(now));
        let client = ClientConfig::builder_with_provider(provider)
            .with_safe_default_protocol_versions()
            .unwrap()
            .dangerous()
            .with_custom_certificate_verifier(Arc::new(At(verifier, at)))
            .with_no_client_auth();
        let name = ServerName::try_from(host.to_owned()).unwrap();
        let mut client = ClientConnection::new(Arc::new(client), name).unwrap();
        let mut server = ServerConnection::new(server).unwrap();
        agree(&mut client, &mut server).is_ok()
    }
}

/// Verifies like rustls, at a time of the test.
#[derive(Debug)]
struct At(Arc<WebPkiServerVerifier>, UnixTime);

impl rustls::client::danger::ServerCertVerifier for At {
    fn verify_server_cert(
        &self,
        end_entity: &CertificateDer<'_>,
        intermediates: &[CertificateDer<'_>],
        name: &ServerName<'_>,
        ocsp: &[u8],
        _: UnixTime,
    ) -> Result<rustls::client::danger::ServerCertVerified, rustls::Error> {
        self.0
            .verify_server_cert(end_entity, intermediates, name, ocsp, self.1)
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signed: &rustls::DigitallySignedStruct,
    ) -> Result<rustls::client::danger::HandshakeSignatureValid, rustls::Error> {
        self.0.verify_tls12_signature(message, certificate, signed)
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signed: &rustls::DigitallySignedStruct,
    ) -> Result<rustls::client::danger::HandshakeSignatureValid, rustls::Error> {
        self.0.verify_tls13_signature(message, certificate, signed)
    }

    fn supported_verify_schemes(&self) -> Vec<rustls::SignatureScheme> {
        self.0.supported_verify_schemes()
    }
}

/// A handshake in memory.
fn agree(
    client: &mut ClientConnection,
    server: &mut ServerConnection,
) -> Result<(), rustls::Error> {
    let mut wire = Vec::new();
    while client.is_handshaking() || server.is_handshaking() {
        wire.clear();
        client.write_tls(&mut wire).unwrap();
        server.read_tls(&mut wire.as_slice()).unwrap();
        server.process_new_packets()?;
        wire.clear();
        server.write_tls(&mut wire).unwrap();
        client.read_tls(&mut wire.as_slice()).unwrap();
        client.process_new_packets()?;
    }
    Ok(())
}

/// The certificates that a client trusts after reading a file now.
fn roots(authority: &Authority) -> RootCertStore {
    let mut roots = RootCertStore::empty();
    for certificate in CertificateDer::pem_file_iter(authority.certificate()).unwrap() {
        roots.add(certificate.unwrap()).unwrap();
    }
    roots
}

#[cfg(unix)]
fn mode(path: &Path) -> u32 {
    use std::os::unix::fs::PermissionsExt as _;
    fs::metadata(path).unwrap().permissions().mode() & 0o7777
}

#[test]
fn clients_trust_a_certificate_for_a_week_and_it_is_renewed_before() {
    let (world, folder) = (World::new(), tempfile::tempdir().unwrap());
    let authority = world.open(folder.path(), &[]).unwrap();
    assert_eq!(world.told(), [Change::Made]);
    let roots = roots(&authority);
    for host in ["localhost", "api.example.com", "127.0.0.1", "::1"] {
        assert!(world.trusts(&roots, &authority, host, 0.0), "{host}");
        assert!(world.trusts(&roots, &authority, host, 6.9), "{host}");
        assert!(!world.trusts(&roots, &authority, host, 7.1), "{host}");
        assert!(!world.trusts(&roots, &authority, host, -1.0), "{host}");
    }
    let first = authority.config_for("localhost").unwrap();
    world.at_day(5.9);
    assert!(Arc::ptr_eq(
        &first,
        &authority.config_for("localhost").unwrap()
    ));
    // In a long session, the certificate of the first day is not used on the eighth.
    world.at_day(8.0);
    assert!(world.trusts(&roots, &authority, "localhost", 0.0));
    assert!(!Arc::ptr_eq(
        &first,
        &authority.config_for("localhost").unwrap()
    ));
    assert_eq!(world.told(), []);
}

#[test]
fn a_certificate_of_a_clock_that_was_set_back_is_made_again() {
    let (world, folder) = (World::new(), tempfile::tempdir().unwrap());
    world.at_day(1.0);
    let authority = world.open(folder.path(), &[]).unwrap();
    let roots = roots(&authority);
    let first = authority.config_for("localhost").unwrap();
    let is_first = || Arc::ptr_eq(&first, &authority.config_for("localhost").unwrap());
    world.at_day(0.97);
    assert!(is_first(), "clients accept it");
    world.at_day(0.5);
    assert!(!is_first());
    assert!(world.trusts(&roots, &authority, "localhost", 0.0));
}

/// The serial number of a certificate, which follows its version.
fn serial(certificate: &[u8]) -> &[u8] {
    let version = [0xa0, 3, 2, 1, 2, 2];
    let at = certificate
        .windows(version.len())
        .position(|bytes| bytes == version)
        .unwrap();
    let (length, rest) = certificate[at + version.len()..].split_first().unwrap();
    &rest[..usize::from(*length)]
}

#[test]
fn no_two_certificates_have_the_same_number() {
    let (world, folder) = (World::new(), tempfile::tempdir().unwrap());
    let authority = world.open(folder.path(), &[]).unwrap();
    let state = authority.state.lock().unwrap();
    let StoredAuthority { issuer, ends, .. } = &state.kept;
    let mut met = std::collections::BTreeSet::new();
    for host in ["localhost", "api.example.com", "localhost"] {
        let made = leaf(issuer, &authority.leaf_key, host, world.now(), *ends).unwrap();
        let number = serial(made.der()).to_vec();
        assert!(number.len() == 16 && number[0] & 0x80 == 0, "{number:?}");
        assert!(met.insert(number));
    }
}

#[cfg(unix)]
#[test]
fn the_files_of_an_authority_are_its_owners() {
    let (world, folder) = (World::new(), tempfile::tempdir().unwrap());
    drop(world.open(folder.path(), &[]).unwrap());
    let path = folder.path().join("authority");
    assert_eq!(mode(&path), 0o700);
    for file in ["ca.pem", "ca.key"] {
        assert_eq!(mode(&path.join(file)), 0o600, "{file}");
    }
}

#[test]
fn an_authority_lives_a_year() {
    let (world, folder) = (World::new(), tempfile::tempdir().unwrap());
    let authority = world.open(folder.path(), &[]).unwrap();
    let certificate = CertificateDer::from_pem_file(authority.certificate()).unwrap();
    // The dates in the encoding of a certificate (RFC 5280 §4.1.2.5.1).
    for time in ["241003000000Z", "251004000000Z"] {
        let found = certificate
            .windows(time.len())
            .any(|part| part == time.as_bytes());
        assert!(found, "{time}");
    }
}

#[test]
fn an_authority_vouches_for_its_hosts_alone() {
    let (world, folder) = (World::new(), tempfile::tempdir().unwrap());
    let cases: [(&[&str], &[&str], &[&str]); 4] = [
        (
            &["example.com"],
            &["example.com", "api.example.com"],
            &["example.org", "127.0.0.1", "::1"],
        ),
        (
            &["127.0.0.1"],
            &["127.0.0.1"],
            &["127.0.0.2", "::1", "localhost", "example.com"],
        ),
        (
            &["::1", "localhost"],
            &["::1", "localhost"],
            &["::2", "127.0.0.1", "example.com"],
        ),
        (&[], &["example.com", "127.0.0.1", "::1"], &[]),
    ];
    let mut files = Vec::new();
    for (hosts, good, bad) in cases {
        let authority = world.open(folder.path(), hosts).unwrap();
        let roots = roots(&authority);
        for host in good {
            assert!(authority.covers(host), "{hosts:?} {host}");
            assert!(
                world.trusts(&roots, &authority, host, 0.0),
                "{hosts:?} {host}"
            );
        }
        for host in bad {
            assert!(!authority.covers(host), "{hosts:?} {host}");
            // Even a stolen key cannot sign for other hosts.
            assert!(
                !world.trusts(&roots, &authority, host, 0.0),
                "{hosts:?} {host}"
            );
        }
        files.push(authority.certificate());
    }
    // Other hosts have another authority: nothing changes for clients of the first.
    assert_eq!(world.told(), [Change::Made; 4]);
    files.sort();
    files.dedup();
    assert_eq!(files.len(), 4);
    drop(world.open(folder.path(), &["EXAMPLE.com"]).unwrap());
    assert_eq!(world.told(), []);
}

#[test]
fn an_authority_whose_end_is_near_is_renewed_and_both_are_trusted_until_then() {
    let (world, folder) = (World::new(), tempfile::tempdir().unwrap());
    let old = world.open(folder.path(), &[]).unwrap();
    let old_roots = roots(&old);
    world.at_day(334.0);
    drop(world.open(folder.path(), &[]).unwrap());
    assert_eq!(world.told(), [Change::Made]);
    world.at_day(336.0);
    let end = UNIX_EPOCH + Duration::from_secs((START + 365) * 86_400);
    let new = world.open(folder.path(), &[]).unwrap();
    assert_eq!(world.told(), [Change::Renewed { end }]);
    let both = roots(&new);
    assert_eq!(both.len(), 2);
    for authority in [&old, &new] {
        assert!(world.trusts(&both, authority, "localhost", 0.0));
    }
    assert!(
        !world.trusts(&old_roots, &new, "localhost", 0.0),
        "the key is another one"
    );
    // A recorder that was running all the time takes over the new one before its own expires.
    world.at_day(360.0);
    assert!(world.trusts(&both, &old, "localhost", 6.9));
    assert_eq!(world.told(), [Change::Renewed { end }]);
}

#[test]
fn an_authority_that_has_ended_is_renewed_and_no_longer_trusted() {
    let (world, folder) = (World::new(), tempfile::tempdir().unwrap());
    drop(world.open(folder.path(), &["localhost"]).unwrap());
    world.at_day(400.0);
    let authority = world.open(folder.path(), &["localhost"]).unwrap();
    assert!(matches!(
        world.told()[..],
        [Change::Made, Change::Renewed { .. }]
    ));
    let roots = roots(&authority);
    assert_eq!(roots.len(), 1);
    assert!(world.trusts(&roots, &authority, "localhost", 0.0));
    // It was created in the future by a wrong clock.
    world.at_day(0.0);
    let authority = world.open(folder.path(), &["localhost"]).unwrap();
    assert!(world.trusts(&self::roots(&authority), &authority, "localhost", 0.0));
}

#[test]
fn an_authority_of_an_earlier_version_is_replaced() {
    let (world, folder) = (World::new(), tempfile::tempdir().unwrap());
    drop(world.open(folder.path(), &[]).unwrap());
    let key = folder.path().join("authority/ca.key");
    let text = fs::read_to_string(&key).unwrap();
    let end = text.find("-----BEGIN CERT").unwrap();
    let begin = text.find("-----BEGIN").unwrap();
    fs::write(&key, text.get(begin..end).unwrap()).unwrap();
    let authority = world.open(folder.path(), &[]).unwrap();
    assert_eq!(world.told(), [Change::Made, Change::Replaced]);
    assert_eq!(roots(&authority).len(), 1);
}

#[cfg(unix)]
#[test]
fn what_is_open_to_others_is_refused() {
    use std::fs::Permissions;
    use std::os::unix::fs::PermissionsExt as _;
    let (world, folder) = (World::new(), tempfile::tempdir().unwrap());
    drop(world.open(folder.path(), &[]).unwrap());
    let path = folder.path().join("authority");
    let (key, certificate) = (path.join("ca.key"), path.join("ca.pem"));
    for (file, loose, tight) in [
        (&path, 0o755, 0o700),
        (&path, 0o710, 0o700),
        (&key, 0o640, 0o600),
        (&key, 0o602, 0o600),
        (&certificate, 0o660, 0o600),
    ] {
        fs::set_permissions(file, Permissions::from_mode(loose)).unwrap();
        let refused = world.open(folder.path(), &[]).err();
        let is_loose = matches!(&refused, Some(AuthorityProblem::Loose { path, mode }) if path == file && *mode == loose);
        assert!(is_loose, "{loose:o} {refused:?}");
        fs::set_permissions(file, Permissions::from_mode(tight)).unwrap();
    }
}

#[test]
fn what_is_damaged_is_refused() {
    let (world, folder) = (World::new(), tempfile::tempdir().unwrap());
    drop(world.open(folder.path(), &[]).unwrap());
    let path = folder.path().join("authority");
    let (key, certificate) = (path.join("ca.key"), path.join("ca.pem"));
    let text = fs::read_to_string(&key).unwrap();
    let other = Record::other(&text);
    for damaged in ["", "rubbish", text.get(..text.len() / 2).unwrap(), &other] {
        fs::write(&key, damaged).unwrap();
        let refused = world.open(folder.path(), &[]).err();
        assert!(
            matches!(refused, Some(AuthorityProblem::Damaged { .. })),
            "{damaged} {refused:?}"
        );
    }
    fs::write(&key, &text).unwrap();
    // A missing file for clients is restored.
    fs::remove_file(&certificate).unwrap();
    let authority = world.open(folder.path(), &[]).unwrap();
    assert!(world.trusts(&roots(&authority), &authority, "localhost", 0.0));
    assert_eq!(world.told(), [Change::Made]);
    // Without its key it is replaced, which is reported.
    fs::remove_file(&key).unwrap();
    let authority = world.open(folder.path(), &[]).unwrap();
    assert!(world.trusts(&roots(&authority), &authority, "localhost", 0.0));
    assert_eq!(roots(&authority).len(), 1);
    assert_eq!(world.told(), [Change::KeyLost]);
}

/// Damages the file of an authority.
struct Record;

impl Record {
    /// Replaces the key.
    fn other(text: &str) -> String {
        let start = text.find("-----BEGIN PRIVATE").unwrap();
        let end = text.find("-----BEGIN CERT").unwrap();
        let key = KeyPair::generate().unwrap().serialize_pem();
        let (before, after) = (text.get(..start).unwrap(), text.get(end..).unwrap());
        format!("{before}{key}{after}")
    }
}

#[cfg(unix)]
#[test]
fn a_folder_that_is_a_link_is_refused() {
    let (world, folder) = (World::new(), tempfile::tempdir().unwrap());
    let real = folder.path().join("real");
    fs::create_dir(&real).unwrap();
    std::os::unix::fs::symlink(&real, folder.path().join("authority")).unwrap();
    let refused = world.open(folder.path(), &[]).err();
    assert!(
        matches!(refused, Some(AuthorityProblem::Files { .. })),
        "{refused:?}"
    );
    assert_eq!(fs::read_dir(&real).unwrap().count(), 0);
}

#[test]
fn recorders_that_begin_at_once_have_one_authority() {
    let (world, folder) = (World::new(), tempfile::tempdir().unwrap());
    let authorities: Vec<Authority> = std::thread::scope(|scope| {
        let open = || world.open(folder.path(), &["localhost"]).unwrap();
        let threads: Vec<_> = (0..8).map(|_| scope.spawn(open)).collect();
        threads
            .into_iter()
            .map(|thread| thread.join().unwrap())
            .collect()
    });
    assert_eq!(world.told(), [Change::Made]);
    let roots = roots(&authorities[0]);
    assert_eq!(roots.len(), 1);
    for authority in &authorities {
        assert!(world.trusts(&roots, authority, "localhost", 0.0));
    }
}

#[test]
fn a_recorder_that_does_not_let_go_is_not_waited_for_forever() {
    let (world, folder) = (World::new(), tempfile::tempdir().unwrap());
    let root = folder.path().join("authority");
    let held = crate::system::folder::Folder::at(&root).unwrap();
    held.lock(Duration::ZERO).unwrap();
    let hosts = Hosts::default();
    let refused =
        StoredAuthority::open(&root, &hosts, world.now(), Duration::from_millis(30)).err();
    assert!(
        matches!(refused, Some(AuthorityProblem::Locked { .. })),
        "{refused:?}"
    );
    drop(held);
    assert!(StoredAuthority::open(&root, &hosts, world.now(), Duration::ZERO).is_ok());
}
