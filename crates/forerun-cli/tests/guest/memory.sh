# `forerun serve --memory auto` in control groups of version 2. These lines change the groups as a manager of containers
# does. Meanwhile the test of `make memory-guest` reads from outside the machine.
groups=/sys/fs/cgroup
pod=$groups/pod
container=$groups/container
root=/tmp/root
mib=$((1 << 20))

# Replaces this shell by a command in a group.
in_group() {
	echo "$BASHPID" >"$1/cgroup.procs"
	shift
	exec "$@"
}

# Replaces this shell by a command that finds its own group alone, as in a container.
in_container() {
	# shellcheck disable=SC2016
	in_group "$container" unshare --cgroup --mount bash -eux -c '
		umount "$0/sys/fs/cgroup"
		mount -t cgroup2 cgroup2 "$0/sys/fs/cgroup"
		[ "$(cat /proc/self/cgroup)" = 0::/ ]
		exec "$@"' "$root" "$@"
}

# Starts a server whose ports end with the digit $1, by the function and arguments after it.
serve() {
	local port=$1
	shift
	metrics=911$port
	"$@" chroot "$root" /forerun serve --http "0.0.0.0:910$port" --public --memory auto \
		--metrics "127.0.0.1:$metrics" data=/data 2>"/tmp/log$port" &
	server=$!
	wait_until grep 'forerun: serves' "/tmp/log$port"
	measure
	say "share $limit"
}

# Sets `limit` and `used`: the memory that data may take, and the part that they take.
measure() {
	{ local -; set +x; } 2>/dev/null
	exec 3<>"/dev/tcp/127.0.0.1/$metrics"
	printf 'GET /metrics HTTP/1.0\r\n\r\n' >&3
	read -r limit used < <(sed -n -E 's/^forerun_memory_(limit|used)_bytes //p' <&3 | tr -d '\r' | tr '\n' ' ') || true
	exec 3<&-
}

may_take() {
	measure
	[ "$limit" -ge "$1" ]
}

takes_at_most() {
	measure
	[ "$limit" -le "$1" ] && [ "$used" -le "$limit" ]
}

has_taken() {
	measure
	[ "$used" -ge "$1" ]
}

milliseconds() {
	local seconds
	read -r seconds _ </proc/uptime
	echo "${seconds/./}0"
}

# Writes half of the limit to the file $2 of the group $1, waits until data have followed, and tells how that went.
halve() {
	local begun current
	begun=$(milliseconds)
	echo 128M >"$1/$2"
	wait_until takes_at_most $((21 * mib))
	read -r current <"$1/memory.current"
	say "$2 $(($(milliseconds) - begun)) $limit $used $current $(sed -n 's/^oom_kill //p' "$1/memory.events")"
}

# Waits until data may take all of their share of the whole limit again.
grow() {
	wait_until may_take $((78 * mib))
	say "grown $1"
}

mkdir "$root"
mount -o ro /dev/vdc "$root"
mount -t tmpfs tmpfs "$root/tmp"
mount -t cgroup2 cgroup2 "$groups"
for folder in dev proc sys; do mount --rbind "/$folder" "$root/$folder"; done
echo +memory >"$groups/cgroup.subtree_control"
mkdir "$pod" "$container"
echo +memory >"$pod/cgroup.subtree_control"
mkdir "$pod/first" "$pod/second" "$pod/others"
echo 256M >"$pod/memory.max"
echo 256M >"$container/memory.max"

# The limit is that of the group above.
serve 1 in_group "$pod/first"
wait_until has_taken $((70 * mib))

# First the limit that slows programs, then the one that ends them.
halve "$pod" memory.high
halve "$pod" memory.max
echo max >"$pod/memory.high"
echo 256M >"$pod/memory.max"
grow raised

# The latter at once.
wait_until has_taken $((70 * mib))
halve "$pod" memory.max
echo 256M >"$pod/memory.max"
grow again

# Another program takes memory step by step, and ends.
in_group "$pod/others" perl -e '
	open my $zeros, "<", "/dev/zero" or die;
	for (1 .. 26) { sysread $zeros, $taken, 5 << 20, length $taken; select undef, undef, undef, 0.3 }
	sleep' &
other=$!
wait_until takes_at_most $((65 * mib))
kill "$other"
grow others

# The server is moved to another group, and its own goes.
echo "$server" >"$pod/second/cgroup.procs"
rmdir "$pod/first"
wait_until has_taken $((70 * mib))
halve "$pod" memory.max
echo 256M >"$pod/memory.max"
grow moved

serve 2 in_container
halve "$container" memory.max
# The kernel keeps the names that a program has looked for, as long as there is room.
in_group "$container" perl -e 'stat "'"$root"'/data/" . "n" x 240 . $_ for 1 .. 140000' &
wait $!
[ "$(sed -n 's/^slab_reclaimable //p' "$container/memory.stat")" -ge $((90 * mib)) ]
wait_until may_take $((21 * mib))
echo 256M >"$container/memory.max"
grow container

sleep infinity
