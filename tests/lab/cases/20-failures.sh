# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=bash
# What must not work, and what must be left as it was, on the real kernel and libvirt.
. "$(dirname "$0")/lib.sh"

ens1=$(link_of "$left") ens2=$(link_of "$right")
leases() { sqlite3 /var/lib/vfctl/state.db "select count(*) from $1" 2>/dev/null || echo 0; }
numvfs() { cat "$pci/$1/sriov_numvfs"; }
says() { # says WORDS STATUS COMMAND...: one line on stderr that holds WORDS, and the status
	local words=$1 status=$2 got=0 text
	shift 2
	text=$("$@" 2>&1 >/dev/null) || got=$?
	[ "$got" = "$status" ] && grep -q "$words" <<<"$text" && [ "$(grep -c '^vfctl: ' <<<"$text")" = 1 ] ||
		{ printf 'status %s: %s\n' "$got" "$text"; return 1; }
}

# ---- bad input ----
check "create 8 is refused" says "8 VFs exceed the limit" 2 vfctl create "$ens1" 8
check "create 0 is a mistake" says "vfctl destroy $ens1" 2 vfctl create "$ens1" 0
for n in -1 0x10 65536 "16 " ""; do
	check "create '$n' is wrong usage" says "is not a number of VFs" 2 vfctl create "$ens1" "$n"
done
check "an unknown PF is named with those there are" says "PF 'eth99' not found; this host has $ens1" 2 vfctl create eth99 1
check_is "and nothing was made" 0 numvfs "$left"

# ---- not root ----
chmod 755 /payload
nobody() { setpriv --reuid=65534 --regid=65534 --clear-groups "$@"; }
check "anyone may list" nobody vfctl list
check "anyone who creates is told why not" says "root" 1 nobody vfctl create "$ens1" 1
check_is "nothing was made" 0 numvfs "$left"

# ---- interrupted ----
vfctl create "$ens1" 7 >/dev/null 2>&1 &
sleep 0.7
kill -INT $!
wait $! || true
check_is "after Ctrl-C all or nothing" yes bash -c \
	"n=\$(cat $pci/$left/sriov_numvfs); [ \$n = 0 ] || [ \$n = 7 ] && echo yes"
check_is "and autoprobe is as before" 1 cat "$pci/$left/sriov_drivers_autoprobe"
vfctl -q destroy "$ens1" >/dev/null

# ---- VFs the host uses ----
check "create with host drivers" vfctl create "$ens1" 3 --driver host
vf=$(vf_of "$left" 1)
# usage: has_device VF     here, that is: of one in another namespace the directory is there, and empty
has_device() { compgen -G "$pci/$1/net/*"; }
eventually "the VF's own driver makes a network device" 30 has_device "$vf"
sleep 2 # udev may rename it
dev=$(ls "$pci/$vf/net")
ip netns add away
check "its device goes to another namespace" ip link set "$dev" netns away
check_is "list says so" netns bash -c \
	"vfctl list --json | jq -r '.pfs[].vfs[] | select(.address == \"$vf\") | .holder.kind'"
check "destroy is refused" says "in another network namespace" 1 vfctl destroy "$ens1"
check "another count is refused" says "in another network namespace" 1 vfctl create "$ens1" 5
check_is "all three are there" 3 numvfs "$left"
ip netns del away
eventually "the device comes back" 30 has_device "$vf"
sleep 2
dev=$(ls "$pci/$vf/net")
ip link set "$dev" up
check "a VF that is up is not taken" says "in use on the host as $dev" 1 vfctl create "$ens1" 4
ip link set "$dev" down
check "rebinding to vfio-pci works once it is down" vfctl create "$ens1" 3
check_is "it is on vfio-pci" vfio-pci driver_of "$vf"
check "and back to the host driver" vfctl create "$ens1" 3 --driver host
check_is "it is on its own driver" igbvf driver_of "$vf"
check "destroy" vfctl destroy "$ens1"
# udev, which loads the module for new VFs, may be late on a busy machine.
modprobe -r igbvf
udevadm control --stop-exec-queue
check "VFs on the host's driver, its module not yet loaded" vfctl create "$ens1" 2 --driver host
check_is "they are on it" igbvf driver_of "$(vf_of "$left" 1)"
udevadm control --start-exec-queue
check "destroy them" vfctl destroy "$ens1"

# ---- no network card ----
check "an NVMe PF gets VFs like any other" vfctl create "$nvme" 2
check_is "on vfio-pci" vfio-pci driver_of "$(vf_of "$nvme" 0)"
check "show says what it is" vfctl show "$nvme"
echo "$nvme" >"$pci/$nvme/driver/unbind"
check "without its driver the VFs cannot go, and the words say what to do" \
	says "drivers_probe" 1 vfctl destroy "$nvme"
echo "$nvme" >/sys/bus/pci/drivers_probe
check "with it they can" vfctl destroy "$nvme"

