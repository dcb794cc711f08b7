//! The thread of a ring. Each turn takes jobs, and waits for the kernel.

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
    let mut is_open = true;
    kernel.begin(queue.bell(), Purpose::Bell);
    while is_open || !kernel.is_idle() {
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
        let mut bell = None;
        for (completed, purpose) in ends {
            match purpose {
                Purpose::Job(job) => job.go_on(completed, &mut kernel),
                Purpose::Bell => bell = Some(completed),
            }
        }
        // After those that go on, which need the entries that they had.
        if let Some(bell) = bell {
            is_open = begin_jobs(&bell, queue, &mut kernel);
        }
    }
}

/// Begins the jobs for which the bell rang. False if no more will come.
fn begin_jobs(bell: &Completed, queue: &Queue, kernel: &mut Kernel<Purpose>) -> bool {
    let jobs = if matches!(bell, Completed::Read(..)) { queue.take() } else { None };
    let Some(jobs) = jobs else {
        queue.close();
        return false;
    };
    kernel.begin(queue.bell(), Purpose::Bell);
    jobs.into_iter().for_each(|job| job.begin(kernel));
    true
}
