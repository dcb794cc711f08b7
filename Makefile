# `make demo` shows the product, `make test` runs all tests, `make check` looks at
# the sources, `make bench` measures. On a machine with Rust and apt nothing else
# needs to be there before; what is missing is installed.
#
# Slow, or not for every machine: `make gates` checks in the simulator what adaptive
# promises, `make ablate` takes its rules away one by one, `make fidelity` compares the
# simulator with the product, `make bench-kernel` the product with the kernel's own
# readahead (as root), `make bench-programs` real
# programs on the mount beside other ways to mount, `make bench-clients` clients of `forerun serve` beside
# those of the store, `make bench-fairness` how readers share a store,
# `make bench-attacks` what a bad
# server costs other readers, `make bench-server` (as root) web servers with a thousand slow clients,
# `make bench-nbd` network block devices beside nbdkit, `make bench-vm` boots of a virtual machine from them,
# `make bench-ceph` images of Ceph beside librbd's own readahead,
# `make real-programs` our traces
# with the programs that replay them, `make nbd-programs` the NBD server with other clients,
# `make nbd-guest` and `make nfs-guest` the NBD and the NFS server with the kernel of a virtual machine,
# `make memory-guest` memory that follows control groups of version 2 there, `make memory-test` one of version 1 here,
# `make nbd-integrity` writes to the NBD server for minutes, `make ceph` the backend for Ceph's images with a cluster of one node,
# `make fuzz` feeds the trace readers and adaptive rubbish.
# `make test-shared` tests with recordings that are too large for the repository, in `../shared` or
# in $FORERUN_SHARED. `make soak` tests for hours, and `make release-check` checks all that a release
# needs (docs/contributing/release.md).
#
# `make install` puts the program, its man pages and completions, and the library for C below PREFIX, and
# `make uninstall` removes them (docs/service.md). `make header` generates the header for C (docs/c.md).
#
# `make dist` builds a .deb, a static tarball, an SBOM and their checksums in `dist/` (docs/packages.md).
# `make dist-test` uses them in a fresh Debian and in empty roots, as root.

.PHONY: demo test test-shared bench check release-check semver-check version-check gates ablate fidelity bench-kernel bench-programs bench-clients bench-fairness bench-attacks bench-server bench-nbd bench-vm bench-ceph real-programs nbd-programs nbd-guest nfs-guest memory-guest ceph ceph-packages memory-test nbd-integrity fuzz soak \
	release static dist dist-test install install-program install-library uninstall header header-check fuse iproute2 mkfs nbd qemu nginx python3 typos valgrind pkg-config musl

# A change of user only where one is needed.
as_root = $(if $(filter 0,$(shell id -u)),,sudo)
install = $(as_root) apt-get update -q && $(as_root) env DEBIAN_FRONTEND=noninteractive apt-get install -q -y --no-install-recommends

demo: fuse
	cargo build --release --package forerun-cli
	target/release/forerun demo

# Tests that need root are ignored by `cargo test`, and run here where the user is root.
# On a fresh machine nothing is built twice, and without records for that builds take less time.
test: export CARGO_INCREMENTAL ?= 0
# Most tests wait more than they compute, for servers and other programs.
test: export RUST_TEST_THREADS ?= $(shell expr 2 \* $$(nproc))
test: check typos fuse iproute2 mkfs nginx python3 valgrind pkg-config
	cargo test --workspace
	@test $$(id -u) != 0 || cargo test --workspace --test program -- --ignored
	cargo test --package forerun-lab --features ablate --test ablate
	cargo test --release --package forerun-lab --test seeds

test-shared:
	cargo test --package forerun-trace --package forerun-sim --package forerun-lab -- --ignored

bench: fuse valgrind
	cargo build --release --package forerun-cli
	target/release/forerun bench
	target/release/forerun bench --latency 10ms --memory 16MiB,64MiB --only sequential,parallel,displaced,bursts
	cargo bench --package forerun-trace --bench read
	cargo bench --package forerun-lab --bench speed
	cargo bench --package forerun --bench hit
	cargo bench --package forerun-engine --bench decide

# Folders of recordings besides samples/, as in `make gates traces=recordings/`.
gates:
	cargo build --release --package forerun-cli
	target/release/forerun lab gates $(if $(traces),--traces $(traces))

