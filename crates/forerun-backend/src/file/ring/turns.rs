//! The thread of a ring. Each turn takes jobs, and waits for the kernel.

use std::collections::VecDeque;

use super::Queue;
use super::job::Job;
use super::kernel::{Completed, Kernel};

/// The purpose of an operation.
#[derive(Debug)]
pub(super) enum Purpose {
    /// It completes when jobs wait, or when no more will come.
    Bell,
    Job(Job),
}

/// Does the jobs of `queue` until that is closed.
pub(super) fn run(mut kernel: Kernel<Purpose>, queue: &Queue) {
    let mut waiting = VecDeque::new();
    let mut is_open = true;
    kernel.begin(queue.bell(), Purpose::Bell);
    while is_open || !kernel.is_idle() {
        while kernel.has_room()
            && let Some(job) = waiting.pop_front()
        {
            Job::begin(job, &mut kernel);
        }
        let ends = match kernel.wait() {
            Ok(ends) => ends,
            Err(error) => {
                tracing::warn!(
                    target: "forerun::store", %error,
                    "the kernel's io_uring stopped: threads read files instead"
                );
                return;
            }
        };
        for (completed, purpose) in ends {
            match purpose {
                Purpose::Job(job) => job.go_on(completed, &mut kernel),
                Purpose::Bell => {
                    is_open = matches!(completed, Completed::Read(..)) && queue.take(&mut waiting);
                    if is_open {
                        kernel.begin(queue.bell(), Purpose::Bell);
                    } else {
                        waiting.clear();
                    }
                }
            }
        }
    }
}
