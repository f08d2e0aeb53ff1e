//! The embedded registry.

use std::path::Path;

use tapewright_config::corpus::{Read, Registry, read_registry};

use crate::embedded;

/// The name of the embedded registry in messages.
pub const EMBEDDED_PATH: &str = "compliance/registry.yml";

/// The embedded registry. It has no issues, as a test ensures.
#[must_use]
pub fn embedded() -> Read<Registry> {
    read_registry(Path::new(EMBEDDED_PATH), embedded::text(EMBEDDED_PATH))
}
