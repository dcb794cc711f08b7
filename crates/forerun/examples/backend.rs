//! A backend of one's own: numbers that are made when they are read.

use std::ops::Range;
use std::sync::Arc;

use async_trait::async_trait;
use forerun::{Backend, ByteStream, Entry, Error, ErrorKind, Forerun, Options, Result, Version};
use futures::{StreamExt, stream};

const SIZE: u64 = 1 << 30;

#[derive(Debug)]
struct Numbers;

#[async_trait]
impl Backend for Numbers {
    fn url(&self) -> String {
        "numbers:".to_owned()
    }
    async fn stat(&self, path: &str) -> Result<Entry> {
        Ok(if path.is_empty() { Entry::directory("") } else { Entry::file(path, SIZE, Version("1".into())) })
    }
    async fn list(&self, _path: &str) -> Result<Vec<Entry>> {
        Ok(vec![self.stat("all").await?])
    }
    async fn read_link(&self, path: &str) -> Result<Vec<u8>> {
        Err(Error::new(ErrorKind::Invalid, format!("{path:?} is no link")))
    }
    async fn fetch(&self, _path: &str, _version: &Version, extent: Range<u64>) -> Result<ByteStream> {
        let bytes: Vec<u8> = extent.map(|at| (at % 251) as u8).collect();
        Ok(stream::iter([Ok(bytes.into())]).boxed())
    }
}

pub(crate) fn main() -> Result<()> {
    let mut buf = [0; 4];
    Forerun::over(Arc::new(Numbers), Options::default())?
        .open_blocking("all")?
        .read_at_blocking(&mut buf, 251)?;
    assert_eq!(buf, [0, 1, 2, 3]);
    Ok(())
}
