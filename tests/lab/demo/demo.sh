#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# scripts/demo boots the lab to run this: from bare PFs to a running guest with a VF, and back.
# usage: demo.sh [--terminal] [--shell-follows]
#   --terminal       colours, and a count that stays on its line
#   --shell-follows  say at the end what can be tried there
set -u
# shellcheck source=tests/lab/demo/lib.sh
source "$(dirname "$0")/lib.sh"

shell_follows=
for argument; do
	case $argument in
	--terminal)
		use_colour
		tick=1 end_of_tick=$'\r' end_of_ticks=$'\r\e[K'
		;;
	--shell-follows) shell_follows=yes ;;
	esac
done

sys=/sys/bus/pci/devices left=0000:11:00.0 right=0000:81:00.0

macs_of() { ip -j link show dev "$1" | jq -r '.[0].vfinfo_list[].address' | xargs; }
vlan_of() { ip -j link show dev "$1" | jq -r ".[0].vfinfo_list[$2].vlan_list[0].vlan // 0"; }
drivers_of_vfs() {
	local vf
	for vf in "$sys/$1"/virtfn*/driver; do
		basename "$(readlink "$vf")"
	done | sort -u | xargs
}
groups_of_vfs() {
	local vf
	for vf in "$sys/$1"/virtfn*/iommu_group; do
		basename "$(readlink "$vf")"
	done | sort -u | wc -l
}
holder_of() {
	vfctl list --json |
		jq -r ".pfs[].vfs[] | select(.address == \"$1\") | .holder | .kind + \" \" + (.name // \"\")"
}
domain_holds() {
	local bus slot function
	IFS=:. read -r _ bus slot function <<<"$2"
	virsh dumpxml "$1" |
		grep -q "domain='0x0000' bus='0x$bus' slot='0x$slot' function='0x$function'/>"
}
domain_lacks() { ! domain_holds "$@"; }
host_as_it_is() {
	lspci -n
	grep -H . "$sys"/*/sriov_numvfs "$sys"/*/sriov_drivers_autoprobe
	ip -o -c=never link | sed 's/<[^>]*>//; s/ state [A-Z]*//; s/ qlen [0-9]*//' # links come and go
	virsh list --all --name
	find /etc/libvirt/hooks -type f
}
eventually() {
	local deadline=$((SECONDS + $1 * 6)) # a busy machine needs longer
	shift
	until "$@" >/dev/null 2>&1; do
		[ "$SECONDS" -lt "$deadline" ] || return 1
		sleep 0.5
	done
}
guest_said() { grep -q "$1" /var/log/libvirt/qemu/web.console; }

# ---------------------------------------------------------------------------------------------
tell <<EOT
This is a host with two NUMA nodes and, on each of them, a network card with SR-IOV: an Intel
82576, emulated, under the real Linux driver, libvirt and QEMU of Debian. SR-IOV lets a card
(the physical function, PF) show itself as several (virtual functions, VFs), each of which can
be given to a guest of its own. Every command below is run for real, and what vfctl says is
then looked up without it.
EOT
before=$(host_as_it_is)

step "The host, bare" <<EOT
Two PFs, ens1 on NUMA node 0 and ens2 on node 1; each can have 7 VFs and has none. The third
is a disk controller with SR-IOV, which nobody will touch.
EOT
run "vfctl list"
outside "grep . $sys/*/sriov_totalvfs $sys/*/sriov_numvfs $sys/*/numa_node | grep -E '$left|$right'"
claim_is "before: no VFs" "0 0" "$(cat $sys/{$left,$right}/sriov_numvfs | xargs)"

# shellcheck source=tests/lab/demo/vlan.sh
source "$(dirname "$0")/vlan.sh"

