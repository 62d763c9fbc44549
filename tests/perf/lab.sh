#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Runs in the lab: what vfctl costs against the bare kernel calls and against the tools a user would
# otherwise run, in one run. Writes /results/lab.tsv for tests/perf/run:
#   ratio TEXT OURS_us OTHER_us GOAL    GOAL: "<= N", OURS of OTHER; ">= N", how many times faster; "-"
#   memory TEXT kB
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
pf=0000:11:00.0
dev=/sys/bus/pci/devices/$pf
ens=$(ls "$dev/net")
out=/results/lab.tsv
mkdir -p /results
: >"$out"
timeit() { "$here/timeit" "$@" | tee -a "$out.raw"; }
field() { awk -v n="$1" -v f="$2" '$1 == n {print $f}' "$out.raw"; }
# ratio TEXT OURS OTHER GOAL: the medians of two measurements
ratio() { printf 'ratio\t%s\t%s\t%s\t%s\n' "$1" "$(field "$2" 2)" "$(field "$3" 2)" "$4" >>"$out"; }
say() { printf '\n== %s\n' "$1"; }
none() { echo "echo 0 > $dev/sriov_numvfs; modprobe vfio-pci"; }

shell_way() {
	cat >/tmp/shell-create <<-EOF
		#!/bin/bash
		set -e
		echo 7 > $dev/sriov_numvfs
		for i in 0 1 2 3 4 5 6; do
			vf=\$(basename \$(readlink $dev/virtfn\$i))
			echo \$vf > /sys/bus/pci/devices/\$vf/driver/unbind
			echo vfio-pci > /sys/bus/pci/devices/\$vf/driver_override
			echo \$vf > /sys/bus/pci/drivers_probe
			ip link set $ens vf \$i mac 02:00:00:00:01:0\$i
		done
	EOF
	chmod +x /tmp/shell-create
}

say "creating 7 VFs bound to vfio-pci (a: vfctl)"
shell_way
timeit -n 11 -b "$(none)" create-vfctl vfctl -q create "$ens" 7
timeit -n 11 -b "$(none)" create-bare "$here/bare-create" "$pf" 7
timeit -n 3 -b "$(none)" create-shell /tmp/shell-create
ratio "create 7 VFs with MACs, on vfio-pci: against the same writes by a small C program, without MACs" \
	create-vfctl create-bare "<= 1.05"
ratio "the same: against a shell script of writes and \`ip link\`" create-vfctl create-shell ">= 20"

say "setting 5 attributes on 7 VFs, all changing, verified"
sh -c "$(none)"
vfctl -q create "$ens" 7
: >/tmp/batch
: >/tmp/others # other values, set before each run
for i in 0 1 2 3 4 5 6; do
	echo "link set $ens vf $i mac 02:00:00:00:03:0$i vlan 20$i spoofchk on trust off max_tx_rate 50" >>/tmp/others
	echo "link set $ens vf $i mac 02:00:00:00:02:0$i" >>/tmp/batch
	echo "link set $ens vf $i vlan 10$i" >>/tmp/batch
	echo "link set $ens vf $i spoofchk off" >>/tmp/batch
	echo "link set $ens vf $i trust on" >>/tmp/batch
	echo "link set $ens vf $i max_tx_rate 100" >>/tmp/batch
done
sed 's/^/ip /' /tmp/batch >/tmp/one-by-one
timeit -n 5 -b "ip -batch /tmp/others" set-ip sh /tmp/one-by-one
timeit -n 20 -b "ip -batch /tmp/others" set-batch ip -batch /tmp/batch
{
	for i in 0 1 2 3 4 5 6; do
		printf '%s/%s mac=02:00:00:00:02:0%s vlan=10%s spoofchk=off trust=on max-rate=100\n' \
			"$ens" "$i" "$i" "$i"
	done
} >/tmp/set-file
timeit -n 20 -b "ip -batch /tmp/others" -i /tmp/set-file set-vfctl vfctl -q set --batch -
ratio "set 5 attributes of 7 VFs, all changing: against one \`ip -batch\`, which reads nothing back" \
	set-vfctl set-batch "<= 1.2"
ratio "the same: against \`ip link\` for each attribute" set-vfctl set-ip ">= 10"

say "the hook"
for i in 0 1 2 3 4 5 6; do vfctl -q set "$ens/$i" vlan=0 spoofchk=on trust=off max-rate=0; done
printf '#!/bin/bash\ncat >/dev/null\n' >/tmp/bash-hook
chmod +x /tmp/bash-hook
hook=/usr/libexec/vfctl/vfctl-hook-qemu
cat >/tmp/foreign.xml <<-EOF
	<domain type='kvm'><name>x</name><devices/></domain>
EOF
vfctl -q define /payload/guests/one.yaml --template /payload/guests/lab.xml
virsh dumpxml one >/tmp/ours.xml
timeit -n 200 true /bin/true
timeit -n 200 -i /tmp/foreign.xml hook-foreign "$hook" x prepare begin -
timeit -n 100 -i /tmp/ours.xml -b "$hook one release end - </tmp/ours.xml" \
	hook-ours "$hook" one prepare begin -
timeit -n 100 -i /tmp/ours.xml hook-bash /tmp/bash-hook one prepare begin -
"$hook" one release end - </tmp/ours.xml
vfctl -q undefine one
ratio "the hook, for a domain without VFs: against \`/bin/true\`" hook-foreign true "<= 1.2"
ratio "the hook at \`prepare\`: against \`/bin/true\`" hook-ours true "<= 8"
ratio "the same: against a bash hook that only reads its input" hook-ours hook-bash "<= 1"

say "looking"
timeit -n 100 ip-json ip -j link
timeit -n 100 list-json vfctl list --json
timeit -n 50 version vfctl --version
timeit -n 50 help vfctl list --help
timeit -n 20 plan vfctl -q plan /payload/guests/one.yaml -c test:///default
ratio "\`list --json\` with 7 VFs: against \`ip -j link\`" list-json ip-json "<= 2"
ratio "\`vfctl --version\`: against \`/bin/true\`" version true "-"
for n in 'vfctl --version:version' 'list --json:list-json' 'plan:plan' 'the hook, for a domain without VFs:hook-foreign' \
	'the hook at prepare:hook-ours' 'ip -j link:ip-json'; do
	printf 'memory\t%s\t%s\n' "${n%:*}" "$(field "${n#*:}" 4)" >>"$out"
done
vfctl -q destroy "$ens"

say "node GUID, port GUID and link policy of 127 InfiniBand VFs, verified"
insmod /usr/lib/lab/vfctl_ib.ko name=bib0 vfs=127
: >/tmp/batch
for ((i = 0; i < 127; i++)); do
	printf 'link set bib0 vf %d node_guid 02:00:c9:00:00:01:00:%02x\n' $i $i
	printf 'link set bib0 vf %d port_guid 02:00:c9:00:00:02:00:%02x\n' $i $i
	printf 'link set bib0 vf %d state enable\n' $i
done >/tmp/batch
sed 's/^/ip /' /tmp/batch >/tmp/one-by-one
timeit -n 3 guids-ip sh /tmp/one-by-one
timeit -n 20 guids-batch ip -batch /tmp/batch
timeit -n 50 guids-vfctl "$here/../bin/nlguid" bib0 127
ratio "GUIDs and policy of 127 InfiniBand VFs, read back: against one \`ip -batch\`" guids-vfctl guids-batch "<= 1"
ratio "the same: against \`ip link\` for each value" guids-vfctl guids-ip ">= 20"
rmmod vfctl_ib
