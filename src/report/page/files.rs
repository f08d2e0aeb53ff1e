//! The files of the page as they stand beside this one, which `build.rs` has compressed into one.

use std::io::Read;
use std::sync::LazyLock;

use flate2::read::DeflateDecoder;

/// The text of a file by its name, such as `page.css`.
///
/// # Panics
///
/// Where no file has that name. The names are constants, and a test asks for each of them.
pub(super) fn text(name: &str) -> &'static str {
    let mut named = FILES.iter().filter(|file| file.0 == name);
    named
        .next()
        .map(|file| file.1.as_str())
        .expect("a file of the page has this name")
}

/// Names and texts.
static FILES: LazyLock<Vec<(String, String)>> = LazyLock::new(|| {
    unpack(include_bytes!(concat!(env!("OUT_DIR"), "/page.deflate")))
        .expect("the page is as `build.rs` has written it")
});

fn unpack(packed: &[u8]) -> Option<Vec<(String, String)>> {
    let mut all = String::new();
    DeflateDecoder::new(packed).read_to_string(&mut all).ok()?;
    let (count, mut rest) = all.split_once('\n')?;
    let mut index = Vec::new();
    for _ in 0..count.parse().ok()? {
        let (line, after) = rest.split_once('\n')?;
        index.push(line.split_once(' ')?);
        rest = after;
    }
    let mut files = Vec::with_capacity(index.len());
    for (length, name) in index {
        let (text, after) = rest.split_at_checked(length.parse().ok()?)?;
        files.push((name.to_owned(), text.to_owned()));
        rest = after;
    }
    rest.is_empty().then_some(files)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_file_is_as_it_stands_in_its_folder() {
        let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/report/page");
        let mut found = 0;
        for entry in std::fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.extension().is_some_and(|kind| kind != "rs") {
                let name = path.file_name().unwrap().to_str().unwrap();
                assert_eq!(
                    text(name),
                    std::fs::read_to_string(&path).unwrap(),
                    "{name}"
                );
                found += 1;
            }
        }
        assert_eq!(found, FILES.len());
    }

    #[test]
    fn what_was_cut_or_changed_is_no_page() {
        let packed = include_bytes!(concat!(env!("OUT_DIR"), "/page.deflate"));
        assert!(unpack(packed).is_some());
        assert!(unpack(&packed[..packed.len() / 2]).is_none());
        assert!(unpack(&[]).is_none());
    }
}
