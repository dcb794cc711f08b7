//! Outcomes and timelines as one HTML file that needs nothing else: no network, no
//! script, and the same bytes for the same input.

mod axis;
mod cdf;
mod comparison;
mod finishes;
mod fold;
mod frame;
mod heat;
mod lanes;
mod layout;
mod legend;
mod number;
mod page;
mod raster;
mod readahead;
mod scatter;
mod series;
mod shares;
mod summary;
mod svg;

use crate::outcome::Outcome;
use crate::timeline::Timeline;

/// When and how a page was made.
#[derive(Clone, Debug)]
pub struct Imprint {
    /// The date, as the page shows it.
    pub date: String,
    /// The version of the program.
    pub version: String,
    /// The command, as a user types it.
    pub command: String,
}

/// The content of a page.
#[derive(Clone, Debug)]
pub struct Report<'a> {
    title: &'a str,
    outcomes: &'a [Outcome],
    timelines: &'a [(String, Timeline)],
    parameters: Vec<(String, String)>,
    imprint: Option<Imprint>,
}

impl<'a> Report<'a> {
    /// A page called `title`.
    ///
    /// Outcomes of one workload, device and budget follow one another. A timeline's
    /// label is its workload's name, a slash and its policy's; timelines of the same
    /// workload stand beside one another.
    pub fn new(title: &'a str, outcomes: &'a [Outcome], timelines: &'a [(String, Timeline)]) -> Report<'a> {
        Report { title, outcomes, timelines, parameters: Vec::new(), imprint: None }
    }

    /// Something that the outcomes depend on and do not say themselves, such as the pace.
    pub fn parameter(mut self, name: &str, value: &str) -> Report<'a> {
        self.parameters.push((name.to_owned(), value.to_owned()));
        self
    }

    /// Says when and how the page was made.
    pub fn imprint(mut self, imprint: Imprint) -> Report<'a> {
        self.imprint = Some(imprint);
        self
    }

    /// The page.
    pub fn html(&self) -> String {
        page::document(self)
    }
}

/// A page without further parameters.
pub fn html(title: &str, outcomes: &[Outcome], timelines: &[(String, Timeline)]) -> String {
    Report::new(title, outcomes, timelines).html()
}
