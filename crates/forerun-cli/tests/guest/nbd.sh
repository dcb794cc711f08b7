# The kernel attaches exports of `forerun nbd`, writes file systems and reads them again. The test of `make nbd-guest`
# puts the ports of three servers before these lines: reads, writable and overlay.
disk=/dev/nbd0
files=/mnt

sha256_of() {
	sha256sum <"$1" | cut -c 1-64
}

# The kernel attaches and detaches in the background, and takes milliseconds.
is_attached() {
	[ -e /sys/block/nbd0/pid ]
}

is_detached() {
	! is_attached
}

# Two connections of the export at a port.
attach() {
	nbd-client "$host" "$1" "$disk" -name disk.img -connections 2
	wait_until is_attached
	[ "$(ss --no-header --tcp --numeric state established "dport = :$1" | wc -l)" -eq 2 ]
}

detach() {
	nbd-client -d "$disk"
	wait_until is_detached
}

attach_files() {
	attach "$1"
	mount "$disk" "$files"
}

detach_files() {
	umount "$files"
	detach
}

# Reads of the page cache, which the kernel reads ahead for, and reads past it, which two programs do at once.
read_all() {
	attach "$reads"
	[ "$(blockdev --getro "$disk")" -eq 1 ]
	say "read $(sha256_of "$disk")"
	for size in 64K 1M; do
		dd if="$disk" bs=$size iflag=direct status=none | sha256sum | cut -c 1-64 >"/run/$size" &
	done
	wait
	say "read $(cat /run/64K)"
	say "read $(cat /run/1M)"
	if dd if=/dev/zero of="$disk" bs=4096 count=1 conv=fsync; then
		echo 'an export for reads was written'
		exit 1
	fi
	detach
}

# Makes a file system on the export at a port, and compares its files and its bytes after each detachment.
write_all() {
	attach "$2"
	say "$1-before $(sha256_of "$disk")"
	# Every file system of these sizes gets blocks of 1 KiB, of which a part of the server's block can be free.
	mkfs.ext4 -q -b 4096 "$disk"
	mount "$disk" "$files"
	mkdir "$files/kept" "$files/removed"
	cp /usr/bin/[ab]* "$files/kept"
	cp /usr/bin/d* "$files/removed"
	# Each of these writes waits until it is on the server's disk.
	dd if=/dev/urandom of="$files/kept/synced" bs=4K count=64 oflag=dsync status=none
	dd if=/dev/urandom of="$files/kept/direct" bs=256K count=4 oflag=direct conv=fsync status=none
	(cd "$files" && find . -type f -exec sha256sum {} + >/run/sums)
	sync
	detach_files

	attach_files "$2"
	(cd "$files" && sha256sum --quiet --check /run/sums)
	rm -r "$files/removed"
	(cd "$files" && grep ' \./kept/' /run/sums >sums)
	sync
	fstrim --verbose "$files" >/run/trimmed
	say "$1-trimmed $(sed 's/.*(\([0-9]*\) bytes) trimmed/\1/' /run/trimmed)"
	detach_files

	attach "$2"
	e2fsck -fn "$disk"
	mount -o ro "$disk" "$files"
	(cd "$files" && sha256sum --quiet --check sums)
	umount "$files"
	say "$1-after $(sha256_of "$disk")"
	detach
}

# The test then ends the machine and the server without a word to either.
write_before_end() {
	attach_files "$1"
	cp /usr/bin/bash "$files/last"
	sync "$files/last"
	say "last $(sha256_of "$files/last")"
	sleep infinity
}

modprobe nbd

read_all
write_all writable "$writable"
write_all overlay "$overlay"
write_before_end "$writable"
