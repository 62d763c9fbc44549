#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# A PF that goes away, or loses its driver, in the middle of what is done with it, and under a guest:
# said in one line, nothing left to recover, and all as before once it is back and has its VFs.
# By hand, as QEMU's threads lose a timer when PCI devices come and go; with one thread they do not:
#     VFCTL_LAB_THREAD=single tests/lab/run --payload DIR --timeout 1500 cases/unplug.sh
# shellcheck source=tests/lab/cases/lib.sh
. "$(dirname "$0")/lib.sh"
# shellcheck source=tests/lab/cases/recovery.sh
. "$(dirname "$0")/recovery.sh"

remove() { echo 1 >"$pci/$1/remove"; }
unbind() { echo "$1" >"$pci/$1/driver/unbind"; }
gone() { [ ! -e "$pci/$1" ]; }
named() { [ -e "$pci/$1/net/$2" ] && ip link set "$2" up; }
back() {
	echo 1 >/sys/bus/pci/rescan
	eventually "the PF is back" 30 named "$left" "$ens1"
}
numvfs() { cat "$pci/$left/sriov_numvfs"; }
# usage: meanwhile SECONDS FUNCTION COMMAND...     its words in $said, its status in $status
meanwhile() {
	(
		sleep "$1"
		"$2" "$left"
	) &
	local harm=$!
	said=$("${@:3}" 2>&1)
	status=$?
	wait "$harm"
	echo "# $2 after $1 s: status $status: ${said//$'\n'/ | }"
}
words() { grep -cE "disappeared|no longer exists|has no driver|not found|not a PF|no driver is bound" <<<"$said"; }

recovery_begin
check "the hook" vfctl hook install
ip link set "$ens1" up
ip link set "$ens2" up

# ---- in the middle of create and destroy ----
for seconds in 0.2 0.5 0.8 1.2; do
	meanwhile "$seconds" remove vfctl -q create "$ens1" 7
	[ "$status" = 0 ] || check_is "unplugged after $seconds s: create says so" 1 words
	check_is "it is no half-done change" yes sh -c "[ $status -le 2 ] && echo yes"
	check_is "nothing is left to recover" "nothing to recover" vfctl recover
	back
	check_is "it has no VFs" 0 numvfs
	check "and gets seven" vfctl create "$ens1" 7
	check_is "drivers probe new VFs as before" 1 autoprobe
	meanwhile "$seconds" remove vfctl -q destroy "$ens1"
	check_is "unplugged while VFs are removed: they are" yes sh -c "[ $status -le 1 ] && echo yes"
	check_is "nothing is left to recover" "nothing to recover" vfctl recover
	back
done

# ---- killed, and unplugged before anybody looked ----
killed 0.6 vfctl create "$ens1" 7
check "the PF goes" remove "$left"
check "recover" vfctl recover
check_is "the journal is empty" 0 journal
back
killed 0.6 vfctl create "$ens1" 7
check "the PF goes" remove "$left"
back
check "recover, the PF being back" vfctl recover
check_is "no VFs" 0 numvfs
check_is "the journal is empty" 0 journal

# ---- its driver ----
for seconds in 0.3 0.8; do
	meanwhile "$seconds" unbind vfctl -q create "$ens1" 7
	[ "$status" = 0 ] || check_is "without its driver after $seconds s: create says so" 1 words
	echo "$left" >/sys/bus/pci/drivers_probe
	eventually "it has its driver again" 30 named "$left" "$ens1"
	check "recover" vfctl recover
	check_is "the journal is empty" 0 journal
	check "VFs" vfctl create "$ens1" 3
	check_is "drivers probe new VFs as before" 1 autoprobe
	check "none" vfctl destroy "$ens1"
done

# ---- a guest that is off ----
check "VFs" vfctl create "$ens1" 3
check "a guest" vfctl define /tmp/one.yaml
check "the PF goes" remove "$left"
check "status says what is not there" bash -c "vfctl status | grep -q 'went with its PF $left'"
check_fails "the guest does not start" virsh start one
check "the driver goes" rmmod igb
check "and comes back" modprobe igb
back
check "VFs again" vfctl create "$ens1" 3
eventually "it starts" 30 virsh -q start one
check_is "with its VF" "one domain one" who_has "$(vf_of "$left" 0)"

# ---- a guest that runs, and does not let go: the kernel waits for it ----
vf=$(vf_of "$left" 0)
check "VFs of the other PF" vfctl create "$ens2" 2
remove "$left" &
removing=$!
sleep 5
check "list has an answer" timeout 60 vfctl list
check "status as well" bash -c 'timeout 60 vfctl status; [ $? = 3 ]'
check "doctor as well" bash -c 'timeout 60 vfctl doctor; [ $? = 3 ]'
check_fails "no more VFs of the PF that goes" timeout 60 vfctl create "$ens1" 5
text=$(timeout 200 vfctl -q create "$ens2" 3 2>&1)
check_is "the kernel lets nobody make VFs meanwhile, which is said" 4 echo $?
check "with what goes on" grep -q 'the write goes on' <<<"$text"
check "the guest is stopped" virsh -q destroy one
wait "$removing"
eventually "the PF goes" 30 gone "$left"
eventually "the write of the other PF has come to its end" 60 bash -c "! pgrep -x vfctl"
check "recover" vfctl recover
check_is "the journal is empty" 0 journal
check_is "the other PF has its VFs again" "2 2" bash -c \
	"echo \$(cat $pci/$right/sriov_numvfs) \$(vfctl list --json | jq '[.pfs[] | select(.address == \"$right\").vfs[] | select(.driver == \"vfio-pci\")] | length')"
check "status says what is not there" bash -c "vfctl status | grep -q 'went with its PF $left'"
back
check "VFs again" vfctl create "$ens1" 3
check_is "at the same address" "$vf" vf_of "$left" 0
eventually "the guest starts" 30 virsh -q start one
check_is "with its VF" "one domain one" who_has "$vf"
virsh -q destroy one
check "undefine" vfctl undefine one
check_is "nothing is astray" "" astray_rows
finish
