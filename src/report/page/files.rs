//! The files of the page next to this module, which `build.rs` has packed into one.

use std::sync::LazyLock;

use tapewright_packed::Texts;

/// The text of a file by its name, such as `page.css`.
///
/// # Panics
///
/// No file has that name. The names are constants, and a test reads each of them.
pub(super) fn text(name: &str) -> &'static str {
    FILES.text(name)
}

static FILES: LazyLock<Texts> = LazyLock::new(|| {
    Texts::unpack(include_bytes!(concat!(env!("OUT_DIR"), "/page.packed")))
        .expect("the page is as `build.rs` has written it")
});

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
        assert_eq!(found, FILES.iter().count());
    }
}
