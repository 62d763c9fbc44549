# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=bash
# CASE_BOOT 2
# Guests change: define again over what libvirt made of the definition, off and running; domains of
# others are adopted; a folder of guests; one moves; what was left on a VF is cleaned.
. "$(dirname "$0")/lib.sh"

ens1=$(link_of "$left") ens2=$(link_of "$right")
xml() { virsh dumpxml --inactive "$1" 2>/dev/null; }
count() { xml "$1" | grep -c "$2"; }
vlan() { ip -j link show dev "$ens1" | jq -r ".[0].vfinfo_list[$1].vlan_list[0].vlan // 0"; }
leases() { sqlite3 /var/lib/vfctl/state.db "select count(*) from lease_vf"; }
define() { vfctl define /tmp/g.yaml --template /payload/guests/lab.xml; }
nothing="nothing to do: domain g is already defined as its file asks"

check "VFs" vfctl create "$ens1" 4
check "VFs on node 1" vfctl create "$ens2" 2
check "the hook" vfctl hook install
sed -e 's/^name: .*/name: g/' -e "s/pf: ens1/pf: $ens1\n    vlan: 11/" -e '/^disks:/,/readonly/d' \
	/payload/guests/one.yaml >/tmp/g.yaml

# ---- off ----
check "define" define
check_is "again there is nothing to do, whatever libvirt made of it" "$nothing" define
uuid=$(virsh domuuid g) mac=$(xml g | grep -oE 'mac address=.[0-9a-f:]+')
sed -i 's/vlan: 11/vlan: 12, trust: on/; s/^    vlan: 12, trust: on/    vlan: 12\n    trust: on/' /tmp/g.yaml
sed -i 's/^memory: .*/memory: 128MiB/' /tmp/g.yaml
check "its policy and memory change" define
check_is "it is the same domain" "$uuid" virsh domuuid g
check_is "with the same MAC" "$mac" bash -c "virsh dumpxml --inactive g | grep -oE 'mac address=.[0-9a-f:]+'"
check_is "its memory is as asked" 131072 bash -c "virsh dumpxml --inactive g | sed -n 's/.*<memory unit=.KiB.>\([0-9]*\).*/\1/p'"
check_is "again there is nothing to do" "$nothing" define
printf '  - pf: %s\n' "$ens1" >>/tmp/g.yaml
check "it gets another VF" define
check_is "two devices" 2 count g "<interface type='hostdev'"
check_is "two leases" 2 leases

# ---- running ----
check "start" virsh -q start g
check_is "with the new VLAN" 12 vlan 0
sed -i 's/vlan: 12/vlan: 13/; $d' /tmp/g.yaml
check "while it runs its definition changes" define
check_is "not what it has" 12 vlan 0
check_is "the definition has one VF" 1 count g "<interface type='hostdev'"
check_is "both are leased until it stops" 2 leases
check_is "again there is nothing to do" "$nothing" define
check "stop" virsh -q destroy g
eventually "then one is" 20 bash -c "[ \"\$(sqlite3 /var/lib/vfctl/state.db 'select count(*) from lease_vf')\" = 1 ]"
check "start" virsh -q start g
check_is "now it has the VLAN" 13 vlan 0
check "stop" virsh -q destroy g
check "nothing is open, nothing disagrees" vfctl status
check "undefine" vfctl undefine g

# ---- a domain of others ----
vf=$(vf_of "$left" 3)
cat >/tmp/other.xml <<END
<domain type='qemu'>
  <name>other</name><memory unit='MiB'>64</memory><vcpu>1</vcpu>
  <os><type arch='x86_64' machine='q35'>hvm</type></os>
  <devices>
    <emulator>/usr/bin/qemu-system-x86_64</emulator>
    <interface type='hostdev' managed='yes'>
      <mac address='52:54:00:00:00:31'/>
      <source><address type='pci' domain='0x${vf:0:4}' bus='0x${vf:5:2}' slot='0x${vf:8:2}' function='0x${vf:11:1}'/></source>
      <vlan><tag id='31'/></vlan>
    </interface>
  </devices>
</domain>
END
check "a domain written by hand" virsh -q define /tmp/other.xml
devices() { xml other | sed -n '/<interface/,/<.interface>/p'; }
before=$(devices)
check "adopt" vfctl adopt other
check_is "its devices are as they were" "$before" devices
check_is "its VF is leased" "other none -" who_has "$vf"
check_is "again there is nothing to do" "nothing to do: all VFs of domain other are leased to it" vfctl adopt other
check "it starts" virsh -q start other
check_is "with its VLAN, and spoof check" "31 true" bash -c \
	"ip -j link show dev $ens1 | jq -r '.[0].vfinfo_list[3] | [.vlan_list[0].vlan, .spoofchk] | join(\" \")'"
check "stop" virsh -q destroy other
check "the way back" vfctl adopt other --undo
check_is "nothing of vfctl's is left in it" 0 count other vfctl
check "undefine" virsh -q undefine other

