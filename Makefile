# `make demo` shows the product, `make test` runs all tests, `make check` looks at
# the sources, `make bench` measures. On a machine with Rust and apt nothing else
# needs to be there before; what is missing is installed.
#
# Slow, or not for every machine: `make gates` checks in the simulator what adaptive
# promises, `make fidelity` compares the simulator with the product, `make bench-kernel`
# the product with the kernel's own readahead (as root), `make bench-programs` real
# programs on the mount beside other ways to mount, `make bench-attacks` what a bad
# server costs other readers, `make real-programs` our traces
# with the programs that replay them, `make fuzz` feeds the trace readers and adaptive rubbish,
# `make soak` runs schedules of failing servers.

.PHONY: demo test bench check gates fidelity bench-kernel bench-programs bench-attacks real-programs fuzz soak fuse nginx valgrind

# A change of user only where one is needed.
as_root = $(if $(filter 0,$(shell id -u)),,sudo)
install = $(as_root) apt-get update -q && $(as_root) env DEBIAN_FRONTEND=noninteractive apt-get install -q -y --no-install-recommends

demo: fuse
	cargo build --release --package forerun-cli
	target/release/forerun demo

test: fuse nginx
	cargo test --workspace
	cargo test --release --package forerun-lab --test seeds

bench: fuse valgrind
	cargo build --release --package forerun-cli
	target/release/forerun bench
	cargo bench --package forerun-trace --bench read
	cargo bench --package forerun-lab --bench speed
	cargo bench --package forerun --bench hit
	cargo bench --package forerun-engine --bench decide

# Folders of recordings besides samples/, as in `make gates traces=recordings/`.
gates:
	cargo build --release --package forerun-cli
	target/release/forerun lab gates $(if $(traces),--traces $(traces))

fidelity: fuse
	cargo build --release --package forerun-cli
	target/release/forerun lab fidelity

bench-kernel: fuse
	@command -v mkfs.ext4 losetup >/dev/null || { $(install) e2fsprogs mount; }
	cargo build --release --package forerun-cli
	$(as_root) target/release/forerun bench-kernel

# More options, as in `make bench-programs options='--only load-file --repeat 1'`.
programs = target/bench-programs
bench-programs: fuse $(programs)/venv/installed
	@command -v rclone >/dev/null && command -v mkfs.erofs >/dev/null || { $(install) rclone erofs-utils; }
	cargo build --release --package forerun-cli
	target/release/forerun bench programs --folder $(programs) $(options)

$(programs)/venv/installed: crates/forerun-cli/programs/requirements.txt
	@python3 -c 'import ensurepip' 2>/dev/null || { $(install) python3-venv; }
	python3 -m venv --clear $(programs)/venv
	$(programs)/venv/bin/pip install --quiet --requirement $<
	touch $@

bench-attacks: fuse
	cargo build --release --package forerun-cli
	target/release/forerun bench attacks $(options)

real-programs:
	@command -v rbd-replay btt fio strace >/dev/null || { $(install) fio blktrace strace ceph-common; }
	cargo test --package forerun-trace --test real_programs

fuzz_seconds ?= 40
fuzz:
	@command -v cargo-fuzz >/dev/null || cargo install cargo-fuzz
	cd fuzz && cargo run --example seed && for target in $$(cargo +nightly fuzz list); do \
		cargo +nightly fuzz run $$target -- -max_total_time=$(fuzz_seconds) -timeout=5 -rss_limit_mb=1024 -max_len=16384 || exit 1; done

# Schedules of failing servers, and bugs planted into copies of the sources that they must find.
schedules ?= 100000
soak:
	cargo run --release --package forerun-faults -- --schedules $(schedules)
	cargo test --release --package forerun-faults --test planted -- --ignored --nocapture

check:
	cargo fmt --check
	cargo clippy --workspace --all-targets -- -D warnings

# In a container the device may be missing although the kernel has it, or not be
# open to everybody as Debian has it.
fuse:
	@command -v fusermount3 >/dev/null || { $(install) fuse3; }
	@test -c /dev/fuse || $(as_root) mknod -m 666 /dev/fuse c 10 229
	@test "$$(stat -c %a /dev/fuse)" = 666 || $(as_root) chmod 666 /dev/fuse

# Counts instructions.
valgrind:
	@command -v valgrind >/dev/null || { $(install) valgrind; }

# The tests start their own; the service that the package brings is not wanted.
nginx:
	@PATH="$$PATH:/usr/sbin"; command -v nginx >/dev/null || { \
		$(install) nginx-light && { $(as_root) service nginx stop >/dev/null 2>&1 || true; }; }
