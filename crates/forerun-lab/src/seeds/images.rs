//! Images on one disk, each mounted through a loop device.

use std::cell::RefCell;
use std::collections::HashMap;
use std::rc::Rc;

use forerun_policies::kernel::Algorithm;
use forerun_sim::device::{Device, DeviceStats, Notice, Request, RequestId, Time};
use forerun_sim::kernel::{KernelConfig, LoopDevice};
use forerun_sim::source::Placed;

/// Two images of the same size, as one device: the second is behind the first.
pub(super) struct Images {
    image_bytes: u64,
    mounts: [LoopDevice<'static>; 2],
    disk: Rc<RefCell<Disk>>,
}

impl Images {
    /// Images of `image_bytes` on `disk`, the second `apart` bytes behind the first. Each is read
    /// through its own page cache with its own `algorithm`.
    pub(super) fn new(
        disk: Box<dyn Device>,
        image_bytes: u64,
        apart: u64,
        config: KernelConfig,
        algorithm: fn() -> Box<dyn Algorithm>,
    ) -> Images {
        let disk = Disk {
            device: disk,
            now: Time(0),
            owners: HashMap::new(),
            request_count: 0,
            mail: [vec![], vec![]],
        };
        let disk = Rc::new(RefCell::new(disk));
        let mounts = [0, 1].map(|index| {
            let branch = Box::new(Branch { disk: Rc::clone(&disk), index });
            let image = Placed { address: apart * index as u64, size: image_bytes };
            LoopDevice::new(config, algorithm(), branch, image)
        });
        Images { image_bytes, mounts, disk }
    }
}

impl Device for Images {
    fn submit(&mut self, now: Time, request: Request) {
        let (index, address) = (request.address / self.image_bytes, request.address % self.image_bytes);
        self.mounts[index as usize].submit(now, Request { address, ..request });
    }

    fn next_time(&self) -> Option<Time> {
        self.mounts.iter().filter_map(|mount| mount.next_time()).min()
    }

    fn advance(&mut self, now: Time, notices: &mut Vec<Notice>) {
        self.mounts.iter_mut().for_each(|mount| mount.advance(now, notices));
    }

    fn slot_count(&self) -> usize {
        self.mounts.len()
    }

    fn stats(&self) -> DeviceStats {
        self.disk.borrow().device.stats()
    }
}

/// The state that both share.
struct Disk {
    device: Box<dyn Device>,
    now: Time,
    /// The guest whose request it is, and its name there.
    owners: HashMap<RequestId, (usize, RequestId)>,
    request_count: u64,
    /// The events that each is still to be told of.
    mail: [Vec<Notice>; 2],
}

impl Disk {
    fn advance(&mut self, now: Time) {
        self.now = self.now.max(now);
        let mut arrived = Vec::new();
        self.device.advance(self.now, &mut arrived);
        for notice in arrived {
            // A reader that waits for pages waits for the whole request here.
            let Notice::Done { id } = notice else { continue };
            if let Some((owner, id)) = self.owners.remove(&id) {
                self.mail[owner].push(Notice::Done { id });
            }
        }
    }
}

/// The disk as one of them sees it.
struct Branch {
    disk: Rc<RefCell<Disk>>,
    index: usize,
}

impl Device for Branch {
    fn submit(&mut self, now: Time, request: Request) {
        let disk = &mut *self.disk.borrow_mut();
        disk.request_count += 1;
        let id = RequestId(disk.request_count);
        disk.owners.insert(id, (self.index, request.id));
        disk.device.submit(now, Request { id, ..request });
    }

    fn next_time(&self) -> Option<Time> {
        let disk = self.disk.borrow();
        if disk.mail[self.index].is_empty() { disk.device.next_time() } else { Some(disk.now) }
    }

    fn advance(&mut self, now: Time, notices: &mut Vec<Notice>) {
        let disk = &mut *self.disk.borrow_mut();
        disk.advance(now);
        notices.append(&mut disk.mail[self.index]);
    }

    fn slot_count(&self) -> usize {
        self.disk.borrow().device.slot_count()
    }

    fn unplug(&mut self, now: Time) {
        self.disk.borrow_mut().device.unplug(now);
    }

    fn stats(&self) -> DeviceStats {
        self.disk.borrow().device.stats()
    }
}

#[cfg(test)]
mod tests {
    use super::super::{programs, scene};
    use super::*;
    use forerun_sim::kernel::KernelWorld;

    #[test]
    fn both_are_read_from_the_disk_once() {
        let config = KernelConfig::linux_2_6(10_000);
        let disk = scene::historic_ide();
        let images = Images::new(disk, 8 << 20, 1 << 30, config, || scene::stock(128 << 10));
        let two = programs::with_copies(&[4 << 20], 8 << 20);
        let world = KernelWorld::new(config, scene::stock(128 << 10), Box::new(images));
        let run = world.run(&mut programs::diff([two[0], two[1]])).expect("nobody hangs");
        assert_eq!(run.read_bytes, 8 << 20);
        // Readahead above does not pass an object's end, readahead below does.
        assert!((8 << 20..9 << 20).contains(&run.device.read_bytes), "{}", run.device.read_bytes);
    }
}
