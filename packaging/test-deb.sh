#!/bin/sh
# Uses the .deb in OUTPUT in a fresh Debian, as in `packaging/test-deb.sh dist target/release/forerun`. The given
# program serves a bucket to it. Needs root and debootstrap.
. "$(dirname "$0")/testing.sh"

echo "== the .deb in a fresh Debian"
unpack_debian
start_store
cp "$output"/forerun_*.deb "$debian/tmp/forerun.deb"
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
in_debian apt-get install --quiet=2 --yes --no-install-recommends systemd procps > "$stage/log" 2>&1 ||
    { tail "$stage/log"; fail "no systemd"; }
# It says what is wrong with a unit, even if it succeeds. --man=no: no man is installed.
test -z "$(in_debian systemd-analyze verify --man=no forerun.service forerun@data.service 2>&1 | tee /dev/stderr)" ||
    fail "the units are not right"
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
echo "the .deb works"
