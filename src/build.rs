//! Packs the files of the page, which few runs show, into one file of a third of the size.

use std::error::Error;
use std::path::Path;
use std::{env, fs};

const FOLDER: &str = "report/page";

fn main() -> Result<(), Box<dyn Error>> {
    println!("cargo::rerun-if-changed={FOLDER}");
    let mut files = Vec::new();
    for entry in fs::read_dir(FOLDER)? {
        let path = entry?.path();
        let kind = path.extension().and_then(|kind| kind.to_str());
        if matches!(kind, Some("js" | "css" | "html")) {
            let name = path.file_name().and_then(|name| name.to_str());
            let name = name.ok_or("a name that is not UTF-8")?.to_owned();
            files.push((name, fs::read_to_string(&path)?));
        }
    }
    files.sort();
    let out = env::var_os("OUT_DIR").ok_or("Cargo sets OUT_DIR")?;
    fs::write(
        Path::new(&out).join("page.packed"),
        tapewright_packed::pack(&files),
    )?;
    Ok(())
}
