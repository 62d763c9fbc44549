# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=bash
# A guest of two NUMA cells: planned, defined, started, and looked at from outside.
. "$(dirname "$0")/lib.sh"

ens1=$(link_of "$left") ens2=$(link_of "$right")
guest=/payload/guests/cells.yaml
qemu_pid() { cat "/run/libvirt/qemu/$1.pid"; }
field() { vfctl plan "$guest" --json | jq -r "$1"; }

# libvirt sets MACs through the PF, which must be up; an earlier case may have taken it down.
check "the PFs are up" bash -c "ip link set $ens1 up && ip link set $ens2 up"

# ---- the model ----
check "VFs on both PFs" bash -c "vfctl create $ens1 3 && vfctl create $ens2 3"
check_is "topology knows both nodes and PFs" "2 2 6" bash -c \
	"vfctl topology --json | jq -r '[(.nodes | length), ([.pfs[] | select(.num_vfs == 3)] | length), (.free_vfs | length)] | join(\" \")'"
check_is "each PF is below a root complex of its own" "0000:10 0000:80" bash -c \
	"vfctl topology | tr -s ' \\n' ' ' | grep -o 'root complex [0-9a-f:]*' | sort -u | cut -d' ' -f3 | xargs | cut -d' ' -f1-2"
check "its JSON gives the same plan elsewhere" bash -c \
	"vfctl topology --json >/tmp/model.json &&
	 vfctl plan $guest --model /tmp/model.json --json | jq -e '.fits and .local and .proof.optimal'"
check "a picture of it" bash -c "vfctl topology --svg /tmp/lab.svg && grep -q '>PF $ens1 ' /tmp/lab.svg"

# ---- the plan ----
check_is "two cells, on both nodes" "0 1" field '[.cells[].numa_node] | map(tostring) | join(" ")'
check_is "a VF in each, local" "0:0 1:1" field '[.vfs[] | "\(.cell):\(.numa_node)"] | join(" ")'
check_is "proven" true field .proof.optimal
check_is "the XML is valid for this libvirt" 0 bash -c \
	"vfctl xml $guest | virt-xml-validate - domain >/dev/null 2>&1; echo \$?"
check_is "each VF is below an expander of its cell" "0 1" bash -c \
	"vfctl xml $guest | grep -o '<node>[0-9]*</node>' | tr -dc '0-9\n' | xargs"
check "the hook" vfctl hook install
check "define" vfctl define "$guest" --template /payload/guests/lab.xml
check_is "libvirt keeps the expanders" 2 bash -c \
	"virsh dumpxml cells 2>/dev/null | grep -c \"model='pcie-expander-bus'\""
check_is "the lease has both cells" 2 bash -c \
	"sqlite3 /var/lib/vfctl/state.db 'select count(*) from lease_cell'"
check_is "and a core that QEMU's threads may share with others'" 1 bash -c \
	"sqlite3 /var/lib/vfctl/state.db 'select count(*) from lease_qemu_cpu'"

# ---- it runs ----
check "start" virsh start cells
pid=$(qemu_pid cells)
for v in 0 1; do
	thread=$(virsh qemu-monitor-command cells --hmp info cpus | tr -d '\r' |
		sed -n "s/.*CPU #$v:.*thread_id=\([0-9]*\).*/\1/p")
	cpu=$(virsh vcpupin cells | awk -v v=$v '$1 == v {print $2}')
	check_is "vCPU $v may run on CPU $cpu only" "$cpu" \
		bash -c "awk '/Cpus_allowed_list/ {print \$2}' /proc/$pid/task/$thread/status"
	check "and that is on node $v" test -e "/sys/devices/system/node/node$v/cpu$cpu"
	check "memory is bound to node $v" grep -q "bind:$v" "/proc/$pid/numa_maps"
	check_is "none of it lies on the other node" "" bash -c \
		"grep 'bind:$v' /proc/$pid/numa_maps | grep -o 'N$((1 - v))=[0-9]*' | head -1"
done
check_is "QEMU has a PCI root for each guest node" "0 1" bash -c \
	"tr '\0' '\n' </proc/$pid/cmdline | grep pxb-pcie | grep -o 'numa_node\"*[:=][0-9]*' | tr -dc '0-9\n' | sort | xargs"
# The template's console is a file of that name.
eventually "the guest is up" 60 guest_said one 'guest up'
check_is "who is where is told, and that all is local" "cells runs 0-1 yes" bash -c \
	"vfctl topology 2>/dev/null | awk '\$2 == \"cells\" {print \$2, \$3, \$4, \$NF}'"

# ---- hot plug goes where it belongs ----
check "attach a VF of node 1, live" vfctl attach cells --pf "$ens2" --live
of_xml() { virsh dumpxml cells 2>/dev/null | xmllint --xpath "string($1)" - 2>/dev/null; }
port=$(($(of_xml '(//devices/*[source/address])[last()]/address/@bus')))
root=$(($(of_xml "//controller[@type='pci'][@index='$port']/address/@bus")))
check_is "below the expander of cell 1" 1 of_xml "//controller[@index='$root']/target/node"

# ---- what is held is seen ----
check_is "a second one does not fit, and it is said why" 1 bash -c \
	"sed 's/^name: cells/name: more/' $guest >/tmp/more.yaml; vfctl plan /tmp/more.yaml >/tmp/more.txt; echo \$?"
check "the reason names what is short" grep -q 'short .*cell' /tmp/more.txt
check "moves: none to make" vfctl plan --rebalance
check "stop" virsh destroy cells
check "undefine" vfctl undefine cells
check_is "nothing is held any more" "0 0" bash -c \
	"sqlite3 -separator ' ' /var/lib/vfctl/state.db \
		'select (select count(*) from lease_cell), (select count(*) from lease_qemu_cpu)'"
finish
