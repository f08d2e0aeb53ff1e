//! Certificates of single hosts.

use std::time::Duration;

use rcgen::{
    Certificate, CertificateParams, DistinguishedName, DnType, ExtendedKeyUsagePurpose, Issuer,
    KeyPair, SerialNumber, date_time_ymd,
};

/// The lifetime of a certificate; limited by the end of its authority.
pub(super) const WEEK: Duration = Duration::from_secs(7 * 24 * 3_600);
/// How far the clocks of clients may be behind.
pub(super) const SKEW: Duration = Duration::from_secs(3_600);
/// The maximum length of a common name (RFC 5280, appendix A.1), in bytes.
const LONGEST: usize = 64;

/// A certificate for `host`, at the time `now` since 1970, issued by an authority that expires at
/// `ends`.
pub(super) fn leaf(
    issuer: &Issuer<'static, KeyPair>,
    key: &KeyPair,
    host: &str,
    now: Duration,
    ends: Duration,
) -> Result<Certificate, rcgen::Error> {
    let mut params = CertificateParams::new(vec![host.to_owned()])?;
    let mut name = DistinguishedName::new();
    if host.len() <= LONGEST {
        name.push(DnType::CommonName, host);
    }
    params.distinguished_name = name;
    params.serial_number = Some(serial()?);
    params.not_before = date_time_ymd(1970, 1, 1) + now.saturating_sub(SKEW);
    params.not_after = date_time_ymd(1970, 1, 1) + (now + WEEK).min(ends);
    params.extended_key_usages = vec![ExtendedKeyUsagePurpose::ServerAuth];
    params.use_authority_key_identifier_extension = true;
    params.signed_by(key, issuer)
}

/// A random serial number: clients refuse two certificates of one issuer with the same number (RFC
/// 5280 §4.1.2.2), and by default it would be derived from the key, which all hosts share.
fn serial() -> Result<SerialNumber, rcgen::Error> {
    let mut bytes = [0; 16];
    getrandom::fill(&mut bytes).map_err(|_| rcgen::Error::RingUnspecified)?;
    // Positive, and in its shortest form.
    if let Some(first) = bytes.first_mut() {
        *first = *first & 0x3f | 0x40;
    }
    Ok(SerialNumber::from_slice(&bytes))
}
