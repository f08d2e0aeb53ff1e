//! The embedded vocabularies equal those that OpenAI published, as in the crate `tiktoken-rs`.
//! `TAPEWRIGHT_BLESS=1` rewrites them.

/// The most that one unpacks to, in bytes.
const LARGEST: usize = 4 << 20;

#[test]
fn the_vocabularies_are_those_of_tiktoken() {
    let bless = std::env::var_os("TAPEWRIGHT_BLESS").is_some();
    let all = [
        ("r50k_base", tiktoken_rs::r50k_base_singleton(), 50_256),
        ("cl100k_base", tiktoken_rs::cl100k_base_singleton(), 100_256),
        ("o200k_base", tiktoken_rs::o200k_base_singleton(), 199_998),
    ];
    for (name, theirs, count) in all {
        let decode = |rank| theirs.decode_bytes(&[rank]).unwrap();
        let mut tokens: Vec<_> = (0..count).map(decode).collect();
        let length = |token: &Vec<u8>| u8::try_from(token.len()).unwrap();
        let mut packed: Vec<u8> = tokens.iter().map(length).collect();
        packed.push(0);
        // Stable: tokens of the same length keep their order.
        tokens.sort_by_key(Vec::len);
        packed.extend(tokens.concat());
        let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/src/tokens/vocabularies");
        let path = format!("{folder}/{name}.tokens.zst");
        if bless {
            std::fs::write(&path, zstd::bulk::compress(&packed, 22).unwrap()).unwrap();
        }
        let written = std::fs::read(&path).unwrap();
        let ours = zstd::bulk::decompress(&written, LARGEST).unwrap();
        // Neither is printed: each has a million bytes.
        assert!(
            ours == packed,
            "{name} is another: TAPEWRIGHT_BLESS=1 writes it"
        );
    }
}
