//! The kernel without its clients: tasks, the device and time.

use std::cmp::Reverse;
use std::collections::{BinaryHeap, VecDeque};

use forerun_policies::kernel::{Algorithm, Step as Order};

use super::config::KernelConfig;
use super::dirty::Dirty;
use super::flight::Flight;
use super::handles::Handles;
use super::pages::Pages;
use super::task::{Phase, Task, TaskId};
use crate::device::{Device, Notice, RequestId, Time};
use crate::map::Map;
use crate::run::{ClientRun, Run};
use crate::source::{Deed, ObjectId, Placed, Step};

/// A kernel with its cache and its device.
pub(super) struct Kernel<'a> {
    pub(super) config: KernelConfig,
    pub(super) algorithm: Box<dyn Algorithm + 'a>,
    pub(super) device: Box<dyn Device + 'a>,
    pub(super) now: Time,
    pub(super) placed: Vec<Placed>,
    pub(super) pages: Pages,
    pub(super) handles: Handles,
    pub(super) tasks: Vec<Task>,
    free_tasks: Vec<TaskId>,
    /// Tasks that can go on now.
    pub(super) ready: VecDeque<TaskId>,
    /// Tasks that go on later; of two at the same time, who came first.
    timers: BinaryHeap<Reverse<(Time, u64, TaskId)>>,
    timer_count: u64,
    /// The tasks that wait for the page in a slot.
    pub(super) waiters: Map<u32, Vec<TaskId>>,
    /// The tasks that wait for any page to become free.
    pub(super) starved: Vec<TaskId>,
    /// The tasks that wait for fewer dirty pages.
    pub(super) throttled: Vec<TaskId>,
    pub(super) flights: Map<RequestId, Flight>,
    pub(super) request_count: u64,
    pub(super) read_flight_count: usize,
    pub(super) write_flight_count: usize,
    pub(super) dirty: Dirty,
    /// Pages that are being written.
    pub(super) written_back_count: u64,
    /// Dirty pages that are to be written for other reasons than their number.
    pub(super) laundry_count: u64,
    pub(super) flush_time: Option<Time>,
    /// The page that each client used last: using it again is no second use.
    last_used: Vec<(ObjectId, u64)>,
    pub(super) orders: Vec<Order>,
    /// Tokens of steps that are done.
    done: VecDeque<u64>,
    pub(super) notices: Vec<Notice>,
    pub(super) run: Run,
}

const NOTHING: (ObjectId, u64) = (ObjectId(u64::MAX), u64::MAX);

