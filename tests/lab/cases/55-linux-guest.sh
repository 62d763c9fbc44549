# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=bash
# CASE_BOOT 2
# A guest of two NUMA cells that runs Linux: what its kernel sees of its VFs, and what reaches it
# from the wire. Its VF of ens1 is on VLAN 100; at the other end of the wire is the PF ens2.
# shellcheck source=tests/lab/cases/lib.sh
. "$(dirname "$0")/lib.sh"
# shellcheck source=tests/lab/cases/traffic/lib.sh
. "$(dirname "$0")/traffic/lib.sh"

ens1=$(link_of "$left") ens2=$(link_of "$right")
vfinfo() { ip -j link show dev "$1" | jq -c '.[0].vfinfo_list'; }
vf_mac() { ip -j link show dev "$1" | jq -r ".[0].vfinfo_list[$2].address"; }
answers_host() { busybox ping -c 1 -W 2 "$@"; }
silent_to_host() { ! busybox ping -c 3 -W 3 "$@"; }
linux() { in_guest linux "$1"; }
# usage: affinity VF     where its vectors may go, once each
affinity() { for irq in "$pci/$1"/msi_irqs/*; do cat "/proc/irq/${irq##*/}/smp_affinity_list"; done | sort -u; }
# usage: lands VF CPUS     each of its vectors goes to one of these
lands() {
	local irq cpu
	for irq in "$pci/$1"/msi_irqs/*; do
		cpu=$(<"/proc/irq/${irq##*/}/effective_affinity_list")
		[[ ,$2, == *,$cpu,* ]] || return 1
	done
}
vectors() { find "$pci/$1/msi_irqs" -type f 2>/dev/null | wc -l; }
cpu_latency() { od -An -td4 -N4 /dev/cpu_dma_latency | tr -d ' '; }
tuners() { pgrep -fx "vfctl-guest-tuning .*" | wc -l; }
# usage: tells WORDS     the system's log has it of a guest's tuning
tells() { journalctl -t vfctl --no-pager | grep 'guest tuning' | grep -q -- "$1"; }
# usage: by_node NODE     the guest's network device that is on this node of the guest
by_node() { linux "grep -lx $1 /sys/class/net/*/device/numa_node | cut -d / -f 5"; }

# ---- the wire ----
check "the PFs are up" bash -c "ip link set $ens1 up && ip link set $ens2 up"
check "VFs" bash -c "vfctl create $ens1 3 && vfctl create $ens2 2"
modprobe 8021q
ip link add link "$ens2" name wire100 type vlan id 100
ip addr add 10.9.0.3/24 dev "$ens2" && ip addr add 10.9.1.3/24 dev wire100 && ip link set wire100 up
before="$(vfinfo "$ens1") $(vfinfo "$ens2")"

latency_before=$(cpu_latency)

# ---- the guest ----
check "its first disk: busybox and igbvf" bash "$traffic/make-initrd" /run/lab/initrd
spec=$(linux_spec linux <<-EOT
	vcpus: 2
	cells: 2
	spare_ports: 1
	tuning: latency
	vfs:
	  - {pf: $ens1, cell: 0, vlan: 100}
	  - {pf: $ens2, cell: 1}
EOT
)
check "the hook" vfctl hook install
check "define" vfctl define "$spec"
linux_pipes linux
check "start" virsh start linux
check "Linux is up in it" linux_up linux 1200
grep -a 'guest up' /var/log/libvirt/qemu/linux.console | sed 's/^/# /'
if ! guest_said linux 'guest up'; then # nothing below can be looked at
	tail -n 20 /var/log/libvirt/qemu/linux.console | tr -d '\r' | sed 's/^/# /'
	finish
	exit 1
fi

# ---- what its kernel sees ----
check_is "it has two NUMA nodes" "0-1" linux "cat /sys/devices/system/node/online"
one=$(by_node 0) two=$(by_node 1) mac_one=$(vf_mac "$ens1" 0)
check_is "a network device on each of them: $one $two" "1 1" \
	echo "$(wc -w <<<"$one")" "$(wc -w <<<"$two")"
check_is "that on node 0 has the MAC of the VF of ens1" "$mac_one" linux "cat /sys/class/net/$one/address"
check_is "that on node 1 has the MAC of the VF of ens2" "$(vf_mac "$ens2" 0)" linux "cat /sys/class/net/$two/address"
linux "ip link set $one up; ip addr add 10.9.0.1/24 dev $one; ip addr add 10.9.1.1/24 dev $one"
linux "ip link set $two up; ip addr add 10.9.2.1/24 dev $two"
eventually "it has link" 30 linux "grep -x 1 /sys/class/net/$one/carrier"
check_is "its MAC cannot be changed in there" "ip: SIOCSIFHWADDR: Cannot assign requested address" \
	linux "ip link set $one address 02:00:00:00:00:77"
check_is "and is as it was" "$mac_one" linux "cat /sys/class/net/$one/address"

# ---- VLAN 100, both ways ----
eventually "it answers VLAN 100 from the wire" 20 answers_host 10.9.1.1
interrupts() { awk '/vfio-msix/ { for (i = 2; i <= 5; i++) n += $i } END { print n + 0 }' /proc/interrupts; }
count=$(interrupts)
check "and reaches it" linux "ping -c 1 -W 3 10.9.1.3"
check "the host passed interrupts on to it" test "$(interrupts)" -gt "$count"
check "without the tag the wire does not reach it" silent_to_host 10.9.0.1
check "nor it the wire" linux "! ping -c 3 -W 3 10.9.0.3"
check "the VLAN is taken off" vfctl set "$ens1/0" vlan=0 --live
eventually "now it answers without the tag" 20 answers_host 10.9.0.1
check "and no more with it" silent_to_host 10.9.1.1
check "the VLAN is put back" vfctl set "$ens1/0" vlan=100 --live
eventually "it answers VLAN 100 again" 20 answers_host 10.9.1.1

