#!/bin/sh
# Uses the .deb in OUTPUT in a fresh Debian, as in `packaging/test.sh dist target/release/forerun`. The given
# program serves a bucket to it. Needs root and debootstrap.
#
# The fresh Debian is kept in ~/.cache/forerun. It is made anew after 30 days.
. "$(dirname "$0")/common.sh"
output=$(realpath "$1")
server=$(realpath "$2")
suite=bookworm
cache=${XDG_CACHE_HOME:-$HOME/.cache}/forerun/$suite.tar
debian=$stage/debian
data=$stage/data
store=

fail() {
    echo "failed: $*" >&2
    exit 1
}

# The mounts below the root end before anything is removed.
finish() {
    test -z "$store" || kill "$store" 2>/dev/null || true
    for mounted in mnt proc dev/fuse; do
        umount --lazy "$debian/$mounted" 2>/dev/null || true
    done
    rm -rf --one-file-system "$stage"
}
trap finish EXIT

# Gives the root $1 what a program that mounts needs of a system.
furnish() {
    mkdir -p "$1/proc" "$1/dev" "$1/mnt" "$1/etc"
    mount -t proc proc "$1/proc"
    rm -f "$1/dev/fuse"
    touch "$1/dev/fuse"
    mount --bind /dev/fuse "$1/dev/fuse"
}

# Mounts in the root $1 by the rest of the arguments, and compares what is there with the data.
use_mount() {
    root=$1
    shift
    chroot "$root" "$@" /mnt || fail "$*"
    cmp "$root/mnt/file.bin" "$data/file.bin" || fail "$* shows other bytes"
    chroot "$root" forerun list | grep -q /mnt || fail "$* is not listed"
    chroot "$root" forerun unmount /mnt || fail "$* is not unmounted"
}

mkdir "$data"
head -c 5000001 /dev/urandom > "$data/file.bin"
# The store ends when its input does.
mkfifo "$stage/input"
exec 9<> "$stage/input"
"$server" demo-store --directory "$data" <&9 > "$stage/address" &
store=$!
until test -s "$stage/address"; do
    kill -0 "$store" || fail "the store does not start"
    sleep 0.1
done
port=$(sed 's/.*://' "$stage/address")

echo "== the .deb in a fresh Debian"
if test -z "$(find "$cache" -mtime -30 2>/dev/null)"; then
    mkdir -p "$(dirname "$cache")"
    debootstrap --variant=minbase "$suite" "$stage/fresh" > "$stage/log" || { tail "$stage/log"; exit 1; }
    tar --create --file "$cache" --directory "$stage/fresh" .
    rm -r "$stage/fresh"
fi
mkdir "$debian"
tar --extract --file "$cache" --directory "$debian"
furnish "$debian"
cp /etc/resolv.conf "$debian/etc/"
echo "127.0.0.1 localhost" > "$debian/etc/hosts"
cp "$output"/forerun_*.deb "$debian/tmp/forerun.deb"
cp -r "$data" "$debian/srv/"
in_debian() { chroot "$debian" env DEBIAN_FRONTEND=noninteractive LC_ALL=C.UTF-8 "$@"; }
in_debian apt-get update --quiet=2
in_debian apt-get install --quiet=2 --yes --no-install-recommends /tmp/forerun.deb > "$stage/log" 2>&1 ||
    { tail "$stage/log"; fail "the .deb does not install"; }
test "$(in_debian forerun --version)" = "forerun $version" || fail "another version"
test -z "$(in_debian dpkg --verify forerun)" || fail "files differ from the package's list"
in_debian dpkg --listfiles forerun > "$stage/files"
for file in man/man1/forerun-mount.1.gz man/man8/mount.forerun.8.gz doc/forerun/copyright; do
    grep -q "/usr/share/$file$" "$stage/files" || fail "$file is not in the package"
done
in_debian bash -c '. /usr/share/bash-completion/completions/forerun && complete -p forerun' > /dev/null ||
    fail "no completions"
use_mount "$debian" forerun mount --daemon /srv/data
use_mount "$debian" mount -t forerun /srv/data
use_mount "$debian" forerun mount --daemon --anonymous --endpoint "http://localhost:$port" s3://demo
cc -o "$debian/tmp/read" -I "$debian/usr/include" crates/forerun-c/examples/read.c \
    -L "$debian/usr/lib/$(cc -print-multiarch)" -lforerun_c
in_debian /tmp/read /srv/data file.bin 2> /dev/null | cmp - "$data/file.bin" || fail "C reads other bytes"
in_debian apt-get purge --quiet=2 --yes forerun > "$stage/log" 2>&1 || { tail "$stage/log"; fail "it stays"; }
grep forerun "$stage/files" | while read -r file; do
    test ! -e "$debian$file" || fail "$file stays when the package is removed"
done
echo "the package works"
