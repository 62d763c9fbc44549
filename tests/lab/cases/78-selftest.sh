# SPDX-License-Identifier: GPL-2.0-or-later
# CASE_BOOT 3
# shellcheck shell=bash
# vfctl selftest on the lab's cards, with their own drivers and the real kernel.
. "$(dirname "$0")/lib.sh"

ens1=$(link_of "$left") ens2=$(link_of "$right")
# exits STATUS COMMAND...: it ends with that status
exits() {
	local status=0 text
	text=$("${@:2}" 2>&1) || status=$?
	[ "$status" = "$1" ] || { echo "status $status: $text"; return 1; }
}
# Of a report: outcome AREA NAME
outcome() { jq -r ".trials[] | select(.area == \"$2\" and .name == \"$3\").outcome" "$1"; }
odd() { jq -r '[.trials[] | select(.differs or .outcome == "fail") | .area + " " + .name + ": " + (.words // "")] | join("; ")' "$1"; }
# What a PF has, by others' words.
state() {
	cat "$pci/$1"/sriov_{numvfs,drivers_autoprobe} "$pci/$1/net/"*/mtu 2>/dev/null
	readlink "$pci/$1"/virtfn*/driver 2>/dev/null
	[ ! -d "$pci/$1/net" ] || { ethtool -c "$(link_of "$1")" 2>/dev/null; ip -d link show "$(link_of "$1")" | grep ' vf '; }
}
running() { pgrep -x vfctl >/dev/null; }

# Cases before this one leave them down; igb's VFs get no MAC and no rate then.
for link in "$ens1" "$ens2"; do
	check "$link up" ip link set "$link" up
	eventually "it has a link" 90 grep -qx 1 "/sys/class/net/$link/carrier"
done

# ---- igb: the tables are the card's own ----
check_fails "nothing without --yes" vfctl selftest "$ens1"
state "$left" >/tmp/before
check "igb: nothing differs from the tables" vfctl -q selftest "$ens1" --yes --json --output /tmp/igb.json
check_is "no trial failed" "" odd /tmp/igb.json
for trial in "create|7 VFs" "create|3 VFs" "create|1 VF" "create|8 VFs are rejected" "isolation|IOMMU groups of 7 VFs" \
	"attributes|mac" "attributes|vlan=100 qos=3" "attributes|trust=on" "attributes|spoofchk=off" \
	"attributes|a multicast MAC is rejected" "driver|vfio-pci" "driver|the host's driver" "reset|a single VF" \
	"moderation|rx-usecs=10000" "moderation|rx-usecs=10001 is refused" "moderation|rx-usecs=2 is refused" "mtu|9000"; do
	check_is "igb: ${trial#*|}" pass outcome /tmp/igb.json "${trial%|*}" "${trial#*|}"
done
check_is "igb: no RSS queries" not-supported outcome /tmp/igb.json attributes query-rss=on
check_is "igb: no link state" not-supported outcome /tmp/igb.json attributes link-state=enable
check_is "igb: no minimum rate" not-supported outcome /tmp/igb.json attributes "min-rate=50 max-rate=200"
check_is "the PF is as before" "" bash -c "$(declare -f state link_of); pci=$pci; state $left | diff /tmp/before -"
check_fails "the report has no address, name or MAC" grep -E "$left|$ens1|52:54|([0-9a-f]{2}:){3}" /tmp/igb.json
check_is "and nothing is left to recover" "nothing to recover" vfctl recover

# ---- VFs that are there already, and what they have ----
check "2 idle VFs, one with policy" bash -c "vfctl -q create $ens2 2 && vfctl -q set $ens2/1 mac=02:00:00:00:00:42 vlan=9 trust=on"
state "$right" >/tmp/before
check "text, of the other card" bash -c "COLUMNS=160 vfctl -q selftest $ens2 --yes >/tmp/igb.txt"
check_is "its VFs are there again, as they were" "" bash -c "$(declare -f state link_of); pci=$pci; state $right | diff /tmp/before -"
# killed SECONDS SIGNAL PF: the self-test of it, after that time
killed() {
	vfctl -q selftest "$3" --yes >/tmp/killed 2>&1 &
	local pid=$!
	sleep "$1"
	kill -"$2" "$pid" 2>/dev/null
	wait "$pid" 2>/dev/null
}
state "$left" >/tmp/before1
# At one moment each; with a file "long" in the payload at more.
with=(11) without=(3)
[ ! -e /payload/long ] || with=(1 5 11 23) without=(3 16)
for second in "${with[@]}"; do
	killed $second KILL "$ens2"
	check "killed after $second s: recover" vfctl -q recover
	check_is "all as before" "" bash -c "$(declare -f state link_of); pci=$pci; state $right | diff /tmp/before -"
