# `make demo` shows the product, `make test` runs all tests, `make check` looks at
# the sources, `make bench` measures. On a machine with Rust and apt nothing else
# needs to be there before; what is missing is installed.

.PHONY: demo test bench check fuse nginx

# A change of user only where one is needed.
as_root = $(if $(filter 0,$(shell id -u)),,sudo)
install = $(as_root) apt-get update -q && $(as_root) env DEBIAN_FRONTEND=noninteractive apt-get install -q -y --no-install-recommends

demo: fuse
	cargo build --release --package forerun-cli
	target/release/forerun demo

test: fuse nginx
	cargo test --workspace

bench: fuse
	cargo bench --package forerun --bench hit
	cargo build --release --package forerun-cli
	target/release/forerun bench

check:
	cargo fmt --check
	cargo clippy --workspace --all-targets -- -D warnings

# In a container the device may be missing although the kernel has it, or not be
# open to everybody as Debian has it.
fuse:
	@command -v fusermount3 >/dev/null || { $(install) fuse3; }
	@test -c /dev/fuse || $(as_root) mknod -m 666 /dev/fuse c 10 229
	@test "$$(stat -c %a /dev/fuse)" = 666 || $(as_root) chmod 666 /dev/fuse

# The tests start their own; the service that the package brings is not wanted.
nginx:
	@PATH="$$PATH:/usr/sbin"; command -v nginx >/dev/null || { \
		$(install) nginx-light && { $(as_root) service nginx stop >/dev/null 2>&1 || true; }; }
