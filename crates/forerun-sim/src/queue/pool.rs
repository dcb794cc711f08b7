//! Requests that wait, merged with their neighbours, and how elevators look at them.

use std::collections::{BTreeMap, BTreeSet};

use crate::device::{Direction, Request, RequestId, Time};

/// A group's name. Groups that arrived later have greater ones.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct GroupId(pub u64);

/// Requests that follow each other on the device and are carried out as one.
#[derive(Clone, Debug)]
pub struct Group {
    /// Its name.
    pub id: GroupId,
    /// When the first of them arrived.
    pub arrived: Time,
    /// The issuer of the first of them.
    pub issuer: u32,
    /// Their direction.
    pub direction: Direction,
    /// By address, without gaps.
    parts: Vec<Request>,
}

impl Group {
    /// Its requests, by address.
    pub fn parts(&self) -> &[Request] {
        &self.parts
    }

    /// Its first byte.
    pub fn address(&self) -> u64 {
        self.parts[0].address
    }

    /// One past its last byte.
    pub fn end(&self) -> u64 {
        self.parts[self.parts.len() - 1].end()
    }

    /// Its bytes.
    pub fn bytes(&self) -> u64 {
        self.end() - self.address()
    }

    /// All of it as one request called `id`.
    pub(super) fn request(&self, id: RequestId) -> Request {
        let urgent = self.parts.iter().any(|part| part.urgent);
        let (address, len) = (self.address(), self.bytes());
        Request { id, address, len, direction: self.direction, issuer: self.issuer, urgent }
    }
}

/// All groups that wait.
#[derive(Clone, Debug)]
pub struct Pool {
    groups: BTreeMap<GroupId, Group>,
    /// By direction and first byte, and by direction and end.
    starts: BTreeSet<(bool, u64, GroupId)>,
    ends: BTreeSet<(bool, u64, GroupId)>,
    /// By direction and arrival.
    ages: BTreeSet<(bool, GroupId)>,
    /// By whom, direction and first byte.
    issuers: BTreeSet<(u32, bool, u64, GroupId)>,
    next_id: u64,
    merge_bytes_max: u64,
}

fn is_write(direction: Direction) -> bool {
    direction == Direction::Write
}

impl Pool {
    pub(super) fn new(merge_bytes_max: u64) -> Pool {
        Pool {
            groups: BTreeMap::new(),
            starts: BTreeSet::new(),
            ends: BTreeSet::new(),
            ages: BTreeSet::new(),
            issuers: BTreeSet::new(),
            next_id: 0,
            merge_bytes_max,
        }
    }

    /// How many groups wait.
    pub fn len(&self) -> usize {
        self.groups.len()
    }

    /// Nothing waits.
    pub fn is_empty(&self) -> bool {
        self.groups.is_empty()
    }

    /// A group that waits.
    pub fn get(&self, id: GroupId) -> Option<&Group> {
        self.groups.get(&id)
    }

    /// The group that arrived first.
    pub fn first(&self) -> Option<&Group> {
        self.groups.values().next()
    }

    /// The group of `direction` that arrived first.
    pub fn oldest(&self, direction: Direction) -> Option<&Group> {
        let key = is_write(direction);
        let (_, id) = self.ages.range((key, GroupId(0))..=(key, GroupId(u64::MAX))).next()?;
        self.get(*id)
    }

    /// The next group of `direction` at `address` or behind it.
    pub fn next_at(&self, direction: Direction, address: u64) -> Option<&Group> {
        let key = is_write(direction);
        let (.., id) =
            self.starts.range((key, address, GroupId(0))..=(key, u64::MAX, GroupId(u64::MAX))).next()?;
        self.get(*id)
    }

    /// The next group of `issuer` and `direction` at `address` or behind it.
    pub fn next_of(&self, issuer: u32, direction: Direction, address: u64) -> Option<&Group> {
        let key = is_write(direction);
        let from = (issuer, key, address, GroupId(0));
        let (.., id) = self.issuers.range(from..=(issuer, key, u64::MAX, GroupId(u64::MAX))).next()?;
        self.get(*id)
    }

    /// The next issuer with a waiting group, at or behind `issuer`.
    pub fn next_issuer(&self, issuer: u32) -> Option<u32> {
        self.issuers.range((issuer, false, 0, GroupId(0))..).next().map(|(issuer, ..)| *issuer)
    }

    /// Takes `request` in: the name of its group if it has a new one, none if it was merged.
    pub(super) fn add(&mut self, now: Time, request: Request) -> Option<GroupId> {
        let key = is_write(request.direction);
        let neighbour = |set: &BTreeSet<(bool, u64, GroupId)>, at: u64| {
            let found = set.range((key, at, GroupId(0))..=(key, at, GroupId(u64::MAX))).next().copied();
            found.map(|(.., id)| id).filter(|id| self.fits(*id, request.len))
        };
        let (before, behind) =
            (neighbour(&self.ends, request.address), neighbour(&self.starts, request.end()));
        let mut group = match before.or(behind).and_then(|id| self.take(id)) {
            Some(group) => group,
            None => {
                let id = GroupId(self.next_id);
                self.next_id += 1;
                let Request { issuer, direction, .. } = request;
                self.insert(Group { id, arrived: now, issuer, direction, parts: vec![request] });
                return Some(id);
            }
        };
        let at = if before.is_some() { group.parts.len() } else { 0 };
        group.parts.insert(at, request);
        self.insert(group);
        None
    }

    fn fits(&self, id: GroupId, bytes: u64) -> bool {
        self.get(id).is_some_and(|group| group.bytes() + bytes <= self.merge_bytes_max)
    }

    fn insert(&mut self, group: Group) {
        let (key, id) = (is_write(group.direction), group.id);
        self.starts.insert((key, group.address(), id));
        self.ends.insert((key, group.end(), id));
        self.ages.insert((key, id));
        self.issuers.insert((group.issuer, key, group.address(), id));
        self.groups.insert(id, group);
    }

    /// Takes a group out.
    pub(super) fn take(&mut self, id: GroupId) -> Option<Group> {
        let group = self.groups.remove(&id)?;
        let key = is_write(group.direction);
        self.starts.remove(&(key, group.address(), id));
        self.ends.remove(&(key, group.end(), id));
        self.ages.remove(&(key, id));
        self.issuers.remove(&(group.issuer, key, group.address(), id));
        Some(group)
    }

    /// Takes out the request called `id` if it has a group for itself.
    pub(super) fn remove(&mut self, id: RequestId) -> Option<GroupId> {
        let single = |group: &&Group| matches!(group.parts(), [part] if part.id == id);
        let group = self.groups.values().find(single)?.id;
        self.take(group).map(|group| group.id)
    }
}
