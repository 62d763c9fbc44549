# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=bash
# CASE_BOOT 3
# InfiniBand identities on the real rtnetlink: the lab's module gives the igb PF an InfiniBand
# network device that takes VF GUIDs; igb makes the VFs, vfio-pci and libvirt take them.
. "$(dirname "$0")/lib.sh"

module=/usr/lib/lab/vfctl_ib.ko
parameter() { echo "$2" >"/sys/module/vfctl_ib/parameters/$1"; }
guids() { ip -j -d link show dev "$1" | jq -r "[.[0].vfinfo_list[] | .\"node guid\" + \" \" + .\"port guid\"] | .[$2]"; }
states() { ip -j -d link show dev "$1" | jq -r ".[0].vfinfo_list[$2].link_state"; }

# ---- the PF has an IPoIB device ----
check "load the module for the PF" insmod $module name=aib0 "pf=$left"
check_is "vfctl sees an InfiniBand PF" infiniband bash -c "vfctl show aib0 --json | jq -r .link_layer"
check_is "and is refused nothing of it by name" "$left" bash -c "vfctl show aib0 --json | jq -r .address"

# ---- create gives GUIDs ----
parameter calls 0
check "create 7 VFs" vfctl create aib0 7
check_is "node and port GUID of VF 0, by ip" "02:02:c9:1a:b0:01:00:01 02:02:c9:1a:b0:01:00:01" guids aib0 0
check_is "and of VF 6" "02:02:c9:1a:b0:01:00:07 02:02:c9:1a:b0:01:00:07" guids aib0 6
check_is "the driver was called once for each GUID and policy" 21 cat /sys/module/vfctl_ib/parameters/calls
check_is "seven are seven: nothing to do" "nothing to do" vfctl create aib0 7
check_is "and nothing was written" 21 cat /sys/module/vfctl_ib/parameters/calls
check_is "vfctl reads back what ip shows" "02:02:c9:1a:b0:01:00:04" bash -c \
	"vfctl show aib0/3 --json | jq -r .port_guid"

# ---- set ----
check "set a pair and the policy" vfctl set aib0/1 node-guid=0x0200c90000000011 \
	port-guid=0200:c900:0000:0012 link-state=disable
check_is "ip shows the pair" "02:00:c9:00:00:00:00:11 02:00:c9:00:00:00:00:12" guids aib0 1
check_is "and the policy" disable states aib0 1
check "what ip itself loses: both GUIDs in one command" ip link set aib0 vf 2 \
	node_guid 02:00:c9:00:00:00:00:21 port_guid 02:00:c9:00:00:00:00:21
check_is "(the kernel drops the port GUID and reports success)" \
	"02:00:c9:00:00:00:00:21 02:02:c9:1a:b0:01:00:03" guids aib0 2
check "vfctl sets both" vfctl set aib0/2 guid=02:00:c9:00:00:00:00:22
check_is "and both are there" "02:00:c9:00:00:00:00:22 02:00:c9:00:00:00:00:22" guids aib0 2

# ---- refusals of the kernel: the old pair stays ----
parameter refuse_port 3
check_fails "the port GUID of VF 3 is refused" vfctl set aib0/3 guid=02:00:c9:00:00:00:00:33
check_is "its old pair is there" "02:02:c9:1a:b0:01:00:04 02:02:c9:1a:b0:01:00:04" guids aib0 3
parameter refuse_port -1
parameter ignore_port 3
check_fails "one that is accepted and forgotten is a failure" vfctl set aib0/3 guid=02:00:c9:00:00:00:00:33
check_is "its old pair is there" "02:02:c9:1a:b0:01:00:04 02:02:c9:1a:b0:01:00:04" guids aib0 3
parameter ignore_port -1
check_fails "the GUID of another VF" vfctl set aib0/3 guid=02:02:c9:1a:b0:01:00:05
check_fails "VF 7 of 7" vfctl set aib0/7 guid=02:00:c9:00:00:00:00:33
check_fails "a MAC is no GUID" vfctl set aib0/3 guid=02:00:c9:00:00:01
check_fails "an InfiniBand VF takes no MAC" vfctl set aib0/3 mac=02:00:00:00:00:01
parameter refuse_node 5
check "remove the VFs" vfctl destroy aib0
check_fails "a VF whose GUID is refused: no VFs at all" vfctl create aib0 7
check_is "none is left" 0 cat "$pci/$left/sriov_numvfs"
parameter refuse_node -1
check "and then they can be made" vfctl create aib0 3
check_is "an earlier VF's policy is not taken over" auto states aib0 1

