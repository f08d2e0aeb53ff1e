//! When and how a session ends: the rules as a state machine without a clock.
//!
//! Real clients close the server's input, wait two seconds (TypeScript, Python) or three (Rust),
//! then send SIGTERM (not Rust), wait two more, and then SIGKILL. A server gets the same time as
//! without tapewright, and yet the recording is finished before the client kills the process:
//!
//! * After the client's end of input the server may finish its pending requests, however long that
//!   takes, and a client may read as slowly as it likes: one that does not want to wait sends a
//!   signal. A server without pending requests gets [`GRACE`] after its last answer, then SIGTERM,
//!   then [`TERM_GRACE`], then SIGKILL. `GRACE` ends slightly after two seconds, so that the signal
//!   of a client that sends one comes first, and alone; with `TERM_GRACE` and [`LAST`] it ends
//!   before the three seconds of a client that kills without SIGTERM.
//! * If the client has died, there is nobody to answer: its server gets [`GONE_GRACE`].
//! * A signal is forwarded immediately; a server that does not exit within [`SIGNAL_GRACE`] of
//!   SIGTERM or a similar signal gets SIGKILL.
//! * After the server has exited, the rest in its pipes is forwarded. A pipe that stays open
//!   without data for [`DRAIN`] is held by another process: the rest of the server's group is
//!   killed, and most likely the holder with it.

use std::time::Duration;

use tapewright_schemas::event::Exit;
use tapewright_schemas::patience::{CLIENT_PATIENCE, LENIENCY};

/// From the client's end of input, or the last answer after it, to SIGTERM.
pub(crate) const GRACE: Duration = CLIENT_PATIENCE.saturating_add(LENIENCY);
/// The same if the client is gone.
pub(crate) const GONE_GRACE: Duration = Duration::from_secs(1);
/// From that SIGTERM to SIGKILL.
pub(crate) const TERM_GRACE: Duration = Duration::from_millis(400);
/// From a forwarded signal to SIGKILL.
pub(crate) const SIGNAL_GRACE: Duration = Duration::from_millis(1_200);
/// How long a pipe of an exited server may stay open without data.
pub(crate) const DRAIN: Duration = Duration::from_millis(250);
/// From SIGKILL to the end of the session, regardless of anything else.
const LAST: Duration = Duration::from_millis(250);
/// The interval between checks of a server with pending requests.
const RECHECK: Duration = Duration::from_millis(50);

/// An event of the session.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum EndingEvent {
    /// The client closed its end, or reading its input failed.
    ClientDone,
    /// The client no longer reads.
    ClientGone,
    /// The server closed its output.
    ServerDone,
    /// The server's process exited.
    Exited(Exit),
    /// A signal that is meant to end a process was forwarded.
    EndingSignal,
    /// The server's standard error was closed.
    LogDone,
}

/// What to do now.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Action {
    /// Send SIGTERM to the server's group.
    Terminate,
    /// Send SIGKILL to the server's group.
    Kill,
    /// End the session.
    Finish,
}

/// The state when a deadline has passed.
#[derive(Clone, Copy, Debug)]
pub(crate) struct DeadlineState {
    /// The number of the client's pending requests.
    pub(crate) owed: usize,
    /// Whether output of the server is in progress: being processed here, or being written to a
    /// slow client.
    pub(crate) busy: bool,
    /// Whether the client no longer reads.
    pub(crate) client_gone: bool,
    /// Whether any output of the server has moved since the last deadline.
    pub(crate) moved: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Pressure {
    None,
    /// Terminate at this time if the client is gone by then.
    Gone(Duration),
    /// Terminate at this time, unless there are pending requests.
    Grace(Duration),
    /// There are pending requests: check again at this time.
    Owing(Duration),
    /// Terminate at this time.
    Terminate(Duration),
    /// Kill at this time.
    Kill(Duration),
    /// Killed; give up at this time.
    Killed(Duration),
}

/// The state of an ending session.
#[derive(Debug)]
pub(crate) struct Ending {
    pressure: Pressure,
    exit: Option<Exit>,
    server_done: bool,
    log_done: bool,
    // If the server has exited but a pipe is still open: check again at this time.
    drain_until: Option<Duration>,
    // Whether the rest of the server's group was killed.
    swept: bool,
}

impl Ending {
    pub(crate) fn new(has_log: bool) -> Self {
        Self {
            pressure: Pressure::None,
            exit: None,
            server_done: false,
            log_done: !has_log,
            drain_until: None,
            swept: false,
        }
    }

    /// How the server's process exited, if it has.
    pub(crate) fn exit(&self) -> Option<Exit> {
        self.exit
    }

