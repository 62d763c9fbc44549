# SPDX-License-Identifier: GPL-2.0-or-later
# CASE_BOOT 3
# shellcheck shell=bash
# What igb's VFs do not have, on the real rtnetlink and ethtool netlink: netdevsim, whose VFs are no PCI
# functions, by the code that set and tune set use (tests/lab/nlset.c). Looked at with ip and ethtool.
. "$(dirname "$0")/lib.sh"

bus=/sys/bus/netdevsim
dev() { ls $bus/devices/netdevsim7/net; }
# nl VF|- WORDS...
nl() { /payload/bin/nlset "$sim" netdevsim "$@"; }
# of KEY VF: what vfctl's code reads; by_ip JQ VF: what ip does
of() { nl "$2" | sed -n "s/^$1=//p"; }
by_ip() { ip -j -d link show dev "$sim" | jq -r ".[0].vfinfo_list[$2] | $1"; }
# errno WORD COMMAND...: it fails, and says so
errno() {
	local text
	text=$("${@:2}" 2>&1) && { echo "it did not fail: $text"; return 1; }
	[[ $text == *"$1"* ]] || { echo "$text"; return 1; }
}

check "the module of the kernel's source package" bash -c "modprobe psample && insmod /usr/lib/lab/netdevsim.ko"
check "a device with one port" bash -c "echo '7 1 4' >$bus/new_device"
eventually "it is there" 10 dev
sim=$(dev)
check "with 4 VFs" bash -c "echo 4 >$bus/devices/netdevsim7/sriov_numvfs"
check_is "ip sees 4" 4 bash -c "ip -j -d link show dev $sim | jq '.[0].vfinfo_list | length'"

# ---- attributes, each written by us, read by ip and by us ----
# Scenario 69: the tag is written and read back; no card here can put it on a wire.
check "a tag of 802.1ad with its priority" nl 1 vlan=100 qos=3 proto=802.1ad
check_is "ip shows it" "100 3 802.1ad" by_ip '.vlan_list[0] | "\(.vlan) \(.qos) \(.protocol)" | ascii_downcase' 1
check_is "and we" "100 802.1ad" bash -c "$(declare -f nl of); sim=$sim; echo \$(of vlan 1) \$(of proto 1)"
check "back to 802.1Q" nl 1 vlan=101
check_is "ip shows that" "101" by_ip '.vlan_list[0].vlan' 1
check "minimum and maximum rate" nl 0 min-rate=50 max-rate=200
check_is "ip shows both" "50 200" by_ip '"\(.rate.min_tx) \(.rate.max_tx)"' 0
check_is "and we both" "50 200" bash -c "$(declare -f nl of); sim=$sim; echo \$(of min-rate 0) \$(of max-rate 0)"
for state in enable disable auto; do
	check "link state $state" nl 2 link-state=$state
	check_is "ip shows it" "$state" by_ip .link_state 2
	check_is "and we" "$state" of link-state 2
done
for key in trust spoofchk; do
	for value in on off on; do
		check "$key $value" nl 3 $key=$value
		check_is "ip shows it" "$([ $value = on ] && echo true || echo false)" by_ip ".$key" 3
		check_is "and we" $value of $key 3
	done
done
for value in on off; do
	check "query-rss $value" nl 2 query-rss=$value
	check_is "ip shows it" "$([ $value = on ] && echo true || echo false)" by_ip .query_rss_en 2
	check_is "and we" $value of query-rss 2
done
check "a MAC" nl 3 mac=02:00:00:00:00:33
check_is "ip shows it" 02:00:00:00:00:33 by_ip .address 3
check_is "nothing of VF 0 changed" "50 200 auto" by_ip '"\(.rate.min_tx) \(.rate.max_tx) \(.link_state)"' 0
check "VF 4 of 4 is refused" errno EINVAL nl 4 trust=on
check "so is a GUID" errno "IPoIB" nl 0 port-guid=02:00:c9:00:00:00:00:11

# ---- interrupt moderation: netdevsim says that it has all of it ----
ethtool_has() { ethtool -c "$sim" | sed -n "s/^$1:[[:space:]]*//p"; }
check "values of all kinds at once" nl - rx-usecs=3 tx-usecs=5 rx-frames=7 tx-frames=9 rx-usecs-irq=11 \
	rx-usecs-low=13 rx-usecs-high=17 pkt-rate-low=19 pkt-rate-high=23 stats-block-usecs=29 sample-interval=31
check_is "ethtool shows each" "3 5 7 9 11 13 17 19 23 29 31" bash -c "$(declare -f ethtool_has); sim=$sim
	for key in rx-usecs tx-usecs rx-frames tx-frames rx-usecs-irq rx-usecs-low rx-usecs-high pkt-rate-low pkt-rate-high \
		stats-block-usecs sample-interval; do ethtool_has \$key; done | xargs"
check "adaptive moderation" nl - adaptive-rx=on adaptive-tx=on
check_is "ethtool shows both" "Adaptive RX: on  TX: on" bash -c "ethtool -c $sim | grep '^Adaptive'"
check "a switch that is taken and forgotten is a failure" errno "accepted the change but kept" nl - cqe-mode-rx=on
check_is "ethtool has it off" "off" bash -c "ethtool -c $sim | sed -n 's/^CQE mode RX: *\([a-z]*\).*/\1/p'"
check "so it is of transmit queues, beside a value that was kept" errno "cqe-mode-tx" nl - cqe-mode-tx=on rx-usecs=4
check "a value that was kept is none" nl - rx-usecs=50

# ---- as it was ----
check "no VFs" bash -c "echo 0 >$bus/devices/netdevsim7/sriov_numvfs"
check "no device" bash -c "echo 7 >$bus/del_device"
check "no module" rmmod netdevsim
finish
