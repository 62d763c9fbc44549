# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=bash
# Who really has a VF, and what whoever may define domains can make the hook do.
. "$(dirname "$0")/lib.sh"

ens1=$(link_of "$left") ens2=$(link_of "$right")
state=/var/lib/vfctl/state.db
# vf_info DEVICE VF: its VLAN, spoof check and trust as the kernel has them
vf_info() {
	ip link show dev "$1" | awk -v vf="$2" '$1 == "vf" && $2 == vf {
		vlan = spoof = trust = "-"
		for (i = 1; i < NF; i++) {
			if ($i == "vlan") vlan = $(i + 1)
			if ($i == "checking") spoof = $(i + 1)
			if ($i == "trust") trust = $(i + 1)
		}
		if ($NF ~ /^(on|off)$/ && $(NF - 1) == "trust") trust = $NF
		gsub(",", "", vlan); gsub(",", "", spoof); gsub(",", "", trust)
		print "vlan " vlan " spoof " spoof " trust " trust }'
}
# says WORDS COMMAND...: it fails, and says so
says() {
	local words=$1 text
	shift
	text=$("$@" 2>&1) && { echo "it succeeded: $text"; return 1; }
	grep -q -- "$words" <<<"$text" || { echo "$text"; return 1; }
}
audit() { journalctl -q -t vfctl -o cat 2>/dev/null; }

# ---- drivers that stay as asked ----
modprobe -r igbvf 2>/dev/null
check "VFs without a driver" vfctl create "$ens1" 3 --driver none
modprobe igbvf
udevadm settle
sleep 2
check_is "its module is loaded a moment later, and they stay without" "" bash -c \
	"ls -d $pci/$left/virtfn*/driver 2>/dev/null"
