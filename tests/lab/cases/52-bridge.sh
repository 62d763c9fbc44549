# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=bash
# CASE_BOOT 2
# A VF beside a bridge on its PF, by packets: namespace "a" has a VF, "c" and "d" are containers on
# bridges of the host, and the bridge has a MAC of its own.
# shellcheck source=tests/lab/cases/lib.sh
. "$(dirname "$0")/lib.sh"
# shellcheck source=tests/lab/cases/traffic/lib.sh
. "$(dirname "$0")/traffic/lib.sh"

ens1=$(link_of "$left") ens2=$(link_of "$right")
vf_link() { ls "$pci/$(vf_of "$1" "$2")/net"; }
# usage: container NAMESPACE BRIDGE ADDRESS MAC     a veth pair, whose end HOST-NAMESPACE is a port
container() {
	ip netns add "$1" && ip link add "host-$1" type veth peer name eth0 netns "$1" address "$4" &&
		ip link set "host-$1" up master "$2" && ip -n "$1" addr add "$3/24" dev eth0 && ip -n "$1" link set eth0 up &&
		ip -n "$1" link set lo up
}
missing() { vfctl list --bridge "$ens1" --json | jq ".uplinks[${1:-0}].missing"; }
fix() { vfctl doctor "$ens1" --fix 2>&1 | grep -v hook; }
clear_table() {
	local mac
	for mac in $(bridge fdb show dev "$ens1" self | awk '/permanent/ && $1 !~ /^(01|33)/ { print $1 }'); do
		bridge fdb del "$mac" dev "$ens1" self
	done
}

# The other card is on the same wire: it must not answer for the address of the bridge.
arp_ignore=/proc/sys/net/ipv4/conf/all/arp_ignore
arp_ignored=$(cat $arp_ignore)
echo 1 >$arp_ignore
check "the PFs are up" bash -c "ip link set $ens1 up && ip link set $ens2 up"
eventually "and have link" 90 bash -c "[ \$(cat /sys/class/net/{$ens1,$ens2}/carrier | xargs | tr -d ' ') = 11 ]"
check "VFs on their own driver" vfctl create "$ens1" 2 --driver host
udevadm settle --timeout=30
a=$(vf_link "$left" 0) b=$(vf_link "$left" 1)
check "VF a goes to a namespace" place_in a "$a" 10.9.1.1
check "VF b to another" place_in b "$b" 10.9.1.3
eventually "the VF in a has link" 90 has_link a "$a"
eventually "the VF in b has link" 90 has_link b "$b"
check "a bridge on the PF, with a MAC of its own" bash -c "ip link add br0 address 52:54:00:00:99:01 type bridge &&
	ip link set br0 up && ip link set $ens1 master br0 && ip addr add 10.9.1.254/24 dev br0"
check "a container on it" container c br0 10.9.1.2 02:00:00:00:99:02
check "VF to VF" answers a 10.9.1.3

# ---- the bridge learns the container, and doctor tells the card ----
check "the host reaches the container" busybox ping -c 1 -W 2 10.9.1.2
check "the VF does not" silent a 10.9.1.2
check "nor the host" silent a 10.9.1.254
check_is "both are missing in the card's table" 2 missing
check "doctor finds it" bash -c "vfctl doctor $ens1 --json | jq -e '.ailments[] | select(.check == \"bridge\").fix == \"fdb\"'"
check "and adds both" bash -c "vfctl doctor $ens1 --fix 2>&1 | grep -c 'to the card' | grep -x 2"
forget_neighbours a c
check "the VF reaches the container" answers a 10.9.1.2
check "the container the VF" answers c 10.9.1.1
check "and the VF the host" answers a 10.9.1.254
check_is "nothing is missing" 0 missing
check "a second time there is nothing to do" bash -c "vfctl doctor $ens1 --fix 2>&1 | grep 'nothing that doctor can fix'"

# ---- a container pretends the MAC of VF b ----
mac_b=$(ip -n b -j link show dev "$b" | jq -r '.[0].address')
check "a container with it" container d br0 10.9.1.4 "$mac_b"
# VF b speaks too, so the bridge sees its MAC on either port.
eventually "doctor names the VF and the port" 10 bash -c "ip netns exec d busybox ping -c 1 -W 1 10.9.1.254; vfctl doctor $ens1 --json |
	jq -e '.ailments[] | select(.check == \"bridge-mac\") | (.subject == \"$ens1/1\") and (.evidence | contains(\"host-d\"))'"
