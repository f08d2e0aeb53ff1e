//! The commands that need no program.

use std::fs;
use std::io::{self, BufRead as _, Read as _};
use std::path::Path;
use std::time::Duration;

use super::run::{Shell, Stop};

/// Runs a command, unless it is a program.
pub(crate) fn run(shell: &mut Shell, name: &str, words: &[String]) -> Option<Result<i32, Stop>> {
    Some(match name {
        ":" | "true" => Ok(0),
        "false" => Ok(1),
        "echo" => shell
            .write(format!("{}\n", words.join(" ")).as_bytes())
            .map_or(Ok(1), |()| Ok(0)),
        "printf" => printf(words).and_then(|text| shell.write(&text).map_or(Ok(1), |()| Ok(0))),
        "read" => read(shell, words),
        "cat" => cat(shell, words),
        "sleep" => sleep(words),
        "exit" => Err(Stop::Exit(number(words.first()).unwrap_or(0))),
        "shift" => {
            let count = number(words.first()).and_then(|count| count.try_into().ok());
            Ok(i32::from(shell.shift(count.unwrap_or(1)).is_none()))
        }
        "export" => {
            for (name, value) in words.iter().filter_map(|word| word.split_once('=')) {
                shell.set(name, value.to_owned());
            }
            Ok(0)
        }
        "mkdir" => Ok(done(words, |path| fs::create_dir_all(path))),
        "rm" => Ok(done(words, |path| {
            if path.is_dir() {
                fs::remove_dir_all(path)
            } else {
                fs::remove_file(path)
            }
        })),
        "test" => test(words),
        "[" => match words {
            [words @ .., end] if end == "]" => test(words),
            _ => Err("[ without ]".to_owned().into()),
        },
        _ => return None,
    })
}

fn number(word: Option<&String>) -> Option<i32> {
    word?.parse().ok()
}

/// Does something with each path; options mean nothing.
fn done(words: &[String], act: impl Fn(&Path) -> io::Result<()>) -> i32 {
    for word in words.iter().filter(|word| !word.starts_with('-')) {
        if act(Path::new(word)).is_err() {
            return 1;
        }
    }
    0
}

/// One line of the input, without its end, into a variable.
fn read(shell: &mut Shell, words: &[String]) -> Result<i32, Stop> {
    let [name] = words.strip_prefix(&["-r".to_owned()]).unwrap_or(words) else {
        return Err("read needs one name".to_owned().into());
    };
    let mut line = Vec::new();
    io::stdin().lock().read_until(b'\n', &mut line)?;
    let is_whole = line.pop_if(|last| *last == b'\n').is_some();
    let text = String::from_utf8_lossy(&line).into_owned();
    shell.set(name, text.trim_matches([' ', '\t']).to_owned());
    Ok(i32::from(!is_whole))
}

fn cat(shell: &mut Shell, words: &[String]) -> Result<i32, Stop> {
    for word in words {
        shell.write(&fs::read(word)?)?;
    }
    let mut part = vec![0; 65_536];
    while words.is_empty() {
        let count = io::stdin().lock().read(&mut part)?;
        let Some(some) = part.get(..count).filter(|some| !some.is_empty()) else {
            break;
        };
        if shell.write(some).is_err() {
            return Ok(1);
        }
    }
    Ok(0)
}

fn sleep(words: &[String]) -> Result<i32, Stop> {
    let seconds = words.first().and_then(|word| word.parse().ok());
    let time = seconds.and_then(|seconds| Duration::try_from_secs_f64(seconds).ok());
    std::thread::sleep(time.ok_or("sleep for how long?".to_owned())?);
    Ok(0)
}

fn test(words: &[String]) -> Result<i32, Stop> {
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    let holds = match words.as_slice() {
        ["!", rest @ ..] => {
            let rest: Vec<String> = rest.iter().map(|word| (*word).to_owned()).collect();
            test(&rest)? != 0
        }
        ["-e" | "-f", path] => Path::new(path).exists(),
        ["-n", text] => !text.is_empty(),
        ["-z", text] => text.is_empty(),
        [one, "=", other] => one == other,
        [one, "!=", other] => one != other,
        [
            one,
            comparison @ ("-eq" | "-ne" | "-lt" | "-gt" | "-le" | "-ge"),
            other,
        ] => {
            let number = |text: &str| {
                text.parse::<i64>()
                    .map_err(|_| format!("{text} is no number"))
            };
            let order = number(one)?.cmp(&number(other)?);
            match *comparison {
                "-eq" => order.is_eq(),
                "-ne" => order.is_ne(),
                "-lt" => order.is_lt(),
                "-gt" => order.is_gt(),
                "-le" => order.is_le(),
                _ => order.is_ge(),
            }
        }
        _ => return Err(format!("test {words:?} is not known").into()),
    };
    Ok(i32::from(!holds))
}

/// A format with its arguments, again and again until all are written.
fn printf(words: &[String]) -> Result<Vec<u8>, Stop> {
    let Some((format, mut words)) = words.split_first() else {
        return Err("printf of what?".to_owned().into());
    };
    let mut out = Vec::new();
    loop {
        let before = words.len();
        formatted(format, &mut words, &mut out)?;
        if words.is_empty() || words.len() == before {
            return Ok(out);
        }
    }
}

fn formatted(format: &str, words: &mut &[String], out: &mut Vec<u8>) -> Result<(), Stop> {
    let mut next = || {
        let (first, rest) = words.split_first()?;
        *words = rest;
        Some(first.clone())
    };
    let mut characters = format.chars().peekable();
    while let Some(one) = characters.next() {
        match one {
            '%' => {
                let mut width = String::new();
                while let Some(digit) = characters.next_if(char::is_ascii_digit) {
                    width.push(digit);
                }
                let is_zeros = width.starts_with('0');
                let width: usize = width.parse().unwrap_or(0);
                match characters.next() {
                    Some('%') => out.push(b'%'),
                    Some('s') => out.extend(next().unwrap_or_default().bytes()),
                    Some('d') if is_zeros => {
                        out.extend(format!("{:0>width$}", next().unwrap_or_default()).bytes());
                    }
                    Some('d') => out.extend(next().unwrap_or("0".to_owned()).bytes()),
                    other => return Err(format!("%{other:?} is not known").into()),
                }
            }
            '\\' => match characters.next() {
                Some('n') => out.push(b'\n'),
                Some('r') => out.push(b'\r'),
                Some('t') => out.push(b'\t'),
                Some(digit @ '0'..='7') => {
                    let mut code = digit.to_digit(8).unwrap_or(0);
                    for _ in 0..2 {
                        if let Some(digit) = characters.next_if(|one| one.is_digit(8)) {
                            code = code * 8 + digit.to_digit(8).unwrap_or(0);
                        }
                    }
                    out.push(u8::try_from(code).unwrap_or(b'?'));
                }
                Some(other) => out.extend(other.to_string().bytes()),
                None => out.push(b'\\'),
            },
            _ => out.extend(one.to_string().bytes()),
        }
    }
    Ok(())
}
