# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=bash
# CASE_BOOT 2
# What other SR-IOV test suites try: libvirt networks of VFs, failover pairs, migration, locked memory,
# a virtual IOMMU, repetition, a PF's module that is unloaded. As in 62-scenarios.sh a script of
# ordinary domains runs without vfctl's hook and then with it. "Scenario N" is row N of their list.
# shellcheck source=tests/lab/cases/lib.sh
. "$(dirname "$0")/lib.sh"
# shellcheck source=tests/lab/cases/scenarios/lib.sh
. "$(dirname "$0")/scenarios/lib.sh"

ens1=$(link_of "$left") state=/var/lib/vfctl/state.db

check "the PFs are up" bash -c "ip link set $ens1 up && ip link set $(link_of "$right") up"
check "VFs on their host driver" vfctl create "$ens1" 4 --driver host
udevadm settle --timeout=30
ip link del br63 2>/dev/null
check "a bridge" bash -c "ip link add br63 type bridge && ip link set br63 up"
vf0=$(vf_of "$left" 0) vf1=$(vf_of "$left" 1) vf2=$(vf_of "$left" 2)

# usage: network NAME MANAGED DEVICES [PORTGROUP]     defines and starts a network of VFs
network() {
	virsh -q net-destroy "$1" >/dev/null 2>&1
	virsh -q net-undefine "$1" >/dev/null 2>&1
	local managed=''
	[ -z "$2" ] || managed=" managed='$2'"
	printf "<network><name>%s</name><forward mode='hostdev'%s>%s</forward>%s</network>\n" \
		"$1" "$managed" "$3" "${4:-}" >/tmp/network.xml
	virsh -q net-define /tmp/network.xml && virsh -q net-start "$1"
}

# usage: pool_address VF     prints it as a device of a network
pool_address() { source_of "$1" | sed 's/<.\?source>//g'; }
pool_interface() { printf "<interface type='network'><mac address='%s'/><source network='vfs'%s/></interface>" "$1" "${2:-}"; }
connections() {
	local count
	count=$(virsh net-dumpxml vfs 2>/dev/null | sed -nE "s/^<network.* connections='([0-9]+)'.*/\1/p")
	echo "connections ${count:-0}"
}
memory_limit() { awk '/Max locked memory/ { print "locked memory", $4 }' "/proc/$(cat "/run/libvirt/qemu/$1.pid")/limits"; }

networks() {
	# Scenario 28: a network by its PF, and by addresses; managed yes, no, absent
	scenario 28
	run domain o "$(pool_interface 52:54:00:00:00:01)"
	for managed in yes no ''; do
		for devices in "<pf dev='$ens1'/>" "$(pool_address "$vf0")$(pool_address "$vf2")"; do
			run network vfs "$managed" "$devices"
			[ "$managed" = yes ] || run virsh nodedev-detach "$(nodedev "$vf0")"
			run virsh -q start o
			show_vf "$left" 0
			connections
			run virsh -q destroy o
			show_vf "$left" 0
			connections
			[ "$managed" = yes ] || run virsh nodedev-reattach "$(nodedev "$vf0")"
		done
	done

	# Scenario 33: a VLAN in a portgroup; a pool interface beside a <hostdev> of the same PF
	scenario 33
	run network vfs yes "$(pool_address "$vf0")$(pool_address "$vf1")" "<portgroup name='blue'>$(vlan_tag 33)</portgroup>"
	run domain o "$(pool_interface 52:54:00:00:00:01 " portgroup='blue'")$(hostdev "$vf2")"
	run virsh -q start o
	show_vf "$left" 0
	show_vf "$left" 2

	# Scenario 31: the network is destroyed and started under a running guest, which then starts anew
	scenario 31
	run virsh net-destroy vfs
	who_has "$vf0"
	run virsh net-start vfs
	connections
	who_has "$vf0"
	run virsh -q destroy o
	show_vf "$left" 0
	run virsh -q start o
	connections
	who_has "$vf0"
	run virsh -q destroy o
	connections
	show_vf "$left" 0
	show_vf "$left" 2
	run virsh net-destroy vfs
	run virsh net-undefine vfs
}

pair="<interface type='bridge'><mac address='52:54:00:00:00:44'/><source bridge='br63'/><model type='virtio'/>
	<teaming type='persistent'/><alias name='ua-pair'/></interface>"
transient="<teaming type='transient' persistent='ua-pair'/>"

