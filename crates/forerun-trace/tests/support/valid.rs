//! One valid file of each format.

use forerun_trace::Format;
use forerun_trace::generate::{Pattern, Plan};

use super::write;

const STRACE: &str = r#"7 1.000000 openat(AT_FDCWD, "/a", O_RDONLY) = 3</a> <0.000010>
7 1.000001 read(3</a>, "\"x"..., 4096) = 832 <0.000020>
8 1.000002 readv(3</a>, [{iov_base="", iov_len=5}], 1 <unfinished ...>
7 1.000003 lseek(3</a>, 0, SEEK_SET) = 0 <0.000001>
8 1.000004 <... readv resumed>) = 5 <0.000002>
7 1.000005 close(3</a>) = 0 <0.000001>
"#;

const FTRACE: &str = "# tracer: blk
 labio-3251    [000] d..1.  6705.590284:   7,0    Q  RM 67848 + 8 [labio]
 labio-3251    [000] d..1.  6705.590299:   7,0    U   N [labio] 1
 labio-3251    [000] d..1.  6705.590307:   7,0    D  RM 67848 + 8 [labio]
 labio-3251    [000] d..1.  6705.590407: block_rq_complete: 7,0 RM () 67848 + 8 none,0,0 [0]
";

/// A valid file of `format`.
pub(crate) fn valid(format: Format) -> Vec<u8> {
    let plan = Plan {
        patterns: vec![Pattern::Tree { files: 4 }, Pattern::Random],
        file_bytes: 8192,
        request_bytes: 512,
        think_ns: 2_000_000,
        ..Plan::default()
    };
    let mut generated = plan.generate().unwrap();
    let all: Vec<_> = generated.by_ref().collect();
    // Formats of one disk or of whole sectors get the random reads.
    let one: Vec<_> = all.iter().filter(|access| access.thread == 1).cloned().collect();
    match format {
        Format::Strace => STRACE.into(),
        Format::Ftrace => FTRACE.into(),
        Format::RbdReplayV0 => {
            // The starts of four threads: all bytes other than their ids are 0.
            (0..4).flat_map(|id| [[0; 4].as_slice(), &[id * 2], &[0; 20]].concat()).collect()
        }
        _ => {
            let one = write(&one, generated.files(), format);
            one.or_else(|_| write(&all, generated.files(), format)).unwrap().0
        }
    }
}
