//! The process that started this one.
//!
//! The writing end of a pipe does not show whether somebody still reads. A client that has died is
//! therefore known by its process, if it has started us itself: a process between the two, such as
//! `cmd.exe` for a batch file, lives on. Those above say nothing about the client, since launchers
//! end while it lives.

use winsafe::co::WAIT;

use super::processes::{Handle, all, open, start_of};

/// The process that started this one, if it was running when this was made.
pub(super) struct Parent(Option<Handle>);

impl std::fmt::Debug for Parent {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        out.debug_tuple("Parent").field(&self.0.is_some()).finish()
    }
}

impl Parent {
    /// The parent of this process. Unknown if the system does not tell.
    pub(super) fn find() -> Self {
        let ours = std::process::id();
        let all = all();
        let parent = all.get(&ours).map(|entry| entry.parent);
        let parent = parent.and_then(open);
        // The id of a process that has ended may belong to another one, which is younger.
        let started = open(ours).as_deref().and_then(start_of);
        Self(parent.filter(|parent| start_of(parent) <= started))
    }

    /// Nothing is known about it.
    pub(super) fn unknown() -> Self {
        Self(None)
    }

    /// Whether it has ended since.
    pub(super) fn has_ended(&self) -> bool {
        let ended = |parent: &Handle| parent.WaitForSingleObject(Some(0)) == Ok(WAIT::OBJECT_0);
        self.0.as_ref().is_some_and(ended)
    }
}
