# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=bash
# A guest with nothing but defaults, a disk and two VFs, through every verb that concerns guests.
. "$(dirname "$0")/lib.sh"

guest=/payload/guests/plain.yaml image=/var/lib/libvirt/images/plain.qcow2
xml() { virsh dumpxml plain --inactive; }
lists_vfs() { virsh dumpxml plain "$@" | grep -c "<address type='pci' domain='0x0000' bus='0x11'" || true; }
node_of() { vfctl show plain --json | jq -r '.cells[0].numa_node'; }

check "create VFs" vfctl create ens1 4
check "install the hook" vfctl hook install

# ---- what it needs ----
check_fails "without its disk image it is refused" vfctl define $guest
check_is "nothing is leased" 0 bash -c "vfctl list --json | jq '[.pfs[].vfs[]? | select(.lease)] | length'"
mkdir -p "${image%/*}"
qemu-img convert -f raw -O qcow2 /payload/guest/ejector.img $image
check "plan" vfctl plan $guest
check "its XML is valid" bash -c "vfctl xml $guest | virt-xml-validate - domain"

# ---- node 0 is full: it goes to the other one, and moves when there is room ----
printf 'name: filler\nvcpus: 2\nemulator_cores: 0\nnode: 0\nmemory: 64MiB\nvirtualization: qemu\n' >/tmp/filler.yaml
check "a guest that fills node 0" vfctl define /tmp/filler.yaml
check "define" vfctl define $guest
check_is "it is on node 1" 1 node_of
check "its disk has an I/O thread" bash -c "virsh dumpxml plain | grep -q iothread=\'1\'"
check_is "define again: nothing to do" "nothing to do: domain plain is already defined as its file asks" vfctl define $guest
check "the other guest goes" vfctl undefine filler
check "move: dry run" vfctl move plain --dry-run
check "move" vfctl move plain
check_is "it is on node 0" 0 node_of
check "its disk has its I/O thread still" bash -c "virsh dumpxml plain | grep -q iothread=\'1\'"
check_is "move again: nothing to do" "nothing to do" bash -c "vfctl move plain | cut -d: -f1"

# ---- its VFs ----
check "set for the next start" vfctl set ens1/0 vlan=100 --config
check "attach a third" vfctl attach plain --pf ens1
check_is "three in its definition" 3 lists_vfs --inactive
check "detach it" vfctl detach plain --vf ens1/2

# ---- undefined behind vfctl's back ----
check "virsh undefine" virsh undefine plain
check "status says so" bash -c "vfctl status | grep -q 'domain plain no longer exists'"
check "define goes on from its lease" vfctl define $guest
check_is "with the same two VFs" 2 lists_vfs --inactive
check "status: nothing" vfctl status
check "set again: the file says nothing of a VLAN" vfctl set ens1/0 vlan=100 --config

# ---- Scenario 2: a run with a VLAN ----
check "start" virsh start plain
check_is "the VLAN is on the VF" 100 bash -c "ip -j link show dev $(link_of "$left") | jq '.[0].vfinfo_list[0].vlan_list[0].vlan'"
eventually "the guest is up" 120 bash -c "vfctl list ens1 -n -o holder | head -1 | grep -q plain"
check "status" vfctl status
check "hook status" vfctl hook status
check "set while it runs" vfctl set ens1/1 vlan=7 --live
sleep 20 # the boot sector answers hot plug from then on
check "plug one in" vfctl attach plain --pf ens1 --live
check_is "the running guest has three" 3 lists_vfs
check "plug it out" vfctl detach plain --vf ens1/2 --live
check_fails "undefine a running guest" vfctl undefine plain
check_fails "destroy its VFs" vfctl destroy ens1
check "stop" virsh destroy plain
check_is "the VLANs are gone" "0 0" bash -c "ip -j link show dev $(link_of "$left") | jq -r '.[0].vfinfo_list[0:2] | map(.vlan_list[0].vlan // 0) | join(\" \")'"

# ---- started without the hook ----
check "set what libvirt does not set by itself" vfctl set ens1/0 trust=on --config
check "remove the hook" vfctl hook remove
systemctl restart libvirtd
check "start" virsh start plain
check "status names what is missing" bash -c "vfctl status | grep -q \"did not run vfctl's hook\""
check_is "its exit status is 3" 3 bash -c "vfctl status >/dev/null 2>&1; echo \$?"
check "doctor names it" bash -c "vfctl doctor --json | jq -e '[.ailments[] | select(.check == \"leases\" and .severity == \"problem\")] | length == 1'"
check "set it now" vfctl set ens1/0 trust=on --live
check "status: nothing" vfctl status
check "stop" virsh destroy plain
check "release" vfctl release plain
check "install the hook again" vfctl hook install

# ---- the end ----
check "undefine" vfctl undefine plain
check_is "undefine again: nothing to do" "nothing to do" bash -c "vfctl undefine plain | cut -d: -f1"
check_is "detach then: nothing to do" "nothing to do" bash -c "vfctl detach plain | cut -d: -f1"
check_is "nothing is leased" 0 bash -c "vfctl list --json | jq '[.pfs[].vfs[]? | select(.lease)] | length'"
finish