# What gets worse without each rule of adaptive, as in `make ablate options='--rules strides'`.
ablate:
	cargo build --release --package forerun-cli --features ablate --target-dir target/ablate
	target/ablate/release/forerun lab ablate $(options)

fidelity: fuse
	cargo build --release --package forerun-cli
	target/release/forerun lab fidelity

bench-kernel: fuse mkfs
	cargo build --release --package forerun-cli
	$(as_root) target/release/forerun bench-kernel

# More options, as in `make bench-programs options='--only load-file --repeat 1'`.
programs = target/bench-programs
bench-programs: fuse mkfs $(programs)/venv/installed
	@command -v rclone >/dev/null || { $(install) rclone; }
	cargo build --release --package forerun-cli
	target/release/forerun bench programs --folder $(programs) $(options)

$(programs)/venv/installed: crates/forerun-cli/programs/requirements.txt | python3
$(programs)/venv-clients/installed: crates/forerun-cli/programs/clients.txt | python3
$(programs)/venv-s3fs/installed: crates/forerun-cli/programs/s3fs.txt | python3
$(programs)/%/installed:
	python3 -m venv --clear $(@D)
	$(@D)/bin/pip install --quiet --requirement $<
	touch $@

# The rclone of Debian 12 does not serve NFS. The table says so if Go does not build another.
$(programs)/rclone/rclone: crates/forerun-cli/programs/rclone.txt
	-GOBIN=$(abspath $(@D)) go install $$(cat $<)

bench-clients: fuse nginx $(programs)/venv/installed $(programs)/venv-clients/installed $(programs)/venv-s3fs/installed $(programs)/rclone/rclone
	@command -v rclone >/dev/null && command -v nfs-cat >/dev/null || { $(install) rclone libnfs-utils; }
	cargo build --release --package forerun-cli
	target/release/forerun bench clients --folder $(programs) $(options)

# Readers of a store that gives less than they want.
bench-fairness:
	cargo bench --package forerun --bench fairness

bench-attacks: fuse
	cargo build --release --package forerun-cli
	target/release/forerun bench attacks $(options)

# Needs root, the memory controller of cgroup v1 and namespaces of networks. The services that the packages bring
# are not wanted.
bench-server: fuse iproute2 nginx
	@PATH="$$PATH:/usr/sbin"; command -v lighttpd >/dev/null || { \
		$(install) lighttpd && { $(as_root) service lighttpd stop >/dev/null 2>&1 || true; }; }
	cargo build --release --package forerun-cli
	$(as_root) target/release/forerun bench server $(options)

# Beside nbdkit, as in `make bench-nbd options='--only random,copy --latency 10ms'`.
bench-nbd: nbd
	cargo build --release --package forerun-cli
	target/release/forerun bench nbd $(options)

# Boots of Debian, as in `make bench-vm options='--bus ide,virtio --only forerun,local'`. Root makes the image.
vm = target/bench-vm
vm_image = crates/forerun-cli/programs/vm-image.sh
bench-vm: nbd qemu $(vm)/store/disk.raw
	cargo build --release --package forerun-cli
	target/release/forerun bench vm --folder $(vm) $(options)

$(vm)/store/disk.raw: $(vm_image)
	@PATH="$$PATH:/usr/sbin"; command -v mmdebstrap >/dev/null && command -v grub-mkimage >/dev/null && \
		command -v sfdisk >/dev/null && command -v mkfs.ext4 >/dev/null && test -e /usr/lib/grub/i386-pc/boot.img || { \
		$(install) mmdebstrap grub-common grub-pc-bin fdisk e2fsprogs; }
	$(as_root) $(vm_image) $(vm)

real-programs:
	@command -v rbd-replay >/dev/null && command -v btt >/dev/null && command -v fio >/dev/null && command -v strace >/dev/null || { $(install) fio blktrace strace ceph-common; }
	cargo test --package forerun-trace --test real_programs

nbd-programs: nbd
	cargo test --package forerun-cli --test nbd_programs -- --ignored

# The kernel's own clients, and its control groups, in the virtual machine of bench-vm.
nbd-guest: nbd
nbd-guest nfs-guest memory-guest: %-guest: qemu $(vm)/store/disk.raw
	PATH="$$PATH:/usr/sbin" FORERUN_VM=$(abspath $(vm)) cargo test --package forerun-cli --test guest -- --ignored $*::

