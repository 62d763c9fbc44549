# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=bash
# What other SR-IOV test suites try: life cycle, hot plug, nodedev, exclusive use, update-device. A
# script of ordinary domains runs without vfctl's hook and then with it, and must show the same.
# Then guests of vfctl's do the same things. "Scenario N" is row N of their list.
# shellcheck source=tests/lab/cases/lib.sh
. "$(dirname "$0")/lib.sh"
# shellcheck source=tests/lab/cases/scenarios/lib.sh
. "$(dirname "$0")/scenarios/lib.sh"

ens1=$(link_of "$left") state=/var/lib/vfctl/state.db

check "the PFs are up" bash -c "ip link set $ens1 up && ip link set $(link_of "$right") up"
check "VFs on their host driver" vfctl create "$ens1" 5 --driver host
udevadm settle --timeout=30
vf0=$(vf_of "$left" 0) vf1=$(vf_of "$left" 1) vf2=$(vf_of "$left" 2) vf3=$(vf_of "$left" 3)

# usage: start_and_stop NAME INDEX     with what is seen of that VF while it runs, and after
start_and_stop() {
	run virsh -q start "$1"
	show_vf "$left" "$2"
	run virsh -q destroy "$1"
	show_vf "$left" "$2"
}

# usage: plug_and_unplug NAME OPTION...     the device in /tmp/device.xml; the guest ejects it
plug_and_unplug() {
	run virsh attach-device "$1" /tmp/device.xml "${@:2}"
	echo "running $(devices "$1"), definition $(devices "$1" --inactive)"
	show_vf "$left" 1
	run virsh detach-device "$1" /tmp/device.xml "${@:2}"
	await domain_lacks "$vf1" "$1"
	show_vf "$left" 1
}

# How many VFs have a network device on the host, and who has VF 1 as vfctl knows it.
host_devices() { find "$pci/$left"/virtfn*/net -mindepth 1 -maxdepth 1 | wc -l; }

