//! Embeds a manifest in a program for Windows; has the linker remove symbols and fold identical functions in the shipped build for
//! Linux.
//!
//! Generic code produces many identical functions. Nothing here compares the addresses of functions, and Rust does not guarantee that they
//! differ. `rust-lld`, Rust's linker on Linux on x86-64 and included elsewhere, can fold them; GNU's linker cannot. Without a linker
//! that can, the option is not set.

use std::error::Error;
use std::path::Path;
use std::process::{Command, Stdio};
use std::{env, fs};

use embed_manifest::manifest::{ActiveCodePage, Setting};
use embed_manifest::{embed_manifest, new_manifest};

const FOLD: &str = "-Wl,--icf=all";

fn main() -> Result<(), Box<dyn Error>> {
    println!("cargo::rerun-if-changed=build.rs");
    // Of our profiles, only `dist` has a level for `main.rs`.
    let is_shipped = env::var("OPT_LEVEL")? != "0";
    match &*env::var("CARGO_CFG_TARGET_OS")? {
        "windows" => settings(),
        "linux" if is_shipped => {
            strip();
            fold()
        }
        _ => Ok(()),
    }
}

/// Paths longer than 260 characters, where the user permits them, and UTF-8 for everything that is not UTF-16.
fn settings() -> Result<(), Box<dyn Error>> {
    let manifest = new_manifest("tapewright.tapewright")
        .active_code_page(ActiveCodePage::Utf8)
        .long_path_aware(Setting::Enabled)
        .remove_dependency("Microsoft.Windows.Common-Controls");
    Ok(embed_manifest(manifest)?)
}

/// Cargo ignores `strip` in the profile of a package that has its own level.
fn strip() {
    println!("cargo::rustc-link-arg-bin=tapewright=-Wl,--strip-all");
}

fn fold() -> Result<(), Box<dyn Error>> {
    for words in [vec![FOLD.to_owned()], rust_lld()?] {
        if links(&words)? {
            for word in words {
                println!("cargo::rustc-link-arg-bin=tapewright={word}");
            }
            break;
        }
    }
    Ok(())
}

/// What has a C compiler link with the linker that Rust brings.
fn rust_lld() -> Result<Vec<String>, Box<dyn Error>> {
    let told = Command::new(env::var("RUSTC")?)
        .args(["--print", "sysroot"])
        .output()?;
    let sysroot = String::from_utf8(told.stdout)?;
    let folder = format!(
        "-B{}/lib/rustlib/{}/bin/gcc-ld",
        sysroot.trim_end(),
        env::var("HOST")?
    );
    Ok(vec![folder, "-fuse-ld=lld".to_owned(), FOLD.to_owned()])
}

/// Whether a program that does nothing can be linked so.
fn links(words: &[String]) -> Result<bool, Box<dyn Error>> {
    let out = env::var("OUT_DIR")?;
    let source = Path::new(&out).join("nothing.rs");
    fs::write(&source, "fn main() {}\n")?;
    let mut rustc = Command::new(env::var("RUSTC")?);
    rustc
        .arg(&source)
        .args(["--target", &env::var("TARGET")?, "-o"])
        .arg(source.with_extension("out"));
    if let Ok(linker) = env::var("RUSTC_LINKER") {
        rustc.args(["-C", &format!("linker={linker}")]);
    }
    let flags = env::var("CARGO_ENCODED_RUSTFLAGS").unwrap_or_default();
    rustc.args(flags.split('\u{1f}').filter(|flag| !flag.is_empty()));
    rustc.args(words.iter().map(|word| format!("-Clink-arg={word}")));
    let told = rustc.stdout(Stdio::null()).stderr(Stdio::null()).status()?;
    Ok(told.success())
}
