//! Access lists of Windows, as the bytes that the system takes, so that they can be tested on every
//! system.

/// Everything that can be done with a file or a folder.
const FULL: u32 = 0x001f_01ff;
/// An entry counts for the files and folders that are created in a folder, too.
const INHERITED: u8 = 0b11;
/// The system itself, which backs files up and checks them for viruses.
pub(super) const SYSTEM: &str = "S-1-5-18";

/// An access list that permits everything to these accounts, and nothing to others. It begins with
/// the header of the list; its words are aligned as the system wants it.
pub(super) fn list(accounts: &[&str], is_folder: bool) -> Option<Vec<u32>> {
    let mut entries = Vec::new();
    for account in accounts {
        let id = identifier(account)?;
        let flags = if is_folder { INHERITED } else { 0 };
        let [low, high] = size(8 + id.len() * 4)?;
        entries.push(u32::from_ne_bytes([0, flags, low, high]));
        entries.push(FULL);
        entries.extend(id);
    }
    let [low, high] = size(8 + entries.len() * 4)?;
    let [count, more] = size(accounts.len())?;
    let mut list = vec![
        u32::from_ne_bytes([2, 0, low, high]),
        u32::from_ne_bytes([count, more, 0, 0]),
    ];
    list.append(&mut entries);
    Some(list)
}

fn size(bytes: usize) -> Option<[u8; 2]> {
    u16::try_from(bytes).ok().map(u16::to_ne_bytes)
}

/// The identifier of an account, such as `S-1-5-21-1-2-3-1001`.
fn identifier(account: &str) -> Option<Vec<u32>> {
    let mut parts = account.strip_prefix("S-1-")?.split('-');
    let authority: u64 = parts.next()?.parse().ok()?;
    // Six bytes, the highest first.
    let [0, 0, first, second, rest @ ..] = authority.to_be_bytes() else {
        return None;
    };
    let parts: Vec<u32> = parts.map(|part| part.parse().ok()).collect::<Option<_>>()?;
    let count = u8::try_from(parts.len())
        .ok()
        .filter(|count| *count <= 15)?;
    let mut words = vec![
        u32::from_ne_bytes([1, count, first, second]),
        u32::from_ne_bytes(rest),
    ];
    words.extend(parts);
    Some(words)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn bytes(words: &[u32]) -> Vec<u8> {
        words.iter().flat_map(|word| word.to_ne_bytes()).collect()
    }

    #[test]
    #[cfg(target_endian = "little")]
    fn a_list_has_the_bytes_that_the_system_documents() {
        let list = bytes(&list(&[SYSTEM], true).unwrap());
        let header = [2, 0, 28, 0, 1, 0, 0, 0];
        let entry = [0, 3, 20, 0, 0xff, 0x01, 0x1f, 0];
        let id = [1, 1, 0, 0, 0, 0, 0, 5, 18, 0, 0, 0];
        assert_eq!(list, [&header[..], &entry, &id].concat());
    }

    #[test]
    fn each_account_has_an_entry() {
        let user = "S-1-5-21-4294967295-2-3-1001";
        let file = bytes(&list(&[user, SYSTEM], false).unwrap());
        assert_eq!(file.len(), 8 + (8 + 28) + (8 + 12));
        assert_eq!(file.get(2..6).unwrap(), [64, 0, 2, 0]);
        assert_eq!(file.get(9), Some(&0), "not inherited");
    }

    #[test]
    fn what_is_no_account_is_refused() {
        let many = format!("S-1-5{}", "-1".repeat(16));
        for account in [
            "",
            "S-1-",
            "S-1-x",
            "S-1-5-4294967296",
            "Everyone",
            "S-1-281474976710656",
            &many,
        ] {
            assert_eq!(list(&[account], false), None, "{account}");
        }
    }
}
