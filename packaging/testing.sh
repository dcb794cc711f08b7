# Shared by the tests of the packages, which source it. They are called with the folder of the packages and with a
# program that works, as in `packaging/test-deb.sh dist target/release/forerun`, and need root.
. "$(dirname "$0")/common.sh"
output=$(realpath "$1")
server=$(realpath "$2")
debian=$stage/debian
image=$stage/image
bare=$stage/bare
data=$stage/data
# The command that runs another where the servers can be reached.
enter=
# Processes that end with the test.
running=

fail() {
    echo "failed: $*" >&2
    exit 1
}

# The mounts below the roots end before anything is removed.
finish() {
    test -z "$running" || kill $running 2>/dev/null || true
    for root in "$debian" "$image" "$bare"; do
        umount --lazy "$root/mnt" "$root/proc" "$root/dev/fuse" 2>/dev/null || true
    done
    rm -rf --one-file-system "$stage"
}
trap finish EXIT

mkdir "$data"
head -c 5000001 /dev/urandom > "$data/file.bin"

# Starts a store of the data, whose bucket is `demo`. Its port is in `port`.
start_store() {
    # The store ends when its input does.
    mkfifo "$stage/input"
    exec 9<> "$stage/input"
    $enter "$server" demo-store --directory "$data" <&9 > "$stage/address" &
    running="$running $!"
    until test -s "$stage/address"; do
        kill -0 $! || fail "the store does not start"
        sleep 0.1
    done
    port=$(sed 's/.*://' "$stage/address")
}

# Puts a fresh Debian into its root. It is kept in ~/.cache/forerun, and made anew after 30 days.
unpack_debian() {
    suite=bookworm
    cache=${XDG_CACHE_HOME:-$HOME/.cache}/forerun/$suite.tar
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
}
in_debian() { chroot "$debian" env DEBIAN_FRONTEND=noninteractive LC_ALL=C.UTF-8 "$@"; }

# Gives the root $1 the data, and what a program that mounts needs of the kernel.
furnish() {
    mkdir -p "$1/proc" "$1/dev" "$1/mnt" "$1/etc" "$1/srv"
    mount -t proc proc "$1/proc"
    test -c "$1/dev/null" || mknod -m 666 "$1/dev/null" c 1 3
    rm -f "$1/dev/fuse"
    touch "$1/dev/fuse"
    mount --bind /dev/fuse "$1/dev/fuse"
    cp -r "$data" "$1/srv/"
}

# Mounts in the root $1 by the rest of the arguments, and compares what is there with the data.
use_mount() {
    root=$1
    shift
    $enter chroot "$root" "$@" /mnt || fail "$*"
    chroot "$root" forerun prefetch /mnt/file.bin || fail "$* takes no list"
    cmp "$root/mnt/file.bin" "$data/file.bin" || fail "$* shows other bytes"
    chroot "$root" forerun list | grep -q /mnt || fail "$* is not listed"
    chroot "$root" forerun unmount /mnt || fail "$* is not unmounted"
}
