#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# usage: guest-bench.sh     Not one of CI's cases: some ten minutes, most of them an emulated guest's
# in an emulated host. vfctl bench with one end in a Linux guest, by its own agent (qemu-ga): a VF
# whose interrupt moderation igbvf sets in there, and a virtio interface on a bridge to the same wire.
#     tests/lab/run --payload DIR --timeout 2400 cases/guest-bench.sh
# shellcheck source=tests/lab/cases/lib.sh
. "$(dirname "$0")/lib.sh"
# shellcheck source=tests/lab/cases/traffic/lib.sh
. "$(dirname "$0")/traffic/lib.sh"

ens1=$(link_of "$left") ens2=$(link_of "$right")
results=/results/bench
trials=${1:-7}
linux() { in_guest linux "$1"; }
vf_mac() { ip -j link show dev "$ens1" | jq -r ".[0].vfinfo_list[$1].address"; }
# usage: by_mac MAC     the guest's network device with that address
by_mac() { linux "grep -lx $1 /sys/class/net/*/address" | cut -d / -f 5; }
usecs() { linux "ethtool -c $vf" | sed -n 's/^rx-usecs:[[:space:]]*//p'; }
agent() { virsh qemu-agent-command linux "$@"; }
# usage: verdict RESULT CONFIGURATION     what the report says of it beside the baseline
verdict() {
	vfctl bench report "$results/$1" --json | jq -r --arg name "$2" \
		'[.cells[].columns[] | select(.configuration == $name) | .difference.verdict] | unique | join(" ")'
}
# usage: median RESULT CONFIGURATION
median() {
	vfctl bench report "$results/$1" --json | jq -r --arg name "$2" \
		'.cells[0].columns[] | select(.configuration == $name) | .median'
}
figures() { jq -s 'map(select(.error == null and .metrics != null)) | length' "$results/$1/trials.jsonl"; }
show() { vfctl bench report "$results/$1" | sed 's/^/# /'; }
no_servers() { ! pgrep -x 'sockperf|iperf3' >/dev/null; }
none_in_guest() { linux "! pidof sockperf timeout"; } # busybox's pgrep -x looks at arguments as well
mkdir -p "$results"

# ---- the wire: ens2 in a namespace; a VF of ens1, and a bridge over ens1 ----
check "the other end goes to a namespace" place_in right "$ens2" 10.9.0.2
check "it has a second address, for virtio" ip -n right addr add 10.9.1.2/24 dev "$ens2"
check "a bridge over ens1" bash -c "ip link add br0 type bridge forward_delay 0 &&
	ip link set $ens1 up master br0 && ip link set br0 up"
check "a VF" vfctl create "$ens1" 1
# A PF with VFs hands on what is sent to addresses that it was told, promiscuous or not.
virtio_mac=52:54:00:00:90:01
check "ens1 takes what is sent to the virtio interface" bridge fdb add $virtio_mac dev "$ens1" self

# ---- the guest ----
check "its first disk: busybox, igbvf, the agent" bash "$traffic/make-initrd" /run/lab/initrd agent
echo "# $(du -m /run/lab/initrd | cut -f 1) MB"
spec=$(linux_spec linux "
    <channel type='unix'><target type='virtio' name='org.qemu.guest_agent.0'/></channel>
    <interface type='bridge'><mac address='$virtio_mac'/><source bridge='br0'/>
      <model type='virtio'/><driver name='qemu'/></interface>
  " <<-EOT
	vcpus: 1
	vfs:
	  - {pf: $ens1}
EOT
)
check "the hook" vfctl hook install
check "define" vfctl define "$spec"
linux_pipes linux
check "start" virsh start linux
check "Linux is up in it" linux_up linux 1200
grep -a 'guest up' /var/log/libvirt/qemu/linux.console | sed 's/^/# /'
eventually "its agent answers" 60 agent '{"execute":"guest-ping"}'
if ! agent '{"execute":"guest-ping"}' >/dev/null; then # nothing below can be looked at
	tail -n 20 /var/log/libvirt/qemu/linux.console | tr -d '\r' | sed 's/^/# /'
	finish
	exit 1
fi
agent '{"execute":"guest-info"}' | jq -r '.return.version' | sed 's/^/# qemu-ga /'
vf=$(by_mac "$(vf_mac 0)") virtio=$(by_mac $virtio_mac)
echo "# in the guest: VF $vf, virtio $virtio"
# Both are on one wire: each answers for its own address alone.
linux "echo 1 >/proc/sys/net/ipv4/conf/all/arp_ignore; ip link set lo up"
linux "ip addr add 10.9.0.1/24 dev $vf; ip link set $vf up; ip addr add 10.9.1.1/24 dev $virtio; ip link set $virtio up"
eventually "the VF answers the other end" 60 answers right 10.9.0.1
eventually "and so does virtio" 60 answers right 10.9.1.1
before=$(usecs)
echo "# rx-usecs $before"

# ---- moderation, set in the guest ----
cat >/run/lab/moderation.yaml <<-EOT
	name: interrupt moderation of a VF in a guest
	trials: $trials
	warmup: 0
	noise: 20%
	timeout: 60s
	baseline: rx3
	endpoints:
	  vf: {guest: linux, device: $vf, address: 10.9.0.1}
	  port: {netns: right, device: $ens2, address: 10.9.0.2}
	configurations:
	  rx3: {client-settings: {rx-usecs: 3}}
	  rx0: {client-settings: {rx-usecs: 0}}
	  rx8000: {client-settings: {rx-usecs: 8000}}
	tests:
	  - {name: udp, tool: sockperf, transport: udp, size: 64, duration: 1s}
