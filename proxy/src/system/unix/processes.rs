//! The state of a server's processes, as far as available: on Linux, from `/proc`.

use std::fs;
use std::path::{Path, PathBuf};

use rustix::param::clock_ticks_per_second;
use tapewright_schemas::event::Process;
use tapewright_schemas::order::Order as _;

use crate::system::shared::PROCESSES;

/// The maximum number of open files of each.
const FILES: usize = 24;

/// The processes in the group of `pid`, without the guard, which leads it. They include a launcher
/// such as `npx` and the server behind it. Empty if unavailable.
pub(crate) fn of_group(pid: u32) -> Vec<Process> {
    let Some(group) = Stat::of(pid).map(|stat| stat.group) else {
        return Vec::new();
    };
    let ours = fs::read_link("/proc/self/exe").ok();
    let mut found: Vec<Process> = Vec::new();
    for number in numbers(Path::new("/proc")) {
        let Some(stat) = Stat::of(number).filter(|stat| stat.group == group) else {
            continue;
        };
        let guard = number == group && ours.is_some() && exe(number) == ours;
        if !guard && found.len() < PROCESSES {
            found.push(stat.process(number));
        }
    }
    found.order_by_key(|process| process.pid);
    found
}

/// One process, from `/proc/PID/stat`.
pub(super) struct Stat {
    name: String,
    state: u8,
    pub(super) parent: u32,
    group: u32,
    ticks: u64,
}

impl Stat {
    pub(super) fn of(pid: u32) -> Option<Self> {
        let text = fs::read(format!("/proc/{pid}/stat")).ok()?;
        Self::read(&String::from_utf8_lossy(&text))
    }

    /// Parses `PID (NAME) STATE PPID PGRP …`; the name may contain anything, including parentheses.
    fn read(text: &str) -> Option<Self> {
        let (before, after) = text.rsplit_once(')')?;
        let (_, name) = before.split_once('(')?;
        let fields: Vec<&str> = after.split_whitespace().collect();
        let number = |at: usize| fields.get(at)?.parse::<u64>().ok();
        Some(Self {
            name: name.to_owned(),
            state: *fields.first()?.as_bytes().first()?,
            parent: fields.get(1)?.parse().ok()?,
            group: fields.get(2)?.parse().ok()?,
            ticks: number(11)? + number(12)?,
        })
    }

    fn process(self, pid: u32) -> Process {
        let state = match self.state {
            b'R' => "running",
            b'S' | b'I' => "sleeping",
            b'D' => "waiting for a device",
            b'T' | b't' => "stopped",
            b'Z' | b'X' | b'x' => "ended",
            _ => "unknown",
        };
        let (files, more_files) = files(pid);
        Process {
            pid,
            name: self.name,
            state: state.to_owned(),
            cpu_ms: self.ticks * 1_000 / clock_ticks_per_second().max(1),
            files,
            more_files,
        }
    }
}

/// The targets of a process's first descriptors, and the number of further ones.
fn files(pid: u32) -> (Vec<String>, u64) {
    let folder = PathBuf::from(format!("/proc/{pid}/fd"));
    let mut open = numbers(&folder);
    open.sort_unstable();
    let more = open.len().saturating_sub(FILES) as u64;
    let name = |number: &u32| {
        let goal = fs::read_link(folder.join(number.to_string())).ok()?;
        Some(format!("{number} {}", goal.display()))
    };
    (open.iter().take(FILES).filter_map(name).collect(), more)
}

fn exe(pid: u32) -> Option<PathBuf> {
    fs::read_link(format!("/proc/{pid}/exe")).ok()
}

/// The numeric entries of a folder.
fn numbers(folder: &Path) -> Vec<u32> {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    entries
        .filter_map(|entry| entry.file_name().to_str()?.parse().ok())
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_may_hold_anything() {
        let text = "7 (a) b (c) S 3 42 42 0 -1 4194304 1 2 3 4 150 50 7 8 20 0 1";
        let stat = Stat::read(text).unwrap();
        assert_eq!(stat.name, "a) b (c");
        assert_eq!((stat.state, stat.parent), (b'S', 3));
        assert_eq!((stat.group, stat.ticks), (42, 200));
        assert!(Stat::read("").is_none());
        assert!(Stat::read("7 (a) S").is_none());
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn this_process_is_found_with_its_files() {
        let found = of_group(std::process::id());
        // The test may lead its group, and would then be mistaken for the guard.
        if let Some(ours) = found.iter().find(|one| one.pid == std::process::id()) {
            assert!(!ours.files.is_empty());
            assert_ne!(ours.state, "unknown");
        }
        assert!(of_group(u32::MAX).is_empty());
    }
}
