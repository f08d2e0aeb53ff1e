//! Packs the JSON Schemas that are published: see `src/published.rs`.

use std::error::Error;
use std::path::Path;
use std::{env, fs};

const FOLDER: &str = "json";

fn main() -> Result<(), Box<dyn Error>> {
    println!("cargo::rerun-if-changed={FOLDER}");
    let mut files = Vec::new();
    for entry in fs::read_dir(FOLDER)? {
        let path = entry?.path();
        let name = path.file_name().and_then(|name| name.to_str());
        if let Some(name) = name.and_then(|name| name.strip_suffix(".schema.json")) {
            files.push((name.to_owned(), fs::read_to_string(&path)?));
        }
    }
    files.sort();
    let out = env::var_os("OUT_DIR").ok_or("Cargo sets OUT_DIR")?;
    fs::write(
        Path::new(&out).join("schemas.packed"),
        tapewright_packed::pack(&files),
    )?;
    Ok(())
}
