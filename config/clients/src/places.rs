//! The files that a client may have on this machine.

use crate::client::{Base, Client, KnownFile, Scope, System};

/// The data that paths depend on.
#[derive(Clone, Copy)]
pub struct PathEnvironment<'a> {
    /// The operating system.
    pub system: System,
    /// The home folder.
    pub home: &'a str,
    /// The folder of the project.
    pub project: &'a str,
    /// The environment; nothing for a variable that is not set or empty.
    pub variable: &'a dyn Fn(&str) -> Option<String>,
}

/// A file that a client may have.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Candidate {
    /// Its path; a part of it may be or contain `*`, which matches any name.
    pub path: String,
    /// The scope of its entries.
    pub scope: Scope,
    /// The possible positions of the servers in it: the first of these that exists.
    pub servers: Vec<Vec<String>>,
}

/// The files of a client on this machine, whether they exist or not.
#[must_use]
pub fn candidates(client: &Client, world: &PathEnvironment<'_>) -> Vec<Candidate> {
    let here = |place: &&KnownFile| place.systems.contains(&world.system);
    let places = client.places.iter().filter(here);
    places.flat_map(|place| world.candidates(place)).collect()
}

impl PathEnvironment<'_> {
    /// One candidate, or one for each spelling of the project if the servers are in it.
    fn candidates(&self, place: &KnownFile) -> Vec<Candidate> {
        let Some(base) = self.base(place.base) else {
            return Vec::new();
        };
        let candidate = |project: &String| Candidate {
            path: self.join(&base, place.path),
            scope: place.scope,
            servers: servers(place, project),
        };
        let mut candidates: Vec<Candidate> = self.spellings().iter().map(candidate).collect();
        candidates.dedup();
        candidates
    }

    /// The ways in which a client may write the project. On Windows, the same folder has several,
    /// and Claude Code keeps the one that it was started with.
    fn spellings(&self) -> Vec<String> {
        let mut spellings = vec![self.project.to_owned()];
        if self.system == System::Windows {
            for path in [
                self.project.replace('/', "\\"),
                self.project.replace('\\', "/"),
            ] {
                // A drive has one letter; what begins otherwise is in the list as it is.
                let Some((drive, rest)) = path.split_at_checked(1) else {
                    continue;
                };
                for drive in [drive.to_ascii_uppercase(), drive.to_ascii_lowercase()] {
                    let spelling = drive + rest;
                    if !spellings.contains(&spelling) {
                        spellings.push(spelling);
                    }
                }
            }
        }
        spellings
    }

    fn base(&self, base: Base) -> Option<String> {
        let variable = |name: &str| (self.variable)(name).filter(|value| !value.is_empty());
        let dot_config =
            || variable("XDG_CONFIG_HOME").unwrap_or_else(|| self.join(self.home, ".config"));
        Some(match base {
            Base::Home => self.home.to_owned(),
            Base::Project => self.project.to_owned(),
            Base::DotConfig => dot_config(),
            Base::Data => match self.system {
                System::Linux => dot_config(),
                System::MacOs => self.join(self.home, "Library/Application Support"),
                System::Windows => {
                    variable("APPDATA").unwrap_or_else(|| self.join(self.home, "AppData/Roaming"))
                }
            },
            Base::LocalData => {
                variable("LOCALAPPDATA").unwrap_or_else(|| self.join(self.home, "AppData/Local"))
            }
            Base::Variable(name) => variable(name)?,
            Base::VariableOr(name, path) => {
                variable(name).unwrap_or_else(|| self.join(self.home, path))
            }
        })
    }

    /// A path below a folder, with the system's separator.
    fn join(&self, base: &str, path: &str) -> String {
        let separator = match self.system {
            System::Windows => '\\',
            _ => '/',
        };
        let mut joined = base.trim_end_matches(['/', separator]).to_owned();
        for part in path.split('/').filter(|part| !part.is_empty()) {
            joined.push(separator);
            joined.push_str(part);
        }
        joined
    }
}

