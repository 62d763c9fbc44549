# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=bash
# CASE_GATE
# The whole walk with vfctl, each claim looked at from outside: from a bare PF to a pinned
# guest with its VF, hot plug, and everything down again.
. "$(dirname "$0")/lib.sh"

ens1=$(link_of "$left") ens2=$(link_of "$right")

qemu_pid() { cat "/run/libvirt/qemu/$1.pid"; }
numvfs() { cat "$pci/$1/sriov_numvfs"; }
vf_mac() { ip -j link show dev "$1" | jq -r ".[0].vfinfo_list[$2].address"; }

# ---- the host as it is ----
check "list runs" vfctl list
check_is "both PFs are there, none has VFs" "0 0" \
	bash -c "vfctl list --json | jq -r '[.pfs[] | select(.driver == \"igb\") | .num_vfs] | join(\" \")'"
check_is "NUMA nodes as sysfs says" "0 1" \
	bash -c "vfctl list --json | jq -r '[.pfs[] | select(.driver == \"igb\") | .numa_node] | join(\" \")'"

# Through all that follows: the kernel's own events, and libvirt's files.
vfctl monitor --json >/tmp/monitor.json 2>/tmp/monitor.err &
monitor=$!
told() { jq -es "map(select($1)) | length > 0" /tmp/monitor.json; }
eventually "monitor watches" 20 grep -q watching /tmp/monitor.err

# ---- VFs ----
check "create: dry run" vfctl create "$ens1" 7 --dry-run
check_is "a dry run writes nothing" 0 numvfs "$left"
check "create 7 VFs" vfctl create "$ens1" 7
check_is "the kernel has 7" 7 numvfs "$left"
check_is "autoprobe is as before" 1 cat "$pci/$left/sriov_drivers_autoprobe"
for i in 0 3 6; do
	check_is "VF $i is on vfio-pci" vfio-pci driver_of "$(vf_of "$left" "$i")"
done
check_is "its MAC is what ip shows" "$(vfctl show "$ens1/2" --json | jq -r .mac)" vf_mac "$ens1" 2
check_is "no two VFs share a MAC" 7 bash -c \
	"ip -j link show dev $ens1 | jq -r '.[0].vfinfo_list[].address' | sort -u | wc -l"
check_is "seven are seven: nothing to do" "nothing to do" vfctl create "$ens1" 7
check_fails "8 VFs are refused" vfctl create "$ens1" 8
check_is "and nothing changed" 7 numvfs "$left"
check "create 2 on the other PF" vfctl create "$ens2" 2

# ---- attributes ----
check "set" vfctl set "$ens1/1" vlan=100 qos=3 spoofchk=off trust=on
check_is "ip reads it back" "100 3 false true" bash -c \
	"ip -j link show dev $ens1 | jq -r '.[0].vfinfo_list[1] | [.vlan_list[0].vlan, .vlan_list[0].qos, .spoofchk, .trust] | join(\" \")'"
check "set it back" vfctl set "$ens1/1" vlan=0 spoofchk=on trust=off
check_fails "link-state is not for igb" vfctl set "$ens1/1" link-state=enable
check_fails "VLAN 4095 is refused" vfctl set "$ens1/1" vlan=4095
check_fails "VF 7 of 7 is refused" vfctl set "$ens1/7" vlan=1

# ---- a guest ----
check "install the hook" vfctl hook install
check "hook status is good" vfctl hook status
check "plan" vfctl plan /payload/guests/one.yaml
check "the XML is valid for this libvirt" bash -c \
	"vfctl xml /payload/guests/one.yaml | virt-xml-validate - domain"
check "define" vfctl define /payload/guests/one.yaml --template /payload/guests/lab.xml
check_is "libvirt has it" "shut off" bash -c "virsh domstate one 2>/dev/null"
vf=$(vfctl show one --json | jq -r '.vfs[0].address')
check_is "its VF is on node 0" 0 cat "$pci/$vf/numa_node"
check_is "list says who leases it, and that nobody has it" "one none -" who_has "$vf"
# Scenario 75: the guest is off and has a lease.
check_fails "the number of VFs cannot change now" vfctl create "$ens1" 3
check_fails "and they cannot go" vfctl destroy "$ens1"
check_is "all 7 are still there" 7 numvfs "$left"
check "start" virsh start one
pid=$(qemu_pid one)
# Its vCPU's core, and the one that QEMU's threads of all guests of the node share.
cpus=$(vfctl show one --json | jq -r '[.cpus, .qemu_cpus] | join(" ")')
vcpu=$(virsh qemu-monitor-command one --hmp info cpus | sed -n 's/.*thread_id=\([0-9]*\).*/\1/p' | tr -d '\r')
check_is "the vCPU thread may run on the CPU of the plan only" \
	"$(virsh vcpupin one | awk '$1 == 0 {print $2}')" \
	bash -c "awk '/Cpus_allowed_list/ {print \$2}' /proc/$pid/task/$vcpu/status"
