//! Entries for clients' configurations.

use std::ffi::OsString;
use std::path::{Path, is_separator};

use anyhow::Context as _;
use tapewright_clients::Run;

use super::Arguments;
use super::endpoints::Endpoints;
use crate::command::wrap::{self, ClientId};
use crate::report::{Mistake, safe};

/// A name for the server that a command starts: the package behind a launcher, or the
/// program itself.
pub(crate) fn label(command: &[OsString]) -> String {
    let words: Vec<String> = command
        .iter()
        .map(|word| word.to_string_lossy().into_owned())
        .collect();
    let base = |word: &str| {
        let name = word.rsplit(['/', '\\']).next().unwrap_or(word);
        // `server-filesystem@1.2.3` without its version.
        name.split('@')
            .next()
            .filter(|name| !name.is_empty())
            .unwrap_or(name)
            .to_owned()
    };
    let Some((program, rest)) = words.split_first() else {
        return "server".to_owned();
    };
    let launcher = Path::new(program)
        .file_stem()
        .unwrap_or_default()
        .to_string_lossy()
        .into_owned();
    let is_wrapper = matches!(
        launcher.as_str(),
        "npx" | "bunx" | "uvx" | "pnpm" | "yarn" | "bun" | "uv" | "deno" | "node" | "pipx"
    ) || launcher.starts_with("python");
    let package = rest.iter().find(|word| {
        !word.starts_with('-') && !matches!(word.as_str(), "run" | "dlx" | "exec" | "x")
    });
    match package {
        Some(package) if is_wrapper => script(package).unwrap_or_else(|| base(package)),
        _ => without_ending(&base(program)).to_owned(),
    }
}

/// The name of a program without the ending that it has on Windows, so that a recording has the same label everywhere.
fn without_ending(program: &str) -> &str {
    const PROGRAMS: [&str; 4] = ["exe", "cmd", "bat", "com"];
    match program.rsplit_once('.') {
        Some((name, ending))
            if !name.is_empty() && PROGRAMS.contains(&&*ending.to_ascii_lowercase()) =>
        {
            name
        }
        _ => program,
    }
}

/// The name of the package that a script belongs to: `…/server-everything/dist/index.js` is
/// `server-everything`.
fn script(path: &str) -> Option<String> {
    const SCRIPTS: [&str; 8] = ["js", "mjs", "cjs", "ts", "mts", "cts", "py", "rb"];
    const FOLDERS: [&str; 7] = ["dist", "build", "out", "src", "bin", "lib", "node_modules"];
    let path = Path::new(path);
    let ending = path.extension()?.to_str()?;
    let name = path.file_stem()?.to_str()?;
    let says_nothing = matches!(name, "index" | "main" | "__main__" | "server" | "cli");
    if !SCRIPTS.contains(&ending) || !says_nothing {
        return None;
    }
    let folders = path
        .parent()?
        .iter()
        .rev()
        .filter_map(|folder| folder.to_str());
    folders
        .filter(|folder| !matches!(*folder, "." | ".." | "/"))
        .find(|folder| !FOLDERS.contains(folder))
        .map(str::to_owned)
}

/// A paste-ready entry that runs this command, or has the URL that it serves.
pub(super) fn entry(
    arguments: &Arguments,
    way: &Endpoints<'_>,
    label: &str,
) -> anyhow::Result<String> {
    let client = arguments.client.map(|ClientId(client)| client);
    let client = client.or_else(|| tapewright_clients::client(ANY));
    let client = client.context("the table of clients is empty")?;
    let run = match way.listen() {
        Some(listen) => Run::Url(url(way, listen)?),
        None => Run::Process {
            program: wrap::program()?,
            arguments: words(arguments)?,
        },
    };
    if matches!(run, Run::Url(_)) && client.shape.urls.is_empty() {
        let what = format!("{} only supports servers that it starts", client.name);
        return Err(Mistake::new(what, "leave out `--listen`").into());
    }
    Ok(tapewright_clients::entry(client, label, &run))
}