step "Seven VFs" <<EOT
Each change can be seen beforehand with --dry-run. vfctl keeps the host's own drivers away
from the new VFs, gives each a fixed MAC address, binds them to vfio-pci (the driver that
hands a device to a guest), and reads everything back.
EOT
run "vfctl create ens1 7 --dry-run"
claim_is "a dry run changes nothing" 0 "$(cat $sys/$left/sriov_numvfs)"
run "vfctl create ens1 7"
run "vfctl list ens1"
outside "cat $sys/$left/sriov_numvfs"
outside "ip -c=never link show ens1"
claim_is "the kernel has 7 VFs" 7 "$(cat $sys/$left/sriov_numvfs)"
claim_is "all 7 are on vfio-pci" vfio-pci "$(drivers_of_vfs $left)"
claim_is "each is in an IOMMU group of its own: no guest reaches another's" 7 "$(groups_of_vfs $left)"

step "Identities that last" <<EOT
Left alone, a VF gets a new random MAC address each time it is made, and DHCP and licences in
guests break. vfctl's address for a VF is always the same: remove all, make them again.
EOT
macs=$(macs_of ens1)
run "vfctl destroy ens1"
run "vfctl create ens1 7 --quiet"
outside "ip -j link show ens1 | jq -r '.[0].vfinfo_list[].address' | xargs"
claim_is "the same 7 addresses as before" "$macs" "$(macs_of ens1)"
claim_is "no two alike" 7 "$(tr ' ' '\n' <<<"$macs" | sort -u | wc -l)"
run "vfctl create ens1 8"
claim_refused "8 VFs are refused, not lowered in silence" 2

step "The hook" <<EOT
libvirt calls a hook whenever a guest starts or stops. With vfctl's installed, VFs get their
identity and policy before the guest sees them, whoever starts it, and give it back after.
EOT
run "vfctl hook install"
run "vfctl hook status"
claim "libvirt has the hook" test -x /etc/libvirt/hooks/qemu.d/50-vfctl

step "A guest, on paper" <<EOT
A guest is a short file. It says what is needed, not where.
EOT
run "cat /payload/demo/guest.yaml"
tell <<EOT
plan shows where it would go, and why: CPUs, memory and VF on one node.
EOT
run "vfctl plan /payload/demo/guest.yaml"
plan=$(vfctl plan /payload/demo/guest.yaml --json)
vcpu_cpu=$(jq -r '.vcpu_cpus[0]' <<<"$plan") other_cpus=$(jq -r .emulator_cpus <<<"$plan")
node=$(jq -r .numa_node <<<"$plan")
claim_is "a plan leaves no domain behind" "" "$(virsh list --all --name | xargs)"
tell <<EOT
And this is what it means in libvirt's words (the parts about the place).
EOT
run "vfctl xml /payload/demo/guest.yaml | xmllint --xpath '//numatune | //cputune | //interface' -"
claim "libvirt's own schema accepts the XML" \
	bash -c 'set -o pipefail; vfctl xml /payload/demo/guest.yaml | virt-xml-validate - domain'

step "Define it" <<EOT
define leases CPUs, memory and VF to the guest, so that no other guest gets them, and defines
the domain in libvirt.
EOT
run "vfctl define /payload/demo/guest.yaml"
outside "virsh list --all"
claim_is "libvirt has the domain" "shut off" "$(virsh domstate web | xargs)"
vf=$(vfctl show web --json | jq -r '.vfs[0].address')
tell <<EOT
From now on the VFs of ens1 cannot be replaced behind the guest's back. The message says who
is in the way.
EOT
run "vfctl create ens1 3"
claim_refused "a leased VF is not taken away"
claim_is "and all 7 are still there" 7 "$(cat $sys/$left/sriov_numvfs)"

step "Start it" <<EOT
An ordinary virsh start; libvirt calls the hook. QEMU runs inside an emulated machine here, so
this takes about 20 seconds; on a real host it is quick.
EOT
run_slowly 20 "virsh start web"
claim_is "the guest runs" running "$(virsh domstate web | xargs)"
run "vfctl list ens1"
claim_is "list says who has the VF" "domain web" "$(holder_of "$vf")"
claim_is "its driver is vfio-pci" vfio-pci "$(basename "$(readlink "$sys/$vf/driver")")"
pid=$(cat /run/libvirt/qemu/web.pid)
group=$(basename "$(readlink "$sys/$vf/iommu_group")")
outside "ls -l /proc/$pid/fd | grep -o '/dev/vfio/.*'"
claim "QEMU has the VF's IOMMU group open" \
	bash -c "ls -l /proc/$pid/fd | grep -q '/dev/vfio/$group$'"

