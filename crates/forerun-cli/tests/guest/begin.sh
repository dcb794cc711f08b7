# What each script begins with that is the first program of a virtual machine. bash reads it from a disk. The test
# reads the lines that begin with "forerun-guest: ", and compares them.
set -eux -o pipefail

# A request to power off comes too late for the lines after it.
trap 'echo "forerun-guest: failed"; echo o >/proc/sysrq-trigger; sleep infinity' EXIT

host=10.0.2.2

say() {
	echo "forerun-guest: $*"
}

# Until the command holds.
wait_until() {
	local end=$((SECONDS + 120))
	until "$@"; do
		[ "$SECONDS" -lt "$end" ] || { echo "$* does not hold for two minutes"; return 1; }
		sleep 0.1
	done
}

ip link set lo up
modprobe virtio_net
ip link set eth0 up
ip address add 10.0.2.15/24 dev eth0
mount -t tmpfs tmpfs /tmp

