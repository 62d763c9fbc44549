#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# The lab itself: everything the other cases stand on.
# shellcheck source=tests/lab/cases/lib.sh
source "$(dirname "$0")/lib.sh"

groups_differ() {
	local index
	for ((index = 0; index < 7; index++)); do group_of "$(vf_of "$left" "$index")"; done |
		sort -u | wc -l
}

check_is 'PF left is on node 0' 0 cat $pci/$left/numa_node
check_is 'PF right is on node 1' 1 cat $pci/$right/numa_node
check_is 'the NVMe controller is on node 1' 1 cat $pci/$nvme/numa_node
check_is 'the nodes are 21 apart' '10 21' cat /sys/devices/system/node/node0/distance
check_is 'both PFs are driven by igb' 'igb igb' echo "$(driver_of $left)" "$(driver_of $right)"
check_is 'an igb has 7 VFs' 7 cat $pci/$left/sriov_totalvfs
check 'libvirtd answers' virsh --quiet version
check 'there is a hook directory' test -d /etc/libvirt/hooks

check 'seven VFs without drivers' create_vfs $left 7
check_is 'each VF has an IOMMU group of its own' 7 groups_differ
vf=$(vf_of $left 2)
check 'a VF binds to vfio-pci' bind_vfio "$vf"
check 'and its group can be opened' test -c "/dev/vfio/$(group_of "$vf")"

start=$EPOCHREALTIME
check 'a nested guest starts' guest_start quick
eventually 'and is up' 30 guest_said quick 'guest up'
echo "# nested guest up $(since "$start") s after define"
hostdev_xml "$vf" >/tmp/vf.xml
check 'a VF is plugged into it' virsh attach-device quick /tmp/vf.xml --live
check 'the guest holds the VF' domain_has "$vf" quick
check 'the VF is asked back' virsh detach-device quick /tmp/vf.xml --live
eventually 'and the guest lets it go' 10 domain_lacks "$vf" quick
check 'by ejecting it' guest_said quick 'device ejected'

check 'a deaf guest starts' guest_start hung deaf
eventually 'and is up' 30 guest_said hung 'guest up'
check 'a VF is plugged into it' virsh attach-device hung /tmp/vf.xml --live
virsh detach-device hung /tmp/vf.xml --live >/dev/null 2>&1
sleep 3
check 'and stays when asked back' domain_has "$vf" hung

check 'NVMe makes four VFs' create_vfs $nvme 4
check_is 'they are there' 4 cat $pci/$nvme/sriov_numvfs
finish