done
for second in "${without[@]}"; do
	killed $second KILL "$ens1"
	check "killed after $second s, without VFs before: recover" vfctl -q recover
	check_is "all as before" "" bash -c "$(declare -f state link_of); pci=$pci; state $left | diff /tmp/before1 -"
done
killed 4 TERM "$ens2"
check_is "interrupted: all as before at its end" "" bash -c "$(declare -f state link_of); pci=$pci; state $right | diff /tmp/before -"
check "it says so" grep -q "everything is restored" /tmp/killed

# ---- a VF in use ----
check "the host uses a VF" bash -c "vfctl -q create $ens2 2 --driver host && udevadm settle --timeout=60 && ip link set \$(ls $pci/\$(basename \$(readlink $pci/$right/virtfn0))/net) up"
check_fails "then it is refused" vfctl selftest "$ens2" --yes
check_is "and nothing was touched" 2 cat "$pci/$right/sriov_numvfs"
ip link set "$(ls "$pci/$(vf_of "$right" 0)/net")" down
check "no VFs" vfctl -q destroy "$ens2"

# ---- the host's own traffic ----
# refused WORDS...: the self-test of ens1 is refused with all of them
refused() {
	local text word
	text=$(vfctl selftest "$ens1" --yes 2>&1) && { echo "it was not refused"; return 1; }
	for word; do [[ $text == *"$word"* ]] || { echo "$text"; return 1; }; done
}
check "the default route over the PF" bash -c "ip addr add 10.97.0.2/24 dev $ens1 && ip route add default via 10.97.0.1 dev $ens1"
check "then it is refused" refused "this host's default route goes through $ens1, and" --force
check "--force does it" vfctl selftest "$ens1" --force --dry-run
ip route del default
check "over a VLAN on it, IPv6" bash -c "ip link add link $ens1 name lab7 type vlan id 7 && ip link set lab7 up &&
	ip -6 addr add 2001:db8:97::2/64 dev lab7 nodad && ip -6 route add default via 2001:db8:97::1 dev lab7"
check "it is refused as well" refused "goes through lab7, which uses $ens1"
ip link del lab7
check "neither: it is not refused" vfctl selftest "$ens1" --dry-run
# A connection that goes over it: made over another device, whose peer's route then moves.
check "a peer" bash -c "ip netns add peer && ip link add lab0 type veth peer name lab1 netns peer &&
	ip addr add 10.96.0.1/24 dev lab0 && ip link set lab0 up &&
	ip -n peer addr add 10.96.0.2/24 dev lab1 && ip -n peer link set lab1 up"
sleep 60 2>/dev/null | busybox nc -l -p 5022 >/dev/null 2>&1 &
server=$!
sleep 1
sleep 60 2>/dev/null | ip netns exec peer busybox nc 10.96.0.1 5022 >/dev/null 2>&1 &
client=$!
eventually "it is connected" 20 bash -c "ss -Htn state established '( sport = :5022 )' | grep -q ."
check "not over the PF: it is not refused" vfctl selftest "$ens1" --dry-run
check "its route moves to the PF" ip route add 10.96.0.2/32 dev "$ens1"
check "then it is refused" refused "a connection of this host (its TCP port 5022) goes through $ens1, and"
kill $client $server 2>/dev/null
ip netns del peer
ip link del lab0 2>/dev/null
ip route del 10.96.0.2/32 dev "$ens1" 2>/dev/null
ip addr del 10.97.0.2/24 dev "$ens1"

# ---- a card that is no network card ----
state "$nvme" >/tmp/before
check "NVMe" vfctl -q selftest "$nvme" --yes --json --output /tmp/nvme.json
check_is "no trial failed" "" odd /tmp/nvme.json
check_is "4 VFs" pass outcome /tmp/nvme.json create "4 VFs"
check_is "vfio-pci" pass outcome /tmp/nvme.json driver vfio-pci
check_is "the PF is as before" "" bash -c "$(declare -f state link_of); pci=$pci; state $nvme | diff /tmp/before -"
COLUMNS=160 vfctl -q selftest "$nvme" --yes >/tmp/nvme.txt 2>&1
cp /tmp/igb.json /tmp/igb.txt /tmp/nvme.json /tmp/nvme.txt /results/
sed 's/^/# /' /tmp/igb.txt /tmp/nvme.txt
finish
