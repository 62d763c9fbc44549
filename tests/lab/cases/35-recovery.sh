# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=bash
# CASE_BOOT 2
# A vfctl that is killed in the middle: the host is then as before or as after, never between.
# shellcheck source=tests/lab/cases/lib.sh
. "$(dirname "$0")/lib.sh"
# shellcheck source=tests/lab/cases/recovery.sh
. "$(dirname "$0")/recovery.sh"

# How many VFs there are, and of those how many on vfio-pci and with a MAC.
vfs() {
	local vf n=0 bound=0
	for vf in "$pci/$left"/virtfn*; do
		[ -e "$vf" ] || continue
		n=$((n + 1))
		[ "$(basename "$(readlink "$vf/driver")")" != vfio-pci ] || bound=$((bound + 1))
	done
	printf '%d %d %d\n' "$n" "$bound" \
		"$(ip link show dev "$ens1" | grep 'vf [0-9]' | grep -vc '00:00:00:00:00:00')"
}

modprobe vfio-pci
check "nothing to recover" vfctl recover
for seconds in 0.3 0.8 1.4 2.2; do
	killed "$seconds" vfctl create "$ens1" 7
	echo "# killed after $seconds s: $(vfs), autoprobe $(autoprobe), journal $(journal)"
	check "create, killed after $seconds s, is recovered" vfctl recover
	check "there are none, or seven with driver and MAC" grep -xE '0 0 0|7 7 7' <<<"$(vfs)"
	check_is "drivers probe new VFs as before" 1 autoprobe
	check_is "the journal is empty" 0 journal
	[ "$(vfs)" = '0 0 0' ] || check "no VFs" vfctl destroy "$ens1"
done
killed 0.9 vfctl create "$ens1" 7
check "the next command needs no recover before it" vfctl create "$ens1" 3
check_is "three VFs, whole" "3 3 3" vfs
killed 0.6 vfctl create "$ens1" 5
check "another number, killed, is recovered" vfctl recover
check "three as before, or five" grep -xE '3 3 3|5 5 5' <<<"$(vfs)"
killed 0.4 vfctl destroy "$ens1"
check "destroy, killed, is recovered" vfctl recover
check "as before, or none" grep -xE '0 0 0|3 3 3|5 5 5' <<<"$(vfs)"
check_is "drivers probe new VFs as before" 1 autoprobe
check_is "no writer is left behind" "" pgrep -x vfctl
vfctl destroy "$ens1" >/dev/null 2>&1

# ---- a guest's changes: libvirt and the leases say the same ----
vfctl create "$ens1" 3 >/dev/null 2>&1
recovery_begin
# "domain lease mac", each 0 or 1 (or more)
guest() {
	printf '%d %d %d\n' "$(virsh list --all --name 2>/dev/null | grep -cx one)" \
		"$(query 'SELECT count(*) FROM lease_vf')" \
		"$(query 'SELECT count(*) FROM identity WHERE state = 0')"
}
check "a guest" vfctl define /payload/guests/one.yaml
check_is "it has a VF and a MAC" "1 1 1" guest
whole='0 0 0|1 1 1'
for seconds in 0.6 0.8 1 1.2; do
	[ "$(guest)" = '0 0 0' ] || killed "$seconds" vfctl undefine one
	echo "# undefine, killed after $seconds s: $(guest), journal $(journal)"
	check "undefine, killed after $seconds s, is recovered" vfctl recover
	check "it is there with what it holds, or neither is" grep -xE "$whole" <<<"$(guest)"
	check_is "the journal is empty" 0 journal
	[ "$(guest)" != '0 0 0' ] || killed "$seconds" vfctl define /payload/guests/one.yaml
	echo "# define, killed after $seconds s: $(guest), journal $(journal)"
	check "define, killed after $seconds s, is recovered" vfctl recover
	check "it is there with what it holds, or neither is" grep -xE "$whole" <<<"$(guest)"
	check_is "the journal is empty" 0 journal
done

# ---- libvirt's daemon goes away between the connection and the question ----
[ "$(guest)" != '0 0 0' ] || check "a guest again" vfctl define /payload/guests/one.yaml
flock /run/vfctl/placement.lock sleep 25 & # longer than the restart takes, less than vfctl waits
vfctl undefine one >/tmp/undefine 2>&1 &
undefine=$!
sleep 4
check "libvirt's daemon is started again meanwhile" systemctl restart libvirtd
wait "$undefine"
status=$?
check_is "undefine has no answer, and takes none for granted" 1 echo "$status"
check "it says so" grep -i 'libvirt' /tmp/undefine
check_is "the domain is there, with what it holds" "1 1 1" guest
check_is "the journal is empty" 0 journal
check "a domain has another name by now" virsh domrename one eins
check_fails "nobody undefines it by the former one" vfctl undefine one
check_is "it holds what it held" "0 1 1" guest
check "by its own" vfctl undefine eins
check_is "nothing is left" "0 0 0" guest
vfctl destroy "$ens1" >/dev/null 2>&1
finish
