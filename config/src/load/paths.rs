//! Relative paths of a suite are relative to the folder of the file that contains them.

use std::path::{Path, PathBuf};

use crate::source::{FileId, Sources};
use crate::suite::Suite;
use crate::suite::server::Target;

/// Puts the folder before every relative path.
pub(super) fn resolve(suite: &mut Suite, sources: &Sources) {
    let beside = |file: FileId, path: &Path| -> PathBuf {
        let folder = sources.path(file).parent().unwrap_or(Path::new(""));
        folder.join(path).components().collect()
    };
    for server in &mut suite.servers {
        match &mut server.target {
            Target::Cassette(path) => *path = beside(server.place.file, path),
            Target::Url(url) => {
                if let Some(bundle) = &mut url.http.tls.ca_bundle {
                    *bundle = beside(server.place.file, bundle);
                }
            }
            Target::Command(_) => {}
        }
    }
}
