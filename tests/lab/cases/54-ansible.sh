# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=bash
# CASE_BOOT 2
# The Ansible collection over ssh: check mode, a first and a second run, and a host that is changed by hand.
. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/ansible/lib.sh"

ens1=$(link_of "$left")
all_tasks="vfctl.sriov.host : Make the host as declared
vfctl.sriov.host : Apply the declaration at boot
vfctl.sriov.guest : Define or undefine guests
Give the domain a VF
Tune a card"

numvfs() { cat "$pci/$left/sriov_numvfs" "$pci/$right/sriov_numvfs" | xargs; }
attribute() { ip -j link show dev "$1" | jq -r ".[0].vfinfo_list[$2] | $3"; }
vf_in() { virsh dumpxml --inactive "$1" | xmllint --xpath "count(//devices/*[self::hostdev or self::interface[@type='hostdev']])" -; }

# usage: predicted RUN TASKS     the run of check mode before RUN said what RUN did, with the steps of TASKS
predicted() {
	local which='(.item | objects | .name) // .item, .changed' steps='.steps, .diff'
	local files='[.diff // [] | .[] | select(has("after"))]'
	check_is "$1: check mode names the tasks that change" "$(changed "$1")" changed "check-$1"
	check_is "$1: and the guests and units" "$(items "$1" "$which")" items "check-$1" "$which"
	check_is "$1: and their steps" "$(items "$1" "$steps" "$2")" items "check-$1" "$steps" "$2"
	check_is "$1: and the files of the guests" "$(items "$1" "$files" Define)" items "check-$1" "$files" Define
}

check "sshd" start_ssh
configure_ansible
check "a domain of libvirt" define_own

# ---- a new host ----
keep_state before
check "check mode" run_play check-first site --check --diff
check_state "it changes nothing" before
check "the first run" run_play first site --diff
check "over ssh" grep -q '^Accepted publickey for root from 127.0.0.1' "$control/sshd.log"
check_is "each task changes something" "$all_tasks" changed first
predicted first 'as declared|Tune'
check_is "the VFs are there" "4 3" numvfs
check_is "with MAC and VLAN" "02:00:5e:00:01:03 100" attribute "$ens1" 3 '.address + " " + (.vlan_list[0].vlan | tostring)'
check_is "a guest is defined, with a VF" 1 vf_in one
check_is "and the other" 1 vf_in two
check "the MAC is from the pool" bash -c "virsh dumpxml one --inactive | grep -q \"address='02:00:5e:00:00:\""
check_is "the domain has a VF" 1 vf_in own
check_is "the units are enabled" "enabled enabled" \
	bash -c "systemctl is-enabled vfctl-apply.service vfctl-recover.service | xargs"
check_is "the card is tuned" "rx-usecs: 20" bash -c "ethtool -c $ens1 | grep '^rx-usecs:' | tr -s '\t ' ' '"

# ---- again, with a guest that runs ----
keep_state off
check "start a guest" virsh -q start one
eventually "it runs" 60 guest_said one 'guest up'
keep_state running
check "the second run" run_play second site
check_is "it changes nothing" "" changed second
check_state "the host is as before" running
check_is "the guest still runs" running bash -c "virsh domstate one | head -1"
check_fails "a guest that runs is not undefined" run_task absent guest "name=one state=absent"
check "the message names the remedy" grep -q 'domain one is running; stop it first' "$control/absent.log"
check "stop it" virsh -q destroy one

# ---- changed by hand ----
ip link set "$ens1" vf 3 mac 02:00:00:00:00:99 vlan 7
virsh -q undefine two
rm -r /etc/libvirt/hooks/qemu.d
echo 'pfs: [' >/etc/vfctl/host.yaml
echo '{' >/etc/vfctl/guests/one.yaml
ethtool -C "$ens1" rx-usecs 3
keep_state broken
check "check mode of the repair" run_play check-repair site --check --diff
check_state "it changes nothing" broken
check "the repair" run_play repair site --diff
predicted repair 'as declared|Tune'
check_state "the host is as before" off
check "and again" run_play last site
check_is "it changes nothing" "" changed last
check_state "the host is as before" off
end_ansible
finish
