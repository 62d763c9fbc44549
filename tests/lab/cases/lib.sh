# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=bash
# What every lab case is written with. A case runs in the lab, as root.

# The hardware, see lab_machine in ../lib.sh.
# shellcheck disable=SC2034 # used by the cases
left=0000:11:00.0 right=0000:81:00.0 nvme=0000:82:00.0
pci=/sys/bus/pci/devices

checks=0 failures=0 last_check=$EPOCHREALTIME

# What takes long in a lab is worth knowing: CI waits for it.
time_check() {
	local took
	took=$(since "$last_check")
	last_check=$EPOCHREALTIME
	[ "${took%.*}" -lt 3 ] || printf '# %s s\n' "$took"
}

ok() {
	checks=$((checks + 1))
	printf 'ok %d - %s\n' "$checks" "$1"
	time_check
}

not_ok() {
	checks=$((checks + 1)) failures=$((failures + 1))
	local why=${2:-}
	# What was seen stands in the line itself as well: a summary shows no others.
	printf 'not ok %d - %s%s\n' "$checks" "$1" "${why:+ [${why//$'\n'/ | }]}" | cut -c1-400
	time_check
	[ -z "$why" ] || printf '# %s\n' "${why//$'\n'/$'\n'# }"
}

# usage: check TEXT COMMAND...     the command succeeds
check() {
	local text=$1 output
	shift
	if output=$("$@" 2>&1); then ok "$text"; else not_ok "$text" "$* : $output"; fi
}

# usage: check_fails TEXT COMMAND...     the command fails
check_fails() {
	local text=$1 output
	shift
	if output=$("$@" 2>&1); then not_ok "$text" "$* : $output"; else ok "$text"; fi
}

# usage: check_is TEXT EXPECTED COMMAND...     the command prints this
check_is() {
	local text=$1 expected=$2 output
	shift 2
	output=$("$@" 2>&1)
	if [ "$output" = "$expected" ]; then
		ok "$text"
	else
		not_ok "$text" "$* : expected '$expected', got '$output'"
	fi
}

# usage: eventually TEXT SECONDS COMMAND...     the command succeeds; SECONDS is enough on a machine
# with nothing else to do, and a busy one is given 20 times as long. It is tried ever more seldom: what
# is waited for runs on the same CPU.
eventually() {
	local text=$1 seconds=$(($2 * 20)) output start=$EPOCHREALTIME pause=1
	local deadline=$((SECONDS + seconds))
	shift 2
	while ! output=$("$@" 2>&1); do
		if [ "$SECONDS" -ge "$deadline" ]; then
			not_ok "$text (not within $seconds s)" "$* : $output"
			return
		fi
		sleep "$((pause / 10)).$((pause % 10))"
		pause=$((pause < 10 ? pause * 2 : pause))
	done
	ok "$text (after $(since "$start") s)"
}

# usage: since EPOCHREALTIME     prints the seconds gone by
since() { awk -v a="$1" -v b="$EPOCHREALTIME" 'BEGIN { printf "%.1f", b - a }'; }

# usage: skip TEXT REASON
skip() {
	checks=$((checks + 1))
	printf 'ok %d - %s # SKIP %s\n' "$checks" "$1" "$2"
}

# Last call of a case: its status is the case's.
finish() {
	printf '1..%d\n' "$checks"
	[ "$failures" = 0 ]
}

# usage: link_of PF     prints the network interface of a PCI function
link_of() { ls "$pci/$1/net"; }

# usage: vf_of PF INDEX     prints the PCI address of a VF
vf_of() { basename "$(readlink "$pci/$1/virtfn$2")"; }

driver_of() { basename "$(readlink "$pci/$1/driver")"; }

group_of() { basename "$(readlink "$pci/$1/iommu_group")"; }

# usage: create_vfs PF COUNT     without drivers, as vfctl would
create_vfs() {
	echo 0 >"$pci/$1/sriov_drivers_autoprobe" &&
		echo "$2" >"$pci/$1/sriov_numvfs"
}

# usage: bind_vfio VF
bind_vfio() {
	modprobe vfio-pci
	echo vfio-pci >"$pci/$1/driver_override" &&
		echo "$1" >/sys/bus/pci/drivers_probe &&
		[ "$(driver_of "$1")" = vfio-pci ]
}

# usage: guest_xml NAME [ejector|deaf]     a nested guest; deaf ones never answer an unplug
guest_xml() {
	sed "s|NAME|$1|g; s|IMAGE|/payload/guest/${2:-ejector}.img|" /payload/guest/domain.xml
}

# usage: guest_start NAME [ejector|deaf]
guest_start() {
	guest_xml "$@" >"/tmp/$1.xml" &&
		virsh --quiet define "/tmp/$1.xml" &&
		virsh --quiet start "$1"
}

# usage: guest_said NAME TEXT
guest_said() { grep -q "$2" "/var/log/libvirt/qemu/$1.console"; }

# usage: hostdev_xml VF     the device as virsh attach-device wants it
hostdev_xml() {
	local domain bus slot function
	IFS=:. read -r domain bus slot function <<<"$1"
	cat <<-EOT
		<hostdev mode='subsystem' type='pci' managed='yes'>
		  <source>
		    <address domain='0x$domain' bus='0x$bus' slot='0x$slot' function='0x$function'/>
		  </source>
		</hostdev>
	EOT
}

# usage: domain_has VF NAME     the running domain holds this VF
domain_has() {
	local domain bus slot function
	IFS=:. read -r domain bus slot function <<<"$1"
	virsh dumpxml "$2" | tr '"' "'" |
		grep -Eq "<address (type='pci' )?domain='0x$domain' bus='0x$bus' slot='0x$slot' function='0x$function'/>"
}

# usage: who_has VF     prints who leases it and who has it: "web domain web", "- none -"
who_has() {
	vfctl list --json 2>/dev/null | jq -r ".pfs[].vfs[] | select(.address == \"$1\") |
		(.lease.domain // \"-\") + \" \" + .holder.kind + \" \" + (.holder.name // \"-\")"
}

domain_lacks() { ! domain_has "$@"; }
