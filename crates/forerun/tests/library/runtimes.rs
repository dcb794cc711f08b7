//! On a runtime of the program.

use std::sync::Arc;
use std::time::Duration;

use forerun::{ErrorKind, Forerun, Options};
use forerun_backend::{MemoryBackend, layer};
use tokio::runtime::{Builder, Handle, Runtime};

use crate::gate::pattern;

fn runtimes() -> [Runtime; 2] {
    let [mut one, mut many] = [Builder::new_current_thread(), Builder::new_multi_thread()];
    [one.enable_all().build().unwrap(), many.worker_threads(1).enable_all().build().unwrap()]
}

/// Over a slow backend, on the runtime that the caller runs on.
fn on_this_runtime(source: &[u8]) -> Forerun {
    let memory = Arc::new(MemoryBackend::new());
    memory.replace("a", source.to_vec());
    let delayed = Arc::new(layer::Delay::new(memory, Duration::from_millis(1)));
    Forerun::over(delayed, Options::default().with_runtime(Some(Handle::current()))).unwrap()
}

#[test]
fn calls_are_awaited_inside_the_runtime_that_is_given() {
    let source = pattern(1 << 20);
    let directory = tempfile::tempdir().unwrap();
    std::fs::write(directory.path().join("a"), "abc").unwrap();
    for runtime in runtimes() {
        runtime.block_on(async {
            let reader = on_this_runtime(&source).open("a").await.unwrap();
            let mut bytes = vec![0; source.len()];
            for (piece, at) in bytes.chunks_mut(100_000).zip((0..).step_by(100_000)) {
                reader.read_at(piece, at).await.unwrap();
            }
            assert!(bytes == source);

            let options = Options::default().with_runtime(Some(Handle::current()));
            let connected = Forerun::connect(directory.path().to_str().unwrap(), options).await.unwrap();
            assert_eq!(connected.list("").await.unwrap().len(), 1);
        });
    }
}

#[test]
fn a_blocking_call_inside_a_runtime_works_or_is_refused_but_never_hangs() {
    let source = pattern(1 << 20);
    let [one, many] = runtimes();
    let mut buf = [0; 10];
    many.block_on(async {
        let forerun = on_this_runtime(&source);
        let task = tokio::spawn(async move {
            let reader = forerun.open_blocking("a").unwrap();
            assert_eq!(reader.read_at_blocking(&mut buf, 0).unwrap(), 10);
        });
        task.await.unwrap();
    });
    one.block_on(async {
        let forerun = on_this_runtime(&source);
        assert_eq!(forerun.open_blocking("a").unwrap_err().kind, ErrorKind::Invalid);
        let reader = forerun.open("a").await.unwrap();
        assert_eq!(reader.read_at_blocking(&mut buf, 0).unwrap_err().kind, ErrorKind::Invalid);
        reader.read_at(&mut buf, 0).await.unwrap();
        assert_eq!(reader.read_at_blocking(&mut buf, 0).unwrap(), 10, "it need not wait");
    });
}

#[test]
fn threads_block_while_the_runtime_runs_elsewhere() {
    let source = pattern(1 << 20);
    let [one, _] = runtimes();
    let forerun = one.block_on(async { on_this_runtime(&source) });
    let (done, ended) = tokio::sync::oneshot::channel();
    let thread = std::thread::spawn(move || {
        let mut buf = [0; 10];
        forerun.open_blocking("a").unwrap().read_at_blocking(&mut buf, 7).unwrap();
        done.send(()).unwrap();
        buf
    });
    one.block_on(ended).unwrap();
    assert_eq!(thread.join().unwrap()[..], source[7..17]);
}

#[test]
fn reads_fail_when_the_runtime_has_ended() {
    let source = pattern(1 << 20);
    for runtime in runtimes() {
        let (forerun, reader) = runtime.block_on(async {
            let forerun = on_this_runtime(&source);
            let reader = forerun.open("a").await.unwrap();
            (forerun, reader)
        });
        drop(runtime);
        assert!(reader.read_at_blocking(&mut [0; 10], 0).is_err());
        assert_eq!(forerun.stat_blocking("b").unwrap_err().kind, ErrorKind::Permanent);
    }
}
