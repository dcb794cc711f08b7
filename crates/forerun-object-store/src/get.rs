//! Reads.

use std::ops::Range;
use std::sync::Arc;
use std::time::Instant;

use bytes::{Bytes, BytesMut};
use forerun::{Error, ErrorKind, Pending, Reader};
use futures::channel::oneshot;
use futures::{Stream, StreamExt, TryStreamExt, stream};
use object_store::path::Path;
use object_store::{GetOptions, GetRange, GetResult, GetResultPayload, ObjectStore, Result};

use crate::ForerunStore;
use crate::error::{generic, to_store};
use crate::known::{KnownObject, Slot};
use crate::lending::Lending;

/// A read of the engine: as much as it takes at once.
const PIECE_BYTES: u64 = 1 << 20;
/// Reads of a stream in progress. The engine reads ahead of them, once it knows that they go on.
const STREAM_PIECES: usize = 4;
/// Reads of [`ObjectStore::get_ranges`] in progress: all of that is wanted.
const RANGES_PIECES: usize = 16;
/// An object may be replaced again and again while somebody begins to read it.
const TRIES_MAX: usize = 4;

/// Why a read of a known object did not begin.
enum Failure {
    /// The object may be another one by now.
    Outdated(object_store::Error),
    Other(object_store::Error),
}

impl ForerunStore {
    pub(crate) async fn get(&self, location: &Path, options: GetOptions) -> Result<GetResult> {
        // Extensions mean something to the store inside alone, and an old version is no object of ours.
        let is_special = options.version.is_some() || !options.extensions.is_empty();
        if options.head && !is_special {
            let got = self.inner.get_opts(location, options).await?;
            *self.known.slot(location).lock().await = Some(self.know(&got));
            return Ok(got);
        }
        if is_special {
            return self.inner.get_opts(location, options).await;
        }
        let range = options.range.clone();
        self.with_object(location, options, |object| self.begin(location, object, range.clone())).await
    }

    pub(crate) async fn ranges(&self, location: &Path, ranges: &[Range<u64>]) -> Result<Vec<Bytes>> {
        if ranges.is_empty() {
            return self.inner.get_ranges(location, ranges).await;
        }
        self.with_object(location, GetOptions::new(), |object| self.collect(location, object, ranges)).await
    }

    /// The result of `read` for the object at `location`. It is called again if it met an object that is
    /// another one by now.
    async fn with_object<T, F: Future<Output = Result<T, Failure>>>(
        &self,
        location: &Path,
        options: GetOptions,
        read: impl Fn(Arc<KnownObject>) -> F,
    ) -> Result<T> {
        let conditions = GetOptions { range: None, head: true, ..options };
        let mut may_believe = has_no_condition(&conditions);
        let mut tries = 0;
        loop {
            let started = Instant::now();
            let object = self.object(location, &conditions, may_believe).await?;
            let is_new = object.described >= started;
            tries += 1;
            match read(object).await {
                Ok(answer) => return Ok(answer),
                Err(Failure::Other(error)) => return Err(error),
                Err(Failure::Outdated(error @ object_store::Error::Generic { .. })) if is_new => {
                    return Err(error);
                }
                Err(Failure::Outdated(error)) if tries >= TRIES_MAX => return Err(error),
                Err(Failure::Outdated(_)) => may_believe = false,
            }
        }
    }

    /// The object at `location`, which the store describes anew unless that may be believed.
    async fn object(
        &self,
        location: &Path,
        conditions: &GetOptions,
        may_believe: bool,
    ) -> Result<Arc<KnownObject>> {
        let slot: Slot = self.known.slot(location);
        let mut known = slot.lock().await;
        if may_believe && let Some(object) = known.as_ref().filter(|object| self.known.is_fresh(object)) {
            return Ok(Arc::clone(object));
        }
        let got = self.ask(location, conditions.clone()).await?;
        Ok(Arc::clone(known.insert(self.know(&got))))
    }

    /// Asks the store on the runtime of the fetches, where its connections then live.
    async fn ask(&self, location: &Path, options: GetOptions) -> Result<GetResult> {
        let (answer, answered) = oneshot::channel();
        let (inner, location) = (Arc::clone(&self.inner), location.clone());
        self.forerun.spawn(async move {
            // Nobody listens any more if the get was dropped.
            let _ = answer.send(inner.get_opts(&location, options).await);
        });
        answered.await.unwrap_or_else(|_| Err(generic("the runtime of the store has ended")))
    }

    fn know(&self, got: &GetResult) -> Arc<KnownObject> {
        let entry = crate::version::entry(&got.meta, self.known.write_count());
        let reader = self.forerun.reader_of(&entry);
        let (meta, attributes) = (got.meta.clone(), got.attributes.clone());
        Arc::new(KnownObject { meta, attributes, reader, described: Instant::now() })
    }

