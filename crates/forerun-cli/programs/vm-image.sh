#!/bin/sh
# Makes the disk image that `forerun bench vm`, `make nbd-guest` and `make nfs-guest` boot: vm-image.sh FOLDER
#
# FOLDER/store/disk.raw has a boot loader, a kernel and Debian 12. FOLDER/expected has the line that the machine
# is to print after it has read /usr. FOLDER/vmlinuz and FOLDER/initrd.img are the disk's kernel and initial RAM
# disk, for a machine that needs other options than the boot loader's. Root runs it. It needs mmdebstrap,
# grub-pc-bin, fdisk and e2fsprogs.
set -eu

folder=$1
disk_mib=1024
part_sector=2048
label=forerun-vm
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
mkdir -p "$folder/store"

# These files are in the image before the kernel's package makes the initial RAM disk.
files=$work/files
mkdir -p "$files/usr/local/sbin" "$files/etc/systemd/system" "$files/etc/initramfs-tools/conf.d"

# Prints one line: the number of files below /usr, and a checksum of how many lines of each have this text. Lines
# that match cost grep most, and an emulated processor minutes if they are many.
cat >"$files/usr/local/sbin/read-usr" <<'EOF'
#!/bin/sh
export LC_ALL=C
counts=$(mktemp -p /run)
grep -rac tion /usr >"$counts"
echo "forerun-vm: grep $(wc -l <"$counts") files, $(sort "$counts" | sha256sum | cut -c 1-64)"
rm "$counts"
EOF

# A shell prints the first line once all services of the machine have started. No program asks for a login at this
# console, since it would hang up the terminal while the shell has it.
cat >"$files/usr/local/sbin/report" <<'EOF'
#!/bin/sh
echo 'forerun-vm: shell' >/dev/ttyS0
read-usr >/dev/ttyS0
EOF
chmod 755 "$files/usr/local/sbin/read-usr" "$files/usr/local/sbin/report"

cat >"$files/etc/systemd/system/report.service" <<'EOF'
[Unit]
After=multi-user.target

[Service]
Type=oneshot
ExecStart=/usr/local/sbin/report
EOF

cat >"$files/etc/systemd/system/report.target" <<'EOF'
[Unit]
Requires=multi-user.target
After=multi-user.target
Wants=report.service
EOF
ln -s report.target "$files/etc/systemd/system/default.target"
ln -s /dev/null "$files/etc/systemd/system/serial-getty@ttyS0.service"

echo "LABEL=$label / ext4 defaults 0 0" >"$files/etc/fstab"
echo forerun-vm >"$files/etc/hostname"

# The initial RAM disk has the drivers of both buses, and no others.
echo MODULES=list >"$files/etc/initramfs-tools/conf.d/modules-of-forerun"
printf '%s\n' ata_piix ata_generic sd_mod virtio_pci virtio_blk >"$files/etc/initramfs-tools/modules"

# The client of NBD is for `make nbd-guest`. Its hooks would put it into the initial RAM disk, and no machine boots
# by it.
mmdebstrap --quiet --mode=root --variant=minbase \
	--include=linux-image-cloud-amd64,initramfs-tools,systemd-sysv,udev,dbus,iproute2,cron,nbd-client \
	--dpkgopt='path-exclude=/usr/share/initramfs-tools/*nbd*' \
	--dpkgopt='path-exclude=/usr/share/man/*' --dpkgopt='path-exclude=/usr/share/locale/*' \
	--essential-hook="cp --recursive --no-dereference --preserve=mode '$files/.' \"\$1/\"" \
	bookworm "$work/root"

chroot "$work/root" /usr/local/sbin/read-usr >"$folder/expected.new"

# The boot loader's second part lies between the table of partitions and the first partition.
cat >"$work/boot.cfg" <<EOF
serial --unit=0 --speed=115200
terminal_output serial
set root=(hd0,msdos1)
linux /vmlinuz root=LABEL=$label rw console=ttyS0 quiet fsck.mode=skip systemd.show_status=no
initrd /initrd.img
boot
EOF
grub-mkimage --format=i386-pc --output="$work/core.img" --prefix='(hd0,msdos1)/boot/grub' --config="$work/boot.cfg" \
	biosdisk part_msdos ext2 serial terminal linux boot

disk=$folder/store/disk.raw
rm -f "$disk" "$disk.new"
truncate --size "${disk_mib}M" "$disk.new"
echo "$part_sector,,L,*" | /usr/sbin/sfdisk --quiet "$disk.new"
/usr/sbin/mkfs.ext4 -q -O ^metadata_csum_seed -L "$label" -d "$work/root" \
	-E "offset=$((part_sector * 512)),lazy_itable_init=0,lazy_journal_init=0" "$disk.new" "$((disk_mib - 1))M"
dd if=/usr/lib/grub/i386-pc/boot.img of="$disk.new" bs=440 count=1 conv=notrunc status=none
dd if="$work/core.img" of="$disk.new" bs=512 seek=1 conv=notrunc status=none
[ "$(stat --format=%s "$work/core.img")" -lt $(((part_sector - 1) * 512)) ]

cp "$work/root/vmlinuz" "$work/root/initrd.img" "$folder"
mv "$folder/expected.new" "$folder/expected"
mv "$disk.new" "$disk"
