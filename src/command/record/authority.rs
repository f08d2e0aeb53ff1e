//! The certificate authority of `--intercept`, and the messages about it.

use std::path::{Path, PathBuf};

use tapewright_proxy::clock;
use tapewright_proxy::http::forward::{
    Authority, AuthorityProblem, AuthoritySettings, Change, Hosts,
};

use tapewright_schemas::slices::Front as _;

use super::target::{self, timestamp};
use crate::files::output;
use crate::report::{self, Mistake, safe};

/// The authority for these hosts; for any host if there are none. With `tells`, prints which
/// certificate to trust.
pub(super) fn open(hosts: &[String], tells: bool) -> anyhow::Result<Authority> {
    let hosts = Hosts::of(hosts).map_err(|why| {
        let what = format!("invalid `--intercept-host`: {why}");
        let hint = "write it like `--intercept-host api.example.com`, or use its IP address";
        Mistake::new(what, hint)
    })?;
    let folder = folder()?;
    output::possible(&folder)?;
    let settings = AuthoritySettings {
        folder,
        hosts,
        now: Box::new(clock::wall),
        changed: Box::new(tell),
    };
    let authority = Authority::open(settings).map_err(|problem| {
        let hint = remedy(&problem);
        anyhow::Error::new(problem).context(hint)
    })?;
    if tells {
        tell_clients(&authority.certificate());
    }
    Ok(authority)
}

/// Prints which certificate clients must trust.
fn tell_clients(certificate: &Path) {
    let path = safe(&certificate.display().to_string());
    report::note(&format!(
        "clients have to trust {path}:\n  Node    NODE_EXTRA_CA_CERTS={path} NODE_USE_ENV_PROXY=1\n  Python  SSL_CERT_FILE={path}\n  Rust    SSL_CERT_FILE={path}\nand to use HTTP_PROXY and HTTPS_PROXY"
    ));
}

/// The file with the certificate that clients must trust, if the authority exists.
pub(super) fn certificate() -> anyhow::Result<PathBuf> {
    Ok(folder()?.join("ca.pem"))
}

fn folder() -> anyhow::Result<PathBuf> {
    Ok(target::home()?.join("authority"))
}

/// Prints what clients must trust from now on.
fn tell(change: Change, file: &Path) {
    let what = match change {
        Change::KeyLost => "takes the place of one whose key is missing".to_owned(),
        Change::Made => return,
        Change::Renewed { end } => {
            let end = timestamp(end);
            format!(
                "was renewed: the one before ends on {}",
                end.front("2026-07-28".len())
            )
        }
        Change::Replaced => "takes the place of one without an end".to_owned(),
    };
    let file = file.display().to_string();
    report::note(&format!(
        "the certificate authority {what}. Clients that read {} when they start trust it; where you put the file into a store of certificates, put the new one there and take the old one out",
        safe(&file)
    ));
}

/// The advice for a problem.
fn remedy(problem: &AuthorityProblem) -> Mistake {
    let what = "nothing was recorded";
    match problem {
        AuthorityProblem::Loose { path, .. } => {
            let path = safe(&path.display().to_string());
            Mistake::new(
                what,
                format!(
                    "others may know its key: remove `{path}` to create a new one, which clients must then trust, or run `chmod -R go= {path}` to keep it"
                ),
            )
        }
        AuthorityProblem::Foreign { path } => {
            let path = safe(&path.display().to_string());
            Mistake::new(
                what,
                format!("set `TAPEWRIGHT_HOME` to a folder of your own, or remove `{path}`"),
            )
        }
        AuthorityProblem::Damaged { path } => {
            let path = safe(&path.display().to_string());
            Mistake::new(
                what,
                format!("remove `{path}` to create a new one, which clients must then trust"),
            )
        }
        AuthorityProblem::Locked { .. } => {
            Mistake::new(what, "stop the other recorder, or try again")
        }
        _ => Mistake::new(what, "set `TAPEWRIGHT_HOME` to a writable folder"),
    }
}