life_cycle() {
	# Scenarios 1, 74: VF on its host driver, <interface> with a MAC of its own
	scenario 1
	run domain o "$(interface "$vf0" 52:54:00:00:00:01)"
	echo "$(host_devices) VF devices on the host"
	run virsh -q start o
	show_vf "$left" 0
	echo "$(host_devices) VF devices on the host"
	who_has "$vf0"
	run virsh -q destroy o
	show_vf "$left" 0
	echo "$(host_devices) VF devices on the host"
	who_has "$vf0"

	# Scenario 2: <interface> with a VLAN
	scenario 2
	run domain o "$(interface "$vf0" 52:54:00:00:00:01 "$(vlan_tag 42)")"
	start_and_stop o 0

	# Scenario 4: managed='no' while the VF is on its host driver; it works once it is detached
	# Scenario 3: managed='no', VF detached with nodedev-detach
	scenario 3
	run domain o "$(interface "$vf0" 52:54:00:00:00:01 "$(vlan_tag 42)" no)"
	start_and_stop o 0
	run virsh nodedev-detach "$(nodedev "$vf0")"
	start_and_stop o 0
	run virsh nodedev-reattach "$(nodedev "$vf0")"
	show_vf "$left" 0

	# Scenario 8: the guest powers off, panics, or its QEMU is killed
	scenario 8
	run domain o "$(interface "$vf0" 52:54:00:00:00:01 "$(vlan_tag 42)")<panic model='isa'/>"
	for end in power_off_inside panic_inside kill; do
		run virsh -q start o
		show_vf "$left" 0
		await_boots o 1
		case $end in
		kill) kill -KILL "$(cat /run/libvirt/qemu/o.pid)" ;;
		*) run $end o ;;
		esac
		await is_off o
		await has_driver "$vf0" igbvf
		show_vf "$left" 0
	done

	# Scenario 9: two tags; a driver model that does not exist
	scenario 9
	run domain o "$(interface "$vf0" 52:54:00:00:00:01 "<vlan><tag id='1'/><tag id='2'/></vlan>")"
	start_and_stop o 0
	run domain o "$(hostdev "$vf0" "<driver name='vfio' model='test'/>")"
	start_and_stop o 0

	# Scenario 10: a PF as <hostdev>
	scenario 10
	run domain o "$(hostdev "$right")"
	run virsh -q start o
	driver_of "$right"
	run virsh -q destroy o
	driver_of "$right"
	await link_of "$right"
	cat "$pci/$right"/net/*/address

	# Scenario 11: the VF's network device is up on the host, with an address
	scenario 11
	run domain o "$(interface "$vf0" 52:54:00:00:00:01)"
	for _ in 1 2; do
		udevadm settle --timeout=30
		run ip link set "$(link_of "$vf0")" up
		run ip addr add 10.62.0.1/24 dev "$(link_of "$vf0")"
		start_and_stop o 0
	done

	# Scenario 12: macvtap in passthrough mode over the VF's network device
	scenario 12
	udevadm settle --timeout=30
	run domain o "<interface type='direct'><mac address='52:54:00:00:00:05'/>
		<source dev='$(link_of "$vf0")' mode='passthrough'/><model type='virtio'/>$(vlan_tag 7)</interface>"
	start_and_stop o 0

	# Scenario 18: <address type='unassigned'/>
	scenario 18
	run domain o "$(hostdev "$vf0" "<address type='unassigned'/>")"
	run virsh -q start o
	show_vf "$left" 0
	monitor o 'info qtree' 2>/dev/null | grep -c vfio-pci
	run virsh -q destroy o
	show_vf "$left" 0
}

hot_plug() {
	# Scenario 14: attach-device and detach-device with each flag
	scenario 14
	run domain o
	for form in "$(interface "$vf1" 52:54:00:00:00:02 "$(vlan_tag 42)")" "$(hostdev "$vf1")"; do
		device "$form"
		run virsh attach-device o /tmp/device.xml
		for flag in --live --config --current --persistent; do
			run virsh attach-device o /tmp/device.xml $flag
			echo "definition $(devices o --inactive)"
			run virsh detach-device o /tmp/device.xml $flag
		done
	done
	run virsh -q start o
	await_boots o 1
	for form in "$(interface "$vf1" 52:54:00:00:00:02 "$(vlan_tag 42)")" "$(hostdev "$vf1")"; do
		device "$form"
		# Scenario 15: hot plug with MAC and VLAN, and unplug
		for flag in '' --live --current --config --persistent; do
			# shellcheck disable=SC2086
			plug_and_unplug o $flag
		done
	done

	# Scenario 16: attach-interface and detach-interface
	scenario 16
	run virsh attach-interface o hostdev --source "$vf1" --mac 52:54:00:00:00:03 --model virtio
	run virsh attach-interface o hostdev --source "$vf1" --mac 52:54:00:00:00:03 --managed --model virtio
	show_vf "$left" 1
	who_has "$vf1"

	# Scenario 54: the link state of a VF's <interface>
	scenario 54
	run virsh domif-setlink o 52:54:00:00:00:03 down

	# Scenario 52: managed='yes' to 'no' in a running domain
	scenario 52
	virsh dumpxml o 2>/dev/null | sed -n "/<interface/,/<.interface/p" | sed "s/managed='yes'/managed='no'/" >/tmp/update.xml
	run virsh update-device o /tmp/update.xml --live
	show_vf "$left" 1

	scenario 16 # its end
	run virsh detach-interface o hostdev --mac 52:54:00:00:00:03
	await domain_lacks "$vf1" o
	show_vf "$left" 1
	who_has "$vf1"

	# Scenario 4: hot plug with managed='no' of a VF on its host driver
	scenario 4
	device "$(interface "$vf1" 52:54:00:00:00:02 '' no)"
	run virsh attach-device o /tmp/device.xml --live
	run virsh nodedev-detach "$(nodedev "$vf1")"
	plug_and_unplug o --live
	run virsh nodedev-reattach "$(nodedev "$vf1")"
	show_vf "$left" 1

	# Scenario 19: hot plug that libvirt refuses, and then takes
	scenario 19
	device "$(interface "$vf1" 52:54:00:00:00:02 "$(vlan_tag 42)<alias name='ua-x'/>")"
	run ip link set "$ens1" down
	run virsh attach-device o /tmp/device.xml --live
	show_vf "$left" 1
	run ip link set "$ens1" up
	run virsh attach-device o /tmp/device.xml --live
	show_vf "$left" 1
	device "$(interface "$vf2" 52:54:00:00:00:04 "<alias name='ua-x'/>")"
	run virsh attach-device o /tmp/device.xml --live
	show_vf "$left" 2

	# Scenario 13: libvirtd is restarted while the domain runs
	# Scenario 20: then a second VF is plugged in and out
	scenario 13
	run systemctl restart libvirtd
	show_vf "$left" 1
	device "$(interface "$vf2" 52:54:00:00:00:04 "$(vlan_tag 43)")"
	run virsh attach-device o /tmp/device.xml --live
	show_vf "$left" 1
	show_vf "$left" 2
	run virsh detach-device o /tmp/device.xml --live
	await domain_lacks "$vf2" o
	show_vf "$left" 1
	show_vf "$left" 2

	# Scenario 41: a VF in use is plugged into its own guest and into another one
	scenario 41
	run domain second
	run virsh -q start second
	for form in "$(interface "$vf1" 52:54:00:00:00:06)" "$(hostdev "$vf1")"; do
		device "$form"
		run virsh attach-device o /tmp/device.xml --live
		run virsh attach-device second /tmp/device.xml --live
	done
	show_vf "$left" 1

	# Scenario 40: a domain that is off and has that VF does not start
	scenario 40
	run domain third "$(interface "$vf1" 52:54:00:00:00:06)"
	run virsh -q start third
	show_vf "$left" 1

	# Scenario 36: a VF in use is neither detached nor reattached; libvirt does not ask this of its PF
	scenario 36
	run virsh nodedev-detach "$(nodedev "$vf1")"
	run virsh nodedev-reattach "$(nodedev "$vf1")"
	show_vf "$left" 1

	# Scenario 21: the same VF again, and then in the other guest
	scenario 21
	for guest in o o second; do
		device "$(interface "$vf3" 52:54:00:00:00:07 "$(vlan_tag 44)")"
		[ $guest = o ] || device "$(interface "$vf3" 52:54:00:00:00:08)"
		await_boots $guest 1
		run virsh attach-device $guest /tmp/device.xml --live
		show_vf "$left" 3
		run virsh detach-device $guest /tmp/device.xml --live
		await domain_lacks "$vf3" $guest
		show_vf "$left" 3
	done
	run virsh -q destroy second
	run virsh -q destroy o
	show_vf "$left" 1

	# Scenario 27: three VFs by --persistent, a reset, and all are unplugged
	# Scenario 5: the guest resets itself, is reset, and is rebooted
	scenario 5
	run domain o
	run virsh -q start o
	await_boots o 1
	for n in 1 2 3; do
		device "$(interface "$(vf_of "$left" $n)" "52:54:00:00:00:1$n" "$(vlan_tag 4$n)")"
		run virsh attach-device o /tmp/device.xml --persistent
	done
	local boot=1
	for reboot in reset_inside 'virsh reset' 'virsh reboot' 'virsh reset' reset_inside; do
		# shellcheck disable=SC2086 # words of a command
		run $reboot o
		# Its firmware has no power button: the guest obeys as an operating system would.
		[ "$reboot" != 'virsh reboot' ] || run power_off_inside o
		boot=$((boot + 1))
		await_boots o $boot
		for n in 1 2 3; do show_vf "$left" $n; done
	done
	for n in 1 2 3; do
		device "$(interface "$(vf_of "$left" $n)" "52:54:00:00:00:1$n" "$(vlan_tag 4$n)")"
		run virsh detach-device o /tmp/device.xml --persistent
		await domain_lacks "$(vf_of "$left" $n)" o
		run virsh nodedev-reattach "$(nodedev "$(vf_of "$left" $n)")"
		for m in 1 2 3; do show_vf "$left" $m; done
	done
	run virsh -q destroy o
}

definitions() {
	# Scenario 38: one VF twice in a domain
	scenario 38
	run domain o "$(interface "$vf0" 52:54:00:00:00:01)$(hostdev "$vf0")"

	# Scenario 53: another MAC and VLAN for the next start
	scenario 53
	run domain o "$(interface "$vf0" 52:54:00:00:00:01)"
	virsh dumpxml --inactive o 2>/dev/null | sed -n "/<interface/,/<.interface/p" |
		sed "s|<source>|$(vlan_tag 45)<source>|" >/tmp/update.xml
	run virsh update-device o /tmp/update.xml --config
	start_and_stop o 0
	run domain o "$(interface "$vf0" 52:54:00:00:00:09 "$(vlan_tag 45)")"
	start_and_stop o 0

	# Scenario 35: a free VF is detached from its host driver, and given back
	scenario 35
	virsh nodedev-event --event lifecycle --loop >/tmp/events 2>/dev/null &
	local events=$!
	for verb in nodedev-detach nodedev-reattach; do
		run virsh $verb "$(nodedev "$vf0")"
		show_vf "$left" 0
		who_has "$vf0"
	done
	await grep -q "net_.*Created" /tmp/events
	kill "$events"
	wait "$events" 2>/dev/null
	sed -nE "s/.*net_.*(Deleted|Created).*/\1/p" /tmp/events | sort -u # a renamed device is created twice
}

