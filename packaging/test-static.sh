#!/bin/sh
# Uses the static program of OUTPUT where nothing else is, as in `packaging/test-static.sh dist target/release/forerun`:
# in an empty root with the tarball, and in the one that the steps of packaging/Dockerfile fill. The only network is
# loopback, where the given program serves a bucket, nginx serves files, and names.py knows names. Needs root,
# debootstrap, nginx, openssl, iproute2, nbdcopy and curl.
. "$(dirname "$0")/testing.sh"
web=$stage/web

# Servers and a network of their own.
serve() {
    mkfifo "$stage/ready"
    unshare --net sh -c 'ip link set lo up && exec python3 packaging/names.py' > "$stage/ready" &
    running=$!
    read -r _ < "$stage/ready" || fail "the name server does not start"
    enter="nsenter --target $running --net env --ignore-environment PATH=/usr/bin:/usr/sbin"
    start_store
    mkdir "$web"
    openssl req -x509 -newkey rsa:2048 -nodes -days 1 -subj /CN=web.test \
        -addext subjectAltName=DNS:web.test -addext basicConstraints=CA:FALSE \
        -keyout "$web/key" -out "$web/certificate" 2> "$stage/log" || { cat "$stage/log"; fail "no certificate"; }
    cat > "$web/conf" <<CONF
user root;
pid $web/pid;
error_log stderr;
events {}
http {
    access_log off;
    server {
        listen 127.0.0.1:80;
        listen 127.0.0.1:443 ssl;
        ssl_certificate $web/certificate;
        ssl_certificate_key $web/key;
        location / { root $data; autoindex on; }
    }
}
CONF
    $enter nginx -c "$web/conf" 2> "$stage/log" || { cat "$stage/log"; fail "nginx does not start"; }
    running="$running $(cat "$web/pid")"
}

# Asks a server that the user 65534 runs in the root $1 with the rest of the arguments for the file by $asked.
use_server() {
    root=$1
    shift
    $enter chroot --userspec=65534:65534 "$root" forerun "$@" 2> "$stage/log" &
    others=$running
    running="$running $!"
    until test -S "$root/tmp/socket"; do
        kill -0 $! || { cat "$stage/log"; fail "$*"; }
        sleep 0.1
    done
    $asked || fail "$* is not read"
    cmp "$stage/copy" "$data/file.bin" || fail "$* serves other bytes"
    kill $! && wait $! || fail "$* ends with an error"
    running=$others
    rm -f "$stage/copy" "$root/tmp/socket"
}
nbd() { nbdcopy "nbd+unix:///?socket=$root/tmp/socket" "$stage/copy"; }
http() {
    curl --silent --fail --output "$stage/copy" --unix-socket "$root/tmp/socket" http://localhost/-/data/file.bin
}

# Uses the program in the root $1. The name store.test is in /etc/hosts, and the name server has web.test.
use_program() {
    furnish "$1"
    echo "127.0.0.1 localhost store.test" > "$1/etc/hosts"
    echo "nameserver 127.0.0.1" > "$1/etc/resolv.conf"
    test -z "$(find "$1" -xdev -name '*.so*')" || fail "$1 has libraries"
    test "$(chroot "$1" forerun --version)" = "forerun $version" || fail "another version"
    cp samples/boot-virtio.frt.gz "$1/srv/"
    chroot "$1" forerun trace info --json /srv/boot-virtio.frt.gz > "$stage/static"
    "$server" trace info --json samples/boot-virtio.frt.gz | sed 's|"samples/|"/srv/|' | cmp - "$stage/static" ||
        fail "trace info says something else"
    use_mount "$1" forerun mount --daemon /srv/data
    use_mount "$1" forerun mount --daemon http://web.test/
    use_mount "$1" forerun mount --daemon --anonymous --endpoint "http://store.test:$port" s3://demo
    asked=nbd
    use_server "$1" nbd --unix /tmp/socket /srv/data/file.bin
    use_server "$1" nbd --unix /tmp/socket http://web.test/file.bin
    asked=http
    use_server "$1" serve --http unix:/tmp/socket data=/srv/data
    use_server "$1" serve --http unix:/tmp/socket data=http://web.test/
}

# Runs the steps of the Dockerfile's first stage in a fresh Debian. The image is what they leave in /image.
build_image() {
    unpack_debian
    sed -n '/ AS files$/,/^FROM scratch$/p' packaging/Dockerfile > "$stage/steps"
    while read -r step arguments; do
        case $step in
        RUN) in_debian sh -c "$arguments" > "$stage/log" 2>&1 < /dev/null ;;
        # The first argument may be a pattern, and a tarball is unpacked.
        ADD)
            (cd "$output" && set -- $arguments && mkdir "$debian$2" && tar -xzf "$1" -C "$debian$2") > "$stage/log" 2>&1
            ;;
        FROM | '') ;;
        *) fail "the step $step of packaging/Dockerfile is not known here" ;;
        esac || { tail "$stage/log"; fail "$step $arguments"; }
    done < "$stage/steps"
    mv "$debian/image" "$image"
    test "$(stat -c %a "$image/tmp")" = 1777 || fail "not everybody may write to /tmp of the image"
}

build_image
serve

echo "== the tarball in an empty root"
mkdir -p "$bare/usr" && mkdir -m 1777 "$bare/tmp"
tar -xzf "$output"/forerun-"$version"-*-linux.tar.gz -C "$bare/usr" --strip-components=1
for file in share/man/man1/forerun-mount.1 share/man/man8/mount.forerun.8 share/bash-completion/completions/forerun \
    lib/systemd/system/forerun.service share/doc/forerun/LICENSE-MIT share/doc/forerun/LICENSE-APACHE; do
    test -f "$bare/usr/$file" || fail "$file is not in the tarball"
done
use_program "$bare"
$enter chroot "$bare" forerun mount --daemon https://web.test/ /mnt 2> "$stage/log" && fail "it trusts any certificate"
grep -q "certificate is not trusted" "$stage/log" || { cat "$stage/log"; fail "it does not name the certificate"; }

echo "== the image of packaging/Dockerfile"
use_program "$image"
cat "$web/certificate" >> "$image/etc/ssl/certs/ca-certificates.crt"
use_mount "$image" forerun mount --daemon https://web.test/

echo "== the SBOM"
python3 - "$output/forerun-$version.cdx.json" <<'SBOM' || fail "the SBOM lacks packages or checksums"
import json, sys

bom = json.load(open(sys.argv[1]))
found = {component["name"]: component["hashes"] for component in bom["components"]}
assert bom["bomFormat"] == "CycloneDX" and {"forerun", "tokio", "rustls", "clap"} <= found.keys(), found
assert all(hashes or name.startswith("forerun") for name, hashes in found.items()), found
SBOM
echo "the static program works"