# The services that the packages bring are not started: the tests run their own cluster.
ceph-packages:
	@PATH="$$PATH:/usr/sbin"; test -e /usr/include/rbd/librbd.h && command -v ceph-mon >/dev/null && command -v ceph-osd >/dev/null && command -v rbd >/dev/null || { \
		$(install) ceph-mon ceph-osd ceph-common librbd-dev librados-dev; }

one_node = crates/forerun-backend/tests/ceph/one-node.sh
ceph: ceph-packages nbd
	cargo clippy --package forerun-backend --all-targets --features rbd -- -D warnings
	cargo test --package forerun-backend --features rbd --lib rbd::
	cargo test --package forerun-backend --features rbd --test rbd --no-run
	cargo build --package forerun-cli --features rbd
	$(one_node) cargo test --package forerun-backend --features rbd --test rbd -- --ignored
	$(one_node) crates/forerun-backend/tests/ceph/written.sh target/debug/forerun

# Beside the readahead of librbd, as in `make bench-ceph recordings='samples/boot-ide.frt.gz samples/boot-virtio.frt.gz'`.
runs ?= 5
bench-ceph: ceph-packages
	cargo build --release --package forerun-cli --features rbd
	$(one_node) crates/forerun-backend/tests/ceph/replay.sh target/release/forerun $(runs) $(recordings)

# Needs root and the memory controller of cgroup v1.
memory-test:
	cargo test --package forerun-cli --test program -- --ignored --nocapture memory::

# The same tests as in `make test`, with more requests and more kills.
nbd-integrity: export FORERUN_NBD_OPERATIONS ?= 100000
nbd-integrity: export FORERUN_NBD_KILLS ?= 100
nbd-integrity:
	cargo test --package forerun-serve --test nbd -- writes::model
	cargo test --package forerun-cli --test program -- nbd::killed

fuzz_seconds ?= 40
fuzz:
	@command -v cargo-fuzz >/dev/null || cargo install cargo-fuzz
	cd fuzz && cargo run --example seed && for target in $$(cargo +nightly fuzz list); do \
		cargo +nightly fuzz run $$target -- -max_total_time=$(fuzz_seconds) -timeout=5 -rss_limit_mb=1024 -max_len=16384 || exit 1; done

check:
	cargo fmt --check
	cargo clippy --workspace --all-targets --features forerun-cli/ablate -- -D warnings
	RUSTDOCFLAGS='-D warnings' cargo doc --workspace --no-deps --quiet
	@! test -x $(tools)/bin/cbindgen || $(MAKE) header-check

# The header for C, from the sources. To compile the generator takes minutes, so `make check` compares only
# where it is there already.
tools ?= target/tools
cbindgen = cd crates/forerun-c && $(abspath $(tools))/bin/cbindgen --quiet --crate forerun-c --output include/forerun.h
header: $(tools)/bin/cbindgen
	$(cbindgen)

header-check: $(tools)/bin/cbindgen
	$(cbindgen) --verify

$(tools)/bin/cbindgen:
	cargo install --quiet --locked --root $(tools) --version ^0.29 cbindgen

# Spelling, by the checker of PyPI's wheel: to compile it takes minutes.
typos: python3
	@test -x target/typos/bin/typos || { python3 -m venv target/typos && target/typos/bin/pip install --quiet typos==1.52.0; }
	target/typos/bin/typos

release:
	cargo build --release --package forerun-cli --package forerun-c

# With other files than fresh ones, as in `make install program=target/debug/forerun libraries=target/debug`.
PREFIX ?= /usr/local
DESTDIR ?=
LIB ?= lib
program ?= target/release/forerun
libraries ?= target/release
bin = $(DESTDIR)$(PREFIX)/bin
man = $(DESTDIR)$(PREFIX)/share/man
bash_completions = $(DESTDIR)$(PREFIX)/share/bash-completion/completions
zsh_completions = $(DESTDIR)$(PREFIX)/share/zsh/site-functions
fish_completions = $(DESTDIR)$(PREFIX)/share/fish/vendor_completions.d
units = $(DESTDIR)$(PREFIX)/lib/systemd/system
pages = crates/forerun-cli/pages
lib = $(DESTDIR)$(PREFIX)/$(LIB)
include = $(DESTDIR)$(PREFIX)/include
c = crates/forerun-c
version = $(shell sed -n 's/^version = "\(.*\)"/\1/p' Cargo.toml)

