//! The scheduler: the state that decides which fetch is next. `engine/dispatch.rs` decides.
//!
//! Demand fetches go before readahead, within the bytes in flight that the device can use, and within the fair share of their
//! reader.

mod contention;
mod fair;
mod flight;
mod flights;
mod overdue;
mod pending;
mod queued_window;
mod store_limit;

pub(crate) use contention::Contention;
pub(crate) use fair::{Fair, Favour, Kind, Payer, Slack};
pub(crate) use flight::Flight;
pub(crate) use flights::Flights;
pub(crate) use overdue::Overdue;
pub(crate) use pending::Pending;
pub(crate) use queued_window::Queued;
pub(crate) use store_limit::StoreLimit;
