# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=bash
# What the cases about killed changes share: vfctl killed at a random time, and the host looked at
# from outside: by sysfs, ip, virsh and sqlite3. They change the VFs of both PFs and one guest,
# "one", with VFs of $left; "L R G" is how many VFs $left, $right and that guest should have.
# shellcheck disable=SC2034,SC2154 # lib.sh has what is used here, and the cases use what is set

state=/var/lib/vfctl/state.db
ens1=$(link_of "$left") ens2=$(link_of "$right")

# usage: killed SECONDS COMMAND...     with SIGKILL, after that time
killed() {
	local pid
	"${@:2}" >/dev/null 2>&1 &
	pid=$!
	sleep "$1"
	kill -KILL "$pid"
	wait "$pid"
} 2>/dev/null

# usage: part PERCENT SECONDS     prints that part of the time
part() { awk -v p="$1" -v s="$2" 'BEGIN { printf "%.2f", p * s / 100 }'; }

autoprobe() { cat "$pci/${1:-$left}/sriov_drivers_autoprobe"; }

# Domains whose run the hook prepared and nobody ended.
of_runs="SELECT run FROM change JOIN change_op ON id = change WHERE run IS NOT NULL AND type = 'run'"
# Rows of the state file; none before there is one.
query() {
	[ ! -e "$state" ] || sqlite3 -readonly -cmd '.timeout 5000' "$state" "$@" 2>&1
}

# How many changes are open; a vfctl that was killed early may not even have made the tables.
journal() {
	local open
	open=$(query 'SELECT count(*) FROM change WHERE run IS NULL')
	case $open in
	'' | *'no such table'*) echo 0 ;;
	*) echo "$open" ;;
	esac
}