target/release/forerun target/release/libforerun_c.so &:
	$(MAKE) release

install: install-program install-library

install-program: $(program)
	install -D -m 755 $(program) $(bin)/forerun
	install -d $(DESTDIR)/sbin && ln -sf $(PREFIX)/bin/forerun $(DESTDIR)/sbin/mount.forerun
	install -D -m 644 -t $(man)/man8 $(pages)/mount.forerun.8
	install -d $(units)
	for unit in forerun.service forerun@.service; do \
		sed 's|@PREFIX@|$(PREFIX)|' $(pages)/$$unit.in > $(units)/$$unit && chmod 644 $(units)/$$unit || exit; done
	generated=$$(mktemp -d) && trap "rm -r $$generated" EXIT && $(program) generate $$generated && \
	install -D -m 644 -t $(man)/man1 $$generated/*.1 && \
	install -D -m 644 $$generated/forerun.bash $(bash_completions)/forerun && \
	install -D -m 644 $$generated/_forerun $(zsh_completions)/_forerun && \
	install -D -m 644 $$generated/forerun.fish $(fish_completions)/forerun.fish

# The loader of this system learns of the library, unless it is for another one.
install-library: $(libraries)/libforerun_c.so
	install -D -m 644 $(libraries)/libforerun_c.so $(lib)/libforerun_c.so.0
	ln -sf libforerun_c.so.0 $(lib)/libforerun_c.so
	install -D -m 644 -t $(include) $(c)/include/forerun.h
	install -d $(lib)/pkgconfig && sed 's|@PREFIX@|$(PREFIX)|; s|@LIB@|$(LIB)|; s|@VERSION@|$(version)|' \
		$(c)/forerun.pc.in > $(lib)/pkgconfig/forerun.pc && chmod 644 $(lib)/pkgconfig/forerun.pc
	test -n "$(DESTDIR)" || ldconfig

uninstall:
	rm -f $(bin)/forerun $(DESTDIR)/sbin/mount.forerun $(units)/forerun.service $(units)/forerun@.service
	rm -f $(man)/man1/forerun.1 $(man)/man1/forerun-*.1 $(man)/man8/mount.forerun.8
	rm -f $(bash_completions)/forerun $(zsh_completions)/_forerun $(fish_completions)/forerun.fish
	rm -f $(lib)/libforerun_c.so $(lib)/libforerun_c.so.0 $(lib)/pkgconfig/forerun.pc $(include)/forerun.h

# A program that needs no library of the system, not even libc.
static_target = $(shell uname -m)-unknown-linux-musl
static_program ?= target/$(static_target)/release/forerun
static: musl
	cargo build --release --package forerun-cli --target $(static_target)

# It builds the programs anew where a source has changed: a package of older ones would go unnoticed.
dist: release static python3
	rm -rf dist
	packaging/deb.sh dist
	packaging/tarball.sh dist $(static_program)
	python3 packaging/sbom.py dist $(static_target)
	cd dist && sha256sum * > SHA256SUMS

dist-test: dist fuse nginx nbd
	@command -v debootstrap >/dev/null && command -v ip >/dev/null && command -v curl >/dev/null || { $(install) debootstrap iproute2 curl; }
	cd dist && sha256sum --quiet --check SHA256SUMS
	$(as_root) packaging/test-deb.sh dist $(program)
	$(as_root) packaging/test-static.sh dist $(program)

# The checks of docs/contributing/release.md.
release-check: test version-check header-check dist-test semver-check
	@command -v cargo-deny >/dev/null || cargo install --locked cargo-deny
	cargo deny check
	cargo publish --workspace --dry-run --no-verify --locked

# Compares the interfaces of the libraries with those of the last release, or of another commit, as in
# `make semver-check baseline=HEAD~1`.
baseline ?= $(shell git describe --tags --abbrev=0 --match 'v*' 2>/dev/null)
# Crates that the baseline does not have: nothing compares with them.
new_crates = $(foreach crate,$(notdir $(wildcard crates/*)),$(shell \
	git cat-file -e $(baseline):crates/$(crate)/Cargo.toml 2>/dev/null || echo $(crate)))
semver-check:
ifeq ($(baseline),)
	@echo "no release is tagged vVERSION yet, so the interfaces of the libraries are compared with nothing"
else
	@command -v cargo-semver-checks >/dev/null || cargo install --locked cargo-semver-checks
	cargo semver-checks --workspace $(new_crates:%=--exclude %) --baseline-rev $(baseline)
endif

version-check:
	@version=$$(sed -n 's/^version = "\(.*\)"/\1/p' Cargo.toml | head -n 1); \
	first=$$(sed -n 's/^## *\[*v*\([0-9][0-9.]*\).*/\1/p' CHANGELOG.md | head -n 1); \
	test "$$version" = "$$first" || { \
		echo "Cargo.toml has version $$version, and CHANGELOG.md begins with \"$$first\"; make them equal"; exit 1; }