EOT
check "the plan is shown, and nothing is set" vfctl bench run /run/lab/moderation.yaml --dry-run
check_is "the VF is as it was" "$before" usecs
check "moderation is measured from the guest" \
	vfctl bench run /run/lab/moderation.yaml --no-verdict --output "$results/moderation" --seed 7
show moderation
check_is "every run has a figure" $((3 * trials)) figures moderation
# A round trip takes 6 to 11 ms in here, and the card counts from its last interrupt: a limit of 1 ms
# is over by then and costs nothing. Leave the machine alone meanwhile, or nothing is shown of 8 ms.
check_is "between 0 and 3 us nothing is claimed" "no difference shown" verdict moderation rx0
check_is "8000 us are worse" worse verdict moderation rx8000
check_is "it is called emulated" true jq .emulated "$results/moderation/bench.json"
check_is "the guest's own moderation is back" "$before" usecs
check "no server is left" no_servers
check "and nothing in the guest" none_in_guest

# ---- VF against virtio ----
cat >/run/lab/virtio.yaml <<-EOT
	name: VF and virtio in one guest
	trials: $trials
	warmup: 0
	timeout: 60s
	baseline: virtio
	endpoints:
	  vf: {guest: linux, device: $vf, address: 10.9.0.1}
	  vf-port: {netns: right, device: $ens2, address: 10.9.0.2}
	  virtio: {guest: linux, device: $virtio, address: 10.9.1.1}
	  virtio-port: {netns: right, device: $ens2, address: 10.9.1.2}
	configurations:
	  virtio: {client: virtio, server: virtio-port, settings: {mtu: 1400}}
	  vf: {client: vf, server: vf-port}
	tests:
	  - {name: udp, tool: sockperf, transport: udp, size: 64, duration: 1s}
EOT
tap=$(grep -lx "fe${virtio_mac#52}" /sys/class/net/*/address | cut -d / -f 5)
check "the dry run names the tap device and the bridge" bash -c \
	"vfctl bench run /run/lab/virtio.yaml --no-verdict --dry-run | grep -q '$tap on this host' && \
	vfctl bench run /run/lab/virtio.yaml --no-verdict --dry-run | grep -q 'br0 on this host'"
mtus() { cat "/sys/class/net/$tap/mtu" /sys/class/net/br0/mtu | xargs; }
mtus_are() { [ "$(mtus)" = "$1" ]; }
vfctl bench run /run/lab/virtio.yaml --no-verdict --output "$results/virtio" --seed 7 >/run/lab/virtio.log 2>&1 &
run=$!
eventually "the tap device and the bridge follow the guest's interface" 60 mtus_are "1400 1400"
wait $run
check_is "a VF and virtio are measured" 0 echo $?
show virtio
check_is "every run has a figure" $((2 * trials)) figures virtio
check_is "the MTUs of the tap device and the bridge are back" "1500 1500" mtus

# ---- the server in the guest, and Ctrl-C ----
cat >/run/lab/server.yaml <<-EOT
	name: a server in the guest
	trials: 20
	warmup: 0
	timeout: 60s
	endpoints:
	  port: {netns: right, device: $ens2, address: 10.9.0.2}
	  vf: {guest: linux, device: $vf, address: 10.9.0.1}
	configurations:
	  rx1000: {server-settings: {rx-usecs: 1000}}
	tests:
	  - {name: udp, tool: sockperf, transport: udp, size: 64, duration: 2s}
EOT
# usage: cut_off SIGNAL RESULT     it is sent while the server of the second run is on
cut_off() {
	local bench
	vfctl bench run /run/lab/server.yaml --no-verdict --output "$results/$2" --seed 7 >"/run/lab/$2.log" 2>&1 &
	bench=$!
	until [ -s "$results/$2/trials.jsonl" ] && linux "pidof sockperf" >/dev/null; do
		kill -0 "$bench" || return
		sleep 0.2
	done
	kill "-$1" "$bench"
	! wait "$bench"
} 2>/dev/null
check "Ctrl-C while a server runs in the guest" cut_off INT interrupted
sed 's/^/# /' /run/lab/interrupted.log
check_is "what was measured is kept" 1 figures interrupted
check_is "the guest's own moderation is back" "$before" usecs
check "nothing is left in the guest" none_in_guest
check "nor here" no_servers
check "killed -9" cut_off KILL killed
check_is "the setting stays" 1000 usecs
eventually "the server in the guest ends by its time limit" 120 none_in_guest
check "vfctl recover" vfctl recover
check_is "has put it back" "$before" usecs

# ---- the guest's half of tuning, by the same agent ----
if vfctl tune guest --help >/dev/null 2>&1; then
	vfctl tune guest linux --profile latency --apply 2>&1 | sed 's/^/# /'
	echo "# status ${PIPESTATUS[0]}, rx-usecs $(usecs)"
fi

# ---- an agent that does not answer ----
# usage: refuses WORDS     the plan, for what is wrong with this guest
refuses() {
	local words
	words=$(vfctl bench run /run/lab/server.yaml --no-verdict --output "$results/refused" 2>&1) && return 1
	grep -q -- "$1" <<<"$words" || ! printf '%s\n' "$words"
}
linux "killall qemu-ga; sleep 1; (qemu-ga -b guest-exec -p /dev/vport*p1 -t /run) >/dev/null 2>&1 &"
eventually "an agent that may not run programs answers" 60 agent '{"execute":"guest-ping"}'
check "what it forbids is said" refuses "forbids it: allow guest-exec"
linux "killall qemu-ga; sleep 1"
check "an agent that is not there is said" refuses "qemu-guest-agent must run in guest linux"

# ---- nothing is left ----
check "stop" virsh destroy linux
check "a guest that is off is said" refuses "virsh start linux"
check "undefine" vfctl undefine linux
ip link del br0
ip netns del right
check "no VFs" vfctl destroy "$ens1"
finish