step "Where it runs" <<EOT
The kernel's own words: on which CPUs may each of QEMU's threads run, and on which node does
the guest's memory lie? The plan said vCPU on CPU $vcpu_cpu, QEMU's other threads on CPU
$other_cpus, memory on node $node.
EOT
outside "paste <(cat /proc/$pid/task/*/comm) <(grep -h Cpus_allowed_list /proc/$pid/task/*/status)"
outside "grep bind /proc/$pid/numa_maps"
outside "virsh numatune web"
of_thread() {
	local task
	for task in /proc/"$pid"/task/*; do
		case $(cat "$task/comm") in
		CPU*) [ "$1" = vcpu ] || continue ;;
		*) [ "$1" = other ] || continue ;;
		esac
		awk '/Cpus_allowed_list/ { print $2 }' "$task/status"
	done | sort -u | xargs
}
claim_is "the vCPU's thread may run on CPU $vcpu_cpu only" "$vcpu_cpu" "$(of_thread vcpu)"
claim_is "all other threads of QEMU on CPU $other_cpus only" "$other_cpus" "$(of_thread other)"
nodes_of_guest() { grep "bind:$node" "/proc/$pid/numa_maps" | grep -o ' N[0-9]*' | sort -u | xargs; }
claim_is "the guest's memory lies on node $node, all of it" "N$node" "$(nodes_of_guest)"
claim_is "as does the VF" "$node" "$(cat "$sys/$vf/numa_node")"

step "One more VF, while it runs" <<EOT
Hot plug: a VF of the other card, on VLAN 42. Its policy is set before the guest sees it. It
is of the other NUMA node, as node 0 has only one card in this lab; vfctl warns.
EOT
claim "the guest is up" eventually 60 guest_said 'guest up'
run "vfctl create ens2 2 --quiet"
run "vfctl attach web --pf ens2 --live vlan=42"
vf2=$(vfctl show web --json | jq -r '.vfs[1].address')
run "vfctl show web"
outside "ip -c=never link show ens2 | grep vlan"
outside "cat /var/log/libvirt/qemu/web.console     # the guest's own console"
claim "the running domain has the second VF" domain_holds web "$vf2"
claim_is "its VLAN is set" 42 "$(vlan_of ens2 0)"
claim "the guest noticed" eventually 20 guest_said 'device plugged'
tell <<EOT
And back: vfctl asks the guest to let go, waits until it has, and cleans the VF.
EOT
run "vfctl detach web --vf ens2/0 --live"
outside "tail -n 1 /var/log/libvirt/qemu/web.console"
claim "the running domain has it no more" domain_lacks web "$vf2"
claim "the guest let go of it" guest_said 'device ejected'
claim_is "its VLAN is gone" 0 "$(vlan_of ens2 0)"
claim_is "nobody holds it" "none" "$(holder_of "$vf2" | xargs)"

step "What will not happen" <<EOT
While the guest runs, its VF cannot be pulled from under it.
EOT
run "vfctl destroy ens1"
claim_refused "VFs in use are not removed"
run "vfctl set $vf mac=02:00:00:00:00:99"
claim_refused "nor is what a running guest was promised changed unasked"

step "All of it back" <<EOT
Stop the guest, undefine it (its lease ends), remove the VFs and the hook.
EOT
run "virsh destroy web"
run "vfctl undefine web"
run "vfctl destroy ens1"
run "vfctl destroy ens2"
run "vfctl hook remove"
run "vfctl list"
claim_is "no lease is left" 0 "$(sqlite3 /var/lib/vfctl/state.db 'select count(*) from lease_vf')"
claim_is "PCI devices, links, domains and hooks are as before" "$before" "$(host_as_it_is)"

step "Measured, not believed" <<EOT
Which interrupt moderation is best for small messages? The two cards are on one wire, each in a
network namespace of its own now. vfctl measures in turns, judges, and puts every setting back.
This card is emulated, and how fast it is depends on what else this machine does. So the report
is printed below, but no claim rests on it: the claims are that vfctl computes it correctly.
EOT
for end in "left ens1 10.9.0.1" "right ens2 10.9.0.2"; do
	read -r name device address <<<"$end"
	ip netns add "$name"
	ip link set "$device" netns "$name"
	ip -n "$name" addr add "$address/24" dev "$device"
	ip -n "$name" link set "$device" up
done
moderation() { ip netns exec left ethtool -c ens1 | grep -w rx-usecs: | tr -dc 0-9; }
has_link() { [ "$(ip netns exec "$1" cat "/sys/class/net/$2/carrier")" = 1 ]; }
eventually 60 has_link left ens1 && eventually 60 has_link right ens2
before=$(moderation)
cat >/tmp/moderation.yaml <<EOT
name: interrupt moderation
trials: 7
warmup: 0
noise: 20%
endpoints:
  client: {netns: left, device: ens1, cpus: 0-1}
  server: {netns: right, device: ens2, address: 10.9.0.2, cpus: 2-3}
configurations:
  rx-usecs-3: {settings: {rx-usecs: 3}}
  rx-usecs-10: {settings: {rx-usecs: 10}}
  rx-usecs-1000: {settings: {rx-usecs: 1000}}
tests:
  - {name: round trip of 64 bytes, tool: sockperf, transport: udp, size: 64, duration: 1s, raw-samples: on}
EOT
run "cat /tmp/moderation.yaml"
run_slowly 90 "vfctl bench run /tmp/moderation.yaml --output /tmp/bench --quiet"
vfctl bench report /tmp/bench --json >/tmp/report.json
runs() { jq -s 'map(select(.trial > 0)) | unique_by([.configuration, .trial]) | length' /tmp/bench/trials.jsonl; }
claim_is "each of the three settings was measured 7 times" 21 "$(runs)"
# The medians of the runs' own figures, to a nanosecond; and those of the report.
medians_of_runs() {
	jq -cs 'map(select(.trial > 0 and (.error | not))) | group_by(.configuration) |
		map({(.[0].configuration): (map(.metrics[] | select(.name == "p50").value) | sort |
			(.[(length - 1) / 2 | floor] + .[length / 2 | floor]) / 2 * 1000 | round)}) |
		add' /tmp/bench/trials.jsonl
}
medians_of_report() {
	jq -cS '[.cells[].columns[] | select(.goal) | {(.configuration): (.goal.median * 1000 | round)}] |
		add' /tmp/report.json
}
# A value that ends in a half may be rounded up by one and down by the other.
medians_apart() {
	jq -nc --argjson runs "$(medians_of_runs)" --argjson report "$(medians_of_report)" \
		'[$runs | to_entries[] | select((.value - ($report[.key] // 0) | fabs) > 1)]'
}
claim_is "the report's medians are those of the runs" "[]" "$(medians_apart)"
verdicts() { jq -c '[.cells[].columns[].difference | select(.) | .verdict]' /tmp/report.json; }
verdicts_by_rule() {
	jq -c '.alpha as $alpha | .noise as $noise | [.cells[].columns[].difference | select(.) |
		if .trials_needed then "too few trials"
		elif (.p_adjusted // 1) >= $alpha or (.relative // 0 | fabs) < $noise then "no difference shown"
		elif .shift > 0 then "worse" else "better" end]' /tmp/report.json
}
claim_is "a difference is called one where the adjusted p is below 0.05 and it is over 20 %, and nowhere else" \
	"$(verdicts_by_rule)" "$(verdicts)"
claim_is "the card has its own moderation again" "$before" "$(moderation)"
mkdir -p /results
vfctl bench report /tmp/bench --html /results/bench.html
ip netns delete left
ip netns delete right

result=0
summary || result=1
if [ -n "$shell_follows" ]; then
	tell <<-EOT
		Now a shell on this host; exit ends it, and the host with it. For example:
	EOT
	printf '    %s\n' 'vfctl create ens1 4' 'vfctl plan /payload/demo/guest.yaml' \
		'vfctl define /payload/demo/guest.yaml --dry-run' 'vfctl help create'
fi
[ "$result" = 0 ]
