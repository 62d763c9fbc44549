# SPDX-License-Identifier: GPL-2.0-or-later
# CASE_BOOT 3
# shellcheck shell=bash
# Interrupt moderation and the host's own settings on the real kernel, looked at with ethtool and cat.
. "$(dirname "$0")/lib.sh"

# exits STATUS COMMAND...: it ends with that status
exits() {
	local status=0 text
	text=$("${@:2}" 2>&1) || status=$?
	[ "$status" = "$1" ] || { echo "status $status: $text"; return 1; }
}
ens1=$(link_of "$left") ens2=$(link_of "$right")
usecs() { ethtool -c "$1" | awk '$1 == "rx-usecs:" { print $2 }'; }
# gets VALUE: what vfctl says would come of rx-usecs=VALUE
gets() {
	vfctl tune show "$ens1" "rx-usecs=$1" --json |
		jq -r '.pfs[0].settings[] | select(.name == "rx-usecs").gets'
}
first=$(usecs "$ens1")
check_is "the kernel's answer is ethtool's" "$first" bash -c \
	"vfctl tune show $ens1 --json | jq '.pfs[0].settings[] | select(.name == \"rx-usecs\").now'"
check_is "and has what ethtool has, no more" "rx-usecs tx-usecs" bash -c \
	"vfctl tune show $ens1 --json | jq -r '[.pfs[0].settings[].name] | sort | join(\" \")'"

# ---- every value at the driver's limits: what vfctl calls legal the driver takes, and the reverse ----
taken() { # taken VALUE: does the driver take it? Another one is set before, for equal values are not looked at.
	ethtool -C "$ens1" rx-usecs 100 2>/dev/null
	ethtool -C "$ens1" rx-usecs "$1" 2>/dev/null
}
wrong=''
for value in 0 1 2 3 4 5 6 7 8 9 10 11 9999 10000 10001 65536 4294967295; do
	nearest=$(gets "$value")
	if taken "$value"; then legal=$value; else legal=no; fi
	case $legal:$nearest in
	"$value:$value") ;;
	no:"$value") wrong+=" $value is refused;" ;;
	no:*) taken "$nearest" || wrong+=" $value: its nearest $nearest is refused;" ;;
	*) wrong+=" $value is taken, not only $nearest;" ;;
	esac
done
check_is "the table of igb is the driver's own" "" printf %s "$wrong"

# ---- set, read back, put back ----
check "latency is set" vfctl tune set "$ens1" latency
check_is "ethtool sees it" 0 usecs "$ens1"
check_is "again: nothing to do" false bash -c "vfctl tune set $ens1 latency --json 2>/dev/null | jq .changed"
printf '%s\n' 'pfs:' "  - {match: $ens1, tuning: {rx-usecs: 30}}" "  - {match: $ens2, tuning: mixed}" >/tmp/tuned.yaml
check "host.yaml is applied" vfctl apply /tmp/tuned.yaml
check_is "to one PF" 30 usecs "$ens1"
check_is "and to the other, whose driver follows the load with 3" 3 usecs "$ens2"
check_is "a second time nothing changes" false bash -c "vfctl apply /tmp/tuned.yaml --json | jq .changed"
ethtool -C "$ens1" rx-usecs 200
check "what somebody set by hand is drift" exits 3 vfctl status /tmp/tuned.yaml
check "and is put right" vfctl -q apply /tmp/tuned.yaml
check_is "as declared" 30 usecs "$ens1"

# ---- VFs that run with the PF meanwhile ----
check "a PF with VFs in its guests' hands is tuned as well" bash -c \
	"vfctl -q create $ens1 2 && vfctl -q tune set $ens1 rx-usecs=50"
check_is "the VFs are still there" 2 cat "$pci/$left/sriov_numvfs"
check "no VFs" vfctl -q destroy "$ens1"

