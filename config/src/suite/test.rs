//! `tools`, `resources`, `prompts`, `compliance` and `defaultTest`.

use std::time::Duration;

use serde_json::{Map, Value};

use super::expect::Expect;
use super::options::TestOptions;
use super::rows;
use super::transform::Transform;
use crate::read::Cursor;
use crate::source::SourceSpot;

/// A tool call.
#[derive(Clone, Debug)]
pub struct ToolTest {
    /// Its name in reports. Names need not be unique.
    pub name: String,
    /// The server to call.
    pub server: String,
    /// The tool to call.
    pub tool: String,
    /// The arguments; `None` if the suite gives none.
    pub args: Option<Map<String, Value>>,
    /// The expectations.
    pub expect: Expect,
    /// Limit of this test.
    pub timeout: Option<Duration>,
    /// The tags by which it is selected.
    pub tags: Vec<String>,
    /// Its options in a run.
    pub options: TestOptions,
    /// Programs that rewrite request and response.
    pub transform: Option<Transform>,
    /// The fixture that answers instead of the server.
    pub inject_error: Option<String>,
    /// Its position.
    pub place: SourceSpot,
}

/// A read of a resource.
#[derive(Clone, Debug)]
pub struct ResourceTest {
    /// Its name in reports.
    pub name: String,
    /// The server to test.
    pub server: String,
    /// The resource.
    pub uri: String,
    /// The expectations.
    pub expect: Expect,
    /// The tags by which it is selected.
    pub tags: Vec<String>,
    /// Its options in a run.
    pub options: TestOptions,
    /// Its position.
    pub place: SourceSpot,
}

/// A prompt, fetched.
#[derive(Clone, Debug)]
pub struct PromptTest {
    /// Its name in reports.
    pub name: String,
    /// The server to test.
    pub server: String,
    /// The prompt.
    pub prompt: String,
    /// The arguments; none are sent if `None`.
    pub args: Option<Map<String, Value>>,
    /// The expectations.
    pub expect: Expect,
    /// The tags by which it is selected.
    pub tags: Vec<String>,
    /// Its options in a run.
    pub options: TestOptions,
    /// Its position.
    pub place: SourceSpot,
}

/// Defaults for every tool test.
#[derive(Clone, Debug, Default)]
pub struct DefaultTest {
    /// For tests without their own transform.
    pub transform: Option<Transform>,
    /// Assertions that follow a test's own.
    pub expect: Expect,
    /// Their position.
    pub expect_place: Option<SourceSpot>,
}

impl ToolTest {
    pub(crate) fn read(at: &Cursor<'_>) -> Self {
        let mut fields = at.fields();
        let test = Self {
            name: fields.name("name"),
            server: fields.name("server"),
            tool: fields.name("tool"),
            args: fields.optional("args").map(|at| at.object()),
            expect: Expect::optional(fields.optional("expect")),
            timeout: fields.optional("timeout_ms").map(|at| at.milliseconds()),
            tags: fields.names("tags"),
            options: TestOptions::read(&mut fields),
            transform: fields.optional("transform").map(|at| Transform::read(&at)),
            inject_error: fields.optional_name("inject_error"),
            place: at.place(),
        };
        rows::check(&mut fields);
        fields.finish_with(|key| match key {
            "profile" => Some("profiles are not part of version 1; use `tags` and `--tag`"),
            "cassette" => {
                Some("a cassette belongs to a server: `servers: {recorded: {cassette: FILE}}`")
            }
            "steps" => {
                Some("tests run in the order in which they are written; write one test per step")
            }
            _ => None,
        });
        test
    }
}

impl ResourceTest {
    pub(crate) fn read(at: &Cursor<'_>) -> Self {
        let mut fields = at.fields();
        let test = Self {
            name: fields.name("name"),
            server: fields.name("server"),
            uri: fields.name("uri"),
            expect: Expect::optional(fields.optional("expect")),
            tags: fields.names("tags"),
            options: TestOptions::read(&mut fields),
            place: at.place(),
        };
        rows::check(&mut fields);
        fields.finish_with(only_tools);
        test
    }
}

impl PromptTest {
    pub(crate) fn read(at: &Cursor<'_>) -> Self {
        let mut fields = at.fields();
        let test = Self {
            name: fields.name("name"),
            server: fields.name("server"),
            prompt: fields.name("prompt"),
            args: fields.optional("args").map(|at| at.object()),
            expect: Expect::optional(fields.optional("expect")),
            tags: fields.names("tags"),
            options: TestOptions::read(&mut fields),
            place: at.place(),
        };
        rows::check(&mut fields);
        fields.finish_with(only_tools);
        test
    }
}

impl DefaultTest {
    pub(crate) fn read(at: &Cursor<'_>) -> Self {
        let mut fields = at.fields();
        let transform = fields.optional("transform");
        let expect = fields.optional("expect");
        let test = Self {
            transform: transform.map(|at| Transform::read(&at)),
            expect_place: expect.as_ref().map(Cursor::place),
            expect: Expect::optional(expect),
        };
        fields.finish();
        test
    }
}

fn only_tools(key: &str) -> Option<&'static str> {
    match key {
        "transform" | "inject_error" | "timeout_ms" => Some("only tests of tools have it"),
        _ => None,
    }
}