failover() {
	# Scenario 44: a failover pair: start, suspend, reboot, destroy
	scenario 44
	run domain o "$pair$(interface "$vf0" 52:54:00:00:00:44 "$transient")"
	run virsh -q start o
	show_vf "$left" 0
	await_boots o 1
	run virsh -q suspend o
	run virsh -q resume o
	run virsh -q reset o
	await_boots o 2
	show_vf "$left" 0

	# Scenario 47: a VF without teaming beside it: libvirt does not migrate the domain
	scenario 47
	device "$(interface "$vf1" 52:54:00:00:00:47)"
	run virsh attach-device o /tmp/device.xml --live
	run virsh migrate --live o 'qemu+unix:///system?socket=/run/libvirt/libvirt-sock'
	show_vf "$left" 1
	run virsh detach-device o /tmp/device.xml --live
	await domain_lacks "$vf1" o

	# Scenario 6: save and restore, managedsave and start, of a failover pair
	scenario 6
	rm -f /tmp/o.save
	run virsh save o /tmp/o.save
	show_vf "$left" 0
	run virsh restore /tmp/o.save
	show_vf "$left" 0
	run virsh managedsave o
	show_vf "$left" 0
	run virsh -q start o
	show_vf "$left" 0
	run virsh -q destroy o
	show_vf "$left" 0
}

memory() {
	# Scenarios 55, 56: locked memory without a VF, with one, with a hard_limit
	scenario 55
	run domain o '' "s|<memory unit='MiB'>32</memory>|<maxMemory slots='2' unit='MiB'>512</maxMemory>&|;
		s|<features>|<cpu mode='custom'><model>qemu64</model><numa><cell id='0' cpus='0' memory='32' unit='MiB'/></numa></cpu>&|"
	run virsh -q start o
	memory_limit o
	await_boots o 1
	device "$(interface "$vf0" 52:54:00:00:00:01)"
	run virsh attach-device o /tmp/device.xml --live
	memory_limit o
	for _ in 1 2; do
		echo "<memory model='dimm'><target><size unit='MiB'>128</size><node>0</node></target></memory>" >/tmp/dimm.xml
		run virsh attach-device o /tmp/dimm.xml --live
		memory_limit o
	done
	device "$(interface "$vf0" 52:54:00:00:00:01)"
	run virsh detach-device o /tmp/device.xml --live
	await domain_lacks "$vf0" o
	memory_limit o
	run virsh -q destroy o
	show_vf "$left" 0
	run domain o "$(interface "$vf0" 52:54:00:00:00:01)" \
		"s|<memory unit='MiB'>32</memory>|&<memtune><hard_limit unit='MiB'>600</hard_limit></memtune>|"
	run virsh -q start o
	memory_limit o
	run virsh -q destroy o

	# Scenario 57: three VFs behind a virtual IOMMU
	scenario 57
	run domain o "<iommu model='intel'><driver caching_mode='on' iotlb='on'/></iommu>$(interface "$vf0" 52:54:00:00:00:01)"
	run virsh -q start o
	memory_limit o
	await_boots o 1
	for n in 1 2; do
		device "$(interface "$(vf_of "$left" $n)" "52:54:00:00:00:1$n")"
		run virsh attach-device o /tmp/device.xml --live
		memory_limit o
	done
	run virsh -q destroy o

	# Scenario 59: intel without caching_mode: at the start, and by hot plug
	scenario 59
	run domain o "<iommu model='intel'/>"
	device "$(interface "$vf0" 52:54:00:00:00:01)"
	run virsh attach-device o /tmp/device.xml --config
	run virsh -q start o
	show_vf "$left" 0
	run virsh detach-device o /tmp/device.xml --config
	run virsh -q start o
	run virsh attach-device o /tmp/device.xml --live
	show_vf "$left" 0
	virsh -q destroy o
}

ordinary_scenarios() {
	networks
	failover
	memory
	virsh -q undefine o
}

# ---- ordinary domains, without and with the hook ----
ordinary_scenarios >/tmp/without 2>/dev/null
check "the hook" vfctl hook install
ordinary_scenarios >/tmp/with 2>/dev/null
for n in 6 28 31 33 44 47 55 57 59; do
	same_with_hook "$n" "an ordinary domain sees nothing of the hook"
done
# What a line above promises has been there to be compared.
shows 6 'vfio-pci, PF: 52:54:00:00:00:44' 2
shows 28 'connections 1' 6
shows 31 '^- domain o$' 3
shows 33 'VF 0: vfio-pci, PF: 52:54:00:00:00:01 vlan=33' 1
shows 44 'vfio-pci, PF: 52:54:00:00:00:44' 2
shows 47 'cannot migrate domain' 1
shows 55 'locked memory 1375731712' 1
shows 55 'locked memory 67108864' 2
shows 55 'locked memory 629145600' 1
shows 57 'locked memory (1107296256|1140850688|1174405120)' 3
shows 59 'caching-mode=on' 2
check_is "nothing else differs" "" diff /tmp/without /tmp/with
check_is "no lease, no open run" "0 0" sqlite3 -separator ' ' $state \
	"select (select count(*) from lease), (select count(*) from change)"