# ---- someone else's domain ----
check "VFs" vfctl create "$ens1" 1
check "VFs on node 1" vfctl create "$ens2" 1
vf=$(vf_of "$left" 0)
guest_start other ejector
hostdev_xml "$vf" >/tmp/other-vf.xml
virsh -q attach-device other /tmp/other-vf.xml --live
check_is "list says which domain has it" "- domain other" who_has "$vf"
check "destroy names that domain" says "the running domain other" 1 vfctl destroy "$ens1"
check "a guest does not get it" says "VF" 1 vfctl define /payload/guests/one.yaml --template /payload/guests/lab.xml
check_is "no lease is left of the try" 0 leases lease
virsh -q destroy other
virsh -q undefine other

# ---- two at once ----
sed 's/name: small/name: small2/' /payload/guests/small.yaml >/tmp/small2.yaml
vfctl hook install -q >/dev/null
vfctl -q define /payload/guests/small.yaml >/tmp/d1 2>&1 &
a=$!
vfctl -q define /tmp/small2.yaml >/tmp/d2 2>&1 &
b=$!
wait $a && ra=0 || ra=$?
wait $b && rb=0 || rb=$?
check_is "of two guests for one VF exactly one is defined" 1 echo $((ra + rb))
check_is "and one lease is there" 1 leases lease_vf
won=$(sqlite3 /var/lib/vfctl/state.db 'select domain_name from lease')
won_file=$([ "$won" = small ] && echo /payload/guests/small.yaml || echo /tmp/small2.yaml)
check_is "a second define of the same has nothing to do" \
	"nothing to do: domain $won is already defined as its file asks" vfctl define "$won_file"
sed 's/^vcpus: .*/vcpus: 9/' "$won_file" >/tmp/small3.yaml
check "nor is it made larger than the host" says "does not fit" 1 vfctl define /tmp/small3.yaml

# ---- the hook ----
vf=$(vf_of "$right" 0)
vlan() { ip -j link show dev "$ens2" | jq -r '.[0].vfinfo_list[0].vlan_list[0].vlan // 0'; }
check "start: the hook sets the VLAN" virsh -q start "$won"
check_is "77, as the guest asked" 77 vlan
check "no free root port: a clear answer" says "no free PCIe root port" 1 vfctl attach "$won" --pf "$ens1" --live
check_is "and the VF is free as before" "- none -" who_has "$(vf_of "$left" 0)"
virsh -q destroy "$won"
eventually "stopped: the VLAN is taken back" 10 bash -c "ip -j link show dev $ens2 | jq -e '(.[0].vfinfo_list[0].vlan_list[0].vlan // 0) == 0'"
echo 0 >"$pci/$right/sriov_numvfs"
check "a VF that is gone stops the start" bash -c "! virsh start $won 2>/tmp/err"
check "with one line that names PF and VF" grep -q "PF $ens2 .* has no VF 0" /tmp/err
check "undefine" vfctl undefine "$won"
check_is "no lease is left" 0 leases lease

# ---- a domain defined by hand with our XML ----
check "VFs on node 1 again" vfctl -q create "$ens2" 1
check "define our XML without vfctl" bash -c \
	"vfctl xml /payload/guests/small.yaml >/tmp/small.xml && virsh -q define /tmp/small.xml"
check_fails "nobody leased it a VF: it does not start" virsh -q start small
check_is "and nothing is leased" 0 leases lease_vf
mkdir -p /etc/vfctl
echo "foreign-domains: {allow: free-vfs, pfs: [$ens2], vlans: 70-79}" >/etc/vfctl/host.yaml
check "host.yaml lets it take a free one: it starts" virsh -q start small
check_is "it leases as it starts" 1 leases lease_vf
virsh -q destroy small
eventually "and gives back as it stops" 10 bash -c \
	"[ \$(sqlite3 /var/lib/vfctl/state.db 'select count(*) from lease') = 0 ]"
virsh -q undefine small
rm /etc/vfctl/host.yaml

# ---- a guest that does not let go ----
check "define deaf" vfctl -q define /payload/guests/deaf.yaml
check "start deaf" virsh -q start deaf
check "attach" vfctl attach deaf --pf "$ens1" --live
check "detach says that the guest does not answer" says "did not release" 1 vfctl detach deaf --live --wait 5
check_is "the VF is still the domain's" domain bash -c \
	"vfctl list --json | jq -r '.pfs[].vfs[] | select(.address == \"$(vf_of "$left" 0)\") | .holder.kind'"
virsh -q destroy deaf
eventually "when it stops the VF is free" 10 bash -c \
	"vfctl list --json | jq -e '.pfs[].vfs[] | select(.address == \"$(vf_of "$left" 0)\") | .holder.kind == \"none\"'"
check "undefine deaf" vfctl undefine deaf

# ---- a host recorded and read ----
check "capture" vfctl capture -o /tmp/host.tar.gz
check_is "the capture lists as the host does" "$(vfctl list --json | jq -S '.pfs[].vfs[].mac')" bash -c \
	"vfctl --host /tmp/host.tar.gz list --json | jq -S '.pfs[].vfs[].mac'"
check "a plan can be made on it" vfctl --host /tmp/host.tar.gz plan /payload/guests/small.yaml
check "it cannot be changed" says "captured host" 1 vfctl --host /tmp/host.tar.gz destroy "$ens1"
check "an old capture is not overwritten" says "exists" 1 vfctl capture -o /tmp/host.tar.gz
check_is "nothing is left in /tmp" "" bash -c "ls -d /tmp/vfctl-* 2>/dev/null"
finish