impl<'a> Kernel<'a> {
    pub(super) fn new(
        config: KernelConfig,
        algorithm: Box<dyn Algorithm + 'a>,
        device: Box<dyn Device + 'a>,
    ) -> Kernel<'a> {
        Kernel {
            config,
            algorithm,
            device,
            now: Time(0),
            placed: Vec::new(),
            pages: Pages::new(&config),
            handles: Handles::new(config.file_state),
            tasks: Vec::new(),
            free_tasks: Vec::new(),
            ready: VecDeque::new(),
            timers: BinaryHeap::new(),
            timer_count: 0,
            waiters: Map::default(),
            starved: Vec::new(),
            throttled: Vec::new(),
            flights: Map::default(),
            request_count: 0,
            read_flight_count: 0,
            write_flight_count: 0,
            dirty: Dirty::default(),
            written_back_count: 0,
            laundry_count: 0,
            flush_time: None,
            last_used: Vec::new(),
            orders: Vec::new(),
            done: VecDeque::new(),
            notices: Vec::new(),
            run: Run::default(),
        }
    }

    /// Says what there is and who comes, before anything is done.
    pub(super) fn place(&mut self, placed: Vec<Placed>, client_count: usize) {
        self.placed = placed;
        self.last_used = vec![NOTHING; client_count];
        self.run.clients = vec![ClientRun::default(); client_count];
    }

    /// A client does this now.
    pub(super) fn begin(&mut self, step: Step) {
        let reader = match step.deed {
            Deed::Close => {
                self.handles.close(&mut *self.algorithm, step.object, step.client);
                self.done.push_back(step.token);
                return;
            }
            Deed::List => {
                self.done.push_back(step.token);
                return;
            }
            Deed::Read { .. } => {
                self.count_read(&step);
                self.handles.open(&mut *self.algorithm, step.object, step.client)
            }
            Deed::Write => forerun_engine::ReaderId(u64::from(step.client)),
        };
        let mut task = Task::new(step, reader);
        if step.extent.is_empty() {
            task.page = task.last_page + 1;
        }
        let id = self.free_tasks.pop().unwrap_or(self.tasks.len());
        if id == self.tasks.len() {
            self.tasks.push(task);
        } else {
            self.tasks[id] = task;
        }
        self.ready.push_back(id);
        self.let_run();
    }

    /// Lets every task go on that can.
    fn let_run(&mut self) {
        while let Some(id) = self.ready.pop_front() {
            match self.tasks[id].phase {
                Phase::Ending => self.finish(id),
                _ if self.tasks[id].is_read() => self.walk(id),
                _ => self.write(id),
            }
        }
    }

    /// The task used the page in `slot`, and goes on to the next one.
    pub(super) fn use_page(&mut self, id: TaskId, slot: u32) {
        let task = &mut self.tasks[id];
        let used = (task.step.object, task.page);
        let last = &mut self.last_used[task.step.client as usize];
        let is_new = std::mem::replace(last, used) != used;
        task.next_page();
        self.pages.touch(slot, is_new);
    }

    /// Lets the task go on after `ns` nanoseconds.
    pub(super) fn sleep(&mut self, id: TaskId, ns: u64) {
        if ns == 0 {
            self.ready.push_back(id);
            return;
        }
        self.timer_count += 1;
        self.timers.push(Reverse((Time(self.now.0 + ns), self.timer_count, id)));
    }

    /// The task is through with its pages.
    pub(super) fn end(&mut self, id: TaskId) {
        let task = &mut self.tasks[id];
        if self.config.request_cost_ns == 0 {
            return self.finish(id);
        }
        task.phase = Phase::Ending;
        self.sleep(id, self.config.request_cost_ns);
    }

    fn finish(&mut self, id: TaskId) {
        let Task { step, reader, first_page, page, waited_ns, .. } = self.tasks[id];
        let client = &mut self.run.clients[step.client as usize];
        client.finished_ns = self.now.0;
        if self.tasks[id].is_read() {
            client.read_bytes += step.extent.len;
            client.waited_ns += waited_ns;
            self.run.waits.add(waited_ns);
            if page > first_page {
                self.algorithm.on_end(step.object, reader, page - 1);
            }
            self.handles.release(&mut *self.algorithm, step.object, reader);
        } else {
            client.write_bytes += step.extent.len;
        }
        self.free_tasks.push(id);
        self.done.push_back(step.token);
    }

    /// The next step that is done.
    pub(super) fn poll_done(&mut self) -> Option<u64> {
        self.done.pop_front()
    }

    /// How many tasks are under way.
    pub(super) fn task_count(&self) -> usize {
        self.tasks.len() - self.free_tasks.len()
    }

    /// When something happens next.
    pub(super) fn next_time(&self) -> Option<Time> {
        let timer = self.timers.peek().map(|Reverse((time, ..))| *time);
        [timer, self.device.next_time(), self.flush_time].into_iter().flatten().min()
    }

    /// Time is `now`, at most [`Kernel::next_time`].
    pub(super) fn advance(&mut self, now: Time) {
        self.now = self.now.max(now);
        while let Some(Reverse((time, _, id))) = self.timers.peek().copied() {
            if time > self.now {
                break;
            }
            self.timers.pop();
            self.ready.push_back(id);
        }
        self.listen();
        if self.flush_time.is_some_and(|time| time <= self.now) {
            self.flush_expired();
        }
        self.let_run();
    }

    /// Ends the run: waits for what the device still does, and counts.
    pub(super) fn settle(mut self) -> Run {
        self.run.elapsed_ns = self.now.0;
        self.run.device = self.device.stats();
        while let Some(time) = self.device.next_time() {
            self.now = self.now.max(time);
            self.listen();
            self.ready.clear();
        }
        let unused = self.pages.unused().map(|page| self.bytes_of(page.object, page.index, 1));
        self.run.wasted_bytes += unused.sum::<u64>();
        self.run.memory_bytes_peak = self.pages.bytes_peak();
        self.run
    }
}
