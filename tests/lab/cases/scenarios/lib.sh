# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=bash
# Domains written by hand, and what a script of commands shows of the host.
# shellcheck disable=SC2154 # pci is from lib.sh of the cases

# usage: source_of PCI_FUNCTION     prints its address as an element of domain XML
source_of() {
	printf "<source><address type='pci' domain='0x%s' bus='0x%s' slot='0x%s' function='0x%s'/></source>" \
		"${1:0:4}" "${1:5:2}" "${1:8:2}" "${1:11:1}"
}

# usage: interface VF MAC [MORE [MANAGED]]     prints <interface type='hostdev'>; MORE is XML inside it
interface() {
	printf "<interface type='hostdev' managed='%s'><mac address='%s'/>%s%s</interface>" \
		"${4:-yes}" "$2" "$(source_of "$1")" "${3:-}"
}

# usage: hostdev PCI_FUNCTION [MORE [MANAGED]]     prints <hostdev>
hostdev() {
	printf "<hostdev mode='subsystem' type='pci' managed='%s'>%s%s</hostdev>" \
		"${3:-yes}" "$(source_of "$1" | sed "s/ type='pci'//")" "${2:-}"
}

vlan_tag() { printf "<vlan><tag id='%s'/></vlan>" "$1"; }

# usage: domain_xml NAME [DEVICES [SED]]     prints the small guest with these devices; it survives a reset
domain_xml() {
	guest_xml "$1" | sed -e "s|</devices>|${2//$'\n'/}</devices>|" -e 's|<on_reboot>destroy|<on_reboot>restart|' -e "${3:-}"
}

# usage: device XML     writes it to the file that virsh attach-device and detach-device read
device() { printf '%s\n' "$1" >/tmp/device.xml; }

# usage: run COMMAND...     prints the command, its output without what differs from run to run, and its status.
# libvirt has two messages for a QEMU that ends at once; the one that it sees first counts.
run() {
	local output status=0
	output=$("$@" 2>&1) || status=$?
	printf '$ %s\n' "$*"
	sed -E -e '/^Authorization not available/d' -e '/^$/d' -e 's/[0-9-]{10}T[0-9:.]+Z/TIME/' \
		-e "s/process exited while connecting to monitor|QEMU unexpectedly closed the monitor \(vm='.*'\)/QEMU ended/" <<<"$output"
	[ "$status" = 0 ] || printf 'exit status %s\n' "$status"
}

# usage: show_vf PF INDEX     prints its driver, what the PF has for it, and the MAC of its network device
show_vf() {
	local vf
	vf=$(vf_of "$1" "$2")
	printf 'VF %s: %s, PF: %s, network device: %s\n' "$2" "$(driver_of "$vf" 2>/dev/null)" \
		"$(ip -j link show dev "$(link_of "$1")" | jq -r ".[0].vfinfo_list[$2] |
			\"\(.address) vlan=\(.vlan_list[0].vlan // 0) max-rate=\(.rate.max_tx) spoofchk=\(.spoofchk) trust=\(.trust)\"")" \
		"$(cat "$pci/$vf"/net/*/address 2>/dev/null || echo none)"
}

# usage: monitor NAME COMMAND     QEMU's own monitor; "o /w PORT VALUE" is a write to a port, as the guest does it
monitor() { virsh -q qemu-monitor-command "$1" --hmp "$2"; }

# The guest powers itself off (ACPI), resets itself (port 0xcf9), or says that it has panicked (pvpanic).
power_off_inside() { monitor "$1" 'o /w 0x604 0x2000'; }
reset_inside() { monitor "$1" 'o /b 0xcf9 6'; }
panic_inside() { monitor "$1" 'o /b 0x505 1'; }

# usage: boots NAME     prints how often its boot sector said that it is up
boots() { grep -ac 'guest up' "/var/log/libvirt/qemu/$1.console"; }

# usage: domain NAME [DEVICES [SED]]     defines it in place of a former one of that name
domain() {
	virsh -q undefine "$1" >/dev/null 2>&1
	domain_xml "$@" >"/tmp/$1.xml" && virsh -q define "/tmp/$1.xml"
}

# usage: await COMMAND...     tries until it succeeds
await() { until "$@" >/dev/null 2>&1; do sleep 0.2; done; }

# usage: await_boots NAME COUNT     for the firmware to have passed control that often
await_boots() { until [ "$(boots "$1")" -ge "$2" ]; do sleep 0.2; done; }

is_off() { [ "$(virsh domstate "$1" 2>/dev/null | head -1)" = 'shut off' ]; }
has_driver() { [ "$(driver_of "$1")" = "$2" ]; }

# usage: nodedev PCI_FUNCTION     prints libvirt's name of it
nodedev() { printf 'pci_%s\n' "${1//[:.]/_}"; }

# usage: devices NAME [--inactive]     prints how many VFs are in its XML
devices() { virsh dumpxml "$@" 2>/dev/null | grep -cE "<hostdev |<interface type='hostdev'"; }

# ---- the log of a script ----

# usage: scenario NUMBER     the lines that follow belong to it
scenario() { printf '== %s\n' "$1"; }

# usage: of_scenario NUMBER LOG     prints those lines
of_scenario() { awk -v title="== $1" '/^== / { mine = $0 == title; next } mine' "$2"; }

# usage: same_with_hook NUMBER TEXT     its lines do not depend on vfctl's hook
same_with_hook() {
	check_is "scenario $1: $2" "" diff <(of_scenario "$1" /tmp/without) <(of_scenario "$1" /tmp/with)
}

# usage: shows NUMBER PATTERN [COUNT]     so often, or at all, do its lines match
shows() {
	local count
	count=$(of_scenario "$1" /tmp/without | grep -cE -- "$2")
	if [ "$count" = "${3:-$count}" ] && [ "$count" -gt 0 ]; then
		ok "scenario $1 shows: $2"
	else
		not_ok "scenario $1 shows: $2" "$count times in: $(of_scenario "$1" /tmp/without)"
	fi
}
