# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=bash
# Ailments brought about on the real kernel and libvirt: found by their names, and gone when mended.
. "$(dirname "$0")/lib.sh"

ens1=$(link_of "$left") ens2=$(link_of "$right")
# A lab without nested virtualization has no KVM, and doctor says so: that is no ailment brought about here.
names() { vfctl doctor --json | jq -r '[.ailments[].check] - ["cpu", "kvm"] | unique | join(" ")'; }
healthy=$([ -e /dev/kvm ] && echo 0 || echo 3)
# evidence CHECK [SUBJECT]: what it found, and the remedy
evidence() {
	vfctl doctor --json | jq -r --arg check "$1" --arg subject "${2-}" '.ailments[] |
		select(.check == $check and ($subject == "" or .subject == $subject)) | .evidence + " -> " + .remedy'
}
# finds CHECK SUBJECT WORDS; lacks CHECK [SUBJECT]
finds() {
	local text
	text=$(evidence "$1" "$2")
	grep -q -- "$3" <<<"$text" || { echo "found: $text; all: $(names)"; return 1; }
}
lacks() {
	local text
	text=$(evidence "$@")
	[ -z "$text" ] || { echo "$text"; return 1; }
}
exits() {
	local want=$1 got=0
	shift
	"$@" >/tmp/out 2>&1 || got=$?
	[ "$got" = "$want" ] || { echo "status $got: $(cat /tmp/out)"; return 1; }
}

ip link set "$ens1" up && ip link set "$ens2" up # a case before may have left them down
dmesg -C # of the cases before
check_is "a new host has no hook" "hook" names
check "without a hook" finds hook "" "does not exist"
check "doctor installs it" bash -c "vfctl -q doctor --fix; [ -x /etc/libvirt/hooks/qemu.d/50-vfctl ] || ls -l /etc/libvirt/hooks/qemu.d"
check_is "a healthy host: nothing" "" names
check "and the status is $healthy" exits "$healthy" vfctl doctor

# ---- PFs ----
echo 0 >"$pci/$left/sriov_drivers_autoprobe"
check "probing was left off" finds autoprobe-off "$ens1" "sriov_drivers_autoprobe"
echo 1 >"$pci/$left/sriov_drivers_autoprobe"
check "on again" lacks autoprobe-off
create_vfs "$left" 2
echo 1 >"$pci/$left/sriov_drivers_autoprobe"
ip link set "$ens1" down
check "a PF that is down has VFs" finds pf-down "$ens1" "is down and has 2 VFs"
check "doctor sets it up" vfctl -q doctor "$ens1" --fix
dmesg -C # VFs waited for it
check "it is up" bash -c "ip -j link show dev $ens1 | jq -e '.[0].flags | index(\"UP\")'"
check "and well" lacks pf-down

# ---- others' files ----
mkdir -p /etc/systemd/network
printf '[Match]\nOriginalName=%s\n[Link]\nSR-IOVVirtualFunctions=4\n' "$ens1" >/etc/systemd/network/10-lab.link
check "systemd makes VFs as well" finds link-files "" "/etc/systemd/network/10-lab.link"
rm /etc/systemd/network/10-lab.link
check "no more" lacks link-files
network() { echo "<network><name>x</name><uuid>22222222-2222-4222-8222-222222222222</uuid><forward mode='hostdev' managed='yes'$2>$1</forward></network>" >/tmp/x.xml; }
address="<address type='pci' domain='0' bus='0x11' slot='0x10' function='0'/>"
network "<pf dev='$ens1'/>$address"
check "libvirt takes a network of VFs in two forms" bash -c "virsh -q net-define /tmp/x.xml && virsh -q net-start x"
check_is "it gives the VF that is listed, and not the PF's other one" 1 bash -c "virsh net-dumpxml x | grep -c '<address '"
check "what it keeps of it is one form, and well" lacks network-pool
virsh -q net-destroy x
virsh -q net-undefine x
cp /tmp/x.xml /etc/libvirt/qemu/networks/x.xml
check "a file with both, of others, is told" finds network-pool "" "networks/x.xml has both <pf> and <address>"
rm /etc/libvirt/qemu/networks/x.xml
network "<interface dev='$ens1'/>"
check_fails "by the name of its device libvirt refuses it" virsh -q net-define /tmp/x.xml
cp /tmp/x.xml /etc/libvirt/qemu/networks/x.xml
check "and so says doctor" finds network-pool "" "networks/x.xml names a network device"
rm /etc/libvirt/qemu/networks/x.xml
check "no more" lacks network-pool

# ---- definitions that will not start, or be slow ----
vf0=$(vf_of "$left" 0) vf1=$(vf_of "$left" 1)
bind_vfio "$vf0"
bind_vfio "$vf1"
# definition NAME MORE [INNER]: it has VF 0 of the PF on node 0
definition() {
	guest_xml "$1" | sed -e "s|<memory|<uuid>11111111-1111-4111-8111-111111111111</uuid><memory|" \
		-e "s|<vcpu>1</vcpu>|<vcpu>2</vcpu>$2|" \
		-e "s|<video>|$(hostdev_xml "$vf0" | sed "s|<source>|${3-}<source>|" | tr -d '\n')<video>|" >"/tmp/$1.xml"
	virsh -q define "/tmp/$1.xml"
}
check "a guest with a VF" definition sick ""
check "is well" bash -c "$(declare -f lacks evidence); lacks guest-node; lacks guest-memory; lacks guest-driver"
check "two nodes, and no expander" definition sick "<numatune><memnode cellid='0' mode='strict' nodeset='0'/><memnode cellid='1' mode='strict' nodeset='1'/></numatune><cpu><numa><cell id='0' cpus='0' memory='16' unit='MiB'/><cell id='1' cpus='1' memory='16' unit='MiB'/></numa></cpu>"
check "its VF is on no node for it" finds guest-node sick "$vf0 is on node 0 of the host, where the guest's cell 0 is, and in the guest not beneath an expander bus"
check "less memory to lock than it has" definition sick "<memtune><hard_limit unit='MiB'>24</hard_limit></memtune>"
check "that is told" finds guest-memory sick "its devices lock 32 MiB"

