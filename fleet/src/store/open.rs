//! Opens the store for a URL.

use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use object_store::local::LocalFileSystem;

use super::error::Secrets;
use super::{Store, StoreError, s3};

/// The location of a store.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum StoreLocation {
    /// A folder.
    Folder(PathBuf),
    /// A bucket, or a prefix of it.
    Bucket {
        /// Its name.
        bucket: String,
        /// The prefix of its objects' names; may be empty.
        prefix: String,
    },
}

impl fmt::Display for StoreLocation {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Folder(folder) => write!(out, "{}", folder.display()),
            Self::Bucket { bucket, prefix } if prefix.is_empty() => write!(out, "s3://{bucket}"),
            Self::Bucket { bucket, prefix } => write!(out, "s3://{bucket}/{prefix}"),
        }
    }
}

/// Time limit for one request.
pub(super) const PATIENCE: Duration = Duration::from_secs(30);

impl StoreLocation {
    /// Reads `file:///FOLDER` or `s3://BUCKET/PREFIX`.
    pub fn read(url: &str) -> Result<Self, StoreError> {
        if let Some(rest) = url.strip_prefix("s3://")
            && let Some(place) = bucket(rest)
        {
            return Ok(place);
        }
        if let Some(path) = url.strip_prefix("file://") {
            let path = path.strip_prefix("localhost").unwrap_or(path);
            if path.starts_with('/') {
                return Ok(Self::Folder(decoded(path)?));
            }
        }
        // Any other text may contain a secret.
        Err(StoreError::unusable(HELP.to_owned()))
    }
}

const HELP: &str = "invalid store; write it like `file:///var/lib/tapes` or `s3://BUCKET/PREFIX`";

/// A bucket and a prefix, in names that need no escapes. Credentials in front of them are refused
/// like any other text.
fn bucket(rest: &str) -> Option<StoreLocation> {
    let (bucket, prefix) = rest.split_once('/').unwrap_or((rest, ""));
    let is_bucket = (3..=63).contains(&bucket.len())
        && bucket.bytes().all(|byte| {
            byte.is_ascii_lowercase() || byte.is_ascii_digit() || b".-".contains(&byte)
        })
        && bucket.starts_with(|char: char| char.is_ascii_alphanumeric());
    let prefix = prefix.strip_suffix('/').unwrap_or(prefix);
    let is_part = |part: &str| {
        let plain = |byte: u8| byte.is_ascii_alphanumeric() || b"-_.=".contains(&byte);
        !part.is_empty() && part.bytes().all(plain) && !matches!(part, "." | "..")
    };
    let is_prefix = prefix.is_empty() || prefix.split('/').all(is_part);
    (is_bucket && is_prefix).then(|| StoreLocation::Bucket {
        bucket: bucket.to_owned(),
        prefix: prefix.to_owned(),
    })
}

/// A path with the escapes of a URL decoded.
fn decoded(path: &str) -> Result<PathBuf, StoreError> {
    use std::os::unix::ffi::OsStringExt as _;
    let mut bytes = Vec::with_capacity(path.len());
    let mut rest = path.bytes();
    while let Some(byte) = rest.next() {
        if byte != b'%' {
            bytes.push(byte);
            continue;
        }
        let digits = [rest.next(), rest.next()];
        let digit = |byte: Option<u8>| char::from(byte?).to_digit(16);
        let [Some(high), Some(low)] = digits.map(digit) else {
            return Err(StoreError::unusable(HELP.to_owned()));
        };
        bytes.push(u8::try_from(high * 16 + low).unwrap_or_default());
    }
    if bytes.contains(&0) {
        return Err(StoreError::unusable(HELP.to_owned()));
    }
    Ok(PathBuf::from(std::ffi::OsString::from_vec(bytes)))
}

impl Store {
    /// Opens the store at a location. A missing folder is created if `may_create`; the variables
    /// `AWS_…` of the environment configure a bucket.
    pub fn open(
        place: &StoreLocation,
        may_create: bool,
        environment: impl Iterator<Item = (String, String)>,
    ) -> Result<Self, StoreError> {
        match place {
            StoreLocation::Folder(folder) => Self::folder(folder, may_create),
            StoreLocation::Bucket { bucket, prefix } => s3::open(bucket, prefix, environment),
        }
    }

    fn folder(folder: &Path, may_create: bool) -> Result<Self, StoreError> {
        let unusable = |why: String| {
            let folder = folder.display();
            StoreError::unusable(format!("cannot open the store `{folder}`: {why}"))
        };
        if may_create {
            std::fs::create_dir_all(folder).map_err(|error| unusable(error.to_string()))?;
        } else if !folder.is_dir() {
            return Err(unusable("not a folder".to_owned()));
        }
        let inner = LocalFileSystem::new_with_prefix(folder)
            .map_err(|error| unusable(Secrets::default().error(&error).to_string()))?
            // An entry must be written after its segment is on the disk.
            .with_fsync(true)
            .with_automatic_cleanup(true);
        Ok(Self {
            inner: Arc::new(inner),
            secrets: Arc::default(),
            patience: PATIENCE,
            folder: Some(folder.into()),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_folder_is_named_by_its_url() {
        for (url, path) in [
            ("file:///var/lib/tapes", "/var/lib/tapes"),
            ("file://localhost/a%20b", "/a b"),
            ("file:///", "/"),
        ] {
            assert_eq!(
                StoreLocation::read(url),
                Ok(StoreLocation::Folder(path.into())),
                "{url}"
            );
        }
    }

    #[test]
    fn a_bucket_is_named_by_its_url() {
        for (url, bucket, prefix) in [
            ("s3://tapes", "tapes", ""),
            ("s3://tapes/", "tapes", ""),
            ("s3://my.tapes-1/a/b_c/", "my.tapes-1", "a/b_c"),
        ] {
            let (bucket, prefix) = (bucket.to_owned(), prefix.to_owned());
            assert_eq!(
                StoreLocation::read(url),
                Ok(StoreLocation::Bucket { bucket, prefix }),
                "{url}"
            );
        }
    }

    #[test]
    fn what_names_no_store_is_refused_and_not_told() {
        for url in [
            "",
            "/var/lib/tapes",
            "file://host/x",
            "file://x",
            "file:///%zz",
            "file:///%",
            "file:///%00",
            "ftp://user:s3cr3t@host/",
            "s3://key:s3cr3t@bucket/",
            "s3://bucket?token=s3cr3t",
            "s3://bucket/a/../b",
            "s3://bucket//b",
            "s3://Bucket",
            "s3://",
        ] {
            let error = StoreLocation::read(url).unwrap_err();
            assert_eq!(error.problem, super::super::Problem::Unusable, "{url}");
            assert!(!error.to_string().contains("s3cr3t"));
        }
    }
}
