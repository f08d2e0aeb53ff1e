//! `compliance`: checks of the protocol, as a list or as an object with `tests`.

use super::expect::{Assertion, Expect, assertions};
use super::options::TestOptions;
use crate::read::Cursor;
use crate::source::SourceSpot;

/// Checks of the protocol.
#[derive(Clone, Debug, Default)]
pub struct Compliance {
    /// One request each.
    pub tests: Vec<ComplianceTest>,
    /// A file with the known failures of a server.
    pub baseline: Option<String>,
    /// The revision that the checks were written against.
    pub spec_version: Option<&'static str>,
    /// A gate on moving to another revision.
    pub spec_version_check: Option<SpecVersionCheck>,
    /// A gate on a grade that gets worse.
    pub grade_delta: Option<GradeDelta>,
}

/// A gate on a grade that gets worse.
#[derive(Clone, Debug)]
pub struct GradeDelta {
    /// A saved score. Without one there is nothing to compare with, and the gate passes.
    pub against: Option<String>,
    /// The expectations; the defaults apply if it is empty.
    pub expect: Vec<Assertion>,
}

/// A raw request and the expectations about its result.
#[derive(Clone, Debug)]
pub struct ComplianceTest {
    /// Its name in reports.
    pub name: String,
    /// The server to test.
    pub server: String,
    /// The method; `initialize` means the handshake that took place.
    pub check: String,
    /// The expectations.
    pub expect: Expect,
    /// Its options in a run.
    pub options: TestOptions,
    /// Its position.
    pub place: SourceSpot,
}

/// A gate on moving to another revision.
#[derive(Clone, Debug)]
pub struct SpecVersionCheck {
    /// The revision to move to. Without one there is nothing to compare with, and the gate passes.
    pub against: Option<&'static str>,
    /// The expectations about the difference; the defaults apply if it is empty.
    pub expect: Vec<Assertion>,
}

/// The revisions of the compliance corpus.
pub const SPEC_VERSIONS: &[&str] = &[
    "v2024-11-05",
    "v2025-03-26",
    "v2025-06-18",
    "v2025-11-25",
    "v2026-07-28",
    "draft",
];

impl Compliance {
    pub(crate) fn read(at: &Cursor<'_>) -> Self {
        if let Some(items) = at.items_if_array() {
            return Self {
                tests: items.iter().map(ComplianceTest::read).collect(),
                ..Self::default()
            };
        }
        if !at.is_object() {
            at.wrong_type("an array of checks or an object with `tests`");
            return Self::default();
        }
        let mut fields = at.fields();
        let tests = fields
            .required("tests")
            .map(|at| at.items())
            .unwrap_or_default();
        let compliance = Self {
            tests: tests.iter().map(ComplianceTest::read).collect(),
            baseline: fields.optional_name("baseline"),
            spec_version: fields
                .optional("spec_version")
                .and_then(|at| at.word(SPEC_VERSIONS)),
            spec_version_check: fields
                .optional("spec_version_check")
                .map(|at| SpecVersionCheck::read(&at)),
            grade_delta: fields
                .optional("grade_delta")
                .map(|at| GradeDelta::read(&at)),
        };
        fields.finish();
        compliance
    }
}

impl ComplianceTest {
    fn read(at: &Cursor<'_>) -> Self {
        let mut fields = at.fields();
        let test = Self {
            name: fields.name("name"),
            server: fields.name("server"),
            check: fields.name("check"),
            expect: Expect::optional(fields.optional("expect")),
            options: TestOptions::read(&mut fields),
            place: at.place(),
        };
        fields.finish_with(|key| (key == "tags").then_some("compliance checks have no tags"));
        test
    }
}

impl GradeDelta {
    fn read(at: &Cursor<'_>) -> Self {
        let mut fields = at.fields();
        let delta = Self {
            against: fields.optional_name("against"),
            expect: fields
                .optional("expect")
                .map(|at| assertions(&at))
                .unwrap_or_default(),
        };
        fields.finish();
        delta
    }
}

impl SpecVersionCheck {
    fn read(at: &Cursor<'_>) -> Self {
        let mut fields = at.fields();
        let check = Self {
            against: fields
                .optional("against")
                .and_then(|at| at.word(SPEC_VERSIONS)),
            expect: fields
                .optional("expect")
                .map(|at| assertions(&at))
                .unwrap_or_default(),
        };
        fields.finish();
        check
    }
}
