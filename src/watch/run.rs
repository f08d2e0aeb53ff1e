//! Connects a terminal, a state and its sources.
//!
//! One thread draws and takes what the others send: keys, updates of sources, signals. Without a
//! clock on the screen it waits without a timeout, so that an idle view uses no processor time, and
//! it draws at most twenty times a second.

use std::sync::mpsc::{
    Receiver, RecvTimeoutError, SyncSender, TryRecvError, TrySendError, sync_channel,
};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use ratatui::crossterm::event::{self, Event, KeyCode, KeyEvent, KeyEventKind, KeyModifiers};
use tapewright_proxy::clock::{self, Clock};
use tapewright_proxy::system::TerminalSignal;
use tapewright_proxy::system::signals;
use tapewright_proxy::system::terminal::{TerminalSignals, suspend};
use tapewright_schemas::event::Offset;

use super::keys::Key;
use super::source::{self, Asked, Asker, Library, Reading, Source};
use super::state::{SourceUpdate, State};
use super::{OutsideRequest, Part};
use crate::command::control::Remote;
use crate::exit::Exit;
use crate::report::watch as words;
use crate::report::watch::terminal::Terminal;

/// Input of the drawing thread.
#[derive(Debug)]
pub(crate) enum Input {
    /// A key was pressed.
    Key(Key),
    /// The terminal has another size.
    Resized(u16, u16),
    /// A source has an update.
    Told(Box<SourceUpdate>),
    /// A signal to end or to suspend.
    Signal(TerminalSignal),
    /// The terminal is gone.
    Closed,
}

/// What to watch, and how.
pub(crate) struct Watching {
    /// The source.
    pub(crate) source: Source,
    /// A recorder whose faults can be switched.
    pub(crate) control: Option<Arc<Remote>>,
    /// The time after which a pending request counts as a hang.
    pub(crate) hang_after: Duration,
    /// The filter of the stream.
    pub(crate) filter: String,
}

/// How many inputs may wait: a busy source blocks, but keys do not.
const WAITING: usize = 4;
/// The time from one drawing to the next, unless a key was pressed.
const FRAME: Duration = Duration::from_millis(50);
/// The time between two updates of a clock.
const SECOND: Duration = Duration::from_secs(1);

/// Watches until the user quits.
pub(crate) fn run(watching: Watching) -> anyhow::Result<Exit> {
    let mut terminal = Terminal::take()?;
    let (columns, rows) = terminal.size();
    let long = u64::try_from(watching.hang_after.as_micros()).unwrap_or(u64::MAX);
    let mut state = State::new(long, columns, rows);
    if !watching.filter.is_empty() {
        state.filter(&watching.filter);
    }
    state.faults.has_control = watching.control.is_some();
    let (send, inputs) = sync_channel(WAITING);
    let outside = Outside::start(watching, &send)?;
    let ended = Loop {
        state,
        inputs,
        outside,
        clock: Clock::start(),
        age: None,
        drawn: None,
    }
    .run(&mut terminal)?;
    drop(terminal);
    if let Some(signal) = ended {
        signals::die_by(signal);
        return Ok(Exit::External(128 + signal));
    }
    Ok(Exit::Pass)
}

/// The threads that handle requests.
struct Outside {
    read: SyncSender<Reading>,
    asked: Option<SyncSender<Asked>>,
}

impl Outside {
    fn start(watching: Watching, send: &SyncSender<Input>) -> anyhow::Result<Self> {
        let library: Library = Arc::new(Mutex::new(Vec::new()));
        let keys = send.clone();
        thread("keys", move || read_keys(&keys))?;
        let signals = TerminalSignals::catch()?;
        let told = send.clone();
        thread("signals", move || {
            // Forwarded at once, so that a stuck thread cannot draw over it.
            signals.each(|signal| told.send(Input::Signal(signal)).is_ok());
        })?;
        source::start(watching.source, send.clone(), Arc::clone(&library))?;
        let (read, asked_for) = sync_channel(WAITING);
        let said = send.clone();
        thread("bodies", move || source::serve(&asked_for, &said, &library))?;
        let asked = watching.control.map(|remote| asker(remote, send.clone()));
        Ok(Self {
            read,
            asked: asked.transpose()?,
        })
    }

