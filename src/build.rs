//! Compresses the files of the page into one, since they are a third as long then, and few runs show a page.
//!
//! That one is deflated. It begins with the number of files, as a line; a line for each file has its length in bytes and its
//! name; the files follow.

use std::error::Error;
use std::fmt::Write as _;
use std::io::Write as _;
use std::path::Path;
use std::{env, fs};

use flate2::Compression;
use flate2::write::DeflateEncoder;

const FOLDER: &str = "report/page";

fn main() -> Result<(), Box<dyn Error>> {
    println!("cargo::rerun-if-changed={FOLDER}");
    let mut names = Vec::new();
    for entry in fs::read_dir(FOLDER)? {
        let name = entry?
            .file_name()
            .into_string()
            .map_err(|_| "a name that is not UTF-8")?;
        let kind = Path::new(&name).extension().and_then(|kind| kind.to_str());
        if matches!(kind, Some("js" | "css" | "html")) {
            names.push(name);
        }
    }
    names.sort();
    let mut index = format!("{}\n", names.len());
    let mut texts = String::new();
    for name in names {
        let text = fs::read_to_string(Path::new(FOLDER).join(&name))?;
        writeln!(index, "{} {name}", text.len())?;
        texts.push_str(&text);
    }
    let mut packed = DeflateEncoder::new(Vec::new(), Compression::best());
    packed.write_all(index.as_bytes())?;
    packed.write_all(texts.as_bytes())?;
    let out = env::var_os("OUT_DIR").ok_or("Cargo sets OUT_DIR")?;
    fs::write(Path::new(&out).join("page.deflate"), packed.finish()?)?;
    Ok(())
}
