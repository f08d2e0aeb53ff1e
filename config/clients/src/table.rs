//! The table of clients. Sources: each client's own documentation and source, as of 2026-11.

use crate::client::{Base, Client, KnownFile, Note, Scope, System};
use crate::shape::Shape;

/// Every known client.
pub const CLIENTS: &[Client] = &[
    CLAUDE_DESKTOP,
    CLAUDE_CODE,
    CURSOR,
    VS_CODE,
    WINDSURF,
    ZED,
    CODEX,
    GEMINI,
    GOOSE,
    CLINE,
    CONTINUE,
    OPENCODE,
    KIRO,
    LM_STUDIO,
];

/// The client of this name on the command line.
#[must_use]
pub fn client(id: &str) -> Option<&'static Client> {
    CLIENTS.iter().find(|client| client.id == id)
}

type Servers = &'static [&'static [&'static str]];

const MCP_SERVERS: Servers = &[&["mcpServers"]];
const WINDOWS: &[System] = &[System::Windows];
const OTHERS: &[System] = &[System::Linux, System::MacOs];

const fn user(base: Base, path: &'static str) -> KnownFile {
    place(Scope::User, base, path, MCP_SERVERS)
}

const fn project(path: &'static str) -> KnownFile {
    place(Scope::Project, Base::Project, path, MCP_SERVERS)
}

const fn place(scope: Scope, base: Base, path: &'static str, servers: Servers) -> KnownFile {
    KnownFile {
        scope,
        systems: System::ALL,
        base,
        path,
        servers,
    }
}

const fn on(systems: &'static [System], mut place: KnownFile) -> KnownFile {
    place.systems = systems;
    place
}

const CLAUDE_DESKTOP: Client = Client {
    id: "claude-desktop",
    name: "Claude Desktop",
    places: &[
        user(Base::Data, "Claude/claude_desktop_config.json"),
        // Packaged since February 2026, with a separate folder.
        on(
            WINDOWS,
            user(
                Base::LocalData,
                "Packages/Claude_*/LocalCache/Roaming/Claude/claude_desktop_config.json",
            ),
        ),
    ],
    shape: Shape::PROCESSES,
    is_gui: true,
    notes: &[Note::Quit],
};

const CLAUDE_CODE: Client = Client {
    id: "claude-code",
    name: "Claude Code",
    places: &[
        user(Base::VariableOr("CLAUDE_CONFIG_DIR", ""), ".claude.json"),
        project(".mcp.json"),
        place(
            Scope::Local,
            Base::VariableOr("CLAUDE_CONFIG_DIR", ""),
            ".claude.json",
            &[&["projects", "{project}", "mcpServers"]],
        ),
    ],
    shape: Shape::COMMON,
    is_gui: false,
    notes: &[Note::RewritesWhileRunning, Note::Restart],
};

const CURSOR: Client = Client {
    id: "cursor",
    name: "Cursor",
    places: &[
        user(Base::Home, ".cursor/mcp.json"),
        project(".cursor/mcp.json"),
    ],
    shape: Shape::COMMON,
    is_gui: true,
    notes: &[Note::AsksAgain],
};

const SERVERS: Servers = &[&["servers"]];

const VS_CODE: Client = Client {
    id: "vscode",
    name: "VS Code",
    places: &[
        place(Scope::User, Base::Data, "Code/User/mcp.json", SERVERS),
        place(
            Scope::User,
            Base::Data,
            "Code/User/profiles/*/mcp.json",
            SERVERS,
        ),
        place(Scope::Project, Base::Project, ".vscode/mcp.json", SERVERS),
    ],
    shape: Shape::COMMON,
    is_gui: true,
    notes: &[Note::AsksAgain],
};

const WINDSURF: Client = Client {
    id: "windsurf",
    name: "Windsurf",
    places: &[
        user(Base::Home, ".codeium/windsurf/mcp_config.json"),
        user(Base::Home, ".codeium/mcp_config.json"),
    ],
    shape: Shape::WINDSURF,
    is_gui: true,
    notes: &[Note::Restart],
};

const CONTEXT_SERVERS: Servers = &[&["context_servers"]];

const ZED: Client = Client {
    id: "zed",
    name: "Zed",
    places: &[
        on(
            OTHERS,
            place(
                Scope::User,
                Base::DotConfig,
                "zed/settings.json",
                CONTEXT_SERVERS,
            ),
        ),
        on(
            WINDOWS,
            place(
                Scope::User,
                Base::Data,
                "Zed/settings.json",
                CONTEXT_SERVERS,
            ),
        ),
        place(
            Scope::Project,
            Base::Project,
            ".zed/settings.json",
            CONTEXT_SERVERS,
        ),
    ],
    shape: Shape::ZED,
    is_gui: true,
    notes: &[],
};

const MCP_SERVERS_TOML: Servers = &[&["mcp_servers"]];

const CODEX: Client = Client {
    id: "codex",
    name: "Codex",
    places: &[
        place(
            Scope::User,
            Base::VariableOr("CODEX_HOME", ".codex"),
            "config.toml",
            MCP_SERVERS_TOML,
        ),
        place(
            Scope::Project,
            Base::Project,
            ".codex/config.toml",
            MCP_SERVERS_TOML,
        ),
    ],
    shape: Shape::CODEX,
    is_gui: false,
    notes: &[Note::TrustedProject, Note::Restart],
};

const GEMINI: Client = Client {
    id: "gemini",
    name: "Gemini CLI",
    places: &[
        user(Base::Home, ".gemini/settings.json"),
        project(".gemini/settings.json"),
    ],
    shape: Shape::GEMINI,
    is_gui: false,
    notes: &[Note::Restart],
};

const EXTENSIONS: Servers = &[&["extensions"]];

const GOOSE: Client = Client {
    id: "goose",
    name: "Goose",
    places: &[
        on(
            OTHERS,
            place(
                Scope::User,
                Base::DotConfig,
                "goose/config.yaml",
                EXTENSIONS,
            ),
        ),
        on(
            WINDOWS,
            place(
                Scope::User,
                Base::Data,
                "Block/goose/config/config.yaml",
                EXTENSIONS,
            ),
        ),
    ],
    shape: Shape::GOOSE,
    is_gui: true,
    notes: &[Note::Restart],
};

const CLINE_IN_EDITOR: &str =
    "Code/User/globalStorage/saoudrizwan.claude-dev/settings/cline_mcp_settings.json";

const CLINE: Client = Client {
    id: "cline",
    name: "Cline",
    places: &[
        user(Base::Variable("CLINE_MCP_SETTINGS_PATH"), ""),
        user(Base::Data, CLINE_IN_EDITOR),
        user(
            Base::VariableOr("CLINE_DIR", ".cline"),
            "data/settings/cline_mcp_settings.json",
        ),
    ],
    shape: Shape::CLINE,
    is_gui: true,
    notes: &[],
};

const CONTINUE: Client = Client {
    id: "continue",
    name: "Continue",
    places: &[
        user(Base::Home, ".continue/config.yaml"),
        user(Base::Home, ".continue/mcpServers/*"),
        project(".continue/mcpServers/*"),
    ],
    shape: Shape::CONTINUE,
    is_gui: true,
    notes: &[],
};

// The second edition has the servers one step deeper.
const MCP: Servers = &[&["mcp", "servers"], &["mcp"]];

const OPENCODE: Client = Client {
    id: "opencode",
    name: "opencode",
    places: &[
        place(Scope::User, Base::DotConfig, "opencode/opencode.json", MCP),
        place(Scope::User, Base::DotConfig, "opencode/opencode.jsonc", MCP),
        place(Scope::Project, Base::Project, "opencode.json", MCP),
        place(Scope::Project, Base::Project, "opencode.jsonc", MCP),
    ],
    shape: Shape::OPENCODE,
    is_gui: false,
    notes: &[Note::Restart],
};

const KIRO: Client = Client {
    id: "kiro",
    name: "Kiro",
    places: &[
        user(Base::Home, ".kiro/settings/mcp.json"),
        project(".kiro/settings/mcp.json"),
    ],
    shape: Shape::COMMON,
    is_gui: true,
    notes: &[],
};

const LM_STUDIO: Client = Client {
    id: "lm-studio",
    name: "LM Studio",
    places: &[
        user(Base::Home, ".lmstudio/mcp.json"),
        user(Base::Home, ".cache/lm-studio/mcp.json"),
    ],
    shape: Shape::COMMON,
    is_gui: true,
    notes: &[],
};