ordinary_scenarios() {
	life_cycle
	hot_plug
	definitions
	virsh -q undefine o
	virsh -q undefine second
	virsh -q undefine third
}

# ---- ordinary domains, without and with the hook ----
ordinary_scenarios >/tmp/without 2>/dev/null
check "the hook" vfctl hook install
check "status: nothing" vfctl status
ordinary_scenarios >/tmp/with 2>/dev/null
for n in 1 2 3 4 5 8 9 10 11 12 13 14 16 18 19 21 35 36 38 40 41 52 53 54; do
	same_with_hook "$n" "an ordinary domain sees nothing of the hook"
done
# What a line above promises has been there to be compared.
shows 1 'vfio-pci, PF: 52:54:00:00:00:01' 1
shows 2 'vfio-pci, PF: 52:54:00:00:00:01 vlan=42' 1
shows 3 'must be manually detached from the host' 1
shows 4 'must be manually detached from the host' 1
shows 5 'vfio-pci, PF: 52:54:00:00:00:1. vlan=4' 18
shows 8 'vfio-pci, PF: 52:54:00:00:00:01' 3
shows 9 'vlan trunking is not supported|Failed to load PCI driver module test' 2
shows 10 '^vfio-pci$' 1
shows 11 'vfio-pci, PF: 52:54:00:00:00:01' 2
shows 12 'igbvf, PF: 52:54:00:00:00:05 vlan=7' 1
shows 13 'VF 2: vfio-pci, PF: 52:54:00:00:00:04 vlan=43' 1
shows 14 'running 1, definition 1' 2
shows 16 '^- domain o$' 1
shows 18 'VF 0: vfio-pci' 1
shows 19 'the PF is not online|non unique alias detected' 2
shows 21 'vfio-pci, PF: 52:54:00:00:00:0[78]' 3
shows 35 '^(Created|Deleted)$' 2
shows 36 'is in use by driver QEMU, domain o' 2
shows 38 'Hostdev already exists' 1
shows 40 'is in use by driver QEMU, domain o' 1
shows 41 'is in use by driver QEMU, domain o' 4
shows 52 'cannot change config' 1
shows 53 'vfio-pci, PF: 52:54:00:00:00:0[19] vlan=45' 2
shows 54 'cannot change config' 1
check_is "nothing else differs" "" diff /tmp/without /tmp/with
check_is "no lease, no open run" "0 0" sqlite3 -separator ' ' $state \
	"select (select count(*) from lease), (select count(*) from change)"
