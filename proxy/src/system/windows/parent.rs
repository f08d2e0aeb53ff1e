//! The process that started this one.
//!
//! The writing end of a pipe does not show whether somebody still reads. A client that has died is
//! therefore known by its process, if it has started us itself: a process between the two, such as
//! `cmd.exe` for a batch file, lives on. Those above say nothing about the client, since launchers
//! end while it lives.

use winsafe::co::WAIT;

use super::processes::{Handle, all, open, start_of};

/// The process that started this one.
pub(super) struct Parent(Handle);

impl std::fmt::Debug for Parent {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        out.debug_tuple("Parent").finish_non_exhaustive()
    }
}

impl Parent {
    /// The parent of this process, if it is running and the system tells.
    pub(super) fn find() -> Option<Self> {
        let ours = std::process::id();
        let all = all();
        let parent = all.get(&ours).map(|entry| entry.parent);
        let parent = parent.and_then(open);
        // The id of a process that has ended may belong to another one, which is younger.
        let started = open(ours).as_deref().and_then(start_of);
        parent
            .filter(|parent| start_of(parent) <= started)
            .map(Self)
    }

    /// Whether it has ended since.
    pub(super) fn has_ended(&self) -> bool {
        self.0.WaitForSingleObject(Some(0)) == Ok(WAIT::OBJECT_0)
    }
}
