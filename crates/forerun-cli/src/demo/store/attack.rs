//! Attacks of the store on its clients.

/// The directory of the attacks.
pub(crate) const BAD: &str = "bad";
/// The one file in it.
pub(crate) const BAD_FILE: &str = "bad/file";

/// A kind of misbehaviour.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum Attack {
    /// A listing in XML that never ends.
    EndlessListing,
    /// A refusal whose text never ends.
    EndlessRefusal,
    /// A key of 3 MB.
    LongKey,
    /// Entities that expand to gigabytes.
    Entities,
    /// The same page of a listing again and again.
    SamePage,
    /// A next page of a listing, for ever.
    NewPages,
    /// A listing in XML that sends a byte in 5 s.
    SlowListing,
    /// No answer at all.
    Silence,
    /// A page of links with 2 MB of `&` in one.
    Ampersands,
    /// A page of links with tags that are not closed.
    OpenTags,
    /// A page of links that sends a byte in 5 s.
    SlowPage,
    /// A file that sends a byte in 5 s.
    SlowBody,
    /// A file that sends a byte, and closes the connection.
    CutBody,
}

/// The operation of a program that meets the attack.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Victim {
    Lists,
    Reads,
}

impl Attack {
    /// Whether the store is mounted as a web server, not as a bucket.
    pub(crate) fn is_of_a_web_server(self) -> bool {
        matches!(self, Attack::Ampersands | Attack::OpenTags | Attack::SlowPage)
    }

    /// The operation of the programs that meet it.
    pub(crate) fn victim(self) -> Victim {
        match self {
            Attack::SlowBody | Attack::CutBody => Victim::Reads,
            _ => Victim::Lists,
        }
    }
}