# usage: vf_rows PF     a line for each VF: address, driver, override, MAC, VLAN, spoof check, trust
vf_rows() {
	local at override
	{
		find "$pci/$1/" -maxdepth 1 -name 'virtfn*' -printf 'address %f %l\n'
		for at in "$pci/$1"/virtfn*; do
			[ -e "$at" ] || continue
			[ ! -e "$at/driver" ] || find "$at/" -maxdepth 1 -name driver -printf "driver ${at##*/} %l\n"
			read -r override <"$at/driver_override"
			echo "override ${at##*/} $override"
		done
		ip -j link show dev "$(link_of "$1")" | jq -r '.[0].vfinfo_list // [] | to_entries[] |
			"policy virtfn\(.key) \(.value | "\(.address) \(.vlan_list[0].vlan // 0) \(.spoofchk) \(.trust)")"'
	} | awk '{
			n = substr($2, 7) + 0
			if (n >= count) count = n + 1
			of = $1
			sub(/^[^ ]+ [^ ]+ /, "")
			sub(/.*\//, "")
			v[n, of] = $0
		} END {
			for (n = 0; n < count; n++)
				print v[n, "address"], ((n, "driver") in v ? v[n, "driver"] : "-"),
					v[n, "override"], v[n, "policy"]
		}'
}

# Looks at the host, for all that follows to speak of the same moment: the VFs of each PF, and
# libvirt's domains, those that run, and the definition of the guest. One virsh for all: each
# takes long in a lab, and one that may write asks for polkit as well.
look() {
	local seen
	left_rows=$(vf_rows "$left") right_rows=$(vf_rows "$right")
	seen=$(virsh --quiet --readonly $'list --all --uuid; echo "runs\n"; list --uuid
		echo "is\n"; dumpxml --inactive one' 2>/dev/null)
	domains=$(sed -n '/^runs$/q; /./p' <<<"$seen")
	running=$(sed -n '/^runs$/,/^is$/ { /-/p }' <<<"$seen")
	xml=$(sed '1,/^is$/d' <<<"$seen")
}
xpath() { xmllint --xpath "$1" - 2>/dev/null; }
# The VFs of the definition, as addresses.
devices() {
	xpath '//devices/*/source/address' <<<"$xml" |
		sed -E "s/.*domain=\"0x(....)\" bus=\"0x(..)\" slot=\"0x(..)\" function=\"0x(.)\".*/\1:\2:\3.\4/" |
		sort
}

# usage: count_vfs PF ROWS     by its file, by links; whole ones on vfio-pci, those with a MAC
count_vfs() {
	printf '%s=%s/%s/%s probe=%s ' "${1:5:2}" "$(cat "$pci/$1/sriov_numvfs")" \
		"$(find "$pci/$1/" -name 'virtfn*' | wc -l)" \
		"$(awk '$2 == "vfio-pci" && $3 == $2 { whole++ }
			NF && $4 != "00:00:00:00:00:00" { macs++ } END { print whole + 0 "/" macs + 0 }' <<<"$2")" \
		"$(autoprobe "$1")"
}

# Prints how many VFs $left, $right and the guest have, as it is seen in each place.
counts() {
	count_vfs "$left" "$left_rows"
	count_vfs "$right" "$right_rows"
	if [ -n "$xml" ]; then
		printf 'one=1 devices=%s metadata=%s ' "$(devices | wc -l)" "$(xpath \
			'count(//*[local-name()="vf" and namespace-uri()="urn:vfctl:domain:1"])' <<<"$xml")"
	else
		printf 'one=0 devices=0 metadata=0 '
	fi
	query "SELECT printf('leases=%d/%d macs=%d open=%d', (SELECT count(*) FROM lease),
		(SELECT count(*) FROM lease_vf), (SELECT count(*) FROM identity WHERE state = 0),
		(SELECT count(*) FROM change WHERE run IS NULL))"
}

# usage: counted L R G     what counts prints of a host that is whole
counted() {
	local one=$(($3 > 0))
	printf '%s=%s/%s/%s/%s probe=1 ' "${left:5:2}" "$1" "$1" "$1" "$1" "${right:5:2}" "$2" "$2" "$2" "$2"
	printf 'one=%s devices=%s metadata=%s leases=%s/%s macs=%s open=0\n' "$one" "$3" "$3" \
		"$one" "$3" "$3"
}

# What the state file says that cannot be, and that libvirt does not know of.
astray_rows() {
	query "SELECT integrity_check FROM pragma_integrity_check WHERE integrity_check <> 'ok';
	SELECT 'a change is open: ' || story FROM change WHERE run IS NULL;
	SELECT 'a run of no lease: ' || story FROM change WHERE run NOT IN (SELECT domain_uuid FROM lease);
	SELECT 'a step of no change: ' || words FROM change_op WHERE change NOT IN (SELECT id FROM change);
	SELECT 'a row of no lease: ' || \"table\" FROM pragma_foreign_key_check;
	SELECT 'a value of no lease: ' || owner FROM identity
		WHERE state = 0 AND domain_uuid NOT IN (SELECT domain_uuid FROM lease);
	SELECT 'a value of no VF: ' || owner FROM identity
		WHERE state = 0 AND printf('%012x', value & 0xffffffffffff) NOT IN
		(SELECT replace(intent ->> 'mac', ':', '') FROM lease_vf);
	SELECT 'a wrong count: pool ' || name FROM pool p
		WHERE leased <> (SELECT count(*) FROM identity WHERE pool = name AND state = 0)
		OR resting <> (SELECT count(*) FROM identity WHERE pool = name AND state = 2)
		OR quarantined <> (SELECT count(*) FROM identity WHERE pool = name AND state = 3)
		OR size - leased - block - resting - quarantined <>
			(SELECT sum(last - first + 1) FROM pool_free WHERE pool = name);"
}

astray_domains() {
	local leased
	leased=$(query 'SELECT domain_uuid FROM lease' | sort)
	# The guest is the only domain there is.
	comm -3 <(sort <<<"$domains") <(echo "$leased") | sed '/^$/d; s/^/a domain without lease, or a lease without domain: /'
	comm -3 <(sort <<<"$running") <(query "$of_runs" | sort) |
		sed '/^$/d; s/^/it runs, or its lease says so, and not both: /'
	[ "$(devices)" = "$(query 'SELECT bdf FROM lease_vf WHERE transient = 0 ORDER BY bdf')" ] ||
		echo "the domain has other VFs than it leases"
}

astray_host() {
	local lock
	pgrep -l '^(vfctl|50-vfctl)' | sed 's/^/a process goes on: /'
	for lock in /run/vfctl/*.lock; do
		[ ! -e "$lock" ] || flock -n "$lock" true || echo "a lock is held: $lock"
	done
	find /var/lib/vfctl /etc/vfctl /etc/libvirt/hooks /etc/modprobe.d -type f \
		! -name 'state.db*' ! -name host.yaml ! -name 50-vfctl ! -name '*.conf' |
		sed 's/^/a file is left: /'
	[ -n "$running" ] || grep -v ' 0 true false$' <<<"$left_rows"$'\n'"$right_rows" |
		sed '/^$/d; s/^/the policy of a guest that is off: /'
}

# One line for each thing that is not as it must be while no change goes on; nothing if all is.
astray() {
	astray_rows
	astray_domains
	astray_host
}

# All that was looked at, to compare before with after. Not what may differ: times, and values that rest.
picture() {
	autoprobe "$left"
	autoprobe "$right"
	printf '%s\n' "$left_rows" "$right_rows" "$domains" "$running" "$xml"
	query 'SELECT * FROM lease_vf ORDER BY bdf; SELECT * FROM lease_cpu ORDER BY cpu;
		SELECT * FROM lease_cell ORDER BY 1, 2; SELECT * FROM lease_qemu_cpu ORDER BY 1, 2;
		SELECT id, domain_uuid, domain_name, node, memory_bytes FROM lease ORDER BY id;
		SELECT run, story FROM change ORDER BY run;
		SELECT kind, value, owner FROM identity WHERE state = 0 ORDER BY value'
}

# What could grow, a line each: rows of each table, the state file, locks, definitions.
sizes() {
	query "$(query "SELECT 'SELECT ''rows of ' || name || ': '' || count(*) FROM \"' || name || '\";'
		FROM sqlite_schema WHERE type = 'table' ORDER BY name")"
	echo "pages of the state file: $(query 'PRAGMA page_count')"
	echo "files of the state: $(find /var/lib/vfctl -type f | wc -l)"
	echo "locks: $(find /run/vfctl -type f | wc -l)"
	echo "definitions: $(find /etc/libvirt/qemu -maxdepth 1 -name '*.xml' | wc -l)"
	echo "descriptors of libvirtd: $(find "/proc/$(cat /run/libvirtd.pid)/fd" | wc -l)"
}

# The guest, its VFs with a VLAN: there is a policy to write and to return.
recovery_begin() {
	modprobe vfio-pci
	mkdir -p /etc/vfctl
	echo 'mac-pools: [{name: m, ranges: ["02:00:5e:00:00:01..02:00:5e:00:00:40"], rest: 0s}]' \
		>/etc/vfctl/host.yaml
	sed 's/^  - pf: ens1/&\n    vlan: 77/' /payload/guests/one.yaml >/tmp/one.yaml
}
