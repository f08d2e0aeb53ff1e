//! The processes of a server, and the list of all processes.
//!
//! The system tells no more about the process of another program than its name and the time that it
//! has used, so that the state is unknown.

use std::collections::HashMap;

use tapewright_schemas::event::Process;
use tapewright_schemas::order::Order as _;
use winsafe::co::{PROCESS, TH32CS};
use winsafe::guard::CloseHandleGuard;
use winsafe::{HPROCESS, HPROCESSLIST};

use crate::system::shared::PROCESSES;

/// A process that can be looked at: its id is not used again as long as this lives.
pub(super) type Handle = CloseHandleGuard<HPROCESS>;

/// An entry of the list of processes.
pub(super) struct Entry {
    pub(super) parent: u32,
    name: String,
}

/// All processes, by their ids. Empty if unavailable.
pub(super) fn all() -> HashMap<u32, Entry> {
    let Ok(mut list) = HPROCESSLIST::CreateToolhelp32Snapshot(TH32CS::SNAPPROCESS, None) else {
        return HashMap::new();
    };
    let listed = list.iter_processes().map_while(Result::ok);
    let entries = listed.map(|one| {
        let entry = Entry {
            parent: one.th32ParentProcessID,
            name: one.szExeFile(),
        };
        (one.th32ProcessID, entry)
    });
    entries.collect()
}

/// Opens a process to see its times and its end.
pub(super) fn open(pid: u32) -> Option<Handle> {
    let rights = PROCESS::SYNCHRONIZE | PROCESS::QUERY_LIMITED_INFORMATION;
    HPROCESS::OpenProcess(rights, false, pid).ok()
}

/// When a process was started, in steps of 100 ns.
pub(super) fn start_of(process: &HPROCESS) -> Option<u64> {
    let times = process.GetProcessTimes().ok()?;
    Some(times.0.into())
}

/// The processes that `pid` has started, and those that they have started, and itself.
pub(crate) fn of_group(pid: u32) -> Vec<Process> {
    let all = all();
    let mut found: Vec<Process> = Vec::new();
    let mut next = vec![pid];
    while let Some(pid) = next.pop().filter(|_| found.len() < PROCESSES) {
        let Some(entry) = all.get(&pid) else {
            continue;
        };
        found.push(entry.process(pid));
        let known = |pid: u32| found.iter().any(|process| process.pid == pid);
        let children = all.iter().filter(|(_, entry)| entry.parent == pid);
        next.extend(children.map(|(pid, _)| *pid).filter(|pid| !known(*pid)));
    }
    found.order_by_key(|process| process.pid);
    found
}

impl Entry {
    fn process(&self, pid: u32) -> Process {
        let times = open(pid).and_then(|process| process.GetProcessTimes().ok());
        let spent = times.map_or(0, |(_, _, kernel, user)| {
            u64::from(kernel).saturating_add(user.into())
        });
        Process {
            pid,
            name: self.name.clone(),
            state: "unknown".to_owned(),
            cpu_ms: spent / 10_000,
            files: Vec::new(),
            more_files: 0,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::system::windows::parent::Parent;

    #[test]
    fn the_processes_of_a_group_include_its_first() {
        let ours = of_group(std::process::id());
        let name = std::env::current_exe().unwrap();
        let name = name.file_name().unwrap().to_string_lossy().into_owned();
        assert!(ours.iter().any(|one| one.name == name), "{ours:?}");
    }

    #[test]
    fn who_started_this_process_has_not_ended() {
        // One that was started from Unix, under Wine, has no parent.
        assert!(Parent::find().is_none_or(|parent| !parent.has_ended()));
    }
}
