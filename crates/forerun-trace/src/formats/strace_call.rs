//! The text of one system call as strace prints it: `name(arguments) = result <seconds>`.

use crate::text::{decimal, quoted};

/// One call that returned.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Call<'a> {
    pub(super) name: &'a str,
    pub(super) arguments: Vec<&'a str>,
    /// None if it failed or did not return.
    pub(super) result: Option<u64>,
    /// The text after the result's number: with `-y` the path of a new descriptor.
    pub(super) result_path: Option<&'a str>,
    pub(super) duration_ns: Option<u64>,
}

impl Call<'_> {
    /// Parses the call `text`.
    pub(super) fn parse(text: &str) -> Result<Call<'_>, String> {
        let (name, rest) = text.split_once('(').ok_or_else(|| format!("{} is not a call", quoted(text)))?;
        let (arguments, rest) = arguments(rest).ok_or("the arguments of the call do not end")?;
        let rest = rest.trim_start().strip_prefix('=').ok_or("the call has no result")?.trim();
        let (rest, duration_ns) = match rest.rsplit_once(" <") {
            Some((rest, end)) if end.ends_with('>') && !end.contains('/') => {
                (rest, Some(decimal("the duration", end.trim_end_matches('>'), 9)?))
            }
            _ => (rest, None),
        };
        let digits = rest.find(|c: char| !c.is_ascii_digit()).unwrap_or(rest.len());
        let result_path = rest[digits..].strip_prefix('<').and_then(|path| path.strip_suffix('>'));
        Ok(Call { name, arguments, result: rest[..digits].parse().ok(), result_path, duration_ns })
    }

    /// The argument at `at`.
    pub(super) fn argument(&self, at: usize) -> Result<&str, String> {
        let missing = || format!("{} has no argument {}", self.name, at + 1);
        self.arguments.get(at).copied().ok_or_else(missing)
    }
}

/// A descriptor with the path that `-y` gives: `3</etc/passwd>`.
pub(super) fn descriptor(text: &str) -> Option<(u64, Option<&str>)> {
    let (number, path) = match text.split_once('<') {
        Some((number, path)) => (number, path.strip_suffix('>')),
        None => (text, None),
    };
    Some((number.parse().ok()?, path))
}

/// Whether `path` is not on storage. Such are character devices, which older versions of strace do
/// not mark, and files that the kernel generates.
pub(super) fn is_made_up(path: &str) -> bool {
    const DEVICES: [&str; 8] = ["null", "zero", "full", "random", "urandom", "tty", "ptmx", "console"];
    let is_device = |name: &str| DEVICES.contains(&name) || name.starts_with("pts/");
    ["/proc/", "/sys/"].iter().any(|folder| path.starts_with(folder))
        || path.strip_prefix("/dev/").is_some_and(is_device)
}

/// `text` without strace's escapes, which are those of C.
pub(super) fn unescape(text: &str) -> String {
    let mut bytes = Vec::new();
    let mut rest = text.as_bytes();
    while let [first, after @ ..] = rest {
        rest = after;
        let (b'\\', [escaped, after @ ..]) = (*first, after) else {
            bytes.push(*first);
            continue;
        };
        let octal = rest.iter().take(3).take_while(|byte| (b'0'..=b'7').contains(byte)).count();
        if octal > 0 {
            let digits = rest[..octal].iter();
            bytes.push(digits.fold(0_u8, |value, digit| value.wrapping_mul(8).wrapping_add(digit - b'0')));
            rest = &rest[octal..];
            continue;
        }
        let plain = [(b'n', b'\n'), (b't', b'\t'), (b'r', b'\r'), (b'v', 11), (b'f', 12)];
        bytes.push(plain.iter().find(|(letter, _)| letter == escaped).map_or(*escaped, |(_, byte)| *byte));
        rest = after;
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

/// Splits at the commas of the outermost level, up to the closing bracket.
fn arguments(text: &str) -> Option<(Vec<&str>, &str)> {
    let bytes = text.as_bytes();
    let (mut found, mut begin, mut depth, mut at) = (Vec::new(), 0, 0_usize, 0);
    while at < bytes.len() {
        match bytes[at] {
            b'"' => at += string(&bytes[at..])?,
            // A path after a descriptor. An arrow within it, as sockets have, does not close it.
            b'<' if at > 0 && (bytes[at - 1].is_ascii_digit() || bytes[at - 1] == b'D') => {
                at += path(&bytes[at..])?;
            }
            b'(' | b'[' | b'{' => depth += 1,
            b')' if depth == 0 => {
                let last = text[begin..at].trim();
                found.extend((!last.is_empty() || !found.is_empty()).then_some(last));
                return Some((found, &text[at + 1..]));
            }
            b')' | b']' | b'}' => depth = depth.checked_sub(1)?,
            b',' if depth == 0 => {
                found.push(text[begin..at].trim());
                begin = at + 1;
            }
            _ => {}
        }
        at += 1;
    }
    None
}

/// The number of bytes before the quote that closes the string.
fn string(bytes: &[u8]) -> Option<usize> {
    let mut at = 1;
    loop {
        match bytes.get(at)? {
            b'\\' => at += 2,
            b'"' => return Some(at),
            _ => at += 1,
        }
    }
}

/// The number of bytes before the bracket that closes the path.
fn path(bytes: &[u8]) -> Option<usize> {
    let mut depth = 0_usize;
    for (at, byte) in bytes.iter().enumerate() {
        match byte {
            b'<' => depth += 1,
            b'>' if bytes[at - 1] != b'-' => depth -= 1,
            _ => {}
        }
        if depth == 0 {
            return Some(at);
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn escapes() {
        assert_eq!(unescape(r#"a\"b\\\303\251\0z\n\"#), "a\"b\\\u{e9}\0z\n\\");
    }

    #[test]
    fn a_call() {
        let call = Call::parse(r#"read(3</a (b), "c">, "x\", ) = 9"..., 4096) = 7 <0.000012>"#).unwrap();
        assert_eq!(call.arguments, [r#"3</a (b), "c">"#, r#""x\", ) = 9"..."#, "4096"]);
        assert_eq!((call.result, call.duration_ns), (Some(7), Some(12_000)));
        assert_eq!(descriptor(call.arguments[0]), Some((3, Some(r#"/a (b), "c""#))));
        let call = Call::parse(r#"openat(AT_FDCWD</tmp>, "f", O_RDONLY) = 3</tmp/f>"#).unwrap();
        assert_eq!((call.result, call.result_path), (Some(3), Some("/tmp/f")));
        let call = Call::parse("openat(AT_FDCWD, \"f\", O_RDONLY) = -1 ENOENT (No such file) <0.1>").unwrap();
        assert_eq!((call.result, call.result_path), (None, None));
        assert_eq!(Call::parse("getpid() = 5").unwrap().arguments.len(), 0);
        for text in ["", "read", "read(", "read(3", "read(3)", "read(3, \"x) = 1", "read(3]) = 1"] {
            assert!(Call::parse(text).is_err(), "{text}");
        }
    }
}
