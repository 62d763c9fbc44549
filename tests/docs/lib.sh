# SPDX-License-Identifier: GPL-2.0-or-later
# What pages type besides vfctl, on the simulated host.
# shellcheck shell=bash

# The VFs of a domain's devices: usage: domain_vfs FILE
domain_vfs() {
	tr '\n' ' ' <"$1" | sed 's/<hostdev\|<interface/\n&/g; s/<\/hostdev>\|<\/interface>/\n/g' |
		sed -nE "/^<hostdev|^<interface type='hostdev'/s/.*<source> *<address ([^>]*)>.*/\1/p" |
		sed -nE "s/.*domain='0x(....)'.*bus='0x(..)'.*slot='0x(..)'.*function='0x(.)'.*/\1:\2:\3.\4/p"
}

# qemu-img create -f qcow2 FILE SIZE
qemu-img() { mkdir -p "${4%/*}" && : >"$4"; }

# A part of libvirt's virsh: define FILE, start, shutdown, destroy, dumpxml.
virsh() {
	local xml=$SIM_ROOT/etc/libvirt/qemu/${2-}.xml vfs pid name
	case $1 in
	define)
		name=$(sed -n 's/.*<name>\(.*\)<\/name>.*/\1/p' "$2" | head -n 1)
		defined "$name" <"$2"
		echo "Domain '$name' defined from $2"
		return
		;;
	esac
	[ -e "$xml" ] || {
		echo "error: failed to get domain '$2'"
		return 1
	}
	mapfile -t vfs < <(domain_vfs "$xml")
	pid=$((4000 + $(cksum <<<"$2" | cut -d ' ' -f 1) % 1000))
	case $1 in
	start)
		if ! hook prepare "$xml" "$2" >hook.out 2>&1; then
			echo "error: Failed to start domain '$2'"
			echo "error: Hook script execution failed: $(cat hook.out)"
			rm hook.out
			return 1
		fi
		hook start "$xml" "$2" && started "$2" $pid "${vfs[@]}" && hook started "$xml" "$2"
		echo "Domain '$2' started"
		;;
	shutdown | destroy)
		stopped "$2" $pid "${vfs[@]}"
		hook stopped "$xml" "$2" && hook release "$xml" "$2"
		[ "$1" = destroy ] && echo "Domain '$2' destroyed" || echo "Domain '$2' is being shutdown"
		;;
	dumpxml) cat "$xml" ;;
	esac
}
