//! Connections of clients, and the state that they share.

use std::sync::Arc;

use super::attack::Attack;
use super::bucket::Bucket;
use super::counters::Counters;
use crate::demo::link::{Link, Wire};

/// The state that all connections share.
#[derive(Debug)]
pub(super) struct Shop {
    pub(super) bucket: Bucket,
    pub(super) counters: Counters,
    pub(super) link: Arc<Link>,
    pub(super) attack: Option<Attack>,
}

/// A client's connection.
#[derive(Debug)]
pub(super) struct Connection {
    pub(super) shop: Arc<Shop>,
    pub(super) wire: Arc<Wire>,
}
