#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# usage: power-cut.sh [CHANGES]     see tests/lab/power-cut, which boots the lab for this
# Looks at what the cut before this boot left, then begins CHANGES and asks for the next cut.
# shellcheck source=tests/lab/cases/lib.sh
. "$(dirname "$0")/lib.sh"
# shellcheck source=tests/lab/cases/recovery.sh
. "$(dirname "$0")/recovery.sh"

cut=/kept/cut # what went on, how many VFs the guest had before, and how many after
unit() { systemctl show --property "$2" --value "$1"; }

# The changes of VFs are gone with the VFs; the guest is as before or as after.
after_cut() {
	local changes before after now
	{ read -r changes && read -r before after; } <$cut
	echo "# the power was cut in: $changes"
	check_is "systemd recovered at boot" "success 0" \
		bash -c "systemctl show vfctl-recover --property Result,ExecMainStatus --value | xargs"
	journalctl --quiet --unit vfctl-recover --output cat | sed 's/^/# at boot: /'
	check "before libvirtd was started" [ "$(unit vfctl-recover ExecMainExitTimestampMonotonic)" \
		-lt "$(unit libvirtd ExecMainStartTimestampMonotonic)" ]
	vfctl recover 2>&1 | sed 's/^/# then: /'
	check_is "nothing is left to recover" "nothing to recover" vfctl recover
	if [ -n "$(query "$of_runs")" ]; then
		echo "# its run was never ended"
		check "which is returned" vfctl release one
	fi
	look
	now=$(counts)
	if [ "$now" = "$(counted 0 0 "$after")" ]; then
		ok "it is as after"
		g=$after
	else
		check_is "it is as before" "$(counted 0 0 "$before")" echo "$now"
		g=$before
	fi
	check_is "nothing is astray" "" astray
}

# usage: begin CHANGE     in the background
begin() {
	case $1 in
	create) vfctl create "$ens2" 7 ;;
	define) vfctl define /tmp/one.yaml ;;
	attach) vfctl attach one --pf "$ens1" --config vlan=78 ;;
	start) virsh --quiet start one ;;
	esac >/dev/null 2>&1 &
}

# usage: make_ready CHANGE     what it needs; adds to after
make_ready() {
	case $1 in
	define)
		[ "$g" = 0 ] || check "undefine" vfctl undefine one
		g=0 after=1
		;;
	attach | start)
		if [ "$g" = 0 ]; then
			check "define" vfctl define /tmp/one.yaml
			g=1
		fi
		after=$g
		[ "$1" = start ] || after=$((g + 1))
		;;
	esac
}

cut_in() {
	local change after=$g
	for change; do
		make_ready "$change"
	done
	printf '%s\n' "$*" "$g $after" >$cut
	check "all of that is on the disk" sync
	[ "$failures" = 0 ] || return
	for change; do
		begin "$change"
	done
	if [ "$change" = start ]; then
		until pgrep -f '50-vfctl one prepare' >/dev/null; do :; done
		sleep "0.$((SRANDOM % 8))"
	else
		sleep "$(part "$((SRANDOM % 100))" 1.5)"
		sleep 0.4
	fi
	echo "# open: $(query 'SELECT story FROM change' | xargs), leases: $(query 'SELECT count(*) FROM lease')"
	echo cut >&7
	sleep 60
}

g=0
if [ -e $cut ]; then
	after_cut
else
	check "the hook" vfctl hook install
	check_is "there is nothing to recover at boot" no unit vfctl-recover ConditionResult
fi
recovery_begin
check "VFs" vfctl create "$ens1" 3
if [ -n "${1:-}" ]; then
	# shellcheck disable=SC2086 # words
	cut_in $1
else
	look
	check_is "all is whole" "$(counted 3 0 "$g")" counts
	[ "$g" != 0 ] || check "define" vfctl define /tmp/one.yaml
	check "the guest starts" virsh --quiet start one
	check "with its VLAN" grep ' 77 true false$' <(vf_rows "$left")
	virsh --quiet destroy one
	check "undefine" vfctl undefine one
	look
	check_is "nothing is left of it" "$(counted 3 0 0)" counts
	check_is "nothing is astray" "" astray
fi
finish
