//! The description of a client.

use crate::shape::Shape;

/// A program that starts MCP servers.
#[derive(Debug)]
pub struct Client {
    /// Its name on the command line, such as `claude-code`.
    pub id: &'static str,
    /// Its product name.
    pub name: &'static str,
    /// The files with its servers, in the order in which they are tried.
    pub places: &'static [KnownFile],
    /// The form of an entry.
    pub shape: Shape,
    /// Whether it is started from a desktop, where `PATH` differs from a shell's.
    pub is_gui: bool,
    /// What its user should know after a change.
    pub notes: &'static [Note],
}

impl Client {
    /// Whether it has a file of this scope on any system.
    #[must_use]
    pub fn has(&self, scope: Scope) -> bool {
        self.places.iter().any(|place| place.scope == scope)
    }
}

/// The scope of an entry.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Scope {
    /// For everything that the user does.
    User,
    /// For everyone who works in a project; often under version control.
    Project,
    /// For this user in one project.
    Local,
}

impl Scope {
    /// All scopes.
    pub const ALL: [Self; 3] = [Self::User, Self::Project, Self::Local];

    /// Its name on the command line.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::User => "user",
            Self::Project => "project",
            Self::Local => "local",
        }
    }
}

/// An operating system, as far as it affects paths.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum System {
    /// Linux, and systems with the same folder layout.
    Linux,
    /// macOS.
    MacOs,
    /// Windows.
    Windows,
}

impl System {
    /// Every system.
    pub const ALL: &'static [Self] = &[Self::Linux, Self::MacOs, Self::Windows];
}

/// A file of a client, and the position of the servers in it.
#[derive(Debug)]
pub struct KnownFile {
    /// The scope of the entries.
    pub scope: Scope,
    /// The systems with this file.
    pub systems: &'static [System],
    /// The folder that `path` begins in.
    pub base: Base,
    /// The file, with `/` between its folders. `*` matches any name.
    pub path: &'static str,
    /// The position of the servers in it: the first of these that exists. `{project}` is the path
    /// of the project.
    pub servers: &'static [&'static [&'static str]],
}

/// A folder that a path begins in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Base {
    /// The home folder of the user.
    Home,
    /// `$XDG_CONFIG_HOME` or `~/.config`, on every system.
    DotConfig,
    /// The folder for programs' data: `$XDG_CONFIG_HOME` or `~/.config` on Linux,
    /// `~/Library/Application Support` on macOS, `%APPDATA%` on Windows.
    Data,
    /// `%LOCALAPPDATA%`.
    LocalData,
    /// The folder in this environment variable; unavailable if it is not set.
    Variable(&'static str),
    /// The same folder, or this one in the home folder if the variable is not set.
    VariableOr(&'static str, &'static str),
    /// The folder of the project.
    Project,
}

/// What the user should know after a change.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Note {
    /// It reads the file when it starts.
    Restart,
    /// It must be quit, not only closed.
    Quit,
    /// It writes the file while it runs, and may undo a change made meanwhile.
    RewritesWhileRunning,
    /// It asks for confirmation before it runs a changed server.
    AsksAgain,
    /// It only reads a project's file if the project is trusted.
    TrustedProject,
}