# ---- a folder ----
mkdir -p /tmp/folder
for g in fa fb; do
	sed -e "s/^name: .*/name: $g/" -e 's/^vcpus: .*/vcpus: 1/' -e '/^    trust/d' -e '/^    vlan/d' \
		-e 's/^memory: .*/memory: 64MiB/' /tmp/g.yaml >"/tmp/folder/$g.yaml"
done
sed -i "s/pf: .*/pf: $ens2/" /tmp/folder/fb.yaml # a node holds one of them
check "a folder of guests" vfctl define --batch /tmp/folder --template /payload/guests/lab.xml
check_is "both are there" 2 bash -c "virsh list --all --name | grep -c '^f[ab]$'"
check_is "each with its VF" 2 leases
check "again: nothing changes" bash -c "vfctl define --batch /tmp/folder --template /payload/guests/lab.xml --json |
	jq -e '[.. | .changed? | select(. == true)] | length == 0'"
check "undefine" vfctl undefine fa
check "undefine the other" vfctl undefine fb
check_is "nothing is leased" 0 leases
# ---- to another place ----
define_file() { vfctl define "$1" --template /payload/guests/lab.xml; }
place() { # host CPU and NUMA node of its definition, what is leased to it
	echo "$(virsh vcpupin --config "$1" | awk '$1 == 0 { print $2 }')" \
		"$(virsh numatune --config "$1" | awk '/numa_nodeset/ { print $NF }')" \
		"$(vfctl topology --json | jq -r ".occupants[] | select(.name == \"$1\") | .cpus + \" \" + .vfs[0].address")"
}
check_is "of what is above a PF it is known whether it keeps VFs apart" \
	"  ACS          on, in all ports above it" bash -c "vfctl show $ens1 | grep ACS"
check "node 0 is full" define_file /tmp/folder/fa.yaml
sed -e 's/^name: .*/name: m/' -e "s/pf: .*/pf: $ens1\n    affinity: preferred\n    vlan: 14/" \
	/tmp/folder/fa.yaml >/tmp/m.yaml
check "a guest goes to the other one, away from its VF" define_file /tmp/m.yaml
was=$(place m) uuid=$(virsh domuuid m) mac=$(xml m | grep -oE 'mac address=.[0-9a-f:]+')
check_is "it is on node 1" 1 bash -c "echo '$was' | cut -d' ' -f2"
check "undefine the one on node 0" vfctl undefine fa
check_fails "a move is proposed" vfctl plan --rebalance
check "a dry run of it" vfctl move m --dry-run
check_is "changes nothing" "$was" place m
check "it moves" vfctl move m
check_is "CPU, memory and lease are on node 0" "0 0 0" bash -c "echo '$(place m)' | cut -d' ' -f1-3"
check_is "its VF is the same" "$(cut -d' ' -f4 <<<"$was")" bash -c "echo '$(place m)' | cut -d' ' -f4"
check_is "it is the same domain" "$uuid" virsh domuuid m
check_is "emulated as its file asked" 1 count m "<domain type='qemu'"
check_is "with the same MAC" "$mac" bash -c "virsh dumpxml --inactive m | grep -oE 'mac address=.[0-9a-f:]+'"
check "nothing more is proposed" vfctl plan --rebalance
check_is "again there is nothing to do" \
	"nothing to do: no move of domain m makes more guests local (vfctl plan --rebalance)" vfctl move m
check "it starts there" virsh -q start m
check_is "on that CPU" 0 bash -c "virsh vcpupin --live m | awk '\$1 == 0 { print \$2 }'"
check "stop" virsh -q destroy m

# ---- what somebody left ----
policy() { ip -j link show dev "$ens1" | jq -r '.[0].vfinfo_list[1] | [.vlan_list[0].vlan // 0, .trust] | join(" ")'; }
holder() { vfctl list "$ens1" -n -o vf,holder | sed -n "s|^$ens1/1  *||p"; }
check "the hook is away" vfctl hook remove
check_is "its VF is the second" "m none -" who_has "$(vf_of "$left" 1)"
check "undefine" vfctl undefine m
check_is "its VF is free" free holder
check "somebody works on it by hand" ip link set "$ens1" vf 1 vlan 99 trust on
check_is "that is seen" "99 true" policy
check_is "and that it is to be cleaned" "to be cleaned" holder
check "status has it as a note" bash -c "vfctl status | grep -q '^note: VF $ens1/1, which is not in use, is to be cleaned'"
check "clean" vfctl recover --clean
check_is "the kernel has the defaults" "0 false" policy
check_is "it is free" free holder
check "by hand again" ip link set "$ens1" vf 1 vlan 98 trust on
check "the VF before it goes to another guest" define_file /tmp/folder/fa.yaml
check "it is handed out" define_file /tmp/m.yaml
check_is "it is that VF" "m none -" who_has "$(vf_of "$left" 1)"
check_is "clean" "0 false" policy
check "undefine" vfctl undefine m
check "undefine the other" vfctl undefine fa
check "destroy" vfctl destroy "$ens1"
check "destroy the others" vfctl destroy "$ens2"
finish