check "status: nothing" vfctl status

# ---- guests of vfctl's ----
free="VF 0: igbvf, $(show_vf "$left" 0 | sed 's/^[^,]*, //')"
in_force='VF 0: vfio-pci, PF: 02:00:00:00:00:01 vlan=100 max-rate=50 spoofchk=true trust=true, network device: none'
vf_is_free() { check_is "$1: VF 0 is as before" "$free" show_vf "$left" 0; }
vf0_free() { [ "$(show_vf "$left" 0)" = "$free" ]; }
vf_is_in_force() { check_is "$1: VF 0 has the leased values" "$in_force" show_vf "$left" 0; }
one_free="$(show_vf "$left" 1)" two_free="$(show_vf "$left" 2)" three_free="$(show_vf "$left" 3)"
leases() { sqlite3 $state "select count(*) from lease_vf"; }
open_runs() { sqlite3 $state "select id || ' ' || story from change"; }
policy_of_vf1() { show_vf "$left" 1 | sed -E 's/.*: (.*), PF:.* (vlan=[0-9]*) .*(trust=[a-z]*),.*/\1 \2 \3/'; }
both_devices() { echo "$(devices g) $(devices g --inactive)"; }
releases() { journalctl -q -t vfctl -o cat | grep -c "domain 'g', release"; }

