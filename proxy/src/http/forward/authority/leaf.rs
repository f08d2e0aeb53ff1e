//! Certificates of single hosts.

use std::time::Duration;

use rcgen::{
    Certificate, CertificateParams, DistinguishedName, DnType, ExtendedKeyUsagePurpose, Issuer,
    KeyPair, date_time_ymd,
};

/// How long a certificate lives; an authority that ends earlier ends it.
pub(super) const WEEK: Duration = Duration::from_secs(7 * 24 * 3_600);
/// How far the clocks of clients may be behind ours.
const SKEW: Duration = Duration::from_secs(3_600);
/// The longest common name (RFC 5280, appendix A.1), in bytes.
const LONGEST: usize = 64;

/// A certificate for `host`, at the time `now` since 1970, by an authority that `ends` then.
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
    params.not_before = date_time_ymd(1970, 1, 1) + now.saturating_sub(SKEW);
    params.not_after = date_time_ymd(1970, 1, 1) + (now + WEEK).min(ends);
    params.extended_key_usages = vec![ExtendedKeyUsagePurpose::ServerAuth];
    params.use_authority_key_identifier_extension = true;
    params.signed_by(key, issuer)
}