check "status: nothing" vfctl status

# ---- guests of vfctl's ----
in_force='VF 0: vfio-pci, PF: 02:00:00:00:00:01 vlan=100 max-rate=50 spoofchk=true trust=true, network device: none'
free=$(show_vf "$left" 0)
vf_is_in_force() { check_is "$1: VF 0 has the leased values" "$in_force" show_vf "$left" 0; }
vf_is_free() { check_is "$1: VF 0 is as before" "$free" show_vf "$left" 0; }

sed -e 's/one.console/g.console/' -e 's|<on_reboot>destroy|<on_reboot>restart|' /payload/guests/lab.xml >/tmp/g.xml
sed -e 's/^name: .*/name: g/' -e 's/^memory: .*/memory: 64MiB\nspare_ports: 3\nxml: {expander_ports: 0}/' /payload/guests/one.yaml >/tmp/g.yaml
cat >>/tmp/g.yaml <<EOT
    mac: "02:00:00:00:00:01"
    vlan: 100
    trust: on
    max_rate_mbps: 50
EOT
check "define" vfctl define /tmp/g.yaml --template /tmp/g.xml

# Scenario 28: a pool interface beside the leased VF
check "scenario 28: a network of the other VFs" network vfs yes "$(pool_address "$vf1")$(pool_address "$vf2")"
device "$(pool_interface 52:54:00:00:00:28)"
check "scenario 28: the guest gets an interface of it" virsh -q attach-device g /tmp/device.xml --config
check "scenario 28: start" virsh -q start g
vf_is_in_force "scenario 28"
check_is "scenario 28: the pool's VF has its own MAC" \
	'VF 1: vfio-pci, PF: 52:54:00:00:00:28 vlan=0 max-rate=0 spoofchk=true trust=false, network device: none' show_vf "$left" 1

# Scenario 56: locked memory with a VF, and without
await_boots g 1
check_is "scenario 56: memory and 1 GiB may be locked" "locked memory $(((64 + 1024) * 1024 * 1024))" memory_limit g
check "scenario 28: stop" virsh -q destroy g
vf_is_free "scenario 28"
check_is "scenario 28: no connection is left" "connections 0" connections
check "scenario 28: the guest loses that interface" virsh -q detach-device g /tmp/device.xml --config

# Scenario 34: a network is created, changed, destroyed and removed
for step in 'net-autostart vfs' 'net-destroy vfs' 'net-start vfs' 'net-autostart vfs --disable' 'net-destroy vfs' 'net-undefine vfs'; do
	# shellcheck disable=SC2086 # words of a command
	check "scenario 34: $step" virsh -q $step
	check "scenario 34: status: nothing" vfctl status
	check_is "scenario 34: list tells the same" "g none -" who_has "$vf0"
done

# Scenario 44: an adopted failover pair: start, suspend, reset, destroy
# Scenario 6: save and restore, managedsave and start, of the pair
# Scenario 47: libvirt does not migrate a domain with a VF of another kind; the hook does not run
pair_in_force='VF 1: vfio-pci, PF: 52:54:00:00:00:44 vlan=44 max-rate=0 spoofchk=true trust=true, network device: none'
one_free=$(show_vf "$left" 1)
pair_is_in_force() { check_is "$1: VF 1 has the leased values" "$pair_in_force" show_vf "$left" 1; }
check "scenario 44: a domain" domain o "$pair$(interface "$vf1" 52:54:00:00:00:44 "$transient")"
check "scenario 44: adopt; the MAC of the pair is no conflict" vfctl adopt o
check "scenario 44: trust and a VLAN" vfctl set "$vf1" trust=on vlan=44 --config
check "scenario 44: start" virsh -q start o
pair_is_in_force "scenario 44, running"
await_boots o 1
check "scenario 44: suspend" virsh -q suspend o
check "scenario 44: resume" virsh -q resume o
check "scenario 44: reset" virsh -q reset o
await_boots o 2
pair_is_in_force "scenario 44, after a reset"
rm -f /tmp/o.save
check "scenario 6: save" virsh -q save o /tmp/o.save
check_is "scenario 6: VF 1 is as before" "$one_free" show_vf "$left" 1
check_is "scenario 6: the lease is kept" "o none -" who_has "$vf1"
check "scenario 6: restore" virsh -q restore /tmp/o.save
pair_is_in_force "scenario 6, restored"
check "scenario 6: managedsave" virsh -q managedsave o
check_is "scenario 6: VF 1 is as before" "$one_free" show_vf "$left" 1
check "scenario 6: start" virsh -q start o
pair_is_in_force "scenario 6, started"
runs=$(journalctl -q -t vfctl -o cat | wc -l)
device "$(interface "$vf2" 52:54:00:00:00:47)"
check "scenario 47: a VF that is not of the pair" virsh -q attach-device o /tmp/device.xml --live
check_fails "scenario 47: it is not migrated" virsh migrate --live o 'qemu+unix:///system?socket=/run/libvirt/libvirt-sock'
pair_is_in_force "scenario 47"
check_is "scenario 47: the hook did not run" "$runs" bash -c "journalctl -q -t vfctl -o cat | wc -l"
check "scenario 44: stop" virsh -q destroy o
check_is "scenario 44: VF 1 is as before" "$one_free" show_vf "$left" 1
check "scenario 44: the lease ends" vfctl adopt o --undo