# For hours: schedules of failing servers, bugs planted into copies of the sources that these must
# find, properties with many more cases, the fuzzers, and a mount that is used without end.
schedules ?= 100000
soak_cases ?= 100000
soak_fuzz_seconds ?= 300
soak_time ?= 1h
soak: fuse
	cargo run --release --package forerun-faults -- --schedules $(schedules)
	cargo test --release --package forerun-faults --test planted -- --ignored --nocapture
	PROPTEST_CASES=$(soak_cases) cargo test --package forerun-engine --test properties --test walks
	PROPTEST_CASES=$(soak_cases) cargo test --package forerun-policies --test policies
	PROPTEST_CASES=$(soak_cases) cargo test --package forerun-trace --test malformed --test round_trip
	PROPTEST_CASES=$(soak_cases) cargo test --release --package forerun-sim --test kernel --test regret
	$(MAKE) fuzz fuzz_seconds=$(soak_fuzz_seconds)
	cargo build --release --package forerun-cli
	target/release/forerun bench soak --time $(soak_time)

# In a container the device may be missing although the kernel has it, or not be
# open to everybody as Debian has it.
fuse:
	@command -v fusermount3 >/dev/null || { $(install) fuse3; }
	@test -c /dev/fuse || $(as_root) mknod -m 666 /dev/fuse c 10 229
	@test "$$(stat -c %a /dev/fuse)" = 666 || $(as_root) chmod 666 /dev/fuse

# With the module that makes virtual environments.
python3:
	@python3 -c 'import ensurepip' 2>/dev/null || { $(install) python3 python3-venv; }

# Clients and servers of others.
nbd:
	@command -v nbdkit >/dev/null && command -v nbdcopy >/dev/null && command -v qemu-img >/dev/null && command -v openssl >/dev/null || { $(install) nbdkit libnbd-bin qemu-utils openssl; }

qemu:
	@command -v qemu-system-x86_64 >/dev/null || { $(install) qemu-system-x86; }

# Counts instructions, and checks how C uses memory.
valgrind:
	@command -v valgrind >/dev/null || { $(install) valgrind; }

# The compiler and the library for static programs. Rust's part comes by rustup, or with a package of the system.
musl:
	@test -d "$$(rustc --print target-libdir --target $(static_target))" || rustup target add $(static_target)
	@command -v musl-gcc >/dev/null || { $(install) musl-tools; }

# Images of file systems, and the loop devices that mount them.
mkfs:
	@PATH="$$PATH:/usr/sbin"; command -v mkfs.erofs >/dev/null && command -v mksquashfs >/dev/null && \
		command -v mkfs.ext4 >/dev/null && command -v losetup >/dev/null || { \
		$(install) erofs-utils squashfs-tools e2fsprogs mount; }

iproute2:
	@PATH="$$PATH:/usr/sbin"; command -v ip >/dev/null || { $(install) iproute2; }

pkg-config:
	@command -v pkg-config >/dev/null || { $(install) pkg-config; }

# The tests start their own; the service that the package brings is not wanted.
nginx:
	@PATH="$$PATH:/usr/sbin"; command -v nginx >/dev/null || { \
		$(install) nginx-light && { $(as_root) service nginx stop >/dev/null 2>&1 || true; }; }