    fn want(&self, want: OutsideRequest, state: &mut State) {
        let is_full = match want {
            OutsideRequest::Quit | OutsideRequest::Copy(_) | OutsideRequest::Suspend => false,
            OutsideRequest::Read(number) => {
                let line = state.store.get(number).copied();
                line.is_some_and(|line| is_full(&self.read.try_send((number, line))))
            }
            OutsideRequest::Faults => self.ask(Asked::Faults),
            OutsideRequest::Switch(fault) => self.ask(Asked::Switch(fault)),
        };
        if is_full {
            state.message = Some(words::BUSY.to_owned());
        }
    }

    fn ask(&self, what: Asked) -> bool {
        let sent = self.asked.as_ref().map(|asked| asked.try_send(what));
        sent.is_some_and(|sent| is_full(&sent))
    }
}

fn is_full<T>(sent: &Result<(), TrySendError<T>>) -> bool {
    matches!(sent, Err(TrySendError::Full(_)))
}

fn asker(remote: Arc<Remote>, send: SyncSender<Input>) -> std::io::Result<SyncSender<Asked>> {
    let (ask, asked) = sync_channel(WAITING);
    thread("faults", move || Asker { remote }.serve(&asked, &send))?;
    Ok(ask)
}

fn thread(name: &str, run: impl FnOnce() + Send + 'static) -> std::io::Result<()> {
    let thread = std::thread::Builder::new().name(name.to_owned());
    thread.spawn(run).map(drop)
}

struct Loop {
    state: State,
    inputs: Receiver<Input>,
    outside: Outside,
    clock: Clock,
    // The age of the recording when our clock started, in microseconds.
    age: Option<u64>,
    // When it was last drawn.
    drawn: Option<Offset>,
}

/// What to do next.
enum Next {
    // Updates are drawn at the next turn, the result of a key at once.
    Drawn { at_once: bool },
    // Wait for a key.
    Suspended,
    Over(Option<i32>),
}

impl Loop {
    /// Runs until the end; returns the signal that ends us, if any.
    fn run(mut self, terminal: &mut Terminal) -> anyhow::Result<Option<i32>> {
        let mut is_new = true;
        let mut at_once = true;
        loop {
            let has_work = self.state.work();
            let now = self.clock.now();
            let since = self.drawn.map(|drawn| now.since(drawn));
            let rests = since.map(|since| FRAME.saturating_sub(Duration::from_micros(since.0)));
            let rests = rests.filter(|rests| !rests.is_zero() && !at_once);
            if (is_new || has_work) && rests.is_none() {
                self.tick();
                let look = terminal.look;
                terminal.draw(|buffer| words::draw(&self.state, buffer, look))?;
                self.drawn = Some(self.clock.now());
                (is_new, at_once) = (false, false);
            }
            let is_due = is_new || has_work;
            let next = match self.wait(has_work, rests.filter(|_| is_due)) {
                Ok(input) => self.take(input)?,
                Err(RecvTimeoutError::Timeout) => Next::Drawn { at_once: false },
                Err(RecvTimeoutError::Disconnected) => Next::Over(None),
            };
            match next {
                Next::Drawn { at_once: key } => {
                    is_new = true;
                    at_once |= key;
                }
                Next::Suspended => {
                    terminal.suspend(suspend)?;
                    let (columns, rows) = terminal.size();
                    self.state.resize(columns, rows);
                    (is_new, at_once) = (true, true);
                }
                Next::Over(signal) => return Ok(signal),
            }
        }
    }

    /// Waits for the next input: not at all if there is work, and until the next clock update if
    /// there is one.
    fn wait(&self, has_work: bool, rests: Option<Duration>) -> Result<Input, RecvTimeoutError> {
        if has_work {
            return self.inputs.try_recv().map_err(|error| match error {
                TryRecvError::Empty => RecvTimeoutError::Timeout,
                TryRecvError::Disconnected => RecvTimeoutError::Disconnected,
            });
        }
        let clock = self.state.has_clock().then_some(SECOND);
        match rests.into_iter().chain(clock).min() {
            Some(most) => self.inputs.recv_timeout(most),
            None => self
                .inputs
                .recv()
                .map_err(|_| RecvTimeoutError::Disconnected),
        }
    }

