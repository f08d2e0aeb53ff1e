//! Servers that start, leave and outstay: a process of theirs is connected to a port of the test for
//! as long as it lives, so that the test sees its end on every system, however it comes.

use std::io::{self, BufRead as _, BufReader, Write as _};
use std::net::TcpStream;
use std::process::{Command, Stdio};
use std::thread;
use std::time::Duration;

/// The variable with the address of the test.
const WATCH: &str = "TAPEWRIGHT_TEST_WATCH";

/// Plays a role, with the rest of its arguments.
pub(crate) fn play(role: &str, words: &[&str]) -> io::Result<()> {
    let _watched = watched()?;
    match (role, words) {
        ("stay", _) => stay(),
        ("tree", _) => tree(),
        ("leave", [status]) => leave(status.parse().expect("a status")),
        ("exit", [status]) => exit(status.parse().expect("a status")),
        ("words", words) => say(words),
        ("client", [program, words @ ..]) => client(program, words),
        ("last-call", [program, words @ ..]) => last_call(program, words),
        ("launch", [program, words @ ..]) => launch(program, words),
        ("echo", _) => echo(),
        _ => panic!("unknown role {role} {words:?}"),
    }
}

/// The connection by which the test sees that this process lives.
fn watched() -> io::Result<Option<TcpStream>> {
    let Ok(address) = std::env::var(WATCH) else {
        return Ok(None);
    };
    let mut stream = TcpStream::connect(address)?;
    stream.write_all(b"here\n")?;
    Ok(Some(stream))
}

/// Never ends by itself, not even at the end of its input.
fn stay() -> io::Result<()> {
    tell("ready")?;
    loop {
        thread::sleep(Duration::from_secs(1));
    }
}

/// Lets another process answer, as `npx` does, and waits for it.
fn tree() -> io::Result<()> {
    let mut child = Command::new(std::env::current_exe()?)
        .args(["processes", "stay"])
        .spawn()?;
    child.wait().map(drop)
}

/// Leaves a process behind that holds its streams, once it has read a line.
fn leave(status: i32) -> io::Result<()> {
    Command::new(std::env::current_exe()?)
        .args(["processes", "stay"])
        .spawn()?;
    io::stdin().lock().read_line(&mut String::new())?;
    exit(status)
}

#[expect(
    clippy::disallowed_methods,
    reason = "the role is to end with this status"
)]
fn exit(status: i32) -> io::Result<()> {
    std::process::exit(status)
}

/// Prints its arguments as a JSON array.
fn say(words: &[&str]) -> io::Result<()> {
    tell(&serde_json::to_string(words)?)
}

/// A client that starts a server, asks it something once it is ready, and waits for the answer.
fn client(program: &str, words: &[&str]) -> io::Result<()> {
    let mut server = Command::new(program)
        .args(words)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()?;
    let mut output = BufReader::new(server.stdout.take().expect("a pipe"));
    output.read_line(&mut String::new())?;
    let input = server.stdin.as_mut().expect("a pipe");
    input.write_all(b"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tools/call\"}\n")?;
    tell("ready")?;
    output.read_line(&mut String::new()).map(drop)
}

/// A client that asks something, closes its end at once, and passes on what it reads.
fn last_call(program: &str, words: &[&str]) -> io::Result<()> {
    let mut server = Command::new(program)
        .args(words)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()?;
    let mut input = server.stdin.take().expect("a pipe");
    input.write_all(b"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tools/call\"}\n")?;
    drop(input);
    let mut output = server.stdout.take().expect("a pipe");
    io::copy(&mut output, &mut io::stdout().lock())?;
    server.wait().map(drop)
}

/// Starts a program and ends, as launchers do.
fn launch(program: &str, words: &[&str]) -> io::Result<()> {
    Command::new(program).args(words).spawn().map(drop)
}

/// Returns what it reads, until the end.
fn echo() -> io::Result<()> {
    io::copy(&mut io::stdin().lock(), &mut io::stdout().lock()).map(drop)
}

fn tell(line: &str) -> io::Result<()> {
    let mut output = io::stdout().lock();
    output.write_all(line.as_bytes())?;
    output.write_all(b"\n")?;
    output.flush()
}
