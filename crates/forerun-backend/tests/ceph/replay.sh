#!/bin/sh
# Compares Forerun with the readahead of librbd on the cluster of one-node.sh. `rbd-replay` and `forerun replay
# --live` make the same reads, each after the one before it is done. The OSD delays each request of a client by
# up to 10 ms, and the delays overlap, as those of a network do.
#
# Usage: one-node.sh replay.sh FORERUN RUNS [RECORDING...]
#
# Prints a table, and fails if Forerun misses a goal. A recording of one disk adds a row of its first 1500 reads,
# which take about 10 s without readahead. Its writes and its pauses are left out.
set -eu
[ $# -ge 2 ] && [ "$2" -ge 2 ] || { echo "usage: $0 FORERUN RUNS [RECORDING...], with two runs at least" >&2; exit 2; }
forerun=$1 runs=$2
shift 2
here=$(dirname "$0")
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT

# The cache of librbd has 32 MiB by default. Without the policy writeback or writethrough, librbd reads nothing ahead.
run() {
	cache='--rbd-cache-policy=writeback'
	case $1 in
	off) librbd "$2" --rbd-cache=false ;;
	stock) librbd "$2" ;;
	readahead) librbd "$2" $cache ;;
	throughout) librbd "$2" $cache --rbd-readahead-disable-after-bytes=0 ;;
	*) said "$forerun" replay "$dir/$2.rbdreplay" --live rbd://images/ --pace closed --policy "$1" --memory 32MiB --repeat 1 ;;
	esac
}
contenders='off stock readahead throughout none adaptive'

librbd() {
	recording=$dir/$1.rbdreplay
	shift
	said env CEPH_ARGS="$*" rbd-replay -p images --read-only --latency-multiplier 0 "$recording"
}

said() { "$@" > "$dir/said" 2>&1 || { cat "$dir/said" >&2; exit 1; }; }

# Writes the reads of the recording $2 as those of the image $1, and makes the image.
prepare() {
	said "$forerun" trace convert "$2" "$dir/all.csv" --to-format csv-full --force
	awk -F, -v OFS=, -v image="$1" 'NR > 1 { if ($2 != "R") next; if (++count > 1500) exit; $3 = image; $8 = 0; $9 = 1 } { print }' \
		"$dir/all.csv" > "$dir/reads.csv"
	said "$forerun" trace convert "$dir/reads.csv" "$dir/$1.rbdreplay"
	# An object that does not exist is answered faster than one with bytes. So each MiB that is read has some.
	awk -F, 'NR > 1 { for (at = int($4 / 1048576); at * 1048576 < $4 + $5; at++) if (!seen[at]++) print at }' \
		"$dir/reads.csv" | sort -n > "$dir/read"
	truncate -s "$(($(tail -n 1 "$dir/read") + 1))M" "$dir/disk"
	while read -r at; do
		dd if=/dev/urandom of="$dir/disk" bs=1M count=1 seek="$at" conv=notrunc status=none
	done < "$dir/read"
	rbd import --no-progress "$dir/disk" "images/$1"
	rm "$dir/disk"
	names="$names $1"
}

# Reads of 4 KiB.
generated() {
	said "$forerun" trace generate "$2" --request 4KiB --size 256MiB --streams 2 --count "$3" -o "$dir/$1.frt"
	prepare "$1" "$dir/$1.frt"
}

names=
generated start sequential 1
generated sequential sequential 512
generated two-streams interleaved 512
generated backward backward 512
generated random random 300
for recording; do
	name=$(basename "$recording")
	prepare "${name%%.*}" "$recording"
done

for setting in type=client max=0.01 probability=1; do
	said ceph tell osd.0 config set "ms_inject_delay_${setting%=*}" "${setting#*=}"
done
rbd bench --io-type read --io-size 4K --io-threads 1 --io-total 1M --io-pattern rand images/random --rbd-cache=false |
	awk '/^elapsed/ { ms = 1000 / $6 } END { printf "One read of 4 KiB takes %.1f ms.\n\n", ms; exit ms < 2 }'

# All contenders in turn, and again: a disturbance then costs each of them one run.
for name in $names; do
	for _ in $(seq "$runs"); do
		for contender in $contenders; do
			begin=$(date +%s%N)
			run "$contender" "$name"
			echo "$name $contender $((($(date +%s%N) - begin) / 1000))"
		done
	done
done > "$dir/times"
awk -f "$here/replay.awk" "$dir/times"
