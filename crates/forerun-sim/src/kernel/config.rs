//! The kind of kernel.

/// When waiting starts, in the eyes of a plugged queue.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Unplug {
    /// Only somebody who waits for a page unplugs the queue.
    #[default]
    WhenWaiting,
    /// Also readahead that was started by a page which is there already: nobody
    /// is about to wait (2.6.33).
    WhenUptodate,
    /// Every readahead, as with a plug of the task (2.6.39).
    Always,
}

/// How pages are found that can be used anew.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Reclaim {
    /// Pages age: a scan halves the age of those not used since the last one.
    /// Those of age 0 are laundered and then free to take.
    Linux2_4,
    /// An active and an inactive list; a second use activates.
    #[default]
    Linux2_6,
}

/// Whose readahead state a read finds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum FileState {
    /// Its client's, from its first access to the object to its close.
    #[default]
    Client,
    /// A fresh one: every request opens the file, as an NFS server does.
    Request,
    /// The object's, if it is among the last so many that were read: the small
    /// table of an NFS server.
    Shared(usize),
}

/// When dirty pages are written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Writeback {
    /// Percent of all pages that may be dirty before the kernel begins to write.
    pub background_percent: u64,
    /// Percent of all pages, dirty or being written, at which writers wait.
    pub throttle_percent: u64,
    /// Files are written when their first dirty page is so old, in nanoseconds.
    pub expiry_ns: u64,
    /// How often somebody looks for such files, in nanoseconds, not 0.
    pub interval_ns: u64,
    /// Requests that write pages and are under way at once, not 0.
    pub request_count_max: usize,
}

/// A kernel's settings.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct KernelConfig {
    /// Pages of 4 KiB in the page cache, free ones included, at least 16.
    pub pages_max: u64,
    /// How pages become free again.
    pub reclaim: Reclaim,
    /// The most bytes of one request to the device, at least one page.
    pub request_bytes_max: u64,
    /// When requests are let go.
    pub unplug: Unplug,
    /// Whose state a read finds.
    pub file_state: FileState,
    /// The time of a read or write for its client besides waiting, in nanoseconds.
    pub request_cost_ns: u64,
    /// The time of each of its pages, in nanoseconds.
    pub page_cost_ns: u64,
    /// Reads under way at which the device counts as congested.
    pub congestion_count: usize,
    /// When dirty pages are written.
    pub writeback: Writeback,
}

impl KernelConfig {
    /// A Linux 2.4 with so many pages of cache.
    pub fn linux_2_4(pages_max: u64) -> KernelConfig {
        KernelConfig {
            reclaim: Reclaim::Linux2_4,
            //= linux 2.4.10 fs/buffer.c
            writeback: Writeback { background_percent: 30, throttle_percent: 60, ..WRITEBACK },
            ..KernelConfig::linux_2_6(pages_max)
        }
    }

    /// A Linux 2.6 with so many pages of cache.
    pub fn linux_2_6(pages_max: u64) -> KernelConfig {
        KernelConfig {
            pages_max,
            reclaim: Reclaim::Linux2_6,
            request_bytes_max: 512 << 10,
            unplug: Unplug::WhenWaiting,
            file_state: FileState::Client,
            request_cost_ns: 0,
            page_cost_ns: 0,
            congestion_count: CONGESTION_COUNT,
            writeback: WRITEBACK,
        }
    }
}

/// Seven eighths of a queue of 128 requests.
//= linux 2.6.10 drivers/block/ll_rw_blk.c
const CONGESTION_COUNT: usize = 113;

//= linux 2.6.10 mm/page-writeback.c
const WRITEBACK: Writeback = Writeback {
    background_percent: 10,
    throttle_percent: 40,
    expiry_ns: 30_000_000_000,
    interval_ns: 5_000_000_000,
    request_count_max: 128,
};
