//! The terminal: takes it over, draws on it, and always restores it.

use std::io::{self, IsTerminal as _, Write as _};

use ratatui::Terminal as Drawn;
use ratatui::backend::CrosstermBackend;
use ratatui::buffer::Buffer;
use ratatui::crossterm::cursor::{Hide, Show};
use ratatui::crossterm::execute;
use ratatui::crossterm::terminal::{
    EnterAlternateScreen, LeaveAlternateScreen, disable_raw_mode, enable_raw_mode,
};

use super::Look;
use crate::report::Mistake;
use crate::report::terminal::wants_colours;

/// A terminal that is ours until this is dropped.
pub(crate) struct Terminal {
    drawn: Drawn<CrosstermBackend<io::Stdout>>,
    /// The style of the view.
    pub(crate) look: Look,
}

impl Terminal {
    /// Takes over the terminal.
    pub(crate) fn take() -> anyhow::Result<Self> {
        needed()?;
        let before = std::panic::take_hook();
        std::panic::set_hook(Box::new(move |panic| {
            give_back();
            before(panic);
        }));
        let drawn = enter().and_then(|()| Drawn::new(CrosstermBackend::new(io::stdout())));
        match drawn {
            Ok(drawn) => Ok(Self {
                drawn,
                look: Look {
                    colour: wants_colours(),
                },
            }),
            Err(error) => {
                give_back();
                Err(failed(&error).into())
            }
        }
    }

    /// Its columns and rows.
    pub(crate) fn size(&self) -> (u16, u16) {
        // The traditional size if the terminal does not report one.
        let size = self.drawn.size();
        size.map_or((80, 24), |size| (size.width, size.height))
    }

    /// Draws; only cells that changed are written.
    pub(crate) fn draw(&mut self, draw: impl FnOnce(&mut Buffer)) -> io::Result<()> {
        self.drawn.draw(|frame| draw(frame.buffer_mut()))?;
        Ok(())
    }

    /// Restores the terminal while `stop` suspends the process, and takes it over again.
    pub(crate) fn suspend(&mut self, stop: impl FnOnce() -> io::Result<()>) -> io::Result<()> {
        give_back();
        let stopped = stop();
        enter()?;
        // Nothing of the drawing is left. Clearing would query the cursor position, and the thread
        // that reads the keys would take the answer.
        self.drawn = Drawn::new(CrosstermBackend::new(io::stdout()))?;
        stopped
    }

    /// Passes a text to the terminal's clipboard. In base64, no part of it is interpreted.
    pub(crate) fn copy(text: &str) -> io::Result<()> {
        let mut out = io::stdout().lock();
        write!(out, "\u{1b}]52;c;{}\u{7}", base64(text.as_bytes()))?;
        out.flush()
    }
}

impl Drop for Terminal {
    fn drop(&mut self) {
        give_back();
    }
}

/// Checks that there is a terminal to draw on and to type at.
pub(crate) fn needed() -> Result<(), Mistake> {
    if io::stdout().is_terminal() && io::stdin().is_terminal() {
        return Ok(());
    }
    Err(super::no_terminal())
}

fn enter() -> io::Result<()> {
    enable_raw_mode()?;
    execute!(io::stdout(), EnterAlternateScreen, Hide)
}

/// Restores the terminal. If it is gone, that does not matter.
pub(crate) fn give_back() {
    drop(execute!(io::stdout(), LeaveAlternateScreen, Show));
    drop(disable_raw_mode());
}

fn failed(error: &io::Error) -> Mistake {
    Mistake::new(
        format!("the terminal cannot be used: {error}"),
        "use `tapewright show FILE` for lines",
    )
}

const LETTERS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

/// RFC 4648, section 4.
fn base64(bytes: &[u8]) -> String {
    let letter = |six: u32| {
        LETTERS
            .get((six & 63) as usize)
            .map_or('=', |one| char::from(*one))
    };
    let mut out = String::with_capacity(bytes.len() / 3 * 4 + 4);
    for three in bytes.chunks(3) {
        let at = |place: usize| u32::from(three.get(place).copied().unwrap_or_default());
        let all = at(0) << 16 | at(1) << 8 | at(2);
        out.push(letter(all >> 18));
        out.push(letter(all >> 12));
        out.push(if three.len() > 1 {
            letter(all >> 6)
        } else {
            '='
        });
        out.push(if three.len() > 2 { letter(all) } else { '=' });
    }
    out
}

