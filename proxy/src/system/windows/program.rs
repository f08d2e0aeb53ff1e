//! Finds the file of a program.

use std::env;
use std::ffi::{OsStr, OsString};
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

/// The extensions of programs if `PATHEXT` has none.
const ENDINGS: &str = ".COM;.EXE;.BAT;.CMD";

/// The file of a program. A path is relative to `folder`, any other name is only searched in the
/// folders of `path`, or of `PATH` without it: not in the current folder, where someone may have
/// placed one.
pub(super) fn find(
    program: &OsStr,
    folder: Option<&Path>,
    path: Option<&OsStr>,
) -> io::Result<PathBuf> {
    let endings = env::var("PATHEXT")
        .ok()
        .filter(|endings| !endings.is_empty());
    let endings = endings.unwrap_or_else(|| ENDINGS.to_owned());
    let path = path.map(OsStr::to_owned);
    let path = path.or_else(|| env::var_os("PATH")).unwrap_or_default();
    let lookup = Lookup {
        endings: endings
            .split(';')
            .filter(|ending| !ending.is_empty())
            .collect(),
        folders: env::split_paths(&path).collect(),
        is_file: &is_file,
    };
    let found = lookup.find(Path::new(program), folder);
    // `cmd.exe` runs in the folder, and would resolve a relative path there once more.
    found
        .map(std::path::absolute)
        .transpose()?
        .ok_or_else(|| io::Error::new(io::ErrorKind::NotFound, "program not found"))
}

/// Whether this is a file that can be started. An alias of the Microsoft Store, such as `python.exe`
/// in `WindowsApps`, can be, but not opened.
fn is_file(path: &Path) -> bool {
    path.is_file() || fs::symlink_metadata(path).is_ok_and(|it| it.is_file())
}

/// What to search for, and where.
struct Lookup<'a> {
    endings: Vec<&'a str>,
    folders: Vec<PathBuf>,
    is_file: &'a dyn Fn(&Path) -> bool,
}

impl Lookup<'_> {
    fn find(&self, program: &Path, folder: Option<&Path>) -> Option<PathBuf> {
        if program.as_os_str().is_empty() {
            return None;
        }
        if program.components().nth(1).is_some() || program.is_absolute() {
            let from = folder.map_or_else(|| program.to_owned(), |folder| folder.join(program));
            return self.with_ending(&from);
        }
        let places = self.folders.iter().filter(|folder| folder.is_absolute());
        places
            .map(|folder| folder.join(program))
            .find_map(|path| self.with_ending(&path))
    }

    /// The file itself if its name has the extension of a program; else with the first existing
    /// extension.
    fn with_ending(&self, path: &Path) -> Option<PathBuf> {
        let is_program = path
            .extension()
            .and_then(OsStr::to_str)
            .is_some_and(|ending| {
                let known =
                    |known: &&str| known.trim_start_matches('.').eq_ignore_ascii_case(ending);
                self.endings.iter().any(known)
            });
        if is_program && (self.is_file)(path) {
            return Some(path.to_owned());
        }
        let named = self.endings.iter().map(|ending| {
            let mut name = OsString::from(path);
            name.push(ending);
            PathBuf::from(name)
        });
        named.into_iter().find(|path| (self.is_file)(path))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn programs_are_found_by_their_endings_and_never_here() {
        let there = [
            r"C:\node\npx",
            r"C:\node\npx.CMD",
            r"C:\bin\a.exe",
            r"C:\bin\a.b.exe",
            r"x\c.BAT",
        ];
        let lookup = Lookup {
            endings: vec![".EXE", ".BAT", ".CMD"],
            folders: vec![r".".into(), r"C:\bin".into(), r"C:\node".into()],
            is_file: &|path| there.iter().any(|there| path == Path::new(there)),
        };
        let find = |program: &str| {
            let found = lookup.find(Path::new(program), None);
            found.map(|path| path.to_string_lossy().to_lowercase())
        };
        assert_eq!(find("npx").as_deref(), Some(r"c:\node\npx.cmd"));
        assert_eq!(find("npx.CMD").as_deref(), Some(r"c:\node\npx.cmd"));
        assert_eq!(find("a.exe").as_deref(), Some(r"c:\bin\a.exe"));
        assert_eq!(find(r"x\c").as_deref(), Some(r"x\c.bat"));
        for nothing in ["", "c", "a.b.c", r"C:\node\a"] {
            assert_eq!(find(nothing), None, "{nothing}");
        }
    }
}
