//! A scripted peer for tests: the server behind the recorder.
//!
//! Built as an example so that it is never installed with the product.

#![expect(clippy::indexing_slicing, reason = "a test may fail")]
#![expect(clippy::print_stdout, reason = "a server speaks on standard output")]

use std::fs::File;
use std::io::{self, BufRead, BufWriter, Read, Write};
use std::net::TcpStream;
use std::thread;

#[path = "../support/stream.rs"]
mod stream;

mod asking_server;
mod corpus_server;
mod processes;
mod provider;
mod rmcp_server;
mod suite_server;

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let words: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let done = match words.as_slice() {
        ["law"] => law(),
        ["answer", log] => answer(log),
        ["asks", broken @ ..] => asking_server::serve(broken),
        ["blocked", marker] => blocked(marker),
        ["post", url, body, headers @ ..] => post(url, body, headers),
        ["chatter", bytes] => chatter(bytes.parse().expect("a number of bytes")),
        ["corpus", broken @ ..] => corpus_server::serve(broken),
        ["processes", role, words @ ..] => processes::play(role, words),
        ["provider", script, log @ ..] => provider::serve(script, log.first()),
        ["corpus-http", broken @ ..] => corpus_server::serve_http(broken),
        ["replies", pairs @ ..] => replies(pairs),
        ["rmcp"] => rmcp_server::serve(),
        ["rmcp-http"] => rmcp_server::serve_http(),
        ["suite"] => suite_server::serve(),
        ["slow-answers", millis] => slow_answers(millis.parse().expect("milliseconds")),
        _ => panic!("unknown role {words:?}"),
    };
    done.expect("the role could be played");
}

/// Sends one known stream while it receives another, both at full speed. Fails if it receives
/// anything else than the client sends.
fn law() -> io::Result<()> {
    let sender = thread::spawn(|| stream::write(stream::SERVER, &mut io::stdout().lock()));
    let received = stream::check(stream::CLIENT, &mut io::stdin().lock());
    sender.join().expect("the sender lives")?;
    received
}

/// Answers each request line at once, and keeps a log of the lines it received.
fn answer(log: &str) -> io::Result<()> {
    let mut log = BufWriter::with_capacity(1 << 20, File::create(log)?);
    let mut input = io::stdin().lock();
    let mut output = io::stdout().lock();
    let mut line = Vec::new();
    loop {
        line.clear();
        if input.read_until(b'\n', &mut line)? == 0 || line.last() != Some(&b'\n') {
            return log.flush();
        }
        log.write_all(&line)?;
        log.flush()?;
        let text = String::from_utf8_lossy(&line);
        let id = text
            .split("\"id\":")
            .nth(1)
            .and_then(|rest| rest.split([',', '}']).next());
        let pad = "z".repeat(id.map_or(0, |id| id.len() * 37 % 200));
        let id = id.unwrap_or("null");
        let reply =
            format!("{{\"jsonrpc\":\"2.0\",\"id\":{id},\"result\":{{\"pad\":\"{pad}\"}}}}\n");
        if output
            .write_all(reply.as_bytes())
            .and_then(|()| output.flush())
            .is_err()
        {
            return Ok(());
        }
    }
}

/// Fills its output, which is not read at first, and meanwhile reads 4 MiB; then there is a file.
fn blocked(marker: &str) -> io::Result<()> {
    let sender = thread::spawn(|| io::copy(&mut io::repeat(0).take(8_000_000), &mut io::stdout()));
    io::copy(&mut io::stdin().take(4 << 20), &mut io::sink())?;
    File::create(marker)?;
    sender.join().expect("the sender lives").map(drop)
}

/// An agent that posts a body with these headers, and writes the body of the answer.
fn post(url: &str, body: &str, headers: &[&str]) -> io::Result<()> {
    let (host, path) = url
        .strip_prefix("http://")
        .and_then(|rest| rest.split_once('/'))
        .expect("http://HOST/PATH");
    let mut server = TcpStream::connect(host)?;
    let length = body.len();
    let headers = [headers, &[""]].concat().join("\r\n");
    write!(
        server,
        "POST /{path} HTTP/1.1\r\nHost: {host}\r\nContent-Type: application/json\r\nConnection: close\r\nContent-Length: {length}\r\n{headers}\r\n{body}"
    )?;
    let mut answer = String::new();
    server.read_to_string(&mut answer)?;
    let (_, body) = answer.split_once("\r\n\r\n").expect("a head");
    println!("{body}");
    Ok(())
}

/// Writes that many bytes to standard error before it answers anything.
fn chatter(bytes: usize) -> io::Result<()> {
    let line = [b"log ".as_slice(), &[b'e'; 95], b"\n"].concat();
    for _ in 0..bytes / line.len() {
        io::stderr().write_all(&line)?;
    }
    io::stdout().write_all(b"{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{}}\n")?;
    io::stdout().flush()?;
    io::copy(&mut io::stdin(), &mut io::sink()).map(drop)
}

/// Answers each line with the reply after the first of these texts that is in it, if there is one. Unlike a shell it reads a long line fast.
fn replies(pairs: &[&str]) -> io::Result<()> {
    let mut input = io::stdin().lock();
    let mut line = Vec::new();
    let (pairs, _) = pairs.as_chunks();
    while input.read_until(b'\n', &mut line)? > 0 {
        let text = String::from_utf8_lossy(&line);
        if let Some([_, reply]) = pairs.iter().find(|[part, _]| text.contains(part)) {
            println!("{reply}");
        }
        line.clear();
    }
    Ok(())
}

/// Reads everything, and only then answers each line, so late after the end of input.
fn slow_answers(millis: u64) -> io::Result<()> {
    let mut all = String::new();
    io::stdin().read_to_string(&mut all)?;
    thread::sleep(std::time::Duration::from_millis(millis));
    for line in all.lines() {
        let id = line
            .split("\"id\":")
            .nth(1)
            .and_then(|rest| rest.split([',', '}']).next());
        if let Some(id) = id {
            println!("{{\"jsonrpc\":\"2.0\",\"id\":{id},\"result\":{{}}}}");
        }
    }
    Ok(())
}
