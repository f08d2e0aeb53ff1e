//! The form of a client's entry.

/// The members of an entry and their meanings.
#[derive(Clone, Copy, Debug)]
pub struct Shape {
    /// How a process is started.
    pub command: Command,
    /// The member with the type of the transport, if there is one.
    pub kind: Option<Kind>,
    /// The members that may contain the URL of a remote server.
    pub urls: &'static [&'static str],
    /// The members that a remote server is sent or logged in with.
    pub credentials: &'static [&'static str],
    /// The member with the environment of a process.
    pub env: &'static str,
    /// The member that must repeat the server's name, if any.
    pub name: Option<&'static str>,
    /// Further members of a new entry.
    pub also: &'static [(&'static str, &'static str)],
    /// Whether the servers are a list rather than members by name.
    pub is_list: bool,
}

/// How an entry defines the process to start.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Command {
    /// A program, and a list of arguments.
    Pair {
        /// The program.
        program: &'static str,
        /// Its arguments.
        arguments: &'static str,
    },
    /// One list that begins with the program.
    List(&'static str),
}

impl Command {
    /// The member that names the program.
    #[must_use]
    pub fn member(self) -> &'static str {
        match self {
            Self::Pair { program, .. } => program,
            Self::List(member) => member,
        }
    }
}

/// The member with the type of an entry's transport.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Kind {
    /// Its name.
    pub member: &'static str,
    /// Its value for a process.
    pub process: &'static str,
    /// Its value for a server on Streamable HTTP.
    pub remote: &'static str,
    /// Whether an entry without it is ignored or misread.
    pub is_required: bool,
}

const PAIR: Command = Command::Pair {
    program: "command",
    arguments: "args",
};

const TYPE: Kind = Kind {
    member: "type",
    process: "stdio",
    remote: "http",
    is_required: false,
};

impl Shape {
    /// The form of most clients: `command`, `args`, `env`; `url` and `headers`.
    pub(crate) const COMMON: Self = Self {
        command: PAIR,
        kind: Some(TYPE),
        urls: &["url"],
        credentials: &["headers", "oauth", "auth"],
        env: "env",
        name: None,
        also: &[],
        is_list: false,
    };

    /// Entries for processes alone.
    pub(crate) const PROCESSES: Self = Self {
        urls: &[],
        credentials: &[],
        ..Self::COMMON
    };

    /// Windsurf.
    pub(crate) const WINDSURF: Self = Self {
        urls: &["serverUrl", "url"],
        ..Self::COMMON
    };

    /// Gemini CLI: `httpUrl` is Streamable HTTP, `url` HTTP+SSE.
    pub(crate) const GEMINI: Self = Self {
        urls: &["httpUrl", "url"],
        credentials: &["headers", "oauth", "authProviderType"],
        ..Self::COMMON
    };

    /// Codex.
    pub(crate) const CODEX: Self = Self {
        kind: None,
        credentials: &[
            "bearer_token_env_var",
            "http_headers",
            "env_http_headers",
            "oauth",
        ],
        ..Self::COMMON
    };

    /// Goose.
    pub(crate) const GOOSE: Self = Self {
        command: Command::Pair {
            program: "cmd",
            arguments: "args",
        },
        kind: Some(Kind {
            remote: "streamable_http",
            is_required: true,
            ..TYPE
        }),
        urls: &["uri"],
        env: "envs",
        name: Some("name"),
        also: &[("enabled", "true")],
        ..Self::COMMON
    };

    /// Cline.
    pub(crate) const CLINE: Self = Self {
        kind: Some(Kind {
            remote: "streamableHttp",
            ..TYPE
        }),
        ..Self::COMMON
    };

    /// Continue.
    pub(crate) const CONTINUE: Self = Self {
        kind: Some(Kind {
            remote: "streamable-http",
            ..TYPE
        }),
        credentials: &["headers", "requestOptions", "apiKey"],
        name: Some("name"),
        is_list: true,
        ..Self::COMMON
    };

    /// opencode.
    pub(crate) const OPENCODE: Self = Self {
        command: Command::List("command"),
        kind: Some(Kind {
            member: "type",
            process: "local",
            remote: "remote",
            is_required: true,
        }),
        env: "environment",
        ..Self::COMMON
    };

    /// Zed.
    pub(crate) const ZED: Self = Self {
        kind: None,
        ..Self::COMMON
    };
}