    /// Handles an event at `now`.
    pub(crate) fn handle(&mut self, now: Duration, happening: EndingEvent) -> Option<Action> {
        match happening {
            EndingEvent::ClientDone if self.pressure == Pressure::None => {
                self.pressure = Pressure::Gone(now + GONE_GRACE);
            }
            EndingEvent::ClientGone if self.is_patient() => {
                self.pressure = Pressure::Terminate(now + GONE_GRACE);
            }
            EndingEvent::ClientDone | EndingEvent::ClientGone => {}
            EndingEvent::EndingSignal => {
                let already = match self.pressure {
                    Pressure::Kill(at) => at,
                    Pressure::Killed(_) => return None,
                    _ => Duration::MAX,
                };
                self.pressure = Pressure::Kill(already.min(now + SIGNAL_GRACE));
            }
            EndingEvent::ServerDone => self.server_done = true,
            EndingEvent::LogDone => self.log_done = true,
            EndingEvent::Exited(exit) => {
                self.exit = Some(exit);
                self.drain_until = Some(now + DRAIN);
            }
        }
        (self.exit.is_some() && self.server_done && self.log_done).then_some(Action::Finish)
    }

    /// Whether nothing was done so far to end the server.
    fn is_patient(&self) -> bool {
        matches!(
            self.pressure,
            Pressure::None | Pressure::Gone(_) | Pressure::Grace(_) | Pressure::Owing(_)
        )
    }

    /// Whether the client waits for possible answers, or is still reading.
    fn is_awaited(&self, situation: DeadlineState) -> bool {
        let owes = situation.owed > 0 && !self.server_done;
        (owes || situation.busy) && !situation.client_gone
    }

    /// When to call [`handle_timeout`](Self::handle_timeout).
    pub(crate) fn deadline(&self) -> Option<Duration> {
        let pressure = match self.pressure {
            Pressure::None => None,
            _ if self.exit.is_some() => None,
            Pressure::Gone(at)
            | Pressure::Grace(at)
            | Pressure::Owing(at)
            | Pressure::Terminate(at)
            | Pressure::Kill(at)
            | Pressure::Killed(at) => Some(at),
        };
        pressure.into_iter().chain(self.drain_until).min()
    }