check "VFs on the host's driver" vfctl create "$ens1" 3 --driver host
# wrong_macs: VFs whose network device has another MAC than list tells
wrong_macs() {
	vfctl list "$ens1" --json | jq -r '.pfs[].vfs[] | .address + " " + .mac' | while read -r vf mac; do
		cat "$pci/$vf"/net/*/address | grep -vx "$mac"
	done
}
for n in 0 1 2; do
	vf=$(vf_of "$left" $n)
	check_is "VF $n's network device has the MAC that list tells" \
		"$(vfctl list --json | jq -r ".pfs[].vfs[] | select(.address == \"$vf\") | .mac")" \
		bash -c "cat $pci/$vf/net/*/address"
done
check "no VFs" vfctl destroy "$ens1"
check "the PF goes down" ip link set "$ens1" down
check "VFs on the host's driver then have their MACs, or it is said that they have not" bash -c "
	$(declare -f wrong_macs); pci=$pci ens1=$ens1
	words=\$(vfctl create $ens1 3 --driver host 2>&1) && [ -z \"\$(wrong_macs)\" ] ||
		grep -q 'network device up' <<<\"\$words\" || { echo \"\$words\"; wrong_macs; exit 1; }"
check "VFs for guests" vfctl create "$ens1" 3
check "and on node 1" vfctl create "$ens2" 3

# ---- who has it ----
check "the hook" vfctl hook install
check "define small, which leases VF 0 of $ens2" vfctl define /payload/guests/small.yaml
vf=$(vf_of "$right" 0)
guest_start old ejector
hostdev_xml "$vf" >/tmp/vf.xml
check "somebody plugs that VF into old" virsh -q attach-device old /tmp/vf.xml --live
check_is "list tells both" "small domain old" who_has "$vf"
check "destroy too" says "running domain old, while it is leased to domain small" vfctl destroy "$ens2"
check "topology shows it at both" bash -c "vfctl topology --json | jq -e '[.occupants[] | select(.vfs[].address == \"$vf\") | .name] | sort == [\"old\", \"small\"]'"
virsh -q destroy old
check_is "old is gone: the lease stays" "small none -" who_has "$vf"
check "with it in its definition old does not start" bash -c \
	"virsh -q attach-device old /tmp/vf.xml --config && ! virsh start old 2>/tmp/err"
check "the words name the owner" grep -q "leased to domain small" /tmp/err
virsh -q undefine old

# ---- a libvirt network of VFs ----
check "a pool of the VFs of $ens2" bash -c "virsh -q net-define <(cat <<EOT
<network><name>vfs</name><forward mode='hostdev' managed='yes'><address type='pci' domain='0x0000' bus='0x${vf:5:2}' slot='0x${vf:8:2}' function='0x${vf:11:1}'/></forward></network>
EOT
) && virsh -q net-start vfs"
guest_xml pool ejector | sed "s|</devices>|<interface type='network'><source network='vfs'/></interface></devices>|" >/tmp/pool.xml
check "a domain that gets its VF from the pool" virsh -q define /tmp/pool.xml
check "does not start with a VF that is leased to another" says "leased to domain small" virsh start pool
check_is "whose policy is as it was" "vlan - spoof on trust off" vf_info "$ens2" 0
virsh -q undefine pool
virsh -q net-destroy vfs
virsh -q net-undefine vfs

# ---- a definition that is off, and not ours ----
guest_xml cold ejector | sed "s|</devices>|$(hostdev_xml "$(vf_of "$left" 2)" | tr -d '\n')</devices>|" >/tmp/cold.xml
check "a domain that is off has a VF" virsh -q define /tmp/cold.xml
check_is "list tells" cold bash -c "vfctl list --json | jq -r '.pfs[].vfs[] | select(.address == \"$(vf_of "$left" 2)\") | .defined_in'"
check "and it is not destroyed unnamed" says "definition of domain cold" vfctl destroy "$ens1"
check "its definition is not ours to remove" says "did not define domain" vfctl undefine cold
check "it leases that VF" vfctl attach cold --vf "$ens1/2" vlan=33
check "it starts" virsh -q start cold
check_is "with the policy it was leased with" "vlan 33 spoof on trust off" vf_info "$ens1" 2

# ---- the metadata ----
edit() { virsh dumpxml --inactive "$1" | sed "$2" >/tmp/edited.xml && virsh -q define /tmp/edited.xml; }
virsh -q destroy cold
edit cold "s/vlan=[\"']33[\"']/vlan='34' trust='on'/; s/trust=[\"']off[\"'] *\\/>/\\/>/"
check "metadata that asks for more stops the start" says "asks for" virsh start cold
edit cold "s/vlan='34' trust='on'/vlan='33'/; s/vlan=\"34\" trust=\"on\"/vlan=\"33\"/"
check "put back, it starts" virsh -q start cold
check "not changed while it runs" says "keeps its policy" vfctl set "$ens1/2" vlan=44
check "but with --live" vfctl set "$ens1/2" vlan=44 --live
virsh dumpxml --inactive cold | sed '/<metadata>/,/<\/metadata>/d' >/tmp/bare.xml
check "its metadata is removed while it runs" virsh -q define /tmp/bare.xml
virsh -q destroy cold
check_is "released all the same, by its UUID" "vlan - spoof on trust off" vf_info "$ens1" 2
check "for its next starts: lease and definition" vfctl set "$ens1/2" vlan=55 --config
check "start" virsh -q start cold
check_is "with what was changed" "vlan 55 spoof on trust off" vf_info "$ens1" 2

# ---- killed, and returned by hand ----
check "release is not for a running domain" says "is running" vfctl release cold
vfctl hook remove >/dev/null
virsh -q destroy cold
check "a domain whose end no hook saw is returned" vfctl release cold
check_is "its VF is as before" "vlan - spoof on trust off" vf_info "$ens1" 2
check "without the hook" virsh -q start cold
check "list says that it runs without its policy" bash -c "vfctl list 2>&1 >/dev/null | grep -q 'cold runs without the policy'"
virsh -q destroy cold
check "the hook again" vfctl hook install
check "release, as nothing is left to return" vfctl release cold
check "undefine, when it is asked for" vfctl undefine cold --force
check_is "nothing of it is leased" 0 bash -c "sqlite3 $state \"select count(*) from lease where domain_name = 'cold'\""

# ---- local users ----
check_is "the store is root's alone" "700 600" bash -c "stat -c %a /var/lib/vfctl $state | xargs"
check_fails "nobody opens its lock" setpriv --reuid=65534 --regid=65534 --clear-groups cat $state-shm
chmod 755 /var/lib/vfctl
chmod 644 $state $state-shm
check "the next change repairs it" vfctl set "$ens1/1" vlan=0
check_is "so it is" "700 600 600" bash -c "stat -c %a /var/lib/vfctl $state $state-shm | xargs"
check "nobody may list, and is told what is missing" bash -c \
	"setpriv --reuid=65534 --regid=65534 --clear-groups vfctl list 2>&1 | grep -q 'leases are not shown'"

# ---- the audit ----
check "who was given what is in the journal" bash -c \
	"journalctl -q -t vfctl -o cat | grep -q 'libvirt hook, domain .cold., prepare: VF .* set to .*vlan=55.*; before: '"
check "and who was refused" bash -c "journalctl -q -t vfctl -o cat | grep -q 'refused: VF .* leased to domain small'"

# ---- races, on the real kernel ----
wrong=0
for n in $(seq 1 "${RACES:-1}"); do
	virsh -q start small >/dev/null 2>&1 &
	start=$!
	sleep "0.$((n % 9))"
	vfctl -q set "$ens2/0" vlan=99 trust=on >/dev/null 2>&1
	if wait $start && [ "$(vf_info "$ens2" 0)" != 'vlan 77 spoof on trust off' ]; then
		wrong=$((wrong + 1))
	fi
	virsh -q destroy small >/dev/null 2>&1
done
check_is "of ${RACES:-1} starts against set none ran with another policy" 0 echo $wrong
check "undefine small" vfctl undefine small
check "no VFs" bash -c "vfctl destroy $ens1 && vfctl destroy $ens2"
finish