check "all of QEMU's threads stay on the leased CPUs $cpus" bash -c \
	"for t in /proc/$pid/task/*; do taskset -pc \${t##*/}; done | sed 's/.*: //' | sort -u | \
	 while read -r l; do [ \"$cpus\" = \"0 1\" ] && case \$l in 0|1|0-1|0,1) ;; *) exit 1;; esac; done"
check "guest memory is bound to node 0" bash -c "grep -q 'bind:0' /proc/$pid/numa_maps"
check_is "none of it lies on node 1" "" bash -c "grep 'bind:0' /proc/$pid/numa_maps | grep -o 'N1=[0-9]*' | head -1"
check_is "its VF is on vfio-pci" vfio-pci driver_of "$vf"
check_is "list says the running domain has it" "domain one" bash -c \
	"vfctl list --json | jq -r '.pfs[].vfs[] | select(.address == \"$vf\") | .holder.kind + \" \" + .holder.name'"
check_fails "its MAC cannot change" vfctl set "$vf" mac=02:00:00:00:00:99
eventually "the guest is up" 60 guest_said one 'guest up'

# ---- Scenario 15: hot plug ----
check "attach a VF of the other PF, live" vfctl attach one --pf "$ens2" --live vlan=42
vf2=$(vfctl show one --json | jq -r '.vfs[1].address')
check_is "it is on vfio-pci" vfio-pci driver_of "$vf2"
check_is "its VLAN was set before" 42 bash -c \
	"ip -j link show dev $ens2 | jq -r '.[0].vfinfo_list[0].vlan_list[0].vlan'"
check "the running domain has it" domain_has "$vf2" one
check "detach waits for the guest" vfctl detach one --vf "$vf2" --live
check "the running domain has it no more" domain_lacks "$vf2" one
check_is "its VLAN is gone" 0 bash -c \
	"ip -j link show dev $ens2 | jq -r '.[0].vfinfo_list[0].vlan_list[0].vlan // 0'"
check_is "it is free again" "- none -" who_has "$vf2"

# ---- what is plugged in live only ends with the run ----
check "attach it again, live" vfctl attach one --vf "$vf2" --live
check_is "it is the domain's" "one domain one" who_has "$vf2"
check_fails "it cannot be given to another domain" vfctl attach one --vf "$vf2" --live

# ---- down again ----
check_fails "a running domain is not undefined" vfctl undefine one
check "stop" virsh destroy one
check_is "the lease stays with the domain" "one none -" who_has "$vf"
check_is "the VF plugged in live is free" "- none -" who_has "$vf2"
check "attach to the definition" vfctl attach one --pf "$ens2" --config
check_is "the definition has two VFs" 2 bash -c \
	"virsh dumpxml --inactive one 2>/dev/null | grep -c \"<interface type='hostdev'\""
check_is "and the intent of two" 2 bash -c \
	"virsh dumpxml --inactive one 2>/dev/null | grep -c '<vfctl:vf '"
check "detach from the definition" vfctl detach one --vf "$ens2/0" --config
check_is "the definition has one VF" 1 bash -c \
	"virsh dumpxml --inactive one 2>/dev/null | grep -c \"<interface type='hostdev'\""
check "undefine" vfctl undefine one
check_fails "libvirt has it no more" virsh domstate one
check_is "nothing is leased" 0 bash -c "sqlite3 /var/lib/vfctl/state.db 'select count(*) from lease_vf'"
check "destroy" vfctl destroy "$ens1"
check_is "no VFs are left" 0 numvfs "$left"
check "destroy on the other PF" vfctl destroy "$ens2"
check "remove the hook" vfctl hook remove

# ---- what monitor told of it ----
eventually "monitor told that the last VF is gone" 20 told \
	".kind == \"pf\" and .name == \"$ens2\" and .after.vfs == \"0/7\""
kill "$monitor"
wait "$monitor"
check_is "monitor ends with 0" 0 echo $?
check "monitor told of seven VFs" told \
	".kind == \"pf\" and .name == \"$ens1\" and .after.vfs == \"7/7\""
check "monitor told of the guest's VF" told \
	".kind == \"vf\" and .address == \"$vf\" and .after.holder == \"domain one\""
check "monitor told that the guest ran, and stopped" bash -c "jq -s '
	map(select(.kind == \"domain\" and .name == \"one\") | .after.state)
	| index(\"running\") < rindex(\"off\")' /tmp/monitor.json | grep -q true"
check "monitor told of the VLAN of the VF that was plugged in" told \
	".kind == \"vf\" and .address == \"$vf2\" and (.after.policy // \"\" | test(\"vlan=42\"))"
finish
