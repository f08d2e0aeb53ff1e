//! Files and folders that only their owner can access, from the moment of their creation.
//!
//! `std` cannot create a file with an access list. `winsafe` can, and the handle that it returns
//! cannot become a file of `std` without `unsafe`; so the file is opened a second time.

use std::fs::{File, OpenOptions};
use std::io;
use std::path::{Path, absolute};
use std::ptr::null_mut;
use std::sync::OnceLock;

use winsafe::co::{DISPOSITION, ERROR, FILE_ATTRIBUTE, FILE_SHARE, GENERIC, SE};
use winsafe::co::{TOKEN, TOKEN_INFORMATION_CLASS};
use winsafe::{
    ConvertSidToStringSid, CreateDirectory, HFILE, HPROCESS, SECURITY_ATTRIBUTES,
    SECURITY_DESCRIPTOR, SysResult, TokenInfo,
};

use super::files::{patiently, system_error};
use crate::system::{access, names};

/// Opens a file, which is created with access for its owner only unless it exists.
pub(super) fn open(options: &OpenOptions, path: &Path) -> io::Result<File> {
    let name = system_path(path)?;
    let share = FILE_SHARE::READ | FILE_SHARE::WRITE;
    let create = || {
        let created = with_list(false, |attributes| {
            HFILE::CreateFile(
                &name,
                GENERIC::WRITE,
                Some(share),
                Some(attributes),
                DISPOSITION::CREATE_NEW,
                FILE_ATTRIBUTE::NORMAL,
                None,
                None,
                None,
            )
        })?;
        match created {
            Ok((open, _)) => Ok(Some(open)),
            Err(ERROR::FILE_EXISTS) => Ok(None),
            Err(error) => Err(system_error(error)),
        }
    };
    // While it is open, it cannot be removed or replaced by another file. A retry of both steps
    // would take the file of the first one for somebody else's.
    let created = patiently(create)?;
    let mut options = options.clone();
    if created.is_some() {
        options.create_new(false);
    }
    patiently(|| options.open(path))
}

/// Creates a folder. What is created in it is only accessible for its owner, too.
pub(super) fn create_folder(path: &Path) -> io::Result<()> {
    let name = system_path(path)?;
    with_list(true, |attributes| CreateDirectory(&name, Some(attributes)))?.map_err(system_error)
}

/// Calls `create` with an access list for the current user and the system.
fn with_list<T>(
    is_folder: bool,
    create: impl FnOnce(&SECURITY_ATTRIBUTES<'_>) -> SysResult<T>,
) -> io::Result<SysResult<T>> {
    let list = access::list(&[user()?, access::SYSTEM], is_folder);
    let mut list = list.ok_or(io::ErrorKind::Unsupported)?;
    let mut descriptor = SECURITY_DESCRIPTOR {
        Revision: 1,
        Sbz1: 0,
        Control: SE::DACL_PRESENT | SE::DACL_PROTECTED,
        Owner: null_mut(),
        Group: null_mut(),
        Sacl: null_mut(),
        Dacl: list.as_mut_ptr().cast(),
    };
    let mut attributes = SECURITY_ATTRIBUTES::default();
    attributes.set_lpSecurityDescriptor(Some(&mut descriptor));
    Ok(create(&attributes))
}

/// The identifier of the current user.
fn user() -> io::Result<&'static str> {
    static USER: OnceLock<String> = OnceLock::new();
    if let Some(known) = USER.get() {
        return Ok(known);
    }
    let find = || {
        let token = HPROCESS::GetCurrentProcess().OpenProcessToken(TOKEN::QUERY)?;
        let TokenInfo::User(user) = token.GetTokenInformation(TOKEN_INFORMATION_CLASS::User)?
        else {
            return Ok(None);
        };
        user.User
            .Sid()
            .map(|sid| ConvertSidToStringSid(sid))
            .transpose()
    };
    let found = find()
        .map_err(system_error)?
        .ok_or(io::ErrorKind::NotFound)?;
    Ok(USER.get_or_init(|| found))
}

/// A path as text, in the long form if it needs that.
pub(super) fn system_path(path: &Path) -> io::Result<String> {
    let path = absolute(path)?;
    let text = path.to_str().ok_or(io::ErrorKind::InvalidFilename)?;
    Ok(names::long(text))
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::io::Write as _;
    use std::process::Command;

    use super::*;

    /// Who may access a path, as `icacls` shows it; nothing on Wine, whose `icacls` does nothing.
    fn accounts(path: &Path) -> Vec<String> {
        let told = Command::new("icacls").arg(path).output().unwrap();
        let text = String::from_utf8_lossy(&told.stdout).into_owned();
        let text = text.replace(&path.display().to_string(), "");
        let entries = text.lines().filter_map(|line| line.split_once(":("));
        let found: Vec<String> = entries
            .map(|(account, _)| account.trim().to_owned())
            .collect();
        let is_wine = std::env::var_os("TAPEWRIGHT_ON_WINDOWS").is_none();
        assert!(is_wine || !found.is_empty(), "{text}");
        found
    }

    #[test]
    fn what_is_created_is_accessible_for_its_owner_and_the_system() {
        let place = tempfile::tempdir().unwrap();
        let (folder, file) = (place.path().join("own"), place.path().join("a.json"));
        create_folder(&folder).unwrap();
        let inside = folder.join("inside.json");
        fs::write(&inside, "inside").unwrap();
        let mut options = OpenOptions::new();
        options.read(true).append(true).create_new(true);
        open(&options, &file).unwrap().write_all(b"one").unwrap();
        for path in [&folder, &inside, &file] {
            for account in accounts(path) {
                let account = account.to_lowercase();
                let user = std::env::var("USERNAME").unwrap().to_lowercase();
                let is_known = account.ends_with(&user) || account.ends_with("\\system");
                assert!(is_known, "{account} may access {}", path.display());
            }
        }
        assert_eq!(
            create_folder(&folder).unwrap_err().kind(),
            io::ErrorKind::AlreadyExists
        );
    }

    #[test]
    fn a_file_that_exists_is_opened_as_it_is() {
        let place = tempfile::tempdir().unwrap();
        let file = place.path().join("log");
        let mut new = OpenOptions::new();
        new.append(true).create_new(true);
        open(&new, &file).unwrap().write_all(b"one").unwrap();
        let again = open(&new, &file).unwrap_err();
        assert_eq!(again.kind(), io::ErrorKind::AlreadyExists);
        let mut log = OpenOptions::new();
        log.append(true).create(true);
        open(&log, &file).unwrap().write_all(b"two").unwrap();
        assert_eq!(fs::read_to_string(&file).unwrap(), "onetwo");
        let missing = place.path().join("missing/a.json");
        let missing = open(&new, &missing).unwrap_err();
        assert_eq!(missing.kind(), io::ErrorKind::NotFound);
    }

    #[test]
    fn paths_may_be_long() {
        let place = tempfile::tempdir().unwrap();
        let mut path = place.path().to_owned();
        for _ in 0..30 {
            path.push("a-folder-of-20-chars");
            create_folder(&path).unwrap();
        }
        let file = path.join("a.json");
        let mut options = OpenOptions::new();
        options.write(true).create_new(true);
        open(&options, &file).unwrap().write_all(b"deep").unwrap();
        assert_eq!(fs::read_to_string(&file).unwrap(), "deep");
    }
}
