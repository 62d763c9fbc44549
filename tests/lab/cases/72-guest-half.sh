# SPDX-License-Identifier: GPL-2.0-or-later
# CASE_BOOT 3
# shellcheck shell=bash
# The guest's half of a profile, read by the udev and the igbvf that a guest has.
. "$(dirname "$0")/lib.sh"

ens2=$(link_of "$right")
usecs() { ethtool -c "$1" | sed -n 's/^rx-usecs:[[:space:]]*//p'; }

check "a VF" vfctl create "$ens2" 1
sed -e 's/^name: .*/name: half/' -e "s/pf: ens2/pf: $ens2/" /payload/guests/small.yaml >/tmp/half.yaml
check "a guest that holds it" vfctl define /tmp/half.yaml
mac=$(virsh dumpxml --inactive half | sed -n "s/.*<mac address='\([0-9a-f:]*\)'.*/\1/p" | head -n 1)
check "its half" vfctl tune guest half --profile latency --output /tmp/half
link=/etc/systemd/network/10-vfctl-${mac//:/-}.link
check "has a .link file by its MAC" test -s "/tmp/half$link"
check "as user-data" vfctl tune guest half --profile latency --cloud-init /tmp/user-data
check "an off guest has no agent, which is said" bash -c \
	"! vfctl tune guest half --profile latency --apply 2>&1 | tee /dev/stderr | grep -q written"
check "the guest goes" vfctl undefine half
check "and its VF" vfctl destroy "$ens2"

# The host's own igbvf stands for the guest's: it is the same driver under the same udev.
check "the PF is up" ip link set "$ens2" up
check "a VF with that MAC, on the host's driver" vfctl create "$ens2" 1 --driver host
udevadm settle --timeout=30
vf=$(ls "$pci/$(vf_of "$right" 0)/net")
ip link set "$vf" down
check "it has the MAC" bash -c "vfctl set $ens2/0 mac=$mac; ip link set $vf address $mac || ip link show $vf | grep -q $mac"
check "it waits 100 us" ethtool -C "$vf" rx-usecs 100
check "the guest's files" cp -r /tmp/half/etc/. /etc/
check_is "do nothing by themselves" 100 usecs "$vf"
# As runcmd of the user-data has it.
tell_udev() { udevadm control --reload && udevadm trigger --action=add --subsystem-match=net && udevadm settle --timeout=30; }
check "udev reads them" tell_udev
# igbvf tells 1 when it was set to 0.
check_is "the VF has the shortest waiting time" 1 usecs "$vf"
check "its name is as it was" test -d "/sys/class/net/$vf"
check "and its MAC" grep -qx "$mac" "/sys/class/net/$vf/address"
check "udev has no complaint of the file" bash -c "! journalctl -b -u systemd-udevd 2>/dev/null | grep -F '$link'"
check "once more" tell_udev
check_is "changes nothing" 1 usecs "$vf"
check "sockets poll" sysctl -q -p /etc/sysctl.d/90-vfctl.conf
check_is "for 50 us" 50 sysctl -n net.core.busy_read

rm -f "$link" /etc/sysctl.d/90-vfctl.conf
sysctl -q net.core.busy_read=0 net.core.busy_poll=0
udevadm control --reload
check "the VF goes" vfctl destroy "$ens2"
finish