# ---- Scenario 72: a bridge on the PF, whose card does not know what is behind it ----
check "a guest with a VF of that PF" bash -c "vfctl -q create $ens2 1 && vfctl define /payload/guests/small.yaml"
ip link add br0 type bridge && ip link set "$ens2" master br0
ip link add v0 type veth peer name v1 && ip link set v0 master br0
bridge fdb add 02:00:00:00:00:07 dev v0 master static
fdb() { vfctl doctor "$ens2" --json | jq -r '[.ailments[] | select(.check == "bridge").fix] | join(" ")'; }
check_is "doctor finds the MAC that is missing" fdb fdb
check "and tells the card" bash -c "vfctl doctor $ens2 --fix 2>&1 | grep 02:00:00:00:00:07"
check_is "bridge sees it" 02:00:00:00:00:07 bash -c \
	"bridge fdb show dev $ens2 self | awk '\$1 == \"02:00:00:00:00:07\" { print \$1 }'"
check_is "and it is an ailment no more" "" fdb
bridge fdb del 02:00:00:00:00:07 dev "$ens2" self
ip link del v0; ip link del br0
check "undefine" vfctl undefine small
check "no VFs" vfctl -q destroy "$ens2"

# ---- the host as a whole ----
page=/sys/devices/system/node/node0/hugepages/hugepages-2048kB
pages=$(cat $page/nr_hugepages) balancing=$(cat /proc/sys/kernel/numa_balancing)
huge=$(sed 's/.*\[\(.*\)\].*/\1/' /sys/kernel/mm/transparent_hugepage/enabled)
cat >/tmp/host.yaml <<EOT
hugepages: [{node: 0, size: 2MiB, count: $((pages + 8))}]
kernel: {numa-balancing: off, transparent-hugepages: never, busy-poll-us: 50, cpu-latency-us: 20, memlock: unlimited}
EOT
check "pages and settings of the kernel; the daemon is to be told" exits 3 vfctl apply /tmp/host.yaml
check_is "the pages are there" "$((pages + 8))" cat $page/nr_hugepages
check_is "NUMA balancing is off" 0 cat /proc/sys/kernel/numa_balancing
check_is "huge pages are not transparent" "always madvise [never]" cat /sys/kernel/mm/transparent_hugepage/enabled
check_is "sockets poll" "50 50" bash -c "cat /proc/sys/net/core/busy_poll /proc/sys/net/core/busy_read | xargs"
cstates() { cat /sys/devices/system/cpu/cpu*/power/pm_qos_resume_latency_us | sort -u | xargs; }
check_is "all CPUs have a limit of C-states" 20 cstates
systemctl daemon-reload
check_is "systemd reads the daemon's limit" infinity systemctl show -P LimitMEMLOCK libvirtd
check "as declared" vfctl status /tmp/host.yaml
echo "hugepages: [{node: 0, size: 2MiB, count: 1600}]" >/tmp/much.yaml
check "more pages than there is memory" exits 1 vfctl apply /tmp/much.yaml
check_is "and none of them stays" "$((pages + 8))" cat $page/nr_hugepages

# ---- as it was ----
rm -f /etc/systemd/system/{libvirtd,virtqemud}.service.d/50-vfctl.conf
systemctl daemon-reload
cat >/tmp/host.yaml <<EOT
hugepages: [{node: 0, size: 2MiB, count: $pages}]
kernel: {numa-balancing: $([ "$balancing" = 0 ] && echo off || echo on), transparent-hugepages: $huge, busy-poll-us: 0}
EOT
check "all of it back" vfctl -q apply /tmp/host.yaml
echo 'kernel: {cpu-latency-us: 0}' >/tmp/c.yaml
check "no C-state at all" vfctl -q apply /tmp/c.yaml
check_is "the kernel calls that n/a" n/a cstates
for file in /sys/devices/system/cpu/cpu*/power/pm_qos_resume_latency_us; do echo 0 >"$file"; done
ethtool -C "$ens1" rx-usecs "$first" 2>/dev/null
check_is "the card has its own moderation again" "$first" usecs "$ens1"
finish
