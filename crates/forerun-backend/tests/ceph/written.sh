#!/bin/sh
# Tests `forerun nbd --writable` on an image of the cluster of one-node.sh, with qemu-io and rbd: bytes that were
# written and flushed are read on other connections and by other clients, also after a kill of the server.
#
# Usage: one-node.sh written.sh FORERUN
set -eu
[ $# -eq 1 ] || { echo "usage: $0 FORERUN" >&2; exit 2; }
forerun=$1 server=
dir=$(mktemp -d)
end() {
	[ ! "$server" ] || kill "$server" 2>/dev/null && wait "$server" || true
	rm -rf "$dir"
}
trap end EXIT
socket=$dir/disk.sock

serve() {
	rm -f "$socket"
	"$forerun" nbd --unix "$socket" --writable rbd://images/disk > "$dir/said" 2>&1 &
	server=$!
	# A server that was killed has the lock of the image until the cluster notices.
	for _ in $(seq 600); do
		[ ! -S "$socket" ] || return 0
		kill -0 "$server" 2>/dev/null || break
		sleep 0.1
	done
	cat "$dir/said" >&2
	exit 1
}

# Runs commands of qemu-io, each on a connection of its own. It prints an error and nothing else for wrong bytes.
qemu() {
	for command; do
		qemu-io -f raw -t none -c "$command" "nbd+unix:///disk?socket=$socket" > "$dir/qemu" 2>&1 || { cat "$dir/qemu" >&2; exit 1; }
		! grep -E 'failed|error' "$dir/qemu" >&2 || exit 1
	done
}

rbd create --size 16M images/disk
serve
# The bytes are in memory before they are written.
qemu 'read -P 0 0 16M'
qemu 'write -P 17 0 5M' 'write -f -P 34 3000000 5' 'write -z 1M 1M' 'discard 4M 1M' 'write -P 51 6M 64k'
qemu 'read -P 17 0 1M' 'read -P 0 1M 1M' 'read -P 34 3000000 5' 'read -P 17 3000005 1000' 'read -P 51 6M 64k' 'flush'
rbd export --no-progress images/disk "$dir/before"
[ "$(od -An -tu1 -j 3000000 -N 6 "$dir/before" | tr -s ' ')" = ' 34 34 34 34 34 17' ] || { echo 'rbd export has other bytes' >&2; exit 1; }

# A snapshot meanwhile keeps what it had, and the image is still written.
rbd snap create --no-progress images/disk@before
qemu 'write -P 85 6M 64k'
rbd export --no-progress images/disk@before "$dir/snapshot"
cmp "$dir/before" "$dir/snapshot"
qemu 'write -P 51 6M 64k'

kill -KILL "$server"
wait "$server" || true
serve
rbd export --no-progress images/disk "$dir/after"
cmp "$dir/before" "$dir/after"
qemu 'read -P 34 3000000 5' 'write -P 68 0 512' 'read -P 68 0 512'

# A server that ends lets go of the lock at once.
kill "$server"
wait "$server"
serve
qemu 'read -P 68 0 512'
echo 'forerun nbd --writable: ok'
