#!/bin/sh
# Replays a recording of one disk on an image of the cluster of one-node.sh: with rbd-replay and the
# readahead of librbd off and on, then with `forerun replay --live`. Each read waits for the one before it,
# and the pauses of the recording are left out.
#
# Usage: one-node.sh replay.sh FORERUN RECORDING
set -eu
[ $# -eq 2 ] || { echo "usage: $0 FORERUN RECORDING" >&2; exit 2; }
forerun=$1 recording=$2
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT

"$forerun" trace convert "$recording" "$dir/all.csv" --to-format csv-full
# The last column tells whether the program waited for the access before it went on. The writes are left out:
# rbd-replay would make them.
awk -F, -v OFS=, 'NR > 1 && $2 != "R" { next } NR > 1 { $NF = 1 } { print }' "$dir/all.csv" > "$dir/reads.csv"
"$forerun" trace convert "$dir/reads.csv" "$dir/reads.rbdreplay"
image=$(awk -F, 'NR == 2 { print $3 }' "$dir/reads.csv")

# An object that does not exist is answered faster than one with bytes. So each MiB that is read has some.
awk -F, 'NR > 1 { for (at = int($4 / 1048576); at * 1048576 < $4 + $5; at++) if (!seen[at]++) print at }' \
	"$dir/reads.csv" | sort -n > "$dir/read"
truncate -s "$(($(tail -n 1 "$dir/read") + 1))M" "$dir/disk"
while read -r at; do
	dd if=/dev/urandom of="$dir/disk" bs=1M count=1 seek="$at" conv=notrunc status=none
done < "$dir/read"
rbd import --no-progress "$dir/disk" "images/$image"
rm "$dir/disk"

replay() {
	name=$1
	shift
	for _ in 1 2 3; do
		begin=$(date +%s%N)
		CEPH_ARGS="$*" rbd-replay --pool-name images --read-only --latency-multiplier 0 "$dir/reads.rbdreplay" \
			> "$dir/said" 2>&1 || { cat "$dir/said" >&2; exit 1; }
		echo "$name: $((($(date +%s%N) - begin) / 1000000)) ms"
	done
}
echo "rbd-replay, $(awk 'END { print NR - 1 }' "$dir/reads.csv") reads:"
replay 'without cache' --rbd-cache=false
replay 'cache, no readahead' --rbd-readahead-max-bytes=0
replay 'readahead as by default' --rbd-readahead-disable-after-bytes=52428800
replay 'readahead throughout' --rbd-readahead-disable-after-bytes=0
"$forerun" replay "$dir/reads.rbdreplay" --live rbd://images/ --pace closed --policy none,plain,adaptive \
	--memory 32MiB,256MiB --repeat 3
