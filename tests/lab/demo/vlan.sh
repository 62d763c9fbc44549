# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=bash
# shellcheck disable=SC2154 # sys and left are set by demo.sh, which sources this
# The step of the demo in which packets pass, or do not: VFs in network namespaces.

# Fails while it is in another namespace: its directory is there, and empty.
device_of_vf() {
	find "$sys/$(basename "$(readlink "$sys/$left/virtfn$1")")/net" -mindepth 1 -maxdepth 1 -printf '%f\n' | grep .
}
reaches() { ip netns exec "$1" busybox ping -q -c 1 -W 2 "$2"; }
reaches_not() { ! reaches "$@"; }

# usage: give_to NAMESPACE VF ADDRESS
give_to() {
	local device
	device=$(device_of_vf "$2")
	ip netns add "$1" && ip link set "$device" netns "$1" &&
		ip -n "$1" addr add "$3/24" dev "$device" && ip -n "$1" link set "$device" up
}

step "Policy that packets obey" <<EOT
VFs need no guest: with their own driver they are network devices of the host. Here two of them
go to network namespaces, "red" and "blue", as they would to containers. Then red's VF is put
on VLAN 100. Nothing changes inside red; the card itself keeps the two apart.
EOT
run "vfctl create ens1 2 --driver host"
udevadm settle --timeout=30
claim "VF 0 goes to red as 10.9.0.1" give_to red 0 10.9.0.1
claim "VF 1 goes to blue as 10.9.0.2" give_to blue 1 10.9.0.2
claim "they reach each other" eventually 20 reaches red 10.9.0.2
run "vfctl set ens1/0 vlan=100"
outside "ip netns exec red busybox ping -q -c 2 -W 2 10.9.0.2"
claim "red, on VLAN 100, does not reach blue" reaches_not red 10.9.0.2
claim "nor blue red" reaches_not blue 10.9.0.1
run "vfctl set ens1/1 vlan=100"
outside "ip netns exec red busybox ping -q -c 2 -W 2 10.9.0.2"
claim "both on VLAN 100, they do" reaches red 10.9.0.2
ip netns del red
ip netns del blue
eventually 30 device_of_vf 0 && eventually 30 device_of_vf 1
run "vfctl destroy ens1"
claim_is "no VFs are left of it" 0 "$(cat "$sys/$left/sriov_numvfs")"