fix
check "the card's table does not get it" bash -c "! bridge fdb show dev $ens1 self | grep -i $mac_b"
forget_neighbours a
check "and VF b is still reached" answers a 10.9.1.3
ip netns del d

# ---- a bond between ----
clear_table
check "the PF in a bond" bash -c "ip link set $ens1 nomaster && ip link add bond0 type bond mode active-backup &&
	ip link set $ens1 down && ip link set $ens1 master bond0 && ip link set bond0 up master br0"
eventually "has link" 90 bash -c '[ "$(cat /sys/class/net/bond0/carrier)" = 1 ]'
eventually "the VF in a has link again" 90 has_link a "$a"
busybox ping -c 1 -W 2 10.9.1.2
forget_neighbours a c
check "the VF does not reach the container" silent a 10.9.1.2
check "doctor adds what is behind the bond's bridge" bash -c "vfctl doctor $ens1 --fix 2>&1 | grep 02:00:00:00:99:02"
forget_neighbours a c
check "the VF reaches the container" answers a 10.9.1.2
clear_table
check "no bond" bash -c "ip link del bond0; ip link set $ens1 up master br0"
eventually "the PF has link" 90 bash -c "[ \"\$(cat /sys/class/net/$ens1/carrier)\" = 1 ]"

# ---- a VLAN-aware bridge, and a second bridge above one of its VLANs ----
check "VF a in VLAN 7" vfctl set "$ens1/0" vlan=7
check "a bridge above VLAN 7" bash -c "ip link set br0 type bridge vlan_filtering 1 && bridge vlan add vid 7 dev $ens1 &&
	bridge vlan add vid 7 dev br0 self && ip link add link br0 name br0.7 type vlan id 7 &&
	ip link add br7 address 52:54:00:00:99:07 type bridge && ip link set br0.7 up master br7 &&
	ip link set br7 up && ip addr add 10.9.7.254/24 dev br7"
check "a container on that" container d br7 10.9.7.2 02:00:00:00:99:04
ip -n a addr add 10.9.7.1/24 dev "$a"
eventually "the VF in a has link" 90 has_link a "$a"
check "the host reaches it" busybox ping -c 1 -W 2 10.9.7.2
forget_neighbours a
check "the VF does not" silent a 10.9.7.2
check "doctor finds it, and the bridge's own MAC" bash -c "vfctl doctor $ens1 --fix 2>&1 | grep -c -e 02:00:00:00:99:04 -e 52:54:00:00:99:07 |
	grep -x 2"
forget_neighbours a d
check "the VF reaches the container" answers a 10.9.7.2
check "and the host" answers a 10.9.7.254
check "no VLAN" vfctl set "$ens1/0" vlan=0
ip netns del d; ip link del br7; ip link del br0.7; ip link set br0 type bridge vlan_filtering 0
clear_table

# ---- the capacity of the card: 24 less those of 2 VFs, one more, and its own ----
check_is "doctor knows it" 20 bash -c "vfctl list --bridge $ens1 --json | jq '.uplinks[0].capacity'"
for i in $(seq 10 40); do bridge fdb add 02:00:00:00:98:$i dev host-c master static; done
check "doctor fills the table and no more" bash -c "vfctl doctor $ens1 --fix 2>&1 | grep 'table holds 20, and 20 are used'"
check_is "with 20 entries" 20 bash -c "vfctl list --bridge $ens1 --json | jq '.uplinks[0].used'"
check "the kernel takes one more without a word" bridge fdb add 02:00:00:00:97:01 dev "$ens1" self permanent
check "doctor says so" bash -c "vfctl doctor $ens1 --json |
	jq -e '.ailments[] | select(.check == \"bridge\").evidence | contains(\"has 21 unicast MACs and holds 20\")'"
for i in $(seq 10 40); do bridge fdb del 02:00:00:00:98:$i dev host-c master; done
clear_table