#[cfg(test)]
mod tests {
    use super::base64;

    /// In a terminal of Unix.
    #[cfg(unix)]
    mod panics {
        use std::fs::File;
        use std::io::Read as _;
        use std::os::unix::fs::OpenOptionsExt as _;
        use std::process::Command;

        use rustix::fs::OFlags;
        use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};
        use rustix::termios::{Winsize, tcgetattr, tcsetwinsize};

        use super::super::Terminal;

        const IN_A_TERMINAL: &str = "TAPEWRIGHT_TEST_IN_A_TERMINAL";

        /// The part of the test below that runs in a separate terminal.
        fn a_view_that_panics() {
            let mut terminal = Terminal::take().unwrap();
            let drawn = terminal.draw(|buffer| panic!("drawn on {}", buffer.area));
            drawn.unwrap();
        }

        #[test]
        fn a_panic_gives_the_terminal_back_before_it_is_told() {
            if std::env::var_os(IN_A_TERMINAL).is_some() {
                return a_view_that_panics();
            }
            let ours = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY).unwrap();
            grantpt(&ours).unwrap();
            unlockpt(&ours).unwrap();
            let size = Winsize {
                ws_row: 24,
                ws_col: 80,
                ws_xpixel: 0,
                ws_ypixel: 0,
            };
            tcsetwinsize(&ours, size).unwrap();
            let name = ptsname(&ours, Vec::new()).unwrap();
            let path = name.to_str().unwrap();
            // A test program without a controlling terminal must not acquire this one.
            let flags = OFlags::NOCTTY.bits().cast_signed();
            let mut options = File::options();
            let options = options.read(true).write(true).custom_flags(flags);
            let theirs = options.open(path).unwrap();
            let modes = || {
                let told = tcgetattr(&theirs).unwrap();
                (told.input_modes, told.output_modes, told.local_modes)
            };
            let before = modes();
            let status = Command::new(std::env::current_exe().unwrap())
                .args(["--nocapture", "--exact"])
                .arg(
                    "report::watch::terminal::tests::panics::a_panic_gives_the_terminal_back_before_it_is_told",
                )
                .env(IN_A_TERMINAL, "1")
                .stdin(theirs.try_clone().unwrap())
                .stdout(theirs.try_clone().unwrap())
                .stderr(theirs.try_clone().unwrap())
                .status()
                .unwrap();
            assert!(!status.success());
            assert_eq!(modes(), before, "keys are lines and are echoed again");
            drop(theirs);
            let mut told = Vec::new();
            // Once no other process has it open, the rest is read, followed by an error.
            drop(File::from(ours).read_to_end(&mut told));
            let told = String::from_utf8_lossy(&told);
            let place = |text: &str| {
                told.find(text)
                    .unwrap_or_else(|| panic!("{text:?}: {told:?}"))
            };
            let (taken, back) = (place("\u{1b}[?1049h"), place("\u{1b}[?1049l"));
            let (hidden, shown) = (place("\u{1b}[?25l"), place("\u{1b}[?25h"));
            let words = place("drawn on 80x24");
            assert!(taken < back && back < words, "{told:?}");
            assert!(hidden < shown && shown < words, "{told:?}");
            assert_eq!(told.matches("\u{1b}[?1049h").count(), 1);
        }
    }

    #[test]
    fn base64_is_that_of_the_rfc() {
        for (text, written) in [
            ("", ""),
            ("f", "Zg=="),
            ("fo", "Zm8="),
            ("foo", "Zm9v"),
            ("foobar", "Zm9vYmFy"),
            ("\u{1b}]52;c;?\u{7}", "G101MjtjOz8H"),
        ] {
            assert_eq!(base64(text.as_bytes()), written);
        }
    }
}