check_fails "it does not start" virsh -q start sick
check "a driver that this kernel has not" definition sick "" "<driver name='vfio' model='mlx5_vfio_pci'/>"
check "that is told" finds guest-driver sick mlx5_vfio_pci
check_fails "libvirt cannot load it" virsh -q start sick
check "one that it has" definition sick "" "<driver name='vfio' model='vfio-pci'/>"
check "is well" lacks guest-driver
virsh -q undefine sick
sed "s|<name>sick</name>|<name>fd</name>|; s|<driver name='vfio' model='vfio-pci'/>|<driver iommufd='yes'/>|" /tmp/sick.xml >/etc/libvirt/qemu/fd.xml
check "iommufd, which Debian's kernel has not" finds guest-iommufd fd "/dev/iommu does not exist"
rm /etc/libvirt/qemu/fd.xml
check "all of that is mended" bash -c "! $(declare -f names | tail -n +2) | grep guest-"

# ---- a VF in a guest: its MAC, and who wants it away ----
check "a guest that runs" guest_start deaf deaf
hostdev_xml "$vf0" >/tmp/vf0.xml
check "with a VF that has no MAC" virsh -q attach-device deaf /tmp/vf0.xml --live
check "that is told" finds vf-mac-zero "$ens1/0" "00:00:00:00:00:00"
check "it gets one" ip link set dev "$ens1" vf 0 mac 02:00:00:00:00:09
check "and is well" lacks vf-mac-zero
sh -c "echo 0 >$pci/$left/sriov_numvfs" &
writer=$!
eventually "a write hangs: which, and who has the VF" 10 finds write-hangs "$ens1" \
	"process $writer .*waits until a VF is closed.*guest deaf has $vf0 open.*virsh"
check_is "nobody but root is told" 1 bash -c "setpriv --reuid=65534 --regid=65534 --clear-groups vfctl doctor --json |
	jq '[.unexamined[] | select(.check == \"write-hangs\")] | length'"
kill "$writer"
eventually "the kernel says so as well" 10 finds log-in-use "" "Device is currently in use"
virsh -q destroy deaf
eventually "the guest is off: the write ends" 10 bash -c "! kill -0 $writer 2>/dev/null"
check "and is told no more" lacks write-hangs
dmesg -C
check "nor what the kernel said" lacks log-in-use
virsh -q undefine deaf

# ---- leases ----
vfctl -q create "$ens2" 1
check "a guest's lease" vfctl -q define /payload/guests/small.yaml
vf=$(vf_of "$right" 0)
qemu-system-x86_64 -S -M q35 -m 16 -display none -serial none -monitor none -device "vfio-pci,host=$vf" &
stranger=$!
eventually "a program has the VF that is leased" 20 finds vf-open "$ens2/0" "pid $stranger.*leased to domain small"
kill "$stranger"
wait "$stranger"
check "it ends" lacks vf-open
echo "$vf" >"$pci/$vf/driver/unbind"
echo igbvf >"$pci/$vf/driver_override"
modprobe igbvf
echo "$vf" >/sys/bus/pci/drivers_probe
eventually "the host's driver has the VF" 10 test -d "$pci/$vf/net"
udevadm settle
ip link set "$(link_of "$vf")" up
check "and the host uses it" finds host-uses-vf "$ens2/0" "leased to domain small"
ip link set "$(link_of "$vf")" down
check "no more" lacks host-uses-vf
check "undefine" vfctl -q undefine small

# ---- vfctl's own ----
mkdir -p /etc/vfctl
echo "pfs: [{match: $ens1, count: 3}]" >/etc/vfctl/host.yaml
check "host.yaml and the host differ" finds drift "$ens1" "$ens1: .* -> .*: vfctl status"
check "at boot nobody would make them" finds boot "" "vfctl-apply.service"
check "apply" vfctl -q apply
check "as declared" lacks drift
mkdir -p /etc/systemd/system/multi-user.target.wants
ln -s /lib/systemd/system/vfctl-apply.service /etc/systemd/system/multi-user.target.wants/
check "at boot they will be made" lacks boot
rm /etc/systemd/system/multi-user.target.wants/vfctl-apply.service /etc/vfctl/host.yaml
vfctl -q destroy "$ens1"
vfctl -q create "$ens1" 7 &
for _ in {1..100}; do
	[ "$(sqlite3 /var/lib/vfctl/state.db 'SELECT count(*) FROM change' 2>/dev/null)" != 1 ] || break
	sleep 0.05
done
kill -KILL $!
wait $! 2>/dev/null
# What it left in the kernel's hands goes on for a moment.
eventually "a change that was cut short" 20 finds journal "" "create.* -> vfctl recover"
check "is taken back" vfctl -q recover
check "and told no more" lacks journal
check_is "a healthy host at the end" "" names
finish