# usage: says TEXT COMMAND...     it fails, and its message contains this
says() {
	local text=$1 output
	shift
	output=$("$@" 2>&1) && { echo "it succeeded: $output"; return 1; }
	grep -q -- "$text" <<<"$output" || { echo "$output"; return 1; }
}

# Its ports are on the root bus: there the boot sector answers an unplug, also after a reset.
sed -e 's/one.console/g.console/' -e 's|<on_reboot>destroy|<on_reboot>restart|' /payload/guests/lab.xml >/tmp/g.xml
sed -e 's/^name: .*/name: g/' -e 's/^memory: .*/memory: 64MiB\nspare_ports: 4\nxml: {expander_ports: 0}/' /payload/guests/one.yaml >/tmp/g.yaml
cat >>/tmp/g.yaml <<EOT
    mac: "02:00:00:00:00:01"
    vlan: 100
    trust: on
    max_rate_mbps: 50
EOT
check "define" vfctl define /tmp/g.yaml --template /tmp/g.xml
check_is "it leases VF 0" "g none -" who_has "$vf0"
vf_is_free "off"

# Scenario 11: the VF's network device is up on the host, with an address
# Scenario 1: the leased MAC is not the VF's own; VF on its host driver
for _ in 1 2; do
	ip link set "$(link_of "$vf0")" up
	ip addr add 10.62.0.1/24 dev "$(link_of "$vf0")"
	check "scenario 11: start" virsh -q start g
	vf_is_in_force "scenario 1, running"
	# Scenario 74: the host has one VF device less while the guest runs
	check_is "scenario 74: one VF device less" 4 host_devices
	check_is "scenario 74: list tells" "g domain g" who_has "$vf0"
	check "scenario 1: stop" virsh -q destroy g
	vf_is_free "scenario 1, stopped"
	check_is "scenario 74: it is there again" 5 host_devices
	check_is "scenario 74: list tells" "g none -" who_has "$vf0"
	check_is "no run is open" "" open_runs
	udevadm settle --timeout=30
done

# Scenario 9: two tags are refused by the hook; with a driver model that does not exist libvirt fails
virsh dumpxml --inactive g >/tmp/good.xml 2>/dev/null
sed "s|<tag id='100'/>|&<tag id='101'/>|" /tmp/good.xml >/tmp/bad.xml
check "scenario 9: two tags" virsh -q define /tmp/bad.xml
check "scenario 9: the hook refuses the start" says "VF" virsh start g
vf_is_free "scenario 9, two tags"
sed "s|<driver name='vfio'/>|<driver name='vfio' model='test'/>|" /tmp/good.xml >/tmp/bad.xml
check "scenario 9: a driver model" virsh -q define /tmp/bad.xml
check "scenario 9: libvirt refuses the start" says "Failed to load PCI driver module test" virsh start g
eventually "scenario 9: VF 0 is as before" 10 vf0_free
check_is "scenario 9: no run is open" "" open_runs

# Scenario 53: another MAC and VLAN in the definition
sed -e "s/id='100'/id='45'/" -e 's/00:00:01/00:00:09/' /tmp/good.xml >/tmp/bad.xml
check "scenario 53: another MAC and VLAN" virsh -q define /tmp/bad.xml
virsh start g >/tmp/words 2>&1
check "scenario 53: the start is refused; both values are named" bash -c \
	"grep -qE '100.*45|45.*100|00:01.*00:09|00:09.*00:01' /tmp/words && grep -q 'vfctl set' /tmp/words || { cat /tmp/words; exit 1; }"
