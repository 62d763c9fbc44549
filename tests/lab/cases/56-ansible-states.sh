# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=bash
# CASE_BOOT 3
# The Ansible collection over ssh: a run that is killed half-way, "state: absent" from every state, and a host where
# another process holds a lock.
. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/ansible/lib.sh"

ens2=$(link_of "$right")
numvfs() { cat "$pci/$left/sriov_numvfs" "$pci/$right/sriov_numvfs" | xargs; }
leases() { sqlite3 /var/lib/vfctl/state.db 'SELECT count(*) FROM lease'; }

check "sshd" start_ssh
configure_ansible
check "a domain of libvirt" define_own

# ---- killed half-way ----
# The VFs are lost, such as with a reload of the driver, and the run that creates them is killed.
check "the host and its guests" run_play first site
keep_state first
echo 0 >"$pci/$left/sriov_numvfs"
echo 0 >"$pci/$right/sriov_numvfs"
run_play killed site >/dev/null &
play=$!
await_vf "$left"
# shellcheck disable=SC2046 # one word each: vfctl and the processes that create VFs
kill -KILL $(pidof vfctl)
wait "$play"
check_is "a run where vfctl is killed fails" 2 echo $?
check "the message says what to do" failed_with killed 'Make the host as declared' 'Run the task again'
check_is "a change is open" true \
	sqlite3 /var/lib/vfctl/state.db "SELECT iif(count(*) > 0, 'true', 'false') FROM change"
check "the same play again" run_play repaired site
check "it recovers the change" grep -q 'apply 0000' <(items repaired .recovered 'as declared')
check_state "the host is as before" first
check "and again" run_play last site
check_is "it changes nothing" "" changed last

# ---- absent ----
check_is "three leases" 3 leases
check "absent, from each state" run_play absent absent
check_is "each was compared with check mode, and with a second run" "9 9" \
	jq -rs 'map(select(.outcome == "ok").task) | [map(select(test("predicts the run"))), map(select(test("second run")))] |
		map(length) | join(" ")' "$control/absent.json"
check_is "guest one keeps its lease" 1 leases
check_is "and its definition" one bash -c "virsh list --all --name | xargs"

# ---- locked ----
# The vfctl that creates VFs has the lock of the PF, and that of the placement.
check "the domain again" virsh -q define /tmp/own.xml
vfctl -q destroy "$ens2"
vfctl -q create "$ens2" 7 &
holder=$!
await_vf "$right"
kill -STOP "$holder"
keep_state before
check "tasks on a host that is locked" run_play locked locked
for task in 'Change the host' 'Define a guest' 'Give the domain a VF'; do
	check "$task: it names the process" failed_with locked "$task" "held by process $holder (vfctl"
done
check_state "nothing was changed" before
kill -CONT "$holder"
wait "$holder"
check_is "the other process ends well" 0 echo $?
check "the same tasks again" run_play free locked
check_is "none fails" "" failure free
check_is "each changes something" "$(printf '%s\n' 'Change the host' 'Define a guest' 'Give the domain a VF')" changed free
check_is "the VFs are as declared" "4 3" numvfs

# ---- nothing left ----
check "remove all of it" run_play gone gone
check_is "no VFs" "0 0" numvfs
check_is "no leases" 0 leases
check_is "the domain of libvirt stays" own bash -c "virsh list --all --name | xargs"
check_is "no files" "" find /etc/vfctl /etc/libvirt/hooks -type f
check_is "the units are disabled" "disabled disabled" \
	bash -c "systemctl is-enabled vfctl-apply.service vfctl-recover.service | xargs"
check "again" run_play gone-again gone
check_is "it changes nothing" "" changed gone-again
end_ansible
finish
