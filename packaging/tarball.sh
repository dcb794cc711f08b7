#!/bin/sh
# Builds OUTPUT/forerun-VERSION-ARCHITECTURE-linux.tar.gz with the static PROGRAM, as in
# `packaging/tarball.sh dist target/x86_64-unknown-linux-musl/release/forerun`.
#
# The files are those of `make install-program`, below one folder that can be unpacked into any PREFIX.
. "$(dirname "$0")/common.sh"
output=$1
program=$2
name=forerun-$version-$(uname -m)-linux
folder=$stage/$name
documents=$folder/share/doc/forerun

if LC_ALL=C objdump --private-headers "$program" | grep -E 'NEEDED|INTERP'; then
    echo "$program is not static: build it by \`make static\`" >&2
    exit 1
fi
# The units name the prefix, and the link below /sbin is made by whoever unpacks.
make --no-print-directory install-program DESTDIR="$stage/root" PREFIX=/usr/local program="$program"
mv "$stage/root/usr/local" "$folder"
strip --strip-unneeded --remove-section=.comment "$folder/bin/forerun"
mkdir -p "$documents"
cp LICENSE-MIT LICENSE-APACHE README.md CHANGELOG.md "$documents/"
chmod 644 "$documents"/*

# Folders of the system that it is unpacked into stay as they are, so no folder is in it.
(cd "$stage" && find "$name" -type f | LC_ALL=C sort > list)
tar --create --file "$stage/tar" --directory "$stage" --format=gnu --mtime="@$SOURCE_DATE_EPOCH" \
    --owner=0 --group=0 --numeric-owner --files-from="$stage/list"
mkdir -p "$output"
gzip -9nc "$stage/tar" > "$output/$name.tar.gz"
