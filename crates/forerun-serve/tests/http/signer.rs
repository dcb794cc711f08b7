//! Signatures of S3, version 4, as a client makes them.

use std::time::SystemTime;

use sha2::{Digest, Sha256};

/// The bytes that the hash function takes at once.
const BLOCK_BYTES: usize = 64;

/// A client with a key, and its clock.
#[derive(Clone, Copy)]
pub(crate) struct Signer {
    pub(crate) key: &'static str,
    pub(crate) secret: &'static str,
    pub(crate) at: SystemTime,
}

impl Signer {
    /// The headers that sign a request for `target`, which has `signed` headers besides.
    pub(crate) fn headers(&self, method: &str, target: &str, signed: &[(&str, &str)]) -> String {
        let (path, query) = target.split_once('?').unwrap_or((target, ""));
        let stamp = stamp(self.at);
        let mut all =
            vec![("host", "test"), ("x-amz-content-sha256", "UNSIGNED-PAYLOAD"), ("x-amz-date", &stamp)];
        all.extend_from_slice(signed);
        all.sort_unstable();
        let (names, signature) = self.sign(method, (path, query), &all);
        let scope = self.scope();
        format!(
            "x-amz-date: {stamp}\nx-amz-content-sha256: UNSIGNED-PAYLOAD\nAuthorization: AWS4-HMAC-SHA256 \
             Credential={}/{scope}, SignedHeaders={names}, Signature={signature}",
            self.key
        )
    }

    /// The same target with a signature, for so many seconds.
    pub(crate) fn presigned(&self, method: &str, target: &str, seconds: i64) -> String {
        let (path, query) = target.split_once('?').unwrap_or((target, ""));
        let mut pairs: Vec<String> =
            query.split('&').filter(|pair| !pair.is_empty()).map(str::to_owned).collect();
        let credential = format!("{}/{}", self.key, self.scope()).replace('/', "%2F");
        pairs.extend([
            "X-Amz-Algorithm=AWS4-HMAC-SHA256".to_owned(),
            format!("X-Amz-Credential={credential}"),
            format!("X-Amz-Date={}", stamp(self.at)),
            format!("X-Amz-Expires={seconds}"),
            "X-Amz-SignedHeaders=host".to_owned(),
        ]);
        pairs.sort_unstable();
        let query = pairs.join("&");
        let (_, signature) = self.sign(method, (path, &query), &[("host", "test")]);
        format!("{path}?{query}&X-Amz-Signature={signature}")
    }

    fn scope(&self) -> String {
        format!("{}/us-east-1/s3/aws4_request", &stamp(self.at)[..8])
    }

    /// The names of the headers, which are in order, and the signature.
    fn sign(&self, method: &str, (path, query): (&str, &str), headers: &[(&str, &str)]) -> (String, String) {
        let lines: String = headers.iter().map(|(name, value)| format!("{name}:{value}\n")).collect();
        let names = headers.iter().map(|(name, _)| *name).collect::<Vec<_>>().join(";");
        let request = format!("{method}\n{path}\n{query}\n{lines}\n{names}\nUNSIGNED-PAYLOAD");
        let (stamp, digest) = (stamp(self.at), hex(&Sha256::digest(request)));
        let text = format!("AWS4-HMAC-SHA256\n{stamp}\n{}\n{digest}", self.scope());
        let first = format!("AWS4{}", self.secret).into_bytes();
        let key =
            [&stamp[..8], "us-east-1", "s3", "aws4_request"].iter().fold(first, |key, part| hmac(&key, part));
        (names, hex(&hmac(&key, &text)))
    }
}

/// The keyed hash of RFC 2104, for keys of no more than a block.
fn hmac(key: &[u8], text: &str) -> Vec<u8> {
    let padded = |byte: u8| {
        let mut block = [byte; BLOCK_BYTES];
        block.iter_mut().zip(key).for_each(|(block, key)| *block ^= key);
        block
    };
    let inner = Sha256::new().chain_update(padded(0x36)).chain_update(text).finalize();
    Sha256::new().chain_update(padded(0x5C)).chain_update(inner).finalize().to_vec()
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// As in 19700112T134640Z.
pub(crate) fn stamp(at: SystemTime) -> String {
    let date = httpdate::fmt_http_date(at);
    let words: Vec<&str> = date.split([' ', ':']).collect();
    let month = 1 + "JanFebMarAprMayJunJulAugSepOctNovDec".find(words[2]).unwrap() / 3;
    format!("{}{month:02}{}T{}{}{}Z", words[3], words[1], words[4], words[5], words[6])
}