# Scenario 59: a virtual IOMMU without caching_mode: libvirt's or QEMU's message, and nothing is left
check "scenario 59: a domain" domain o "<iommu model='intel'/>"
check "scenario 59: attach for the next start" vfctl attach o --vf "$vf1" --config vlan=59
check_fails "scenario 59: the start fails" virsh start o
check_is "scenario 59: VF 1 has no VLAN" 0 bash -c "ip -j link show dev $ens1 | jq '.[0].vfinfo_list[1].vlan_list[0].vlan // 0'"
check "scenario 59: detach" vfctl detach o --vf "$vf1" --config
check "scenario 59: start" virsh -q start o
check_fails "scenario 59: hot plug fails" vfctl attach o --vf "$vf1" --live vlan=59
check_is "scenario 59: nothing is leased" "- none -" who_has "$vf1"
virsh -q destroy o

# Scenario 37: the PF's module is unloaded and loaded again
macs() { ip -j link show dev "$ens1" | jq -r '[.[0].vfinfo_list[].address] | join(" ")'; }
before=$(macs) addresses="$vf0 $vf1 $vf2"
mkdir -p /etc/vfctl
printf 'pfs:\n  - match: %s\n    count: 4\n    driver: host\n' "$ens1" >/etc/vfctl/host.yaml
check "scenario 37: apply" vfctl apply
check "scenario 37: unload" modprobe -r igb
check "scenario 37: status names the lease" bash -c "vfctl status 2>&1 | grep -q 'domain g\|g:'"
check "scenario 37: nodedev-detach of the PF, which has no driver" virsh nodedev-detach "$(nodedev "$left")"
check "scenario 37: nodedev-reattach" virsh nodedev-reattach "$(nodedev "$left")"
check "scenario 37: status still names the lease" bash -c "vfctl status 2>&1 | grep -q 'domain g\|g:'"
check "scenario 37: load" modprobe igb
udevadm settle --timeout=30
check "scenario 37: the PF is up" ip link set "$ens1" up
check "scenario 37: apply" vfctl apply
udevadm settle --timeout=30
check_is "scenario 37: the same MACs" "$before" macs
check_is "scenario 37: the same addresses" "$addresses" echo "$(vf_of "$left" 0) $(vf_of "$left" 1) $(vf_of "$left" 2)"
check "scenario 37: the guest starts" virsh -q start g
vf_is_in_force "scenario 37"
check "scenario 37: stop" virsh -q destroy g
rm /etc/vfctl/host.yaml
check "undefine" vfctl undefine g
virsh -q undefine o
check "no VFs" vfctl destroy "$ens1"

# Scenario 63: all VFs of a PF, again and again, with the largest MTU (ten rounds)
bad=0
ip link set "$ens1" mtu 9216
for _ in 1 2 3 4 5 6 7 8 9 10; do
	vfctl -q create "$ens1" 7 || bad=$((bad + 1))
	[ "$(ip -j link show dev "$ens1" | jq -r '.[0].vfinfo_list[].address' | grep -v 00:00:00:00:00:00 | sort -u | wc -l)" = 7 ] || bad=$((bad + 1))
	for n in 0 1 2 3 4 5 6; do has_driver "$(vf_of "$left" $n)" vfio-pci || bad=$((bad + 1)); done
	vfctl -q destroy "$ens1" || bad=$((bad + 1))
	[ "$(cat "$pci/$left/sriov_numvfs")" = 0 ] || bad=$((bad + 1))
done
check_is "scenario 63: count, MACs and drivers are right each time" 0 echo $bad
ip link set "$ens1" mtu 1500
ip link del br63
finish
