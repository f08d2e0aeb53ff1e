//! Packs the registry, the corpora and the table of official checks: see `src/embedded.rs`.

use std::error::Error;
use std::path::Path;
use std::{env, fs};

type Files = Vec<(String, String)>;

fn main() -> Result<(), Box<dyn Error>> {
    // When adding a version, change the list there.
    println!("cargo::rerun-if-changed=src/embedded.rs");
    let mut files = Vec::new();
    add("registry.yml", &mut files)?;
    add("official.yml", &mut files)?;
    for entry in fs::read_dir("..")? {
        let name = entry?
            .file_name()
            .into_string()
            .map_err(|_| "a name that is not UTF-8")?;
        if name == "draft" || name.starts_with("v20") {
            add_folder(&name, &mut files)?;
        }
    }
    // Files with the same name in different versions are similar.
    files.sort_by(|(one, _), (other, _)| one.rsplit('/').cmp(other.rsplit('/')));
    let out = env::var_os("OUT_DIR").ok_or("Cargo sets OUT_DIR")?;
    fs::write(
        Path::new(&out).join("corpora.packed"),
        tapewright_packed::pack(&files),
    )?;
    Ok(())
}

fn add_folder(folder: &str, files: &mut Files) -> Result<(), Box<dyn Error>> {
    println!("cargo::rerun-if-changed=../{folder}");
    for entry in fs::read_dir(Path::new("..").join(folder))? {
        let name = entry?
            .file_name()
            .into_string()
            .map_err(|_| "a name that is not UTF-8")?;
        add(&format!("{folder}/{name}"), files)?;
    }
    Ok(())
}

/// A file by its path below `compliance`.
fn add(path: &str, files: &mut Files) -> Result<(), Box<dyn Error>> {
    println!("cargo::rerun-if-changed=../{path}");
    let text = fs::read_to_string(Path::new("..").join(path))?;
    files.push((format!("compliance/{path}"), text));
    Ok(())
}
