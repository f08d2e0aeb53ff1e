//! What the processes above us have in their environments. On Linux that can be read.

use std::ffi::OsString;
use std::fs;
use std::os::unix::ffi::OsStringExt as _;
use std::os::unix::process::parent_id;

/// How far up it is looked: launchers stand between an agent and the servers it starts.
const GENERATIONS: usize = 16;

/// What the processes that we were started by have in this variable. Many clients hand down few
/// variables, or none.
#[must_use]
pub fn variable_above(name: &str) -> Option<OsString> {
    let mut process = parent_id();
    for _ in 0..GENERATIONS {
        // That of another user cannot be read, and nobody beyond it started us for us.
        let environment = fs::read(format!("/proc/{process}/environ")).ok()?;
        if let Some(value) = value_in(&environment, name) {
            return Some(value);
        }
        let stat = fs::read_to_string(format!("/proc/{process}/stat")).ok()?;
        process = parent_in(&stat).filter(|parent| *parent > 1)?;
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

/// The parent in `PID (NAME) STATE PPID …`; the name may hold anything.
fn parent_in(stat: &str) -> Option<u32> {
    let (_, after) = stat.rsplit_once(')')?;
    after.split_whitespace().nth(1)?.parse().ok()
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
        assert_eq!(parent_in("7 (a) b (c) S 3 42 42 0"), Some(3));
        assert_eq!(parent_in(""), None);
    }
}
