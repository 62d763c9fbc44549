# SPDX-License-Identifier: GPL-2.0-or-later
# CASE_BOOT 3
# shellcheck shell=bash
# devlink as the kernel has it: modes, representors, rates, health, on netdevsim, by the code that apply
# uses (tests/lab/nldevlink.c). Looked at with devlink(8), ip and sysfs.
. "$(dirname "$0")/lib.sh"

bus=/sys/bus/netdevsim
dev=netdevsim8
nl() { /payload/bin/nldevlink "$@"; }
by_devlink() { devlink -j dev eswitch show netdevsim/$dev | jq -r '.dev[].mode'; }
refused() { # WORDS COMMAND...
	local text
	text=$("${@:2}" 2>&1) && { echo "it did not fail: $text"; return 1; }
	[[ $text == *"$1"* ]] || { echo "$text"; return 1; }
}
# The network device of VF N, by what it is.
representor() {
	local f
	for f in /sys/class/net/*/phys_port_name; do
		[ "$(cat "$f" 2>/dev/null)" != "pf0vf$1" ] || basename "${f%/*}"
	done
}

check "the module of the kernel's source package" bash -c "modprobe psample && { [ -e $bus ] || insmod /usr/lib/lab/netdevsim.ko; }"
check "a device with one port" bash -c "echo '8 1 4' >$bus/new_device"
eventually "it is there" 10 test -d $bus/devices/$dev
check "with 4 VFs" bash -c "echo 4 >$bus/devices/$dev/sriov_numvfs"

# ---- modes ----
check_is "its mode, as we read it" legacy nl $dev mode
check_is "and devlink" legacy by_devlink
check_is "into switchdev" switchdev nl $dev mode switchdev
check_is "devlink says so" switchdev by_devlink
check "of a device that is none" refused "does not support devlink" nl netdevsim99 mode

# ---- ports and representors ----
check_is "4 ports of VFs (flavour 4)" "0 1 2 3" bash -c "/payload/bin/nldevlink $dev ports | awk '\$2 == 4 { print \$4 }' | sort -n | xargs"
rep=$(representor 2)
check_is "the representor of VF 2, by switch id and port name and by devlink" "$rep" \
	bash -c "/payload/bin/nldevlink $dev ports | awk '\$2 == 4 && \$4 == 2 { print \$5 }'"
check "it has a switch id" test -s "/sys/class/net/$rep/phys_switch_id"
check "a bridge" ip link add esw0 type bridge
check "it becomes a port of it" nl "$rep" master esw0
check_is "ip shows that" esw0 bash -c "ip -j link show dev $rep | jq -r '.[0].master'"
check "and is none again" nl "$rep" master -
check_is "ip shows that as well" null bash -c "ip -j link show dev $rep | jq -r '.[0].master'"
check "what is no bridge" refused "EOPNOTSUPP" nl "$rep" master lo

# ---- rates ----
check "2000 and 500 Mbit/s for VF 1" nl $dev rate 1 250000000 62500000
check_is "devlink shows both" "250000000 62500000" bash -c "devlink -j port function rate show | jq -r '[.rate[] | select(.tx_max)][0] | \"\(.tx_max) \(.tx_share)\"'"
check_is "and we" "250000000 62500000" bash -c "/payload/bin/nldevlink $dev rates | awk '\$2 { print \$2, \$3 }'"
check "no whole Mbit/s: the kernel's words" refused "EINVAL: " nl $dev rate 1 250000001 0
check "no limit again" nl $dev rate 1 0 0
check "a group of rates" devlink port function rate add netdevsim/$dev/gold
check_is "which we see" "gold" bash -c "/payload/bin/nldevlink $dev rates | awk '\$1 ~ /[a-z]/ { print \$1 }'"
check "keeps the mode from changing, in the kernel's words" refused "Rate node(s) exist" nl $dev mode legacy
check "the group goes" devlink port function rate del netdevsim/$dev/gold

# ---- health ----
check_is "two reporters, both well" "dummy ok, empty ok" bash -c "/payload/bin/nldevlink $dev health | awk '{ print \$1, \$2 }' | sort | paste -sd, | sed 's/,/, /'"
check "one is made ill" bash -c "devlink health set netdevsim/$dev reporter dummy auto_recover false && echo ill >/sys/kernel/debug/netdevsim/$dev/health/break_health"
check_is "we see it" "error" bash -c "/payload/bin/nldevlink $dev health | awk '\$1 == \"dummy\" { print \$2 }'"

check_is "back to legacy" legacy nl $dev mode legacy
check_is "devlink says that too" legacy by_devlink
check_is "the representors are gone" "" representor 2
ip link del esw0
echo 8 >$bus/del_device
