# SPDX-License-Identifier: GPL-2.0-or-later
# What commands of stories and fault cases may call. The callers set tests (where the
# programs are), story (the folder), SIM_ROOT (the simulated host) and state (its leases).
# shellcheck shell=bash

dev=/sys/bus/pci/devices

# $WRAP may be a program to run them under, such as valgrind with its options.
vfctl() { ${WRAP-} "$tests/vfctl-sim" --state "$state" "$@"; }
# As a user without any rights; whoever is not root needs sudo to become nobody. A copy of the
# program, as others may not be able to reach the checkout.
nobody() {
	local first=() place status
	[ "$(id -u)" = 0 ] || first=(sudo -n)
	place=$(mktemp -d /tmp/sim-nobody-XXXXXX) && chmod 755 "$place" &&
		install -m 755 "$tests/vfctl-sim" "$place/vfctl-sim" || return
	"${first[@]}" setpriv --reuid=65534 --regid=65534 --clear-groups \
		env SIM_ROOT="$SIM_ROOT" ASAN_OPTIONS="${ASAN_OPTIONS-}" \
		"$place/vfctl-sim" --state "$state" "$@"
	status=$?
	rm -rf "$place"
	return $status
}

# hook OPERATION [DOMAIN.xml]: as libvirt calls it, from / and with its small environment.
hook() {
	local name=${3-guest1}
	(
		cd / && exec env -i PATH="${HOOK_PATH-/usr/bin:/bin}" LC_ALL=C \
			SIM_ROOT="$SIM_ROOT" SIM_STATE="$state" \
			${SIM_FAULT:+SIM_FAULT="$SIM_FAULT"} \
			${SIM_FAULT_HIT:+SIM_FAULT_HIT="$SIM_FAULT_HIT"} \
			ASAN_OPTIONS="$ASAN_OPTIONS" \
			${WRAP-} "$tests/hook-sim" "$name" "$1" begin -
	) <"${2:-/dev/null}"
}

# domain NAME UUID [VF...]: domain XML with our metadata. A VF is the attributes of our
# <vf> element: "bdf='0000:10:10.0' pf='0000:10:00.0' index='0' mac='...'".
domain() {
	local name=$1 uuid=$2 vf address
	shift 2
	echo "<domain type='kvm' xmlns:vfctl='urn:vfctl:domain:1'>"
	echo "<name>$name</name><uuid>$uuid</uuid>"
	echo "<metadata><vfctl:guest lease='$uuid'>"
	for vf; do echo "<vfctl:vf $vf/>"; done
	echo "</vfctl:guest></metadata><devices>"
	for vf; do
		address=${vf#*bdf=\'}
		[[ $address =~ ^(....):(..):(..)\.(.) ]]
		echo "<hostdev mode='subsystem' type='pci' managed='yes'><source>" \
			"<address domain='0x${BASH_REMATCH[1]}' bus='0x${BASH_REMATCH[2]}'" \
			"slot='0x${BASH_REMATCH[3]}' function='0x${BASH_REMATCH[4]}'/>" \
			"</source></hostdev>"
	done
	echo "</devices></domain>"
}

# The state behind the tool's back.
leases() {
	[ -e "$state" ] || return 0
	sqlite3 -readonly "$state" "SELECT domain_name, running, transient FROM lease;
		SELECT bdf, idx, coalesce(saved, '-') FROM lease_vf ORDER BY bdf;"
}
tree() { "$tests/sim-make" --dump "$SIM_ROOT"; }

# VFIO opens and closes a function.
hold() {
	mkdir -p "$SIM_ROOT/.sim/open"
	: >"$SIM_ROOT/.sim/open/$1"
	echo 1 >"$SIM_ROOT$dev/$1/enable"
}
let_go() {
	rm "$SIM_ROOT/.sim/open/$1"
	echo 0 >"$SIM_ROOT$dev/$1/enable"
}
# A file of the tree: put PATH TEXT; its directories are made.
put() {
	mkdir -p "$SIM_ROOT${1%/*}"
	printf '%s\n' "$2" >"$SIM_ROOT$1"
}

# A sanitizer's finding must not look like an ordinary failure.
export ASAN_OPTIONS=exitcode=99 UBSAN_OPTIONS=print_stacktrace=1 LC_ALL=C TZ=UTC
