//! A store in a bucket of S3, or of a compatible service.

use std::sync::Arc;
use std::time::Duration;

use object_store::aws::{AmazonS3Builder, AmazonS3ConfigKey};
use object_store::prefix::PrefixStore;
use object_store::{ClientOptions, ObjectStore, RetryConfig};

use super::error::Secrets;
use super::open::PATIENCE;
use super::{Store, StoreError};

/// Variables whose values errors must not contain.
const SECRETS: [&str; 4] = [
    "AWS_ACCESS_KEY_ID",
    "AWS_CONTAINER_AUTHORIZATION_TOKEN",
    "AWS_SECRET_ACCESS_KEY",
    "AWS_SESSION_TOKEN",
];
/// Time limit for connecting.
const CONNECT: Duration = Duration::from_secs(5);
/// How often a request is repeated at once. Shippers try again later anyway.
const RETRIES: usize = 2;

/// Opens a bucket with the variables `AWS_…`, without any request.
pub(super) fn open(
    bucket: &str,
    prefix: &str,
    environment: impl Iterator<Item = (String, String)>,
) -> Result<Store, StoreError> {
    // If a provider is installed already, it is the same one.
    drop(rustls::crypto::ring::default_provider().install_default());
    let variables: Vec<_> = environment
        .filter(|(name, _)| name.starts_with("AWS_"))
        .collect();
    let secret =
        |(name, value): &(String, String)| SECRETS.contains(&name.as_str()).then(|| value.clone());
    let secrets = Arc::new(Secrets::new(variables.iter().filter_map(secret)));
    let mut builder = AmazonS3Builder::new();
    let mut is_near = false;
    for (name, value) in &variables {
        is_near |= name.starts_with("AWS_ENDPOINT") && is_loopback(value);
        if let Ok(key) = name.to_ascii_lowercase().parse::<AmazonS3ConfigKey>() {
            builder = builder.with_config(key, value);
        }
    }
    let options = ClientOptions::new()
        .with_connect_timeout(CONNECT)
        .with_timeout(PATIENCE)
        // Connections to this machine need no TLS.
        .with_allow_http(is_near || is_allowed(&variables));
    let retry = RetryConfig {
        max_retries: RETRIES,
        retry_timeout: PATIENCE,
        ..RetryConfig::default()
    };
    let inner = builder
        .with_bucket_name(bucket)
        .with_client_options(options)
        .with_retry(retry)
        .build()
        .map_err(|error| {
            let why = secrets.error(&error);
            StoreError::unusable(format!("cannot open the store `s3://{bucket}`: {why}"))
        })?;
    let inner: Arc<dyn ObjectStore> = if prefix.is_empty() {
        Arc::new(inner)
    } else {
        Arc::new(PrefixStore::new(inner, prefix))
    };
    Ok(Store {
        inner,
        secrets,
        patience: PATIENCE,
        folder: None,
    })
}

/// Whether a URL without TLS is on this machine.
fn is_loopback(url: &str) -> bool {
    let rest = url.strip_prefix("http://").unwrap_or_default();
    let host = rest.split('/').next().unwrap_or_default();
    let name = host.rsplit_once(':').map_or(host, |(name, _)| name);
    matches!(name, "localhost" | "127.0.0.1" | "[::1]")
}

fn is_allowed(variables: &[(String, String)]) -> bool {
    let allowed = variables.iter().find(|(name, _)| name == "AWS_ALLOW_HTTP");
    allowed.is_some_and(|(_, value)| matches!(value.as_str(), "1" | "true"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_this_machine_needs_no_tls() {
        for url in [
            "http://127.0.0.1:9000",
            "http://localhost/x",
            "http://[::1]:1",
        ] {
            assert!(is_loopback(url), "{url}");
        }
        for url in [
            "http://127.0.0.1.example:9000",
            "http://example",
            "https://localhost",
            "",
        ] {
            assert!(!is_loopback(url), "{url}");
        }
    }
}
