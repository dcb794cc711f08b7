//! Small recordings, written by hand after the output of the tools.

pub(crate) const BLKPARSE: &str = "  \
  8,0    1        1     0.000000000   697  Q   R 223490 + 8 [kjournald]
  8,0    1        2     0.000001829   697  P   N [kjournald]
  8,0    1        3     0.000002197   697  G   R 223490 + 8 [kjournald]
  8,0    1        4     0.000004000   697  Q  WS 100 + 16 (00002000) [a b [c]]
  8,0    1        5     0.000005000   697  U   N [kjournald] 1
  8,0    1        6     0.000010000   697  D   R 223490 + 8 [kjournald]
  8,0    1        7     0.000011000   697  A   R 1 + 8 <- (8,1) 0
  8,0    3        8     0.000090000     0  C   R 223490 + 8 [0]
  8,0    3        9     0.000091000     0  m   N cfq something: here
  8,0    3       10     0.000092000     5  Q FWS [x]
  8,0    3       11     0.000093000     5  D   R 36 (12 00 00 00 24 00 ..) [x]
  8,0    3       12     0.000094000     5  Q DS 0 + 2048 [x]
CPU0 (8,0):
 Reads Queued:           1,        4KiB\t Writes Queued:           1,        8KiB

Total (8,0):
";

pub(crate) const FTRACE: &str = "\
# tracer: nop
           <...>-2930  [000] .....  7.000001: block_bio_queue: 7,0 RA 8 + 32 [dd]
   kworker/0:1-x y-29  (     29) [001] d..1.  7.000002: block_plug: [dd]
           dd-2930  [000]  7.000003: block_rq_issue: 7,0 RA 16384 () 8 + 32 be,0,4 [dd]
           dd-2930  [000] d.h..  7.000103: block_rq_complete: 7,0 RA () 8 + 32 be,0,4 [0]
           dd-2930  [000] .....  7.000200: block_bio_queue: 7,0 FWS 18446744073709551615 + 0 [dd]
           dd-2930  [000] .....  7.000201: sched_switch: prev_comm=dd
";

pub(crate) const STRACE: &str = r#"100 1700000000.000000 execve("/bin/cat", ["cat", "a, b"], 0x7ffd /* 20 vars */) = 0 <0.000500>
100 1700000000.001000 openat(AT_FDCWD</home>, "f (1)", O_RDONLY|O_CLOEXEC) = 3</home/f (1)> <0.000010>
100 1700000000.002000 read(3</home/f (1)>, "\177ELF\", 3) = 9"..., 4096) = 832 <0.000020>
100 1700000000.003000 clone(child_stack=NULL, flags=CLONE_VM|CLONE_FILES|CLONE_THREAD) = 101 <0.000001>
101 1700000000.004000 read(3</home/f (1)>,  <unfinished ...>
100 1700000000.004500 pread64(3</home/f (1)>, "x"..., 10, 64) = 10 <0.000003>
101 1700000000.005000 <... read resumed>"yy", 100) = 100 <0.001000>
100 1700000000.006000 readv(3</home/f (1)>, [{iov_base="a", iov_len=50}, {iov_base="b", iov_len=50}], 2) = 60 <0.000004>
100 1700000000.007000 lseek(3</home/f (1)>, 8192, SEEK_SET) = 8192 <0.000001>
100 1700000000.008000 fork() = 102 <0.000001>
102 1700000000.009000 dup(3</home/f (1)>) = 7</home/f (1)> <0.000001>
102 1700000000.010000 read(7</home/f (1)>, ""..., 5) = 5 <0.000001>
100 1700000000.011000 read(3</home/f (1)>, "", 5) = 0 <0.000001>
100 1700000000.012000 read(0<pipe:[1234]>, "abc", 5) = 3 <0.000001>
100 1700000000.013000 write(1</dev/pts/0<char 136:0>>, "abc", 3) = 3 <0.000001>
100 1700000000.014000 read(5<TCP:[127.0.0.1:1->127.0.0.1:2]>, "abc", 5) = -1 EAGAIN (Resource temporarily unavailable) <0.000001>
100 1700000000.014100 openat(AT_FDCWD</home>, "/dev/null", O_WRONLY) = 9</dev/null> <0.000001>
100 1700000000.014200 write(9</dev/null>, "abc", 3) = 3 <0.000001>
100 1700000000.014300 read(8</proc/1/stat>, "abc", 5) = 3 <0.000001>
100 1700000000.014400 close(9</dev/null>) = 0 <0.000001>
100 1700000000.015000 --- SIGCHLD {si_signo=SIGCHLD} ---
100 1700000000.016000 close(3</home/f (1)>) = 0 <0.000002>
100 1700000000.017000 exit_group(0) = ?
100 1700000000.018000 +++ exited with 0 +++
"#;