/// A client whose entries most others can read.
const ANY: &str = "cursor";

/// Our own arguments, without those that request an entry, and with absolute paths.
fn words(arguments: &Arguments) -> anyhow::Result<Vec<String>> {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let own = words.len().saturating_sub(arguments.command.len());
    let (own, command) = words.split_at_checked(own).unwrap_or_default();
    let mut kept: Vec<String> = Vec::new();
    let mut own = own.iter();
    while let Some(word) = own.next() {
        match word.as_str() {
            "--print-config" => {}
            "--client" => drop(own.next()),
            word if word.starts_with("--client=") => {}
            "-o" | "--output" | "--save-capture" | "--capture" => {
                kept.push(word.clone());
                if let Some(path) = own.next() {
                    kept.push(wrap::absolute(path)?);
                }
            }
            word => kept.push(long_path(word)?),
        }
    }
    let command = command.iter().enumerate().map(|(at, word)| {
        // A program without a slash is found through `PATH`.
        let is_relative = at == 0 && word.contains(is_separator) && !Path::new(word).has_root();
        if is_relative {
            wrap::absolute(word)
        } else {
            Ok(word.clone())
        }
    });
    kept.extend(command.collect::<anyhow::Result<Vec<_>>>()?);
    Ok(kept)
}

/// `--output=FILE` and `-oFILE` with an absolute path; other words unchanged.
fn long_path(word: &str) -> anyhow::Result<String> {
    for option in ["--output=", "--save-capture=", "--capture=", "-o=", "-o"] {
        if let Some(path) = word.strip_prefix(option) {
            return Ok(format!("{option}{}", wrap::absolute(path)?));
        }
    }
    Ok(word.to_owned())
}

/// The URL of this command's gateway.
fn url(way: &Endpoints<'_>, listen: &str) -> anyhow::Result<String> {
    let path = match way {
        Endpoints::Gateway { url, .. } => url.path.as_str(),
        Endpoints::Front { .. } => "/mcp",
        _ => {
            let what = "`--print-config` cannot be used with `--forward-proxy`: clients keep the server's URL";
            return Err(Mistake::new(what, "set HTTP_PROXY for the client").into());
        }
    };
    let (host, port) = listen.rsplit_once(':').unwrap_or(("127.0.0.1", listen));
    let host = if matches!(host, "" | "0.0.0.0" | "[::]") {
        "127.0.0.1"
    } else {
        host
    };
    if port.parse::<u16>().unwrap_or(0) == 0 {
        let what = format!(
            "`--print-config` needs a fixed port in `--listen {}`",
            safe(listen)
        );
        return Err(Mistake::new(what, "choose one, such as `--listen 4000`").into());
    }
    Ok(format!("http://{host}:{port}{path}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_label_names_the_server_and_not_its_launcher() {
        let of = |words: &[&str]| label(&words.iter().map(OsString::from).collect::<Vec<_>>());
        assert_eq!(
            of(&["npx", "-y", "@modelcontextprotocol/server-filesystem", "."]),
            "server-filesystem"
        );
        assert_eq!(of(&["npx", "-y", "@scope/thing@1.2.3"]), "thing");
        assert_eq!(of(&["uv", "run", "server.py"]), "server.py");
        assert_eq!(
            of(&["/usr/bin/python3.11", "-u", "/srv/tool.py"]),
            "tool.py"
        );
        assert_eq!(of(&["/opt/my-server", "--stdio"]), "my-server");
        assert_eq!(of(&[r"C:\tools\my-server.EXE", "--stdio"]), "my-server");
        assert_eq!(of(&["server.v2", "--stdio"]), "server.v2");
        assert_eq!(
            of(&["node", "x/server-everything/dist/index.js", "stdio"]),
            "server-everything"
        );
        assert_eq!(of(&["node", "dist/index.js"]), "index.js");
    }
}