# ---- vfctl monitor --bridge: what comes later ----
echo "pfs: [{match: $ens1, bridge: {mode: learnt, macs: ['02:00:00:00:96:01']}}]" >/tmp/bridge.yaml
follow() { vfctl --host-yaml /tmp/bridge.yaml monitor --bridge --json >>/tmp/followed 2>&1 & follower=$!; }
told() { grep -qs "\"$1\", .*\"mac\": \"$2\"" /tmp/followed; }
rm -f /tmp/followed
follow
eventually "it adds what is there, and what is declared" 20 bash -c "grep -q 02:00:00:00:99:02 /tmp/followed && grep -q 02:00:00:00:96:01 /tmp/followed"
forget_neighbours a c
check "the VF reaches the container" answers a 10.9.1.2
check "a container that comes later" container d br0 10.9.1.4 02:00:00:00:99:05
ip netns exec d busybox ping -c 1 -W 1 10.9.1.254
eventually "is added" 20 told added 02:00:00:00:99:05
eventually "the VF reaches it" 20 answers a 10.9.1.4
check "the bridge forgets it" bash -c "ip -n a neigh replace 10.9.1.4 lladdr 02:00:00:00:99:05 dev $a && ip -n d link set eth0 arp off &&
	ip link set br0 type bridge ageing_time 100 && sleep 3 && ! bridge fdb show br br0 | grep -q '02:00:00:00:99:05 dev host-d'"
check "and the card does not" bash -c "bridge fdb show dev $ens1 self | grep 02:00:00:00:99:05"
ip link set br0 type bridge ageing_time 30000
kill -9 "$follower"
wait "$follower" 2>/dev/null
rm /tmp/followed
check "killed: the entries stay" bash -c "bridge fdb show dev $ens1 self | grep 02:00:00:00:99:05"
ip netns del d
follow
eventually "the next one removes what is behind no port" 20 told removed 02:00:00:00:99:05
check "a second one is refused" bash -c "vfctl --host-yaml /tmp/bridge.yaml monitor --bridge 2>&1 | grep 'already'"

# 1,000 MACs that come and go, ten times what the table holds at once.
resident() { awk '/^VmRSS/ { print $2 }' "/proc/$follower/status"; }
many() { for i in $(seq 256 1255); do printf 'fdb %s 02:00:00:00:%02x:%02x dev host-c master %s\n' "$1" $((i / 256)) $((i % 256)) "$2"; done; }
many add static >/tmp/add && many del '' >/tmp/del
bridge -batch /tmp/add && bridge -batch /tmp/del
sleep 2
before=$(resident)
for _ in 1 2 3; do bridge -batch /tmp/add && bridge -batch /tmp/del; done
sleep 2
check "it does not grow with MACs that are gone (from $before KiB)" bash -c "[ $(resident) -le $((before + 1024)) ]"
check "the table holds no more than it can" bash -c "vfctl list --bridge $ens1 --json | jq -e '.uplinks[0].used <= 20'"
kill "$follower"
wait "$follower"
check_is "at its end nothing of it is left" 0 bash -c "vfctl list --bridge $ens1 --json | jq '.uplinks[0].used'"

# ---- the unit ----
mkdir -p /etc/vfctl
echo "pfs: [{match: $ens1, bridge: {mode: learnt, macs: ['02:00:00:00:96:02']}}]" >/etc/vfctl/host.yaml
has_entry() { bridge fdb show dev "$ens1" self | grep -q "$1"; }
has_no_entry() { ! has_entry "$1"; }
check "status reports that it does not run" bash -c "vfctl status | grep 'enable --now vfctl-bridge'"
check "it starts" systemctl start vfctl-bridge
eventually "it adds what is declared" 20 has_entry 02:00:00:00:96:02
check_is "status has nothing to report" 0 bash -c "vfctl status | grep -c vfctl-bridge"
check "a container that comes later" container d br0 10.9.1.5 02:00:00:00:99:06
ip netns exec d busybox ping -c 1 -W 1 10.9.1.254
eventually "is added" 20 has_entry 02:00:00:00:99:06
sed -i 's/96:02/96:03/' /etc/vfctl/host.yaml
eventually "it follows host.yaml" 20 has_entry 02:00:00:00:96:03
check "and removes what is not declared any more" has_no_entry 02:00:00:00:96:02
check "the unit is killed" systemctl kill --signal=KILL vfctl-bridge
eventually "and starts again" 20 bash -c "systemctl show -p NRestarts vfctl-bridge | grep =1 && systemctl is-active vfctl-bridge"
check "it stops" systemctl stop vfctl-bridge
check_is "and leaves nothing" 0 bash -c "vfctl list --bridge $ens1 --json | jq '.uplinks[0].used'"
check "systemd reports no failure" bash -c "! systemctl is-failed vfctl-bridge"
ip netns del d
rm /etc/vfctl/host.yaml

# ---- nothing is left ----
clear_table
for where in a b c; do ip netns del $where; done
ip link del br0
echo "$arp_ignored" >$arp_ignore
eventually "the devices are back on the host" 10 bash -c "ip link show dev $a && ip link show dev $b"
check "no VFs" vfctl destroy "$ens1"
finish