    /// The result of a get, once the first bytes have come: until then it can begin again.
    async fn begin(
        &self,
        location: &Path,
        object: Arc<KnownObject>,
        range: Option<GetRange>,
    ) -> Result<GetResult, Failure> {
        let range = match range {
            Some(range) => {
                range.as_range(object.meta.size).map_err(|error| Failure::Outdated(generic(error)))?
            }
            None => 0..object.meta.size,
        };
        let mut chunks = Box::pin(self.chunks(&object.reader, std::slice::from_ref(&range), STREAM_PIECES));
        let first = match chunks.next().await {
            Some((_, Err(error))) => return Err(failure(error, location)),
            Some((_, Ok(chunk))) => chunk,
            None => Vec::new(),
        };
        let location = location.clone();
        let rest = chunks.map(move |(_, chunk)| chunk.map_err(|error| to_store(error, &location)));
        let chunks = stream::iter([Ok(first)]).chain(rest);
        let bytes = chunks.map_ok(|chunk| stream::iter(chunk.into_iter().map(Ok))).try_flatten();
        Ok(GetResult {
            payload: GetResultPayload::Stream(bytes.boxed()),
            meta: object.meta.clone(),
            range,
            attributes: object.attributes.clone(),
            extensions: object_store::Extensions::default(),
        })
    }

    async fn collect(
        &self,
        location: &Path,
        object: Arc<KnownObject>,
        ranges: &[Range<u64>],
    ) -> Result<Vec<Bytes>, Failure> {
        let within = |range: &Range<u64>| GetRange::Bounded(range.clone()).as_range(object.meta.size);
        let ranges = ranges.iter().map(within).collect::<Result<Vec<_>, _>>();
        let ranges = ranges.map_err(|error| Failure::Outdated(generic(error)))?;
        let mut collected: Vec<Vec<Bytes>> = vec![Vec::new(); ranges.len()];
        let mut chunks = Box::pin(self.chunks(&object.reader, &ranges, RANGES_PIECES));
        while let Some((index, chunk)) = chunks.next().await {
            collected[index].extend(chunk.map_err(|error| failure(error, location))?);
        }
        Ok(collected.into_iter().map(joined).collect())
    }

    /// The bytes of `ranges`, in order, each with the index of its range.
    fn chunks(
        &self,
        reader: &Reader,
        ranges: &[Range<u64>],
        pieces_at_once: usize,
    ) -> impl Stream<Item = (usize, forerun::Result<Vec<Bytes>>)> + Send + use<> {
        let (reader, lending) = (reader.clone(), Arc::clone(&self.lending));
        // The stream outlives `ranges`.
        let ranges = ranges.to_vec();
        let pieces = ranges.into_iter().enumerate().flat_map(|(index, range)| {
            let starts = (range.start..range.end).step_by(PIECE_BYTES as usize);
            starts.map(move |start| (index, start..range.end.min(start + PIECE_BYTES)))
        });
        let reads = stream::iter(pieces).map(move |(index, piece)| {
            let (reader, lending) = (reader.clone(), Arc::clone(&lending));
            async move { (index, read(reader, piece, lending).await) }
        });
        reads.buffered(pieces_at_once)
    }
}

/// Reads `piece`. The bytes are taken the moment they come, so that a program that stops polling holds no
/// more memory than may be lent.
async fn read(reader: Reader, piece: Range<u64>, lending: Arc<Lending>) -> forerun::Result<Vec<Bytes>> {
    let (answer, answered) = oneshot::channel();
    let len = (piece.end - piece.start) as usize;
    let pending = reader.submit(piece.start, len, move |lease| {
        // Nobody listens any more if the read was dropped.
        let _ = answer.send(lease.map(|lease| lending.take(lease)));
    });
    let _waits = Waits(pending);
    answered
        .await
        .unwrap_or_else(|_| Err(Error::new(ErrorKind::Ended, "the store was closed; open it again")))
}

/// Ends the wait of a read that is dropped.
struct Waits(Option<Pending>);

impl Drop for Waits {
    fn drop(&mut self) {
        if let Some(pending) = self.0.take() {
            pending.give_up(Error::new(ErrorKind::Interrupted, "nobody waits for the read any more"));
        }
    }
}

fn has_no_condition(options: &GetOptions) -> bool {
    let GetOptions { if_match, if_none_match, if_modified_since, if_unmodified_since, .. } = options;
    if_match.is_none()
        && if_none_match.is_none()
        && if_modified_since.is_none()
        && if_unmodified_since.is_none()
}

fn failure(error: Error, location: &Path) -> Failure {
    match error.kind {
        ErrorKind::Changed | ErrorKind::NotFound => Failure::Outdated(to_store(error, location)),
        _ => Failure::Other(to_store(error, location)),
    }
}

/// `chunks` in one piece, copied only where they are several.
fn joined(mut chunks: Vec<Bytes>) -> Bytes {
    if chunks.len() == 1 {
        return chunks.remove(0);
    }
    let mut bytes = BytesMut::with_capacity(chunks.iter().map(Bytes::len).sum());
    chunks.iter().for_each(|chunk| bytes.extend_from_slice(chunk));
    bytes.freeze()
}
