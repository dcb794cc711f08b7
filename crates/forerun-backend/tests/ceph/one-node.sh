#!/bin/sh
# Runs a command beside a Ceph cluster, which ends with it. The cluster is a monitor and an OSD on the
# loopback address, and keeps its objects in memory. It needs ceph-mon, ceph-osd and ceph-common of Debian, and
# leaves no file behind.
#
# Usage: one-node.sh COMMAND [ARGUMENT...]
#
# The command finds the cluster by CEPH_CONF, and its daemons' process numbers in MON_PID and OSD_PID. The
# cluster has the pool `images` and the clients `admin` and `reader`, which may only read images.
set -eu
[ $# -gt 0 ] || { echo "usage: $0 COMMAND [ARGUMENT...]" >&2; exit 2; }
PATH="$PATH:/usr/sbin"
dir=$(mktemp -d)
MON_PID='' OSD_PID='' is_up=''
end() {
	status=$?
	trap - EXIT INT TERM
	for pid in $OSD_PID $MON_PID; do
		# A test may have stopped it.
		kill -KILL "$pid" 2>/dev/null && wait "$pid" 2>/dev/null || true
	done
	[ $status -eq 0 ] || [ "$is_up" ] || tail -n 20 "$dir"/log/* >&2
	rm -rf "$dir"
	exit $status
}
trap end EXIT
trap 'exit 130' INT TERM

# Ports of the last tests, which may still be in use, are avoided by chance alone.
port=$((20000 + $$ % 10000))
fsid=$(cat /proc/sys/kernel/random/uuid)
osd=$(cat /proc/sys/kernel/random/uuid)
mkdir "$dir/mon" "$dir/osd" "$dir/log"
cat > "$dir/ceph.conf" <<EOF
[global]
fsid = $fsid
mon host = [v2:127.0.0.1:$port]
public addr = 127.0.0.1
keyring = $dir/\$name.keyring
run dir = $dir
admin socket = $dir/\$cluster-\$name.\$pid.asok
log file = $dir/log/\$name.log
mon data = $dir/mon
osd data = $dir/osd
osd objectstore = memstore
memstore device bytes = 4G
osd pool default size = 1
osd pool default min size = 1
osd pool default pg num = 8
osd crush chooseleaf type = 0
mon allow pool size one = true
mon data avail crit = 0
osd client watch timeout = 5
auth allow insecure global id reclaim = false
EOF
export CEPH_CONF="$dir/ceph.conf"
unset CEPH_ARGS

key() { ceph-authtool --create-keyring "$@" > "$dir/log/keys" 2>&1; }
key "$dir/mon.keyring" --gen-key -n mon. --cap mon 'allow *'
key "$dir/client.admin.keyring" --gen-key -n client.admin --cap mon 'allow *' --cap osd 'allow *'
ceph-authtool "$dir/mon.keyring" --import-keyring "$dir/client.admin.keyring" > "$dir/log/keys" 2>&1
monmaptool --create --addv a "[v2:127.0.0.1:$port]" --fsid "$fsid" "$dir/monmap" > "$dir/log/monmap" 2>&1
ceph-mon --mkfs -i a --monmap "$dir/monmap" --keyring "$dir/mon.keyring" > "$dir/log/mon" 2>&1
ceph-mon -f -i a >> "$dir/log/mon" 2>&1 &
MON_PID=$!

ceph --connect-timeout 60 osd new "$osd" > "$dir/log/osd" 2>&1
ceph auth get-or-create osd.0 mon 'profile osd' osd 'allow *' -o "$dir/osd.0.keyring"
ceph-osd --mkfs -i 0 --osd-uuid "$osd" >> "$dir/log/osd" 2>&1
ceph-osd -f -i 0 >> "$dir/log/osd" 2>&1 &
OSD_PID=$!

ceph osd pool create images > "$dir/log/pool" 2>&1
# Waits until the OSD serves the pool.
timeout 120 rbd pool init images
ceph auth get-or-create client.reader mon 'profile rbd' osd 'profile rbd-read-only pool=images' \
	-o "$dir/client.reader.keyring"

export MON_PID OSD_PID
is_up=yes
"$@"