vf_is_free "scenario 53"
check "scenario 53: back" virsh -q define /tmp/good.xml

# Scenario 12: macvtap over the network device of a VF that is leased to a guest that is off
check "scenario 12: an ordinary domain" domain tap "<interface type='direct'><mac address='52:54:00:00:00:05'/>
	<source dev='$(link_of "$vf0")' mode='passthrough'/><model type='virtio'/></interface>"
virsh start tap >/tmp/words 2>&1
taken=$(virsh domstate tap 2>/dev/null | head -1)
check "scenario 12: refused, or status names the taker" bash -c "
	if [ '$taken' = running ]; then vfctl status >/tmp/status; [ \$? = 3 ] && grep -q tap /tmp/status
	else grep -q 'domain g' /tmp/words; fi || { cat /tmp/words /tmp/status; exit 1; }"
virsh -q destroy tap
virsh -q undefine tap
vf_is_free "scenario 12"

# Scenario 10: the PF as <hostdev> while one of its VFs is leased
# Scenario 39: with a VF of it in the same domain
check "scenario 10: an ordinary domain" domain o "$(hostdev "$left")"
check "scenario 10: the start names the VF's domain" says "domain g" virsh start o
vf_is_free "scenario 10"
check "scenario 39: a VF and its PF" domain o "$(interface "$vf1" 52:54:00:00:00:01)$(hostdev "$left")"
check "scenario 39: adopt leases its VF" vfctl adopt o
check "scenario 39: the start is refused" says "$left" virsh start o
check_is "scenario 39: VF 1 is as before" "$one_free" show_vf "$left" 1
check "scenario 39: the lease ends" vfctl adopt o --undo

# Scenario 42: a leased VF is plugged into an ordinary guest, while its owner is off
check "scenario 42: an ordinary domain" domain o
check "scenario 42: it runs" virsh -q start o
device "$(interface "$vf0" 52:54:00:00:00:02 "$(vlan_tag 42)")"
check "scenario 42: it takes the VF" virsh -q attach-device o /tmp/device.xml --live
check "scenario 42: the owner does not start; the holder is named" says "domain o" virsh start g
check_is "scenario 42: the holder keeps it" "g domain o" who_has "$vf0"
check "scenario 42: the holder stops" virsh -q destroy o

# ---- while it runs ----
check "start" virsh -q start g
vf_is_in_force "scenario 42"
run_id=$(open_runs) released=$(releases)
await_boots g 1

# Scenario 5: the guest resets itself, is reset, and is rebooted
boot=1
for reboot in reset_inside 'virsh -q reset' 'virsh -q reboot' 'virsh -q reset' reset_inside; do
	# shellcheck disable=SC2086 # words of a command
	check "scenario 5: $reboot" $reboot g
	[ "$reboot" != 'virsh -q reboot' ] || power_off_inside g >/dev/null 2>&1
	boot=$((boot + 1))
	await_boots g $boot
	vf_is_in_force "scenario 5, $reboot"
done
check_is "scenario 5: it is the same run" "$run_id" open_runs
check_is "scenario 5: the hook released nothing" "$released" releases

# Scenario 36: the VF in use is neither detached nor reattached; libvirt does not ask this of its PF
for verb in nodedev-detach nodedev-reattach; do
	check_fails "scenario 36: $verb" virsh $verb "$(nodedev "$vf0")"
done
vf_is_in_force "scenario 36"

# Scenario 52: managed='yes' to 'no' in a running domain
virsh dumpxml g 2>/dev/null | sed -n "/<interface/,/<.interface/p" | sed "s/managed='yes'/managed='no'/" >/tmp/update.xml
check "scenario 52: libvirt refuses" says "cannot change config" virsh update-device g /tmp/update.xml --live
vf_is_in_force "scenario 52"

