# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=bash
# What `build` and `run` share: where things are, the key of the image, the machine.

lab_src=$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")
# shellcheck source=scripts/lib/cache.sh
source "$lab_src/../../scripts/lib/cache.sh"

say() { printf 'lab: %s\n' "$*" >&2; }
die() {
	say "$*"
	exit "${lab_failed:-1}"
}

# Prints those of the given programs that this machine does not have.
missing_programs() {
	local program
	for program; do
		PATH=$PATH:/usr/sbin:/sbin command -v "$program" >/dev/null || printf '%s ' "$program"
	done
}

# Names the image: anything that shapes it is part of the hash.
image_key() {
	(cd "$lab_src" && find build image -type f -print0 | sort -z | xargs -0 sha256sum) |
		sha256sum | cut -c 1-16
}

image_dir() { printf '%s/image-%s\n' "$lab_dir" "$(image_key)"; }

# usage: remove_unless_used DIR     false if a run holds it
remove_unless_used() {
	local status=1 fd
	exec {fd}<"$1" || return 0
	! flock -n "$fd" || { rm -rf --one-file-system "$1" && status=0; }
	exec {fd}<&-
	return "$status"
}

# usage: remove_abandoned DIR...     what a script left that was killed
remove_abandoned() {
	local dir
	for dir; do
		[ ! -d "$dir" ] || remove_unless_used "$dir" || true
	done
}

# QEMU 10 is run out of the lab's own root, with that root's loader and libraries, so that
# neither a chroot nor a package of this machine is involved.
# usage: lab_qemu IMAGE_DIR ARGUMENT...
lab_qemu() {
	local root=$1/root
	shift
	exec setpriv --pdeathsig KILL "$root/usr/lib64/ld-linux-x86-64.so.2" \
		--library-path "$root/usr/lib/x86_64-linux-gnu" \
		"$root/usr/bin/qemu-system-x86_64" \
		-L "$root/usr/share/qemu" -L "$root/usr/share/seabios" "$@"
}

# KVM counts only if it starts this very kernel; a /dev/kvm that exists proves nothing.
# usage: probe_kvm IMAGE_DIR
probe_kvm() {
	local root=$1/root console
	[ -r /dev/kvm ] && [ -w /dev/kvm ] || return 1
	console=$(mktemp)
	(
		lab_qemu "$1" -machine q35,kernel-irqchip=split -accel kvm -cpu max -m 512 \
			-nodefaults -display none -no-reboot -serial "file:$console" \
			-kernel "$root/boot/vmlinuz.lab" -initrd "$root/boot/initrd.lab" \
			-append 'console=ttyS0 quiet panic=1 lab.probe'
	) >/dev/null 2>&1 </dev/null &
	local pid=$! tenth
	for ((tenth = 0; tenth < 200; tenth++)); do
		grep -q lab-probe-ok "$console" && break
		kill -0 "$pid" 2>/dev/null || break
		sleep 0.1
	done
	kill "$pid" 2>/dev/null
	wait "$pid" 2>/dev/null
	grep -q lab-probe-ok "$console"
	local proven=$?
	rm -f "$console"
	return "$proven"
}

# Prints kvm or tcg; the answer of the probe is kept until the machine boots again.
# usage: lab_accel IMAGE_DIR
lab_accel() {
	local boot_id answer=tcg cache=$1/accel
	if [ -n "${VFCTL_LAB_ACCEL:-}" ]; then
		printf '%s\n' "$VFCTL_LAB_ACCEL"
		return
	fi
	boot_id=$(cat /proc/sys/kernel/random/boot_id)
	if ! grep -qs "^$boot_id " "$cache"; then
		probe_kvm "$1" && answer=kvm
		printf '%s %s\n' "$boot_id" "$answer" >"$cache.$$" && mv "$cache.$$" "$cache"
	fi
	cut -d ' ' -f 2 "$cache"
}

# Sets `machine` to the QEMU arguments of the lab's hardware:
#   node 0: CPUs 0-1, bus 0x10, igb "left"
#   node 1: CPUs 2-3, bus 0x80, igb "right", an NVMe controller with four VFs
# usage: lab_machine ACCEL [multi|single]
lab_machine() {
	local accel thread=${2:-multi}
	# shellcheck disable=SC2054 # the commas are QEMU's
	case $1 in
	kvm) accel=(-machine q35,kernel-irqchip=split -accel kvm -cpu host) ;;
	tcg) accel=(-machine q35 -accel "tcg,thread=$thread,tb-size=1024" -cpu max,svm=off,la57=off) ;;
	*) die "VFCTL_LAB_ACCEL is neither kvm nor tcg: $1" ;;
	esac
	# shellcheck disable=SC2034,SC2054 # used by the callers; the commas are QEMU's
	machine=("${accel[@]}" -nodefaults -display none -no-reboot
		-smp 4,sockets=2,cores=2 -m 6G
		-object memory-backend-ram,id=mem0,size=3G
		-object memory-backend-ram,id=mem1,size=3G
		-numa node,nodeid=0,cpus=0-1,memdev=mem0
		-numa node,nodeid=1,cpus=2-3,memdev=mem1
		-numa dist,src=0,dst=1,val=21
		-device intel-iommu,caching-mode=on,device-iotlb=on,intremap=on
		-device pxb-pcie,id=pxb0,bus=pcie.0,addr=0x10,bus_nr=16,numa_node=0
		-device pxb-pcie,id=pxb1,bus=pcie.0,addr=0x11,bus_nr=128,numa_node=1
		-device pcie-root-port,id=port0,bus=pxb0,addr=0,chassis=1,slot=1
		-device pcie-root-port,id=port1,bus=pxb1,addr=0,chassis=2,slot=2
		-device pcie-root-port,id=port2,bus=pxb1,addr=1,chassis=3,slot=3
		-netdev hubport,hubid=0,id=wire0
		-netdev hubport,hubid=0,id=wire1
		-device igb,id=left,bus=port0,netdev=wire0,mac=52:54:00:1a:b0:00,romfile=
		-device igb,id=right,bus=port1,netdev=wire1,mac=52:54:00:1a:b1:00,romfile=
		-device nvme-subsys,id=nvm,nqn=lab
		-device nvme,id=nvme,bus=port2,serial=lab,subsys=nvm,sriov_max_vfs=4,sriov_vq_flexible=8,sriov_vi_flexible=4
		-drive if=none,id=blank,driver=null-co,size=64M,read-zeroes=on
		-device nvme-ns,drive=blank)
}

# Sets `kernel` to the QEMU arguments that start the lab's kernel.
# With all CPUs in one thread, idle ones have no ticks: else ticks take a fifth of the time of this
# machine's CPU that emulates them. With a thread each, ticks are periodic: with one-shot timers
# every second boot hangs under QEMU 10.0 on two cores (a CPU's timer stops, as if an interrupt was
# lost). With periodic ones about one boot in forty still does: `run` then boots once more, with all
# CPUs in one thread.
# usage: lab_kernel IMAGE_DIR multi|single [INITRD]
lab_kernel() {
	local root=$1/root ticks='nohz=off highres=off'
	[ "$2" = multi ] || ticks='nohz=on highres=off'
	# shellcheck disable=SC2034
	kernel=(-kernel "$root/boot/vmlinuz.lab" -initrd "${3:-$root/boot/initrd.lab}"
		-append "console=ttyS0 loglevel=7 panic=-1 $ticks no_timer_check intel_iommu=on iommu=pt mitigations=off random.trust_cpu=on audit=0 apparmor=0 cryptomgr.notests systemd.show_status=yes ${VFCTL_LAB_APPEND:-}")
}
