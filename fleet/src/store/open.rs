//! Which store a URL means.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use object_store::local::LocalFileSystem;

use super::error::Secrets;
use super::{Store, StoreError};

/// Where a store is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Place {
    /// A folder.
    Folder(PathBuf),
}

/// How long one request may take.
const PATIENCE: Duration = Duration::from_secs(30);

impl Place {
    /// Reads `file:///FOLDER`.
    pub fn read(url: &str) -> Result<Self, StoreError> {
        if let Some(path) = url.strip_prefix("file://") {
            let path = path.strip_prefix("localhost").unwrap_or(path);
            if path.starts_with('/') {
                return Ok(Self::Folder(decoded(path)?));
            }
        }
        // What else stands there may hold a secret.
        Err(StoreError::unusable(HELP.to_owned()))
    }
}

const HELP: &str = "invalid store; write it like `file:///var/lib/tapes`";

/// A path without the escapes of a URL.
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
    /// Opens the store at a place. A folder is created where `may_create`.
    pub fn open(place: &Place, may_create: bool) -> Result<Self, StoreError> {
        match place {
            Place::Folder(folder) => Self::folder(folder, may_create),
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
            // An entry is written once its segment is on the disk.
            .with_fsync(true)
            .with_automatic_cleanup(true);
        Ok(Self {
            inner: Arc::new(inner),
            secrets: Arc::default(),
            patience: PATIENCE,
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
            assert_eq!(Place::read(url), Ok(Place::Folder(path.into())), "{url}");
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
        ] {
            let error = Place::read(url).unwrap_err();
            assert_eq!(error.problem, super::super::Problem::Unusable, "{url}");
            assert!(!error.to_string().contains("s3cr3t"));
        }
    }
}