# ---- a guest with its GUID from the pool ----
mkdir -p /etc/vfctl
cp /payload/guests/host.yaml /etc/vfctl/host.yaml
check "install the hook" vfctl hook install
check "define a guest with a VF of the fabric" \
	vfctl define /payload/guests/ib.yaml --template /payload/guests/lab.xml
check_is "it has the pool's first GUID" "02:00:c9:00:00:00:10:00 ib" bash -c \
	"vfctl guid list --domain ib --json | jq -r '.identities[] | .value + \" \" + .domain_name'"
check_is "the VF still has its own" "02:02:c9:1a:b0:01:00:01 02:02:c9:1a:b0:01:00:01" guids aib0 0
check "start it" bash -c "virsh start ib 2>&1"
check_is "the hook wrote node and port GUID" "02:00:c9:00:00:00:10:00 02:00:c9:00:00:00:10:00" guids aib0 0
check_is "and the policy" enable states aib0 0
check_fails "its GUID is not for another VF" vfctl set aib0/1 guid=02:00:c9:00:00:00:10:00
check "plug one more in" vfctl attach ib --pf aib0 --pkey green:limited --live
check_is "with the next GUID" "02:00:c9:00:00:00:10:01 02:00:c9:00:00:00:10:01" guids aib0 1
check_is "opensm would be told of both" "Blue=0x0010 green=0x0020" bash -c \
	"vfctl guid export --format opensm | sed -n 's/^\\([A-Za-z]*=0x[0-9a-f]*\\).*/\\1/p' | xargs"
check "unplug it" vfctl detach ib --vf aib0/1 --live
check_is "its VF has its own pair again" "02:02:c9:1a:b0:01:00:02 02:02:c9:1a:b0:01:00:02" guids aib0 1
check "stop the guest" bash -c "virsh destroy ib 2>&1"
eventually "the VF has its own pair again" 10 bash -c \
	"[ \"\$(ip -j -d link show dev aib0 | jq -r '.[0].vfinfo_list[0].\"port guid\"')\" = 02:02:c9:1a:b0:01:00:01 ]"
check "undefine it" vfctl undefine ib
check_is "nothing is leased" 0 bash -c "vfctl guid list --only leased --json | jq '.identities | length'"
check_is "what it had rests" "resting resting" bash -c \
	"vfctl guid list --only resting --json | jq -r '[.identities[].state] | join(\" \")'"
check "no VFs" vfctl destroy aib0
rm -rf /etc/vfctl
check "unload the module" rmmod vfctl_ib

# ---- the service of a subnet manager: systemd's own, and a signal to a real process ----
mkdir -p /run/lab /etc/vfctl
cat >/run/lab/opensm <<'EOF'
#!/bin/sh
# It stands for OpenSM: it notes what it was told to read.
trap 'echo told >>/run/lab/told' HUP
while :; do sleep 0.1; done
EOF
chmod +x /run/lab/opensm
printf '[Service]\nExecStart=/run/lab/opensm\n[Install]\nWantedBy=multi-user.target\n' >/etc/systemd/system/opensm.service
systemctl daemon-reload
cat /payload/guests/host.yaml - >/etc/vfctl/host.yaml <<<'subnet-manager: {runs: here, priority: 9}'
check "apply configures and starts it" vfctl apply
check_is "it runs" active systemctl is-active opensm
check_is "also after a reboot" enabled systemctl is-enabled opensm
check_is "its configuration" "sm_priority 9" tail -n 1 /etc/opensm/opensm.conf
check "nothing remains to be done" vfctl status
check "a GUID with a P_Key" vfctl guid reserve --device it --pkey 0x0030:limited
eventually "it is told" 5 test -s /run/lab/told
check "of that P_Key" grep -q 0x0030 /etc/opensm/partitions.conf
rm /run/lab/told
systemctl stop opensm
check_is "status sees that it stopped" 3 bash -c "vfctl status >/dev/null; echo \$?"
check "apply starts it" vfctl apply
check_is "it runs again" active systemctl is-active opensm
systemctl disable -q --now opensm
rm -rf /etc/vfctl /etc/opensm /etc/systemd/system/opensm.service
systemctl daemon-reload