# Scenario 38: the same VF again
check "scenario 38: a second attach is refused" says "domain g" vfctl attach g --vf "$vf0" --form hostdev
# Scenario 40: a second domain with that VF
check "scenario 40: another domain has it in its definition" domain o "$(interface "$vf0" 52:54:00:00:00:06)"
check "scenario 40: its start names the first" says "domain g" virsh start o
vf_is_in_force "scenario 40"
# Scenario 41: hot plug of the VF in use, into its own guest and another, both kinds
check "another domain" domain o
check "it runs" virsh -q start o
for form in interface hostdev; do
	for guest in g o; do
		check "scenario 41: attach to $guest as $form is refused; the holder is named" \
			says "domain g" vfctl attach $guest --vf "$vf0" --form $form --live
	done
done
vf_is_in_force "scenario 41"
check_is "scenario 41: one lease" 1 leases
check "the other stops" virsh -q destroy o

# Scenario 20: after a restart of the daemon a second VF is plugged in and out
check "scenario 20: restart the daemon" systemctl restart libvirtd
vf_is_in_force "scenario 20"
check "scenario 20: attach" vfctl attach g --vf "$vf1" --live vlan=7 trust=on
check_is "scenario 20: VF 1 has its values" "vfio-pci vlan=7 trust=true" policy_of_vf1
vf_is_in_force "scenario 20"
check "scenario 20: detach" vfctl detach g --vf "$vf1" --live --wait 3600
check_is "scenario 20: VF 1 is as before" "$one_free" show_vf "$left" 1
vf_is_in_force "scenario 20"

# Scenario 19: hot plug that libvirt refuses leaves nothing
ip link set "$ens1" down
check_fails "scenario 19: attach while the PF is down" vfctl attach g --vf "$vf1" --live vlan=7
ip link set "$ens1" up
check_is "scenario 19: VF 1 is free" "- none -" who_has "$vf1"
check_is "scenario 19: and as before" "$one_free" show_vf "$left" 1
check_is "scenario 19: no lease is left" 1 leases
check_is "scenario 19: no run or change is left" "$run_id" open_runs

# Scenario 27: three VFs for the running guest and its definition, a reset, and all go one by one
check "scenario 27: attach three" vfctl attach g --pf "$ens1" --count 3
check_is "scenario 27: both XMLs have them" "4 4" both_devices
check "scenario 27: reset" virsh -q reset g
await_boots g $((boot + 1))
vf_is_in_force "scenario 27"
check_is "scenario 27: four leases" 4 leases
for n in 1 2 3; do
	check "scenario 27: detach" vfctl detach g --vf "$ens1/$n" --wait 3600
	check_is "scenario 27: its lease ends" $((4 - n)) leases
done
check_is "scenario 27: VF 1 is as before" "$one_free" show_vf "$left" 1
check_is "scenario 27: VF 2 is as before" "$two_free" show_vf "$left" 2
check_is "scenario 27: VF 3 is as before" "$three_free" show_vf "$left" 3

# Scenario 14: attach and detach with each flag
for flag in --live --config ''; do
	# shellcheck disable=SC2086 # no flag is no word
	check "scenario 14: attach $flag" vfctl attach g --vf "$vf1" $flag
	case $flag in
	--live) has='2 1' ;;
	--config) has='1 2' ;;
	*) has='2 2' ;;
	esac
	check_is "scenario 14: running and defined" "$has" both_devices
	# shellcheck disable=SC2086
	check "scenario 14: detach $flag" vfctl detach g --vf "$vf1" --wait 3600 $flag
	check_is "scenario 14: its lease ends" "- none -" who_has "$vf1"
done
check "scenario 14: attach to both" vfctl attach g --vf "$vf1"
check "scenario 14: detach live" vfctl detach g --vf "$vf1" --live --wait 3600
check_is "scenario 14: its lease stays" "g none -" who_has "$vf1"
check "scenario 14: detach from the definition" vfctl detach g --vf "$vf1" --config
check_is "scenario 14: its lease ends with the last" "- none -" who_has "$vf1"

check "stop" virsh -q destroy g
vf_is_free "scenario 27"
check_fails "scenario 14: --live of a guest that is off" vfctl attach g --vf "$vf1" --live
check_is "scenario 14: nothing is leased by it" 1 leases
check "scenario 14: --config" vfctl attach g --vf "$vf1" --config
check "scenario 14: --config" vfctl detach g --vf "$vf1" --config

