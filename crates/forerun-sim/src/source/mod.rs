//! Sources: which client reads which bytes, and when.

mod clients;
mod disorder;
mod link;
mod metered;
mod mixed;
mod replay;
mod sharing;

pub use clients::{Action, Client, Clients};
pub use disorder::{Disorder, Disordered};
pub use forerun_engine::{Extent, ObjectId, Time};
pub use link::{Link, Linked};
pub use metered::Metered;
pub use mixed::Mixed;
pub use replay::{BUFFERED_MAX, Pace, Replay, Scan};
pub use sharing::{Sharers, SharingMix};

/// An object that a source reads, and where it lies.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Placed {
    /// Its first byte on the device.
    pub address: u64,
    /// Its size in bytes.
    pub size: u64,
}

/// Objects one behind the other, each on a multiple of `align` bytes (a power of two).
pub fn place(sizes: impl IntoIterator<Item = u64>, align: u64) -> Vec<Placed> {
    let mut address = 0;
    sizes
        .into_iter()
        .map(|size| {
            let placed = Placed { address, size };
            address += size.next_multiple_of(align).max(align);
            placed
        })
        .collect()
}

/// The entries of a directory, in the order in which it is listed.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Directory {
    /// The object that holds its names, if that is read: the directory is listed once a client has
    /// read and closed it. Otherwise [`Deed::List`] says when.
    pub names: Option<ObjectId>,
    /// Each file and its class ([`ListedFile::class`](forerun_engine::ListedFile)).
    pub files: Vec<(ObjectId, u8)>,
}

/// An action of a client.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Deed {
    /// Reads the step's extent. `asked` is more than its length where the client
    /// asks for more than it takes, as a partial `sendfile` does.
    Read {
        /// Bytes asked for.
        asked: u64,
    },
    /// Writes the step's extent.
    Write,
    /// Closes the object; it is opened by its first step.
    Close,
    /// Lists a directory, which the step's object is the index of in
    /// [`Source::directories`]. Takes no time.
    List,
}

/// One thing that a client does now.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Step {
    /// The source's name for it, given back by [`Source::done`].
    pub token: u64,
    /// The client: an index from 0.
    pub client: u32,
    /// The action.
    pub deed: Deed,
    /// To which object: an index into [`Source::objects`].
    pub object: ObjectId,
    /// To which bytes of it.
    pub extent: Extent,
}

/// The answer of a source.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Next {
    /// A client does this now.
    Step(Step),
    /// Nothing before this moment, unless a step is done before.
    Later(Time),
    /// Nothing before a step is done.
    Blocked,
    /// Nothing any more.
    End,
}

/// The accesses of a world, in the order in which they are made.
pub trait Source {
    /// Every object that will be touched, from the beginning on.
    fn objects(&self) -> &[Placed];

    /// Every directory that will be listed.
    fn directories(&self) -> &[Directory] {
        &[]
    }

    /// How many clients there are at most.
    fn client_count(&self) -> usize;

    /// The next step; called again until it is no step.
    fn next(&mut self, now: Time) -> Next;

    /// The step named `token` is done.
    fn done(&mut self, now: Time, token: u64);
}