    /// Handles a deadline.
    pub(crate) fn handle_timeout(
        &mut self,
        now: Duration,
        situation: DeadlineState,
    ) -> Option<Action> {
        if let Some(until) = self.drain_until
            && until <= now
        {
            // Without tapewright, this output would have stayed in a pipe for the client.
            let patient = self.is_patient();
            self.drain_until = Some(now + DRAIN);
            if situation.moved || situation.busy && patient {
                return None;
            }
            let swept = std::mem::replace(&mut self.swept, true);
            return Some(if swept { Action::Finish } else { Action::Kill });
        }
        match self.pressure {
            _ if self.exit.is_some() => None,
            Pressure::Killed(at) if at <= now => Some(Action::Finish),
            Pressure::Gone(at) | Pressure::Grace(at) | Pressure::Owing(at)
                if at <= now && self.is_awaited(situation) =>
            {
                self.pressure = Pressure::Owing(now + RECHECK);
                None
            }
            // The last answer was just sent: now the server may notice the end of its input.
            Pressure::Owing(at) if at <= now => {
                self.pressure = Pressure::Gone(now + GONE_GRACE);
                None
            }
            Pressure::Gone(at) if at <= now && !situation.client_gone => {
                self.pressure = Pressure::Grace(at + GRACE.saturating_sub(GONE_GRACE));
                None
            }
            Pressure::Gone(at) | Pressure::Grace(at) | Pressure::Terminate(at) if at <= now => {
                self.pressure = Pressure::Kill(now + TERM_GRACE);
                Some(Action::Terminate)
            }
            Pressure::Kill(at) if at <= now => {
                self.pressure = Pressure::Killed(now + LAST);
                Some(Action::Kill)
            }
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const IDLE: DeadlineState = DeadlineState {
        owed: 0,
        busy: false,
        client_gone: false,
        moved: false,
    };

    fn ms(time: u64) -> Duration {
        Duration::from_millis(time)
    }

    /// Runs the deadlines until a time; returns the actions and their times.
    fn play(ending: &mut Ending, situation: DeadlineState, until: u64) -> Vec<(u64, Action)> {
        let mut done = Vec::new();
        while let Some(at) = ending.deadline().filter(|at| *at <= ms(until)) {
            if let Some(action) = ending.handle_timeout(at, situation) {
                done.push((u64::try_from(at.as_millis()).unwrap(), action));
                if action == Action::Finish {
                    break;
                }
            }
        }
        done
    }

    #[test]
    fn what_a_slow_client_still_reads_is_not_cut_off() {
        let mut ending = Ending::new(true);
        assert_eq!(ending.handle(ms(0), EndingEvent::ClientDone), None);
        let busy = DeadlineState { busy: true, ..IDLE };
        assert_eq!(play(&mut ending, busy, 60_000), []);
        let done = play(&mut ending, IDLE, 63_000);
        assert!(matches!(
            done[..],
            [(62_100..=62_200, Action::Terminate), ..]
        ));
        // There is no reader any more.
        let mut ending = Ending::new(true);
        assert_eq!(ending.handle(ms(0), EndingEvent::ClientDone), None);
        let gone = DeadlineState {
            client_gone: true,
            ..busy
        };
        assert_eq!(play(&mut ending, gone, 1_100), [(1_000, Action::Terminate)]);
    }

    #[test]
    fn a_server_that_ignores_the_end_of_input_is_gone_before_three_seconds() {
        let mut ending = Ending::new(true);
        assert_eq!(ending.handle(ms(0), EndingEvent::ClientDone), None);
        let done = play(&mut ending, IDLE, 10_000);
        assert_eq!(
            done,
            [
                (2_100, Action::Terminate),
                (2_500, Action::Kill),
                (2_750, Action::Finish)
            ]
        );
    }

    #[test]
    fn the_signal_of_a_client_that_sends_one_after_two_seconds_comes_alone() {
        let mut ending = Ending::new(true);
        ending.handle(ms(0), EndingEvent::ClientDone);
        assert!(play(&mut ending, IDLE, 2_050).is_empty());
        ending.handle(ms(2_050), EndingEvent::EndingSignal);
        let done = play(&mut ending, IDLE, 10_000);
        assert_eq!(done, [(3_250, Action::Kill), (3_500, Action::Finish)]);
    }

    #[test]
    fn a_server_that_owes_an_answer_is_waited_for_and_then_gets_its_grace() {
        let mut ending = Ending::new(false);
        ending.handle(ms(0), EndingEvent::ClientDone);
        assert!(play(&mut ending, DeadlineState { owed: 1, ..IDLE }, 60_000).is_empty());
        assert_eq!(
            play(&mut ending, IDLE, 63_000).first(),
            Some(&(62_150, Action::Terminate))
        );
    }

    #[test]
    fn a_server_whose_output_has_ended_is_not_waited_for() {
        let mut ending = Ending::new(false);
        ending.handle(ms(0), EndingEvent::ServerDone);
        ending.handle(ms(0), EndingEvent::ClientDone);
        assert_eq!(
            play(&mut ending, DeadlineState { owed: 1, ..IDLE }, 10_000).first(),
            Some(&(2_100, Action::Terminate))
        );
    }

    #[test]
    fn a_client_that_died_is_owed_nothing() {
        let mut ending = Ending::new(false);
        ending.handle(ms(0), EndingEvent::ClientDone);
        let gone = DeadlineState {
            owed: 1,
            client_gone: true,
            ..IDLE
        };
        assert_eq!(
            play(&mut ending, gone, 10_000).first(),
            Some(&(1_000, Action::Terminate))
        );
    }

    #[test]
    fn a_signal_ends_the_wait_for_answers() {
        let mut ending = Ending::new(false);
        ending.handle(ms(0), EndingEvent::ClientDone);
        ending.handle(ms(2_000), EndingEvent::EndingSignal);
        ending.handle(ms(2_500), EndingEvent::EndingSignal);
        let done = play(
            &mut ending,
            DeadlineState {
                owed: 1,
                busy: true,
                moved: true,
                ..IDLE
            },
            10_000,
        );
        assert_eq!(done, [(3_200, Action::Kill), (3_450, Action::Finish)]);
    }

    #[test]
    fn an_ended_server_with_closed_pipes_ends_the_session_at_once() {
        let mut ending = Ending::new(true);
        assert_eq!(ending.handle(ms(5), EndingEvent::LogDone), None);
        assert_eq!(ending.handle(ms(5), EndingEvent::ServerDone), None);
        assert_eq!(ending.deadline(), None);
        let exited = EndingEvent::Exited(Exit::Code(3));
        assert_eq!(ending.handle(ms(6), exited), Some(Action::Finish));
        assert_eq!(ending.exit(), Some(Exit::Code(3)));
    }

    #[test]
    fn a_pipe_held_open_by_a_grandchild_is_not_waited_for() {
        let mut ending = Ending::new(true);
        ending.handle(ms(0), EndingEvent::Exited(Exit::Code(0)));
        assert_eq!(
            play(&mut ending, IDLE, 1_000),
            [(250, Action::Kill), (500, Action::Finish)]
        );
    }

    #[test]
    fn a_slow_client_still_gets_what_an_ended_server_had_said() {
        let mut ending = Ending::new(true);
        ending.handle(ms(0), EndingEvent::Exited(Exit::Code(0)));
        for slow in [
            DeadlineState { busy: true, ..IDLE },
            DeadlineState {
                moved: true,
                ..IDLE
            },
        ] {
            assert!(play(&mut ending, slow, 60_000).is_empty());
        }
        ending.handle(ms(60_000), EndingEvent::EndingSignal);
        let slow = DeadlineState { busy: true, ..IDLE };
        assert_eq!(
            play(&mut ending, slow, 70_000).last().unwrap().1,
            Action::Finish
        );
    }

    #[test]
    fn a_server_that_closed_its_output_may_live_on_while_the_client_does() {
        let mut ending = Ending::new(false);
        assert_eq!(ending.handle(ms(0), EndingEvent::ServerDone), None);
        assert_eq!(ending.deadline(), None);
    }

    #[test]
    fn a_client_that_does_not_read_is_not_waited_for() {
        let mut ending = Ending::new(false);
        ending.handle(ms(0), EndingEvent::ClientGone);
        let done = play(&mut ending, DeadlineState { owed: 4, ..IDLE }, 10_000);
        assert_eq!(done.first(), Some(&(1_000, Action::Terminate)));
    }
}
