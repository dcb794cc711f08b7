//! The events that blktrace shows of a window's way through the queue. A window is queued (Q),
//! plugs (P) or is merged (M). The queue is unplugged (U), and the disk receives (D) and completes
//! (C) it.

use std::cell::{Cell, RefCell};
use std::collections::BTreeMap;
use std::rc::Rc;

use forerun_sim::device::{Device, DeviceStats, Notice, Request, RequestId, Time};
use forerun_sim::kernel::{KernelWorld, Unplug};

use super::host::Host;
use super::{Claim, algorithm, config, data, disk, queue};
use crate::table::{Column, Table};

const FILE_BYTES: u64 = 32 << 20;
const SECTOR_BYTES: u64 = 512;
const WINDOW_BYTES: u64 = 512 << 10;

/// One line of a trace.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Line {
    time: Time,
    action: char,
    /// 0 where it concerns the queue.
    sectors: u64,
}

/// A trace under way.
#[derive(Debug, Default)]
struct Log {
    lines: Vec<Line>,
    /// Requests that wait in the queue.
    waiting: u64,
}

impl Log {
    fn add(&mut self, time: Time, action: char, bytes: u64) {
        self.lines.push(Line { time, action, sectors: bytes / SECTOR_BYTES });
    }
}

/// A device that is looked at: a queue from above, or a disk from below it.
struct Probe {
    device: Box<dyn Device>,
    log: Rc<RefCell<Log>>,
    is_disk: bool,
    lengths: BTreeMap<RequestId, u64>,
}

impl Probe {
    fn new(device: Box<dyn Device>, log: &Rc<RefCell<Log>>, is_disk: bool) -> Box<Probe> {
        Box::new(Probe { device, log: Rc::clone(log), is_disk, lengths: BTreeMap::new() })
    }
}

impl Device for Probe {
    fn submit(&mut self, now: Time, request: Request) {
        {
            let mut log = self.log.borrow_mut();
            if self.is_disk {
                self.lengths.insert(request.id, request.len);
                log.waiting = 0;
                log.add(now, 'D', request.len);
            } else {
                log.waiting += 1;
                let is_first = log.waiting == 1;
                log.add(now, 'Q', request.len);
                log.add(now, if is_first { 'P' } else { 'M' }, if is_first { 0 } else { request.len });
            }
        }
        self.device.submit(now, request);
    }

    fn next_time(&self) -> Option<Time> {
        self.device.next_time()
    }

    fn advance(&mut self, now: Time, notices: &mut Vec<Notice>) {
        let first = notices.len();
        self.device.advance(now, notices);
        if self.is_disk {
            for notice in &notices[first..] {
                if let Notice::Done { id } = notice {
                    let bytes = self.lengths.remove(id).unwrap_or(0);
                    self.log.borrow_mut().add(now, 'C', bytes);
                }
            }
        }
    }

    fn slot_count(&self) -> usize {
        self.device.slot_count()
    }

    fn unplug(&mut self, now: Time) {
        if !self.is_disk && self.log.borrow().waiting > 0 {
            self.log.borrow_mut().add(now, 'U', 0);
        }
        self.device.unplug(now);
    }

    fn stats(&self) -> DeviceStats {
        self.device.stats()
    }
}

/// One process that reads a file, as blktrace shows it.
pub(super) fn record(unplug: Unplug) -> Vec<Line> {
    let log = Rc::new(RefCell::new(Log::default()));
    let above = Probe::new(Box::new(queue(Probe::new(disk(), &log, true))), &log, false);
    let world = KernelWorld::new(config(unplug), algorithm(WINDOW_BYTES), above);
    let mut host = Host::new(1, FILE_BYTES, Rc::new(Cell::new(0)));
    world.run(&mut host).expect("nobody hangs in an experiment");
    let log = log.borrow();
    log.lines.clone()
}

/// The document's trace of `pattern` beside the same events in `lines`. They follow a window that finds the
/// queue empty, in the middle of the file.
pub(super) fn compare(pattern: &str, lines: &[Line]) -> (Table, Claim) {
    // The events that follow at once from a Q or a P and concern no disk.
    let rows: Vec<data::Record> = data::rows(&format!("s001_blktrace/{pattern}"))
        .into_iter()
        .filter(|row| !["G", "I"].contains(&row.text("action")))
        .collect();
    let middle = lines.len() / 2;
    let is_begin = |two: &[Line]| two[0].action == 'Q' && two[1].action == 'P';
    let begin = lines[middle..].windows(2).position(is_begin).map_or(lines.len(), |at| middle + at);
    let seen = &lines[begin..(begin + rows.len()).min(lines.len())];
    let mut table = Table::new([
        Column::word(pattern),
        Column::number("us").below("document"),
        Column::number("sectors").below("document"),
        Column::word("").below("simulated"),
        Column::number("us").below("simulated"),
        Column::number("sectors").below("simulated"),
    ]);
    let start_s = rows[0].number("time_s");
    for (at, row) in rows.iter().enumerate() {
        let mut cells = vec![
            row.text("action").to_owned(),
            format!("{:.1}", (row.number("time_s") - start_s) * 1e6),
            row.text("sectors").to_owned(),
        ];
        if let Some(line) = seen.get(at) {
            cells.push(line.action.to_string());
            cells.push(format!("{:.1}", line.time.since(seen[0].time) as f64 / 1e3));
            cells.push(if line.sectors > 0 { line.sectors.to_string() } else { String::new() });
        }
        table.row(cells);
    }
    let asked: String = rows.iter().map(|row| row.text("action")).collect();
    let found: String = seen.iter().map(|line| line.action).collect();
    let alike = rows.iter().zip(seen).all(|(row, line)| {
        let sectors = row.text("sectors");
        row.text("action") == line.action.to_string()
            && sectors == if line.sectors > 0 { line.sectors.to_string() } else { String::new() }
    });
    let what = format!("blktrace of the {pattern} queue: {asked}, with the same sectors");
    (table, Claim::that(what, found, alike && seen.len() == rows.len(), ""))
}