/// The positions of the servers in a file.
fn servers(place: &KnownFile, project: &str) -> Vec<Vec<String>> {
    let filled = |step: &&str| step.replace("{project}", project);
    let servers = place.servers.iter();
    servers
        .map(|path| path.iter().map(filled).collect())
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::table::CLIENTS;

    fn paths(id: &str, system: System, variables: &[(&str, &str)]) -> Vec<String> {
        let variable = |name: &str| {
            let found = variables.iter().find(|(known, _)| *known == name);
            found.map(|(_, value)| (*value).to_owned())
        };
        let home = if system == System::Windows {
            "C:\\Users\\ada"
        } else {
            "/home/ada"
        };
        let world = PathEnvironment {
            system,
            home,
            project: if system == System::Windows {
                "C:\\p"
            } else {
                "/work/p"
            },
            variable: &variable,
        };
        let client = CLIENTS.iter().find(|client| client.id == id).expect(id);
        let found = candidates(client, &world);
        found.into_iter().map(|found| found.path).collect()
    }

    #[test]
    fn a_path_follows_the_system() {
        let desktop = |system| paths("claude-desktop", system, &[("APPDATA", "C:\\AD")]);
        assert_eq!(
            desktop(System::Linux),
            ["/home/ada/.config/Claude/claude_desktop_config.json"]
        );
        assert_eq!(
            desktop(System::MacOs),
            ["/home/ada/Library/Application Support/Claude/claude_desktop_config.json"]
        );
        assert_eq!(
            desktop(System::Windows),
            [
                "C:\\AD\\Claude\\claude_desktop_config.json",
                "C:\\Users\\ada\\AppData\\Local\\Packages\\Claude_*\\LocalCache\\Roaming\\Claude\\claude_desktop_config.json"
            ]
        );
    }

    #[test]
    fn the_files_on_windows_are_those_of_the_table() {
        let profile = "C:\\Users\\ada";
        let roaming = "C:\\Users\\ada\\AppData\\Roaming";
        for (id, files) in [
            ("cursor", vec![(profile, ".cursor\\mcp.json")]),
            (
                "vscode",
                vec![
                    (roaming, "Code\\User\\mcp.json"),
                    (roaming, "Code\\User\\profiles\\*\\mcp.json"),
                ],
            ),
            (
                "windsurf",
                vec![
                    (profile, ".codeium\\windsurf\\mcp_config.json"),
                    (profile, ".codeium\\mcp_config.json"),
                ],
            ),
            ("zed", vec![(roaming, "Zed\\settings.json")]),
            ("codex", vec![(profile, ".codex\\config.toml")]),
            ("gemini", vec![(profile, ".gemini\\settings.json")]),
            (
                "goose",
                vec![(roaming, "Block\\goose\\config\\config.yaml")],
            ),
            (
                "cline",
                vec![
                    (
                        roaming,
                        "Code\\User\\globalStorage\\saoudrizwan.claude-dev\\settings\\cline_mcp_settings.json",
                    ),
                    (profile, ".cline\\data\\settings\\cline_mcp_settings.json"),
                ],
            ),
            (
                "continue",
                vec![
                    (profile, ".continue\\config.yaml"),
                    (profile, ".continue\\mcpServers\\*"),
                ],
            ),
            (
                "opencode",
                vec![
                    (profile, ".config\\opencode\\opencode.json"),
                    (profile, ".config\\opencode\\opencode.jsonc"),
                ],
            ),
            ("kiro", vec![(profile, ".kiro\\settings\\mcp.json")]),
            (
                "lm-studio",
                vec![
                    (profile, ".lmstudio\\mcp.json"),
                    (profile, ".cache\\lm-studio\\mcp.json"),
                ],
            ),
        ] {
            let wanted = files.iter().map(|(base, path)| format!("{base}\\{path}"));
            let found = paths(id, System::Windows, &[]);
            let found = found.into_iter().filter(|path| !path.starts_with("C:\\p"));
            assert_eq!(
                found.collect::<Vec<_>>(),
                wanted.collect::<Vec<_>>(),
                "{id}"
            );
        }
    }

    #[test]
    fn a_project_on_windows_is_found_however_it_is_spelled() {
        let client = CLIENTS.iter().find(|client| client.id == "claude-code");
        let world = PathEnvironment {
            system: System::Windows,
            home: "C:\\Users\\ada",
            project: "C:\\work\\p",
            variable: &|_| None,
        };
        let found = candidates(client.unwrap(), &world);
        let local = found.iter().filter(|one| one.scope == Scope::Local);
        let keys: Vec<&str> = local
            .map(|one| {
                assert_eq!(one.path, "C:\\Users\\ada\\.claude.json");
                one.servers.first().unwrap().get(1).unwrap().as_str()
            })
            .collect();
        assert_eq!(
            keys,
            ["C:\\work\\p", "c:\\work\\p", "C:/work/p", "c:/work/p"]
        );
        let user = found.iter().filter(|one| one.scope == Scope::User);
        assert_eq!(user.count(), 1);
    }

    #[test]
    fn the_environment_moves_files() {
        let code = paths(
            "claude-code",
            System::Linux,
            &[("CLAUDE_CONFIG_DIR", "/c/")],
        );
        assert_eq!(
            code,
            ["/c/.claude.json", "/work/p/.mcp.json", "/c/.claude.json"]
        );
        let codex = paths("codex", System::Linux, &[("CODEX_HOME", "/x")]);
        assert_eq!(codex, ["/x/config.toml", "/work/p/.codex/config.toml"]);
        let codex = paths("codex", System::Linux, &[("CODEX_HOME", "")]);
        assert!(codex.contains(&"/home/ada/.codex/config.toml".to_owned()));
        let variables = [("CLINE_MCP_SETTINGS_PATH", "/s.json"), ("CLINE_DIR", "/d")];
        let cline = paths("cline", System::Linux, &variables);
        assert_eq!(cline.first().map(String::as_str), Some("/s.json"));
        assert!(cline.contains(&"/d/data/settings/cline_mcp_settings.json".to_owned()));
        let zed = paths("zed", System::Linux, &[("XDG_CONFIG_HOME", "/xdg")]);
        assert!(zed.contains(&"/xdg/zed/settings.json".to_owned()));
    }

    #[test]
    fn every_client_has_a_file_of_the_user_on_every_system() {
        assert_eq!(CLIENTS.len(), 14);
        for client in CLIENTS {
            for system in System::ALL {
                assert!(!paths(client.id, *system, &[]).is_empty(), "{}", client.id);
            }
            assert!(client.has(Scope::User), "{}", client.id);
        }
    }
}
