//! One direction: read, record, forward.

use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Duration;

use tapewright_engine::Lane;
use tapewright_engine::policy::{Policy, SideAction};
use tapewright_schemas::event::{CloseReason, Offset};

use crate::clock::Clock;
use crate::record::Recorder;
use crate::upstream::{ChunkSink, ChunkSource, ReadResult};

/// One direction of a session, ready to run on a separate thread.
pub(crate) struct Pump<P: Policy> {
    pub(crate) lane: Lane<P>,
    pub(crate) source: Box<dyn ChunkSource>,
    pub(crate) sink: Box<dyn ChunkSink>,
    pub(crate) recorder: Arc<Recorder>,
    pub(crate) clock: Clock,
    pub(crate) gauge: Arc<Gauge>,
    /// Carries out side actions.
    pub(crate) beside: Box<dyn FnMut(SideAction) + Send>,
}

/// How one direction ended.
#[derive(Clone, Copy, Debug)]
pub(crate) struct End {
    pub(crate) reason: CloseReason,
    /// When its end was noticed; it was forwarded when the pump returned.
    pub(crate) seen: Offset,
}

/// The interval between checks of a sender while reading is suspended.
const STALL: Duration = Duration::from_millis(5);

/// The externally visible state of a pump.
#[derive(Debug, Default)]
pub(crate) struct Gauge {
    busy: AtomicBool,
    moves: AtomicU64,
    over: AtomicBool,
}

impl Gauge {
    /// Whether input is being processed: judged, changed, recorded, or written to a slow receiver.
    pub(crate) fn is_busy(&self) -> bool {
        self.busy.load(Ordering::Relaxed)
    }

    /// Increases with every read and write.
    pub(crate) fn moves(&self) -> u64 {
        self.moves.load(Ordering::Relaxed)
    }

    /// Notes that the session is over: a pump that is not reading would not notice it.
    pub(crate) fn end(&self) {
        self.over.store(true, Ordering::Relaxed);
    }

    fn is_over(&self) -> bool {
        self.over.load(Ordering::Relaxed)
    }

    /// Notes a read or write.
    pub(crate) fn moved(&self) {
        self.moves.fetch_add(1, Ordering::Relaxed);
    }

    fn set_busy(&self, busy: bool) {
        self.busy.store(busy, Ordering::Relaxed);
    }
}

impl<P: Policy> Drop for Pump<P> {
    fn drop(&mut self) {
        self.gauge.set_busy(false);
    }
}

impl<P: Policy> Pump<P> {
    /// Runs until one side ends. Both ends are closed when it returns.
    pub(crate) fn run(mut self) -> End {
        loop {
            let seen = self.step();
            if self.record_and_pass_on().is_err() {
                self.lane
                    .handle_close(self.clock.now(), CloseReason::ReceiverGone);
                self.record();
            }
            if let Some(reason) = self.lane.closed() {
                return End { reason, seen };
            }
        }
    }

    /// Handles the next input; returns its time.
    fn step(&mut self) -> Offset {
        let timeout = self
            .lane
            .poll_timeout()
            .map(|at| Duration::from_micros(at.since(self.clock.now()).0));
        // A sender that is gone sends nothing beyond what is already buffered, and its end must be
        // noticed.
        if self.lane.is_stalled() && !self.source.is_over() {
            return self.stall(timeout.map_or(STALL, |timeout| timeout.min(STALL)));
        }
        let space = self.lane.space();
        self.gauge.set_busy(false);
        let read = self.source.read(space, timeout);
        self.gauge.set_busy(true);
        self.gauge.moved();
        let now = self.clock.now();
        match read {
            Ok(ReadResult::Bytes(_)) => {
                self.lane.made_by(self.source.maker());
                self.lane.handle_input(now);
            }
            Ok(ReadResult::TimedOut) => self.lane.handle_timeout(now),
            Ok(ReadResult::End) => self.lane.handle_eof(now),
            Err(_) => self.lane.handle_close(now, CloseReason::Failed),
        }
        now
    }

    /// Waits without reading, so that the sender's pipe fills up.
    fn stall(&mut self, time: Duration) -> Offset {
        if self.gauge.is_over() {
            let now = self.clock.now();
            self.lane.handle_close(now, CloseReason::Failed);
            return now;
        }
        self.gauge.set_busy(false);
        std::thread::sleep(time);
        self.gauge.set_busy(true);
        let now = self.clock.now();
        self.lane.handle_timeout(now);
        now
    }

    /// Events first: an answer must not be on the tape before its request. The wait for a full
    /// queue comes last, so that it delays the next read and not these bytes. After the end it
    /// would only delay the end.
    fn record_and_pass_on(&mut self) -> io::Result<()> {
        self.record();
        self.pass_on()?;
        if self.lane.closed().is_none() {
            self.recorder.keep_pace();
        }
        Ok(())
    }

    fn pass_on(&mut self) -> io::Result<()> {
        while let Some(bytes) = self.lane.poll_transmit() {
            let written = self.sink.write(bytes);
            self.gauge.moved();
            written?;
            self.lane.transmitted();
        }
        while let Some(aside) = self.lane.poll_aside() {
            // Many clients never read a log, and are not required to.
            self.gauge.set_busy(false);
            (self.beside)(aside);
            self.gauge.set_busy(true);
        }
        Ok(())
    }

    fn record(&mut self) {
        let lane = &mut self.lane;
        self.recorder.record(|| lane.poll_event());
    }
}