# ---- tuning: its profile is latency ----
emulator=$(virsh emulatorpin linux | awk '$1 == "*:" { print $2 }')
vf_one=$(vf_of "$left" 0) vf_two=$(vf_of "$right" 0)
echo "# QEMU's threads on CPUs $emulator; $(vectors "$vf_one") and $(vectors "$vf_two") vectors"
check "its driver has made vectors of both VFs" test "$(vectors "$vf_one")" -gt 0 -a "$(vectors "$vf_two")" -gt 0
for vf in "$vf_one" "$vf_two"; do
	check_is "the vectors of $vf may go to QEMU's CPUs alone" "$emulator" affinity "$vf"
	eventually "and go there" 30 lands "$vf" "$emulator"
	check_is "irqbalance is told to leave them" "ban=true" \
		/usr/libexec/vfctl/irqbalance-policy "$pci/$vf" 1
done
check_is "CPUs leave no C-state late" 2 cpu_latency
check_is "one process looks after it" 1 tuners
cat /sys/devices/system/cpu/cpu0/cpufreq/scaling_governor 2>/dev/null | sed 's/^/# governor /'
irq=$(ls "$pci/$vf_one/msi_irqs" | head -1)
echo 0-3 >"/proc/irq/$irq/smp_affinity_list"
eventually "a vector that somebody moves is put back" 30 grep -qx "$emulator" "/proc/irq/$irq/smp_affinity_list"
eventually "which is said" 10 tells "another program moved interrupt $irq of VF $vf_one; vfctl moves it back once"
check "killed" pkill -9 -fx 'vfctl-guest-tuning .*'
eventually "it leaves nothing behind" 10 bash -c "[ \$(od -An -td4 -N4 /dev/cpu_dma_latency) = $latency_before ]"
virsh dumpxml linux | /etc/libvirt/hooks/qemu.d/50-vfctl linux reconnect begin -
eventually "a daemon that starts again starts it again" 10 bash -c '[ $(od -An -td4 -N4 /dev/cpu_dma_latency) = 2 ]'
check_is "once" 1 tuners

# ---- trust ----
check "with trust" vfctl set "$ens1/0" trust=on --live
check "its root may change the MAC" linux "ip link set $one address 02:00:00:00:00:77"
check_is "and the host sees that" 02:00:00:00:00:77 vf_mac "$ens1" 0
check "and back" linux "ip link set $one address $mac_one"
check "without trust" vfctl set "$ens1/0" trust=off --live
check_fails "it may not" linux "ip link set $one address 02:00:00:00:00:77"

# ---- link ----
check "the PF goes down" ip link set "$ens1" down
eventually "the guest loses its link" 60 linux "grep -x 0 /sys/class/net/$one/carrier"
check "the PF comes up" ip link set "$ens1" up
eventually "the guest has it back" 60 linux "grep -x 1 /sys/class/net/$one/carrier"
# Its driver sees by and by that the PF was reset: 6 s in most runs, 20 to 43 s in many.
eventually "and answers" 120 answers_host 10.9.1.1

# ---- a second VF of the card, while it runs ----
check "attach" vfctl attach linux --vf "$ens1/1" --live
vf=$(vf_of "$left" 1)
mac=$(vf_mac "$ens1" 1)
eventually "the guest's kernel has a third device with that VF's MAC" 60 \
	linux "grep -x $mac /sys/class/net/*/address"
third=$(linux "grep -lx $mac /sys/class/net/*/address" | cut -d / -f 5)
check "detach: the guest's kernel lets go" vfctl detach linux --vf "$ens1/1" --live --wait 60
check_fails "it has the device no more" linux "test -e /sys/class/net/$third"
check "the running domain has the VF no more" domain_lacks "$vf" linux
check "it answers on" answers_host 10.9.1.1

# ---- nothing is left ----
check "stop" virsh destroy linux
eventually "the VFs are as they were before it started" 15 bash -c \
	"[ '$before' = \"\$(ip -j link show dev $ens1 | jq -c '.[0].vfinfo_list') \$(ip -j link show dev $ens2 | jq -c '.[0].vfinfo_list')\" ]"
check_is "no interrupt of it is left" "" grep vfio-msix /proc/interrupts
eventually "nobody looks after it any more" 10 bash -c "! pgrep -fx 'vfctl-guest-tuning .*'"
check_is "C-states are as they were" "$latency_before" cpu_latency
check_is "and irqbalance may have the VFs again" "" /usr/libexec/vfctl/irqbalance-policy "$pci/$vf_one" 1

# ---- Scenario 8: it is killed ----
linux_pipes linux
check "start" virsh start linux
eventually "C-states are limited" 15 bash -c '[ $(od -An -td4 -N4 /dev/cpu_dma_latency) = 2 ]'
check "QEMU is killed" kill -9 "$(cat /run/libvirt/qemu/linux.pid)"
eventually "nobody looks after it any more" 10 bash -c "! pgrep -fx 'vfctl-guest-tuning .*'"
check_is "C-states are as they were" "$latency_before" cpu_latency
eventually "the run is over" 15 bash -c "! ls /run/vfctl/irq-*"
check_is "in the journal as well" 0 bash -c "sqlite3 /var/lib/vfctl/state.db 'select count(*) from change'"
check "undefine" vfctl undefine linux
check_is "nothing is leased" 0 bash -c "sqlite3 /var/lib/vfctl/state.db 'select count(*) from lease_vf'"
ip link del wire100
ip addr flush dev "$ens2"
check "no VFs" bash -c "vfctl destroy $ens1 && vfctl destroy $ens2"
finish
