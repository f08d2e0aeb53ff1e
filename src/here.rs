//! Where this program runs: its working folder and the user's home.

use tapewright_proxy::system::folders;
use tapewright_replay::Here;
use tapewright_schemas::made_in::MadeIn;

/// The working folder and the home, each empty if unknown.
pub(crate) fn here() -> Here {
    let text = |path: std::path::PathBuf| path.to_string_lossy().into_owned();
    Here {
        folder: std::env::current_dir().map_or_else(|_| String::new(), text),
        home: folders::home().map_or_else(String::new, text),
    }
}

/// The working folder for a header.
pub(crate) fn folder(made_in: &MadeIn) -> String {
    match &*made_in.folder {
        "" => here().folder,
        folder => folder.to_owned(),
    }
}

/// Both, for a recording.
pub(crate) fn made_in() -> MadeIn {
    let here = here();
    MadeIn::of(&here.folder, &here.home)
}
