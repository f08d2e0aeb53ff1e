//! The registry that is part of the program.

use std::path::Path;

use tapewright_config::corpus::{Read, Registry, read_registry};

use crate::embedded;

/// The name of the embedded registry in messages.
pub const EMBEDDED_PATH: &str = "compliance/registry.yml";

/// The registry that is part of the program. It has no issues: a test holds it to that.
#[must_use]
pub fn embedded() -> Read<Registry> {
    read_registry(Path::new(EMBEDDED_PATH), embedded::text(EMBEDDED_PATH))
}
