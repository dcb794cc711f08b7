//! SHA-256 in hexadecimal: nobody finds other bytes with the same one.

use std::fmt::Write;
use std::fs::File;
use std::io::{self, Read};
use std::path::Path;

use sha2::{Digest, Sha256};

use crate::error::Error;

/// That of the file at `path`.
///
/// # Errors
/// It cannot be read.
pub fn digest_of_file(path: &Path) -> Result<String, Error> {
    let hashed = File::open(path).and_then(hash);
    hashed.map_err(|error| Error::Unfit {
        name: path.display().to_string(),
        reason: format!("cannot be read: {error}"),
    })
}

fn hash(mut file: File) -> io::Result<String> {
    let mut hasher = Sha256::new();
    let mut buf = vec![0; 1 << 20];
    loop {
        match file.read(&mut buf)? {
            0 => return Ok(hexadecimal(&hasher.finalize())),
            count => hasher.update(&buf[..count]),
        }
    }
}

pub(super) fn digest_of(text: &str) -> String {
    hexadecimal(&Sha256::digest(text))
}

fn hexadecimal(bytes: &[u8]) -> String {
    bytes.iter().fold(String::new(), |mut text, byte| {
        write!(text, "{byte:02x}").expect("a string takes all text");
        text
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn digests_are_those_of_the_standard() {
        let abc = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad";
        assert_eq!(digest_of("abc"), abc);
        let file = tempfile::NamedTempFile::new().unwrap();
        std::fs::write(file.path(), "abc").unwrap();
        assert_eq!(digest_of_file(file.path()).unwrap(), abc);
        assert!(
            digest_of_file(Path::new("/no/such/file")).unwrap_err().to_string().contains("/no/such/file")
        );
    }
}
