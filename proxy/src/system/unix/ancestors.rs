//! The environments of ancestor processes, which are readable on Linux.

use std::ffi::OsString;
use std::fs;
use std::os::unix::ffi::OsStringExt as _;
use std::os::unix::process::parent_id;

use super::processes::Stat;

/// The maximum number of ancestors: launchers are between an agent and the servers it starts.
const GENERATIONS: usize = 16;

/// The value of a variable in the closest ancestor that has it. Many clients pass on few variables,
/// or none.
#[must_use]
pub fn variable_above(name: &str) -> Option<OsString> {
    let mut process = parent_id();
    for _ in 0..GENERATIONS {
        // The environment of another user's process is not readable, and its ancestors did not
        // start this process for its user.
        let environment = fs::read(format!("/proc/{process}/environ")).ok()?;
        if let Some(value) = value_in(&environment, name) {
            return Some(value);
        }
        process = Stat::of(process)?.parent;
        if process <= 1 {
            return None;
        }
    }
    None
}

fn value_in(environment: &[u8], name: &str) -> Option<OsString> {
    let mut variables = environment.split(|byte| *byte == 0);
    let value = variables.find_map(|variable| {
        let rest = variable.strip_prefix(name.as_bytes())?;
        rest.strip_prefix(b"=")
    })?;
    Some(OsString::from_vec(value.to_vec()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_environment_is_searched_for_the_whole_name() {
        let environment = b"A=1\0XRECORDING=x\0RECORDING=id:/a\0B=2\0";
        let value = |environment| value_in(environment, "RECORDING");
        assert_eq!(value(environment), Some("id:/a".into()));
        assert_eq!(value(b"RECORDINGS=1\0"), None);
        assert_eq!(value(b"RECORDING=\0"), Some(OsString::new()));
    }
}
