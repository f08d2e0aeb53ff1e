//! The user's folders.

use std::env;
use std::ffi::OsString;
use std::path::PathBuf;

/// The variables that name a user's folders.
struct Names {
    /// The home folder.
    home: &'static str,
    /// The folder in which programs keep data of this user and machine.
    state: &'static str,
    /// That folder within the home folder, if the variable is not set.
    state_in_home: [&'static str; 2],
}

const UNIX: Names = Names {
    home: "HOME",
    state: "XDG_STATE_HOME",
    state_in_home: [".local", "state"],
};

// `HOME` is a variable of other shells there, and clients do not read it. Unlike `%APPDATA%`,
// `%LOCALAPPDATA%` is not copied to a server when the user signs out.
const WINDOWS: Names = Names {
    home: "USERPROFILE",
    state: "LOCALAPPDATA",
    state_in_home: ["AppData", "Local"],
};

const OURS: &Names = if cfg!(windows) { &WINDOWS } else { &UNIX };

/// The variable with the user's home folder.
pub const HOME: &str = OURS.home;

/// The user's home folder.
#[must_use]
pub fn home() -> Option<PathBuf> {
    OURS.home(&|name| env::var_os(name))
}

/// The folder in which programs keep data of this user and machine.
#[must_use]
pub fn state() -> Option<PathBuf> {
    OURS.state(&|name| env::var_os(name))
}

impl Names {
    fn home(&self, variable: &dyn Fn(&str) -> Option<OsString>) -> Option<PathBuf> {
        folder(variable(self.home))
    }

    fn state(&self, variable: &dyn Fn(&str) -> Option<OsString>) -> Option<PathBuf> {
        let in_home = || {
            let mut path = self.home(variable)?;
            path.extend(self.state_in_home);
            Some(path)
        };
        folder(variable(self.state)).or_else(in_home)
    }
}

/// An empty variable is like one that is not set.
fn folder(value: Option<OsString>) -> Option<PathBuf> {
    value.filter(|value| !value.is_empty()).map(PathBuf::from)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_variable_names_the_state_folder_or_the_home_folder_contains_it() {
        let find = |names: &Names, set: &[(&str, &str)]| {
            let variable = |name: &str| {
                let found = set.iter().find(|(known, _)| *known == name)?;
                Some(OsString::from(found.1))
            };
            let slashes = |path: PathBuf| path.to_string_lossy().replace('\\', "/");
            let (home, state) = (names.home(&variable), names.state(&variable));
            (home.map(slashes), state.map(slashes))
        };
        let some = |home: &str, state: &str| (Some(home.to_owned()), Some(state.to_owned()));
        let home = ("HOME", "/home/ada");
        assert_eq!(
            find(&UNIX, &[home]),
            some("/home/ada", "/home/ada/.local/state")
        );
        let empty = ("XDG_STATE_HOME", "");
        assert_eq!(find(&UNIX, &[home, empty]), find(&UNIX, &[home]));
        let state = ("XDG_STATE_HOME", "/s");
        assert_eq!(find(&UNIX, &[home, state]), some("/home/ada", "/s"));
        assert_eq!(find(&UNIX, &[]), (None, None));
        let profile = ("USERPROFILE", "C:/Users/ada");
        let local = ("LOCALAPPDATA", "D:/Local");
        assert_eq!(
            find(&WINDOWS, &[home, profile]),
            some("C:/Users/ada", "C:/Users/ada/AppData/Local")
        );
        assert_eq!(
            find(&WINDOWS, &[profile, local]),
            some("C:/Users/ada", "D:/Local")
        );
        assert_eq!(find(&WINDOWS, &[home]), (None, None));
    }
}