# Scenario 35: a free VF is detached from its host driver, and given back
check "scenario 35: nodedev-detach" virsh nodedev-detach "$(nodedev "$vf1")"
check_is "scenario 35: list" "vfio-pci - none -" bash -c \
	"vfctl list --json | jq -r '.pfs[].vfs[] | select(.address == \"$vf1\") | .driver + \" \" + (.lease.domain // \"-\") + \" \" + .holder.kind + \" -\"'"
check "scenario 35: nodedev-reattach" virsh nodedev-reattach "$(nodedev "$vf1")"
check_is "scenario 35: it has its driver and MAC" "$one_free" show_vf "$left" 1

# ---- adopted domains ----
# Scenario 4: managed='no' while the VF is on its host driver
# Scenario 3: managed='no', VF detached with nodedev-detach
check "scenario 3: a domain" domain o "$(interface "$vf1" 02:00:00:00:00:03 "$(vlan_tag 43)" no)"
check "scenario 3: adopt" vfctl adopt o
check "scenario 4: libvirt's message reaches the user" says "must be manually detached from the host" virsh start o
check_is "scenario 4: VF 1 is as before" "$one_free" show_vf "$left" 1
check "scenario 3: nodedev-detach" virsh nodedev-detach "$(nodedev "$vf1")"
detached=$(show_vf "$left" 1)
check "scenario 4: now it starts" virsh -q start o
check_is "scenario 3: the values of its <interface>" \
	'VF 1: vfio-pci, PF: 02:00:00:00:00:03 vlan=43 max-rate=0 spoofchk=true trust=false, network device: none' show_vf "$left" 1
check "scenario 3: stop" virsh -q destroy o
check_is "scenario 3: on vfio-pci with the former values" "$detached" show_vf "$left" 1
check "scenario 3: nodedev-reattach" virsh nodedev-reattach "$(nodedev "$vf1")"
check_is "scenario 3: host driver and MAC" "$one_free" show_vf "$left" 1
check "scenario 3: the lease ends" vfctl adopt o --undo

# Scenario 18: <address type='unassigned'/>
check "scenario 18: a domain" domain o "$(hostdev "$vf1" "<address type='unassigned'/>")"
check "scenario 18: adopt" vfctl adopt o
check "scenario 18: trust and a VLAN" vfctl set "$vf1" trust=on vlan=18 --config
check "scenario 18: start" virsh -q start o
check_is "scenario 18: VF 1 has them" "vfio-pci vlan=18 trust=true" policy_of_vf1
check_is "scenario 18: the guest has no such device" 0 bash -c "virsh -q qemu-monitor-command o --hmp 'info qtree' | grep -c vfio-pci"
check "scenario 18: stop" virsh -q destroy o
check_is "scenario 18: VF 1 is as before" "$one_free" show_vf "$left" 1
check "scenario 18: the lease ends" vfctl adopt o --undo

# Scenario 73: a plain <hostdev> of a VF on its host driver, with a leased MAC
check "scenario 73: a domain" domain o "$(hostdev "$vf1")"
check "scenario 73: adopt" vfctl adopt o
check "scenario 73: a leased MAC" vfctl set "$vf1" mac=02:00:00:00:00:73 vlan=73 --config
check "scenario 73: start" virsh -q start o
check_is "scenario 73: VF 1 has them" \
	'VF 1: vfio-pci, PF: 02:00:00:00:00:73 vlan=73 max-rate=0 spoofchk=true trust=false, network device: none' show_vf "$left" 1
check "scenario 73: stop" virsh -q destroy o
check_is "scenario 73: PF and network device have the former MAC" "$one_free" show_vf "$left" 1
check "scenario 73: the lease ends" vfctl adopt o --undo

# ---- nothing is left ----
check "undefine" vfctl undefine g
virsh -q undefine o
check_is "nothing is leased, no run is open" "0 0" sqlite3 -separator ' ' $state \
	"select (select count(*) from lease_vf), (select count(*) from change)"
vf_is_free "the end"
check "status: nothing" vfctl status
check "no VFs" vfctl destroy "$ens1"
finish