# ---- any number of VFs: past the wrap of the kernel's list ----
for n in 127 277 278 1000; do
	check "a device with $n VFs" insmod $module name=bib0 "vfs=$n"
	check "all $n get their GUIDs and policy and read back" /payload/bin/nlguid bib0 "$n"
	rmmod vfctl_ib
done
check "a device with 127 VFs" insmod $module name=bib0 vfs=127
check "written by us" /payload/bin/nlguid bib0 127
check_is "each GUID and policy of each VF once" 381 cat /sys/module/vfctl_ib/parameters/calls
check_is "ip reads the same" "127 02:00:c9:00:00:01:00:7e 02:00:c9:00:00:02:00:7e enable" bash -c \
	"ip -j -d link show dev bib0 | jq -r '.[0].vfinfo_list | (length | tostring) + \" \" + .[126].\"node guid\" + \" \" + .[126].\"port guid\" + \" \" + .[126].link_state'"
rmmod vfctl_ib

# ---- what libibverbs tells, on the software device ----
check "a software RDMA device" bash -c "modprobe rdma_rxe && ip link set $(link_of "$right") up && rdma link add rxe0 type rxe netdev $(link_of "$right")"
eventually "vfctl shows it" 5 vfctl show rxe0
check_is "node GUID as ibv_devinfo" "$(ibv_devinfo -d rxe0 | awk '$1 == "node_guid:" { gsub(":", "", $2); print $2 }')" bash -c \
	"vfctl show rxe0 --json | jq -r .node_guid | tr -d :"
for pair in active_mtu:active_mtu max_mtu:max_mtu; do
	check_is "${pair#*:} as ibv_devinfo" "$(ibv_devinfo -d rxe0 | awk -v k="${pair%:*}:" '$1 == k { print $2 }')" bash -c \
		"vfctl show rxe0 --json | jq -r .ports[0].${pair#*:}"
done
check_is "state as ibv_devinfo" "$(ibv_devinfo -d rxe0 | awk '$1 == "state:" { print ($2 == "PORT_ACTIVE" ? "Active" : "Down") }')" bash -c \
	"vfctl show rxe0 --json | jq -r .ports[0].state"
check_is "QPs as ibv_devinfo" "$(ibv_devinfo -v -d rxe0 | awk '$1 == "max_qp:" { print $2 }')" bash -c \
	"vfctl show rxe0 --json | jq -r .max_qp"
check_is "link layer" ethernet bash -c "vfctl show rxe0 --json | jq -r .ports[0].link_layer"
# ---- adaptive moderation, on the real nldev ----
adaptive() { rdma -d -j dev show rxe0 | jq -r 'if .[0]["adaptive-moderation"] then "on" else "off" end'; }
check_is "adaptive moderation as rdma says" "$(adaptive)" /payload/bin/nladaptive rxe0
check_is "turned on" on /payload/bin/nladaptive rxe0 on
check_is "rdma sees it" on adaptive
check_is "and off" off /payload/bin/nladaptive rxe0 off
check_is "as well" off adaptive
check_fails "a device that there is not" /payload/bin/nladaptive rxe1 on
rdma link delete rxe0
ip link set "$(link_of "$right")" down
finish
