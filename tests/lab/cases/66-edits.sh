# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=bash
# CASE_BOOT 3
# A change of a definition that was cut short when libvirt had it, and is taken back: libvirt's own form
# of what vfctl wrote counts as vfctl's, and what others wrote there since stays.
. "$(dirname "$0")/lib.sh"

ens1=$(link_of "$left") ens2=$(link_of "$right")
state=/var/lib/vfctl/state.db
xml() { virsh dumpxml --inactive "$1"; }
title() { virsh desc --config --title "$1"; }
vlan() { xml "$1" | grep -oE "tag id='[0-9]+'" | grep -oE '[0-9]+' | tr '\n' ' '; }
define() { vfctl define "/tmp/$1.yaml" --template /payload/guests/lab.xml "${@:2}"; }
# usage: leave_open <DRY_RUN.json     as a vfctl that died leaves it; the last row was not done
leave_open() {
	{
		echo "insert into change (id, story, lock, boot, pid, begun) values (99, 'it', 'placement', '', 77, 5);"
		jq -r 'def q: if . == null then "NULL" else "\u0027" + gsub("\u0027"; "\u0027\u0027") + "\u0027" end;
			.operations | to_entries[] | "insert into change_op values (99, \(.key), \("step \(.key)" | q), " +
			"\(.value.type | q), \(.value.target | q), \(.value.want | q), \(.value.before | q));"'
		echo "insert into change_op values (99, 99, 'plug it', 'plugged', '$(virsh domuuid g)/0000:11:10.6', 'plugged', '');"
	} | sqlite3 $state
}
# usage: cut_short COMMAND...     vfctl's command that defines a domain, as far as libvirt's taking it
cut_short() {
	"$@" --dry-run --json >/tmp/plan.json && leave_open </tmp/plan.json &&
		jq -r '.operations[] | select(.type == "redefine" or .type == "definition") | .want' /tmp/plan.json |
		sed 1d >/tmp/written.xml && virsh -q define /tmp/written.xml
}

check "the PFs are up" bash -c "ip link set $ens1 up && ip link set $ens2 up"
check "VFs" vfctl create "$ens1" 4
check "VFs on node 1" vfctl create "$ens2" 2
check "the hook" vfctl hook install
sed -e 's/^name: .*/name: g/' -e "s/pf: ens1/pf: $ens1\n    vlan: 11/" -e '/^disks:/,/readonly/d' \
	/payload/guests/one.yaml >/tmp/g.yaml
check "define" define g
before=$(xml g)
sed -e 's/vlan: 11/vlan: 12/' -e 's/^memory: .*/memory: 128MiB/' /tmp/g.yaml >/tmp/more.yaml
printf '  - pf: %s\n' "$ens1" >>/tmp/more.yaml

# ---- define again ----
check "define again, cut short: memory, policy, a VF more" cut_short define more
check "it is taken back, whatever libvirt made of it" vfctl recover
check_is "to the letter" "$before" xml g
check "a dry run of it" bash -c "vfctl define /tmp/more.yaml --template /payload/guests/lab.xml --dry-run --json >/tmp/plan.json"
check "define again" define more
check "of which vfctl died before its end" leave_open </tmp/plan.json
check "somebody gives it a title" virsh -q desc --config --title g theirs
check_fails "then it is not taken back" vfctl recover
check_is "the title stays" theirs title g
check "nor by the change of another guest" bash -c "sed -e 's/^name: .*/name: h/' -e 's/^memory: .*/memory: 64MiB/' \
	-e 's/^vcpus: .*/vcpus: 1/' -e 's/pf: .*/pf: $ens2/' /tmp/g.yaml >/tmp/h.yaml;
	vfctl define /tmp/h.yaml --template /payload/guests/lab.xml"
check_is "the title stays" theirs title g
check "accept that" vfctl recover --accept
check_is "define again finds its work done" "nothing to do: domain g is already defined as its file asks" define more
check "and back" define g
check_is "the title stays" theirs title g

# ---- attach, detach, set ----
before=$(xml g)
check "attach, cut short" cut_short vfctl attach g --pf "$ens2" --config vlan=5
check "it is taken back" vfctl recover
check_is "to the letter" "$before" xml g
check "attach, cut short" cut_short vfctl attach g --pf "$ens2" --config vlan=5
check "somebody adds a disk" virsh -q attach-disk g /tmp/none.img vdz --sourcetype file --config
check "it is taken back" vfctl recover
check_is "the disk is there" 1 bash -c "virsh dumpxml --inactive g | grep -c /tmp/none.img"
check_is "the VF is not" 1 bash -c "virsh dumpxml --inactive g | grep -c '<interface type=.hostdev'"
check "detach, cut short" cut_short vfctl detach g --config
check "somebody takes the disk out" virsh -q detach-disk g vdz --config
check "it is taken back" vfctl recover
check_is "with its VLAN" "11 " vlan g
check_is "as its file asks" "nothing to do: domain g is already defined as its file asks" define g
vf=$(sqlite3 $state "select bdf from lease_vf join lease on lease = id where domain_name = 'g'")
check "a dry run of set" bash -c "vfctl set $vf vlan=15 --config --dry-run --json >/tmp/plan.json"
check "set" vfctl set "$vf" vlan=15 --config
check "of which vfctl died before its end" leave_open </tmp/plan.json
check "somebody gives it another title" virsh -q desc --config --title g others
check "it is taken back" vfctl recover
check_is "the VLAN is the former" "11 " vlan g
check_is "the title stays" others title g

# ---- over two nodes ----
check "undefine" vfctl undefine h
check "undefine" vfctl undefine g
sed -e 's/^name: .*/name: g/' -e '/^disks:/,/readonly/d' /payload/guests/cells.yaml >/tmp/g.yaml
sed 's/^memory: .*/memory: 512MiB/' /tmp/g.yaml >/tmp/more.yaml
printf '    vlan: 9\n' >>/tmp/more.yaml
check "define" define g
before=$(xml g)
check "define again, cut short" cut_short define more
check "it is taken back" vfctl recover
check_is "to the letter" "$before" xml g
check "the same" cut_short define more
check "somebody sets the memory that it starts with" virsh -q setmem g 131072 --config
check_fails "then it is not taken back" vfctl recover
check "accept that" vfctl recover --accept
check "define again" define g

# ---- the name, defined anew without the UUID ----
check "undefine by virsh" bash -c "virsh dumpxml --inactive g | sed '/<uuid>/d' >/tmp/anew.xml && virsh -q undefine g"
check "define it anew" virsh -q define /tmp/anew.xml
check_fails "it does not start" virsh -q start g
check "the lease becomes its own" vfctl recover --rebuild --trust-metadata
check "it starts" virsh -q start g
check "stop" virsh -q destroy g
check "nothing disagrees" vfctl status
check "undefine" vfctl undefine g
finish
