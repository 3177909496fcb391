/// A seed as people write it: a number, or a commit hash, reduced to 64 bits.
///
/// So a campaign of a continuous build can be made with the commit as its seed: each commit tries other schedules, and
/// the same commit tries the same again. Returns nothing where the text is neither.
pub fn seed(text: &str) -> Option<u64> {
    let text = text.trim();
    if let Ok(number) = text.parse() {
        return Some(number);
    }
    let digits = text.strip_prefix("0x").unwrap_or(text);
    if digits.is_empty() || !digits.bytes().all(|it| it.is_ascii_hexdigit()) {
        return None;
    }
    let words = digits.as_bytes().chunks(16).map(|it| {
        let word = str::from_utf8(it).expect("hex digits are ASCII");
        u64::from_str_radix(word, 16).expect("16 hex digits fit into 64 bits")
    });
    Some(words.fold(0, |folded, word| folded ^ word))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_number_is_itself_and_a_commit_is_folded() {
        assert_eq!([seed("7"), seed(" 18446744073709551615\n")], [Some(7), Some(u64::MAX)]);
        assert_eq!(seed("25bb43b"), Some(0x025b_b43b));
        assert_eq!(seed("0x10"), Some(16));
        let commit = "0123456789abcdef0123456789abcdef01234567";
        assert_eq!(seed(commit), Some(0x0123_4567));
        assert_eq!(seed("18446744073709551616"), Some(0x1844_6744_0737_0955 ^ 0x1616));
        assert_eq!([seed(""), seed("main"), seed("-1"), seed("0x"), seed("+f")], [None; 5]);
    }
}
