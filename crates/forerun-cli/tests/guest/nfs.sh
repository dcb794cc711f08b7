# The kernel mounts exports of `forerun serve --nfs`, and compares them with the same files on a disk. The test of
# `make nfs-guest` puts the ports of two servers before these lines: files and store.
disk=/tmp/disk
small=/tmp/small
large=/tmp/large
rights=/tmp/rights
bucket=/tmp/bucket

# Mounts the export $3 of the server at the port $2 on $1, with further options.
mount_export() {
	mkdir -p "$1"
	mount -t nfs -o "vers=3,nolock,port=$2,mountport=$2,mountproto=tcp,addr=$host$4" "$host:$3" "$1"
}

# What `stat` shows of each file. A disk counts the size of its directories, and the links to them.
list() {
	(cd "$1" && find . -type f -printf '%P %M %U %G %s %T@\n' -o -printf '%P %M %U %G %l\n' | LC_ALL=C sort)
}

compare() {
	diff -r --no-dereference "$1" "$2"
	diff <(list "$1") <(list "$2")
}

# Whether a command fails with this message.
refused() {
	local message=$1 said
	shift
	if said=$("$@" 2>&1); then return 1; fi
	grep "$message" <<<"$said"
}

# Programs that read one file at once, in small and in large requests, through the page cache and past it.
read_at_once() {
	local folder program programs=()
	for folder in "$small" "$large"; do
		cmp "$folder/large.bin" "$disk/files/large.bin" &
		programs+=("$!")
		dd if="$folder/large.bin" bs=1M iflag=direct status=none | cmp - "$disk/files/large.bin" &
		programs+=("$!")
	done
	for program in "${programs[@]}"; do wait "$program"; done
}

# Changes reach the server, since the mount has no option `ro`. The kernel asks before it opens a file for writes.
write_nothing() {
	local refusal='Read-only file system'
	refused "$refusal" touch "$rights/new"
	refused "$refusal" mkdir "$rights/new"
	refused "$refusal" ln -s target "$rights/new"
	refused "$refusal" ln "$rights/changing" "$rights/new"
	refused "$refusal" mv "$rights/changing" "$rights/new"
	refused "$refusal" rm -f "$rights/changing"
	refused "$refusal" chmod 777 "$rights/changing"
	refused 'Permission denied' dd if=/dev/zero of="$rights/changing" conv=notrunc count=1 status=none
}

has_changed() {
	[ "$(cat "$rights/changing")" = second ]
}

# How often the kernel has connected to the server of a mount.
connections() {
	sed -n "\\: mounted on $1 :,/xprt:/ s/.*xprt:\ttcp [0-9]* [0-9]* \\([0-9]*\\) .*/\\1/p" /proc/self/mountstats
}

# Files and directories that are open stay so while another server takes the place of theirs.
survive_restart() {
	local before
	before=$(connections "$large")
	exec 9<"$large/large.bin"
	cd "$large/tree/$deep"
	echo 3 >/proc/sys/vm/drop_caches
	say await restart
	until [ "$(connections "$large")" -gt "$before" ]; do
		dd if="$large/large.bin" bs=1M iflag=direct status=none | cmp - "$disk/files/large.bin"
	done
	cmp - "$disk/files/large.bin" <&9
	cmp file "$disk/files/tree/$deep/file"
	cd /
	exec 9<&-
	echo 3 >/proc/sys/vm/drop_caches
	compare "$disk/files/tree" "$large/tree"
}

mkdir "$disk"
mount -o ro /dev/vdc "$disk"
mount_export "$small" "$files" /files ,rsize=4096
mount_export "$large" "$files" /files ''
mount_export "$rights" "$files" /rights ,actimeo=1
mount_export "$bucket" "$store" /bucket ''
grep -E "$small nfs .*,rsize=4096,.*,mountport=$files,.*" /proc/mounts
grep -E "$large nfs .*,rsize=1048576," /proc/mounts

compare "$disk/files" "$large"
compare "$disk/files/tree" "$small/tree"
[ "$("$large/tree/program")" = ran ]
diff -r "$disk/bucket" "$bucket"
say compared files

read_at_once
say compared readers

[ "$(stat --format '%s %a %.9Y' "$rights/private")" = '7 600 1234567890.123456789' ]
refused 'Permission denied' cat "$rights/private"
write_nothing
[ "$(cat "$rights/changing")" = first ]
say await change
wait_until has_changed

survive_restart
umount "$small" "$large" "$rights" "$bucket"
dmesg >/tmp/messages
if grep -E 'readdir loop|fileid changed' /tmp/messages; then exit 1; fi
say unmounted all
sleep infinity
