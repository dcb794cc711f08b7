#!/bin/sh
# Builds OUTPUT/forerun_VERSION_ARCHITECTURE.deb, as in `packaging/deb.sh dist`.
#
# The files are those of `make install`, so no second list of them exists. `dpkg-deb` alone makes the package.
. "$(dirname "$0")/common.sh"
output=$1
architecture=$(dpkg --print-architecture)
folder=$(cc -print-multiarch)
documents=$stage/usr/share/doc/forerun

make --no-print-directory install DESTDIR="$stage" PREFIX=/usr LIB="lib/$folder"
# A package has no file below /sbin, which is a link to /usr/sbin.
mkdir "$stage/usr/sbin"
mv "$stage/sbin/mount.forerun" "$stage/usr/sbin/"
rmdir "$stage/sbin"

program=$stage/usr/bin/forerun
library=$stage/usr/lib/$folder/libforerun_c.so.0
strip --strip-unneeded --remove-section=.comment "$program" "$library"
find "$stage/usr/share/man" -type f -exec gzip -9n {} +
mkdir -p "$documents"
{
    echo 'Format: https://www.debian.org/doc/packaging-manuals/copyright-format/1.0/'
    echo 'Files: *'
    echo 'Copyright: 2026 The Forerun developers'
    echo 'License: Expat or Apache-2.0'
    echo ' On Debian systems the Apache License 2.0 is in /usr/share/common-licenses/Apache-2.0.'
    echo ' The Expat license follows.'
    echo ' .'
    sed 's/^$/./; s/^/ /' LICENSE-MIT
} > "$documents/copyright"
gzip -9nc CHANGELOG.md > "$documents/changelog.gz"

# The newest version of libc that a symbol needs.
libc=$(objdump -T "$program" "$library" | grep -o 'GLIBC_2[0-9.]*' | sort -uV | tail -n 1)
mkdir "$stage/DEBIAN"
# A reload of the service runs /bin/kill, which procps has.
cat > "$stage/DEBIAN/control" <<CONTROL
Package: forerun
Version: $version
Architecture: $architecture
Maintainer: The Forerun developers <developers@forerun.invalid>
Installed-Size: $(du -ks "$stage/usr" | cut -f 1)
Depends: libc6 (>= ${libc#GLIBC_}), libgcc-s1, fuse3, ca-certificates
Recommends: procps
Section: utils
Priority: optional
Homepage: $(sed -n 's/^repository = "\(.*\)"/\1/p' Cargo.toml)
Description: reads slow storage fast
 Forerun shows a bucket, a web server or a slow directory as a read-only
 directory. It detects how each program reads, and fetches the next bytes
 before the program asks for them.
 .
 The package has the program, its man pages, completions and service, and the
 library for C.
CONTROL
echo 'activate-noawait ldconfig' > "$stage/DEBIAN/triggers"
(cd "$stage" && find usr -type f -exec md5sum {} + | sort -k 2) > "$stage/DEBIAN/md5sums"
chmod 644 "$stage/DEBIAN"/*

mkdir -p "$output"
dpkg-deb --root-owner-group --build "$stage" "$output/forerun_${version}_$architecture.deb"
