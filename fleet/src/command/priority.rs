//! The priority of a shipper, which should not slow down the recorders of its machine.

/// How much of the processors a shipper may take while other processes need them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Priority {
    /// Next to nothing.
    Idle,
    /// A share by its niceness, 0 to 19.
    Nice(i32),
}

/// The greatest niceness.
const NICEST: i32 = 19;

impl Priority {
    /// Reads an argument: `idle`, or a niceness.
    pub(crate) fn parse(text: &str) -> Result<Self, String> {
        if text == "idle" {
            return Ok(Self::Idle);
        }
        let level = text
            .parse()
            .ok()
            .filter(|level| (0..=NICEST).contains(level));
        let level = level.ok_or("expected `idle`, or a level from 0 to 19")?;
        Ok(Self::Nice(level))
    }

    /// Gives up priority, for this thread and those that it will start. If the system does not
    /// allow it, or the priority is lower already, it stays as it is.
    pub(crate) fn take(self) {
        match self {
            Self::Idle if system::be_idle() => {}
            Self::Idle => be_nice(NICEST),
            Self::Nice(level) => be_nice(level),
        }
    }
}

fn be_nice(level: i32) {
    if rustix::process::getpriority_process(None).is_ok_and(|now| now < level) {
        let _is_set = rustix::process::setpriority_process(None, level);
    }
}

#[cfg(target_os = "linux")]
mod system {
    use thread_priority::ThreadPriority;
    use thread_priority::unix::{
        NormalThreadSchedulePolicy, ThreadSchedulePolicy, set_thread_priority_and_policy,
        thread_native_id,
    };

    /// `SCHED_IDLE`: any other thread that wakes up takes the processor at once, whereas one of low
    /// niceness often has to wait (sched(7)).
    pub(super) fn be_idle() -> bool {
        let policy = ThreadSchedulePolicy::Normal(NormalThreadSchedulePolicy::Idle);
        set_thread_priority_and_policy(thread_native_id(), ThreadPriority::Min, policy).is_ok()
    }
}

#[cfg(not(target_os = "linux"))]
mod system {
    /// There is no such class.
    pub(super) fn be_idle() -> bool {
        false
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_priority_is_idle_or_a_level() {
        assert_eq!(Priority::parse("idle"), Ok(Priority::Idle));
        assert_eq!(Priority::parse("0"), Ok(Priority::Nice(0)));
        assert_eq!(Priority::parse("19"), Ok(Priority::Nice(19)));
        for text in ["20", "-1", "", "low", "1.5"] {
            assert!(Priority::parse(text).is_err(), "{text}");
        }
    }
}