    fn tick(&mut self) {
        if let Some(age) = self.age {
            self.state.tick(age.saturating_add(self.clock.now().0));
        }
    }

    fn take(&mut self, input: Input) -> anyhow::Result<Next> {
        Ok(match input {
            Input::Key(key) => {
                for want in self.state.key(key) {
                    match want {
                        OutsideRequest::Quit => return Ok(Next::Over(None)),
                        OutsideRequest::Copy(text) => Terminal::copy(&text)?,
                        OutsideRequest::Suspend => return Ok(Next::Suspended),
                        other => self.outside.want(other, &mut self.state),
                    }
                }
                Next::Drawn { at_once: true }
            }
            Input::Resized(columns, rows) => {
                self.state.resize(columns, rows);
                Next::Drawn { at_once: true }
            }
            Input::Told(told) => {
                self.learn(&told);
                let asks = self.asks(&told);
                self.state.told(*told);
                if asks {
                    self.outside.want(OutsideRequest::Faults, &mut self.state);
                }
                Next::Drawn { at_once: false }
            }
            Input::Signal(TerminalSignal::Suspend) => Next::Suspended,
            Input::Signal(TerminalSignal::End(signal)) => Next::Over(Some(signal)),
            Input::Closed => Next::Over(None),
        })
    }

    /// Whether the faults may have changed, while they are shown.
    fn asks(&self, told: &SourceUpdate) -> bool {
        let is_seen = self.state.panel == super::Panel::Faults && self.state.faults.has_control;
        let is_news = matches!(told, SourceUpdate::Changes(..) | SourceUpdate::Part(_));
        is_seen && is_news
    }

    /// Learns the age of the recording.
    fn learn(&mut self, told: &SourceUpdate) {
        if let (SourceUpdate::Part(part), None) = (told, self.age) {
            let age = part.age_us.or_else(|| age(part));
            self.age = age.map(|age| age.saturating_sub(self.clock.now().0));
        }
    }
}

/// How long ago a recording began, by wall time.
fn age(part: &Part) -> Option<u64> {
    let now = jiff::Timestamp::try_from(clock::wall()).ok()?;
    u64::try_from(now.as_microsecond() - part.began_us?).ok()
}

fn read_keys(send: &SyncSender<Input>) {
    loop {
        let input = match event::read() {
            Ok(Event::Key(key)) if key.kind != KeyEventKind::Release => key_of(key).map(Input::Key),
            Ok(Event::Resize(columns, rows)) => Some(Input::Resized(columns, rows)),
            Ok(_) => None,
            Err(_) => Some(Input::Closed),
        };
        let is_last = matches!(input, Some(Input::Closed));
        let is_heard = input.is_none_or(|input| send.send(input).is_ok());
        if is_last || !is_heard {
            return;
        }
    }
}

fn key_of(key: KeyEvent) -> Option<Key> {
    let has_control = key.modifiers.contains(KeyModifiers::CONTROL);
    Some(match key.code {
        KeyCode::Char(char) if has_control => Key::Control(char.to_ascii_lowercase()),
        KeyCode::Char(_) if key.modifiers.contains(KeyModifiers::ALT) => return None,
        KeyCode::Char(char) => Key::Char(char),
        KeyCode::Enter => Key::Enter,
        KeyCode::Esc => Key::Escape,
        KeyCode::Backspace => Key::Backspace,
        KeyCode::Tab => Key::Tab,
        KeyCode::BackTab => Key::BackTab,
        KeyCode::Up => Key::Up,
        KeyCode::Down => Key::Down,
        KeyCode::Left => Key::Left,
        KeyCode::Right => Key::Right,
        KeyCode::PageUp => Key::PageUp,
        KeyCode::PageDown => Key::PageDown,
        KeyCode::Home => Key::Home,
        KeyCode::End => Key::End,
        _ => return None,
    })
}
