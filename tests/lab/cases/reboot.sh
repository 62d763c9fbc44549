#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# usage: reboot.sh [idle|apply|unit]     see tests/lab/power-cut --reboot, which boots the lab for this
# Scenario 78: a host whose PFs are declared, with a guest that starts by itself: after each boot all is there.
# Then the power is cut: while nothing goes on, in the middle of apply, or of the unit's work.
# shellcheck source=tests/lab/cases/lib.sh
. "$(dirname "$0")/lib.sh"
# shellcheck source=tests/lab/cases/recovery.sh
. "$(dirname "$0")/recovery.sh"

unit() { systemctl show --property "$2" --value "$1"; }

# usage: declare_pfs VFS     of the left one; besides the guests' pool
declare_pfs() {
	recovery_begin
	cat >>/etc/vfctl/host.yaml <<-EOT
		pfs:
		  - match: {address: '$left'}
		    count: $1
		    mtu: 2000
		    link: up
		    vfs:
		      1-2: {vlan: 55}
		  - match: {address: '$right', driver: igb}
		    count: 2
		    driver: host
		    link: up
	EOT
}

first_boot() {
	check_is "without a host.yaml there is nothing to apply" no unit vfctl-apply ConditionResult
	declare_pfs 3
	check "apply" vfctl apply
	check_is "three VFs" 3 cat "$pci/$left/sriov_numvfs"
	check "the hook" vfctl hook install
	check "a guest" vfctl define /tmp/one.yaml
	check "that starts with the host" virsh --quiet autostart one
}

later_boot() {
	local took
	check_is "the unit did its work" "success 0" \
		bash -c "systemctl show vfctl-apply --property Result,ExecMainStatus --value | xargs"
	journalctl --quiet --unit vfctl-apply --unit vfctl-recover --output cat | sed 's/^/# at boot: /'
	check "before libvirtd was started" [ "$(unit vfctl-apply ExecMainExitTimestampMonotonic)" \
		-lt "$(unit libvirtd ExecMainStartTimestampMonotonic)" ]
	took=$((($(unit vfctl-apply ExecMainExitTimestampMonotonic) - \
		$(unit vfctl-apply ExecMainStartTimestampMonotonic)) / 1000))
	echo "# the unit took $took ms"
	check "all is as declared" vfctl status
	check_is "nobody else may read the state" 700 stat -c %a /var/lib/vfctl
	check_is "the MTU" 2000 cat "/sys/class/net/$ens1/mtu"
	for ((i = 0; i < 90; i++)); do
		[ "$(virsh domstate one 2>/dev/null | xargs)" != running ] || break
		sleep 1
	done
	check_is "the guest runs, started by libvirtd" running bash -c "virsh domstate one | xargs"
	check "with its VLAN" grep ' 77 true false$' <(vf_rows "$left")
	check_is "the journal has its run alone" "" query "SELECT story FROM change WHERE run IS NULL"
	check "apply changes nothing" grep '"changed": false' <(vfctl apply --json | head -n 2)
}

cut_in() {
	case $1 in
	apply)
		virsh --quiet destroy one
		check "undefine" vfctl undefine one
		declare_pfs 6
		sync
		vfctl apply >/dev/null 2>&1 &
		sleep "$(part "$((SRANDOM % 100))" 2.5)"
		;;
	unit)
		virsh --quiet destroy one
		echo 0 >"$pci/$left/sriov_numvfs"
		echo 0 >"$pci/$right/sriov_numvfs"
		systemctl restart --no-block vfctl-apply
		sleep "$(part "$((SRANDOM % 100))" 2.5)"
		;;
	esac
	[ "$1" = apply ] || sync
	echo "# open: $(query 'SELECT story FROM change' | xargs)"
	echo cut >&7
	sleep 60
}

if [ ! -e /etc/vfctl/host.yaml ]; then
	first_boot
else
	sed 's/^  - pf: ens1/&\n    vlan: 77/' /payload/guests/one.yaml >/tmp/one.yaml
	if ! virsh dominfo one >/dev/null 2>&1; then # it went before the power did
		check "the guest again" vfctl define /tmp/one.yaml
		virsh --quiet autostart one
		virsh --quiet start one
	fi
	later_boot
fi
sync
[ "$failures" != 0 ] || [ -z "${1:-}" ] || cut_in "$1"
finish
