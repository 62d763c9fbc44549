# SPDX-License-Identifier: GPL-2.0-or-later
# What commands of stories and fault cases may call. The callers set tests (where the
# programs are), story (the folder), SIM_ROOT (the simulated host) and state (its leases).
# shellcheck shell=bash

dev=/sys/bus/pci/devices

# long_form: succeeds in the full run (VFCTL_LONG=1). The short form tries less; it prints the same.
long_form() { [ -n "${VFCTL_LONG-}" ]; }
# by_form SHORT LONG: a number that differs between the forms, such as that of rounds.
by_form() { long_form && echo "$2" || echo "$1"; }

# $WRAP may be a program to run them under, such as valgrind with its options.
exec_vfctl() { exec ${WRAP-} "$tests/${VFCTL_SIM-vfctl-sim}" --state "$state" "$@"; }
run_vfctl() { ${WRAP-} "$tests/${VFCTL_SIM-vfctl-sim}" --state "$state" "$@"; }
# What comes as JSON is kept in $documents, if that is set: run-story holds it to its schema.
vfctl() {
	local kept status
	if [ -z "${documents-}" ] || [[ " $* " != *' --json '* ]]; then
		run_vfctl "$@"
		return
	fi
	kept=$documents/$BASHPID-$EPOCHREALTIME
	run_vfctl "$@" >"$kept"
	status=$?
	cat "$kept"
	printf '%s\n' "$*" >"$kept.command"
	return $status
}
# As a user without any rights; whoever is not root needs sudo to become nobody. A copy of the
# programs, as others may not be able to reach the checkout.
nobody() {
	local first=() place status
	[ "$(id -u)" = 0 ] || first=(sudo -n)
	place=$(mktemp -d /tmp/sim-nobody-XXXXXX) && chmod 755 "$place" &&
		install -m 755 "$tests/vfctl-sim" "$tests/vfctl-bench-sim" "$place" || return
	"${first[@]}" setpriv --reuid=65534 --regid=65534 --clear-groups \
		env SIM_ROOT="$SIM_ROOT" COLUMNS="${COLUMNS-}" ASAN_OPTIONS="${ASAN_OPTIONS-}" \
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
			${SIM_FAULT_CALLS:+SIM_FAULT_CALLS="$SIM_FAULT_CALLS"} \
			${SIM_RUN:+SIM_RUN="$SIM_RUN"} \
			${SIM_COUNTS:+SIM_COUNTS="$SIM_COUNTS"} \
			ASAN_OPTIONS="$ASAN_OPTIONS" \
			${WRAP-} "$tests/hook-sim" "$name" "$1" begin -
	) <"${2:-/dev/null}"
}

# on_pty COMMAND...: on a terminal of its own; the standard input is typed. (script may lose what comes last.)
on_pty() { python3 -c 'import os, pty, sys; sys.exit(os.waitstatus_to_exitcode(pty.spawn(sys.argv[1:])))' "$@"; }

# reads COMMAND...: how often that reads the inventory, the store and domains (kernel/counts.c).
reads() {
	local status=0
	SIM_COUNTS=$PWD/counts "$@" >counted 2>&1 || status=$?
	cat counts
	rm -f counts
	[ $status = 0 ] || cat counted
	return $status
}

# lease DOMAIN.xml: what vfctl define leases to the domain, by the metadata in its XML.
lease() { "$tests/sim-lease" "$state" <"$1"; }

# unlease NAME: behind the tool's back.
unlease() { sqlite3 "$state" "PRAGMA foreign_keys = on; DELETE FROM lease WHERE domain_name = '$1'"; }

# ---- libvirt as the files that it keeps (kernel/hypervisor.c) ----

# libvirt: this host has one, without domains; its daemon runs.
libvirt() {
	mkdir -p "$SIM_ROOT/etc/libvirt/qemu" "$SIM_ROOT/run/libvirt/qemu" "$SIM_ROOT/proc/76"
	echo libvirtd >"$SIM_ROOT/proc/76/comm"
}
# defined NAME <XML: virsh define.
defined() { cat >"$SIM_ROOT/etc/libvirt/qemu/$1.xml"; }
# started NAME PID [VF...]: the domain of that definition runs, with these open in VFIO.
started() {
	local vf group n=0
	mkdir -p "$SIM_ROOT/proc/$2/fd"
	echo qemu-system-x86 >"$SIM_ROOT/proc/$2/comm"
	{
		echo "<domstatus state='running' reason='booted' pid='$2'>"
		cat "$SIM_ROOT/etc/libvirt/qemu/$1.xml"
		echo "</domstatus>"
	} >"$SIM_ROOT/run/libvirt/qemu/$1.xml"
	for vf in "${@:3}"; do
		hold "$vf"
		group=$(readlink "$SIM_ROOT$dev/$vf/iommu_group")
		ln -sf "/dev/vfio/${group##*/}" "$SIM_ROOT/proc/$2/fd/$((n += 1))"
	done
}
# stopped NAME PID [VF...]: as on a host, QEMU is gone before libvirt removes the file of the run.
stopped() {
	local vf
	for vf in "${@:3}"; do let_go "$vf"; done
	rm -r "$SIM_ROOT/proc/$2"
	rm "$SIM_ROOT/run/libvirt/qemu/$1.xml"
}
# hostdev VF...: devices that somebody wrote by hand.
hostdev() {
	local vf
	for vf; do
		[[ $vf =~ ^(....):(..):(..)\.(.) ]]
		echo "<hostdev mode='subsystem' type='pci' managed='yes'><source>" \
			"<address domain='0x${BASH_REMATCH[1]}' bus='0x${BASH_REMATCH[2]}'" \
			"slot='0x${BASH_REMATCH[3]}' function='0x${BASH_REMATCH[4]}'/>" \
			"</source></hostdev>"
	done
}
# plain NAME UUID DEVICES: a domain without our metadata.
plain() {
	echo "<domain type='kvm'><name>$1</name><uuid>$2</uuid><memory unit='MiB'>512</memory>" \
		"<vcpu>1</vcpu><os><type>hvm</type></os><devices>" \
		"<controller type='pci' index='0' model='pcie-root'/>" \
		"<controller type='pci' index='1' model='pcie-root-port'/>" \
		"<controller type='pci' index='2' model='pcie-root-port'/>$3</devices></domain>"
}

# What the system's log would hold.
audit() { cat "$SIM_ROOT/.sim/audit" 2>/dev/null && rm "$SIM_ROOT/.sim/audit"; }

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

# sqlite3 waits for a vfctl that holds the state file at this moment.
sqlite3() { command sqlite3 -cmd '.timeout 3600000' "$@"; }
# The state behind the tool's back. Whether a lease's domain runs, and what its VFs had before:
is_running="EXISTS (SELECT 1 FROM change JOIN change_op ON id = change
	WHERE run = domain_uuid AND type = 'run')"
saved="(SELECT group_concat(before, ' ') FROM (SELECT before FROM lease
	JOIN change ON run = domain_uuid JOIN change_op ON change = change.id
	WHERE lease.id = lease AND type = 'guest-attrs' AND target = pf || '/' || idx
	ORDER BY number))"
leases() {
	[ -e "$state" ] || return 0
	sqlite3 -readonly "$state" "SELECT domain_name, $is_running, transient FROM lease;
		SELECT bdf, idx, coalesce($saved, '-') FROM lease_vf ORDER BY bdf;"
}
# usage: mark_running NAME     as the hook does
mark_running() {
	sqlite3 "$state" "INSERT INTO change (story, lock, boot, pid, begun, run)
		SELECT 'run', '', '', 1, 5, domain_uuid FROM lease WHERE domain_name = '$1';
		INSERT INTO change_op SELECT change.id, 0, '', 'run', run, lease.id || ' ' ||
		domain_name, '' FROM change JOIN lease ON run = domain_uuid
		WHERE domain_name = '$1';"
}
tree() { "$tests/sim-make" --dump "$SIM_ROOT"; }

# vector BDF N CPUS [MODE]: its driver has enabled a vector; 444: a managed one. vectors_gone BDF: it
# let go of all.
vector() {
	put "/proc/irq/$2/smp_affinity_list" "$3"
	put "/proc/irq/$2/effective_affinity_list" "${3%%[-,]*}"
	chmod "${4-644}" "$SIM_ROOT/proc/irq/$2/smp_affinity_list"
	put "$dev/$1/msi_irqs/$2" msix
}
vectors_gone() {
	local n
	for n in "$SIM_ROOT$dev/$1/msi_irqs/"*; do rm -r "$SIM_ROOT/proc/irq/${n##*/}"; done
	rm -r "$SIM_ROOT$dev/$1/msi_irqs"
}
# look_again WORDS: a pause before the next look. After 6000 (10 minutes at least) it gives up, now and
# for the rest of the story: only what hangs takes so long.
look_again() {
	sleep 0.1
	[ -z "${gave_up-}" ] && [ $((looks = ${looks-0} + 1)) -lt 6000 ] && return
	gave_up=1
	echo "gave up waiting: $*"
	return 1
}
# until_true COMMAND...: waits until it succeeds.
until_true() {
	local looks
	until "$@" >/dev/null 2>&1; do look_again "$*" || return; done
}

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
	[ -d "$SIM_ROOT${1%/*}" ] || mkdir -p "$SIM_ROOT${1%/*}"
	printf '%s\n' "$2" >"$SIM_ROOT$1"
}

# field SIZE TEXT: filled up with NULs.
field() { { printf '%s' "$2"; head -c "$1" /dev/zero; } | head -c "$1"; }
# The header of an archive's member, also of one that tar would not write: its checksum.
header() { # NAME TYPE SIZE LINK CHECKSUM
	field 100 "$1"
	printf '%07o\0%07o\0%07o\0%011o\0%011o\0%-8s%s' 420 0 0 "$3" 0 "$5" "$2"
	field 100 "$4"
	printf 'ustar\00000'
	field 247 ''
}
member() { # NAME TYPE [SIZE] [LINK]
	local sum
	sum=$(header "$1" "$2" "${3-0}" "${4-}" '' | od -An -v -tu1 |
		awk '{ for (i = 1; i <= NF; i++) sum += $i } END { printf "%06o", sum }')
	header "$1" "$2" "${3-0}" "${4-}" "$sum"
}

# ---- vfctl monitor ----

# monitor_begins [OPTION...]: it watches from when this returns.
monitor_begins() {
	# Gone before: what the last one said must not be taken for this one's word.
	rm -f monitor.out monitor.err
	exec_vfctl monitor --json "$@" >monitor.out 2>monitor.err &
	monitor=$!
	monitor_says 'watching' monitor.err
}
# monitor_says WORDS [FILE]: waits until it prints them, or has ended.
monitor_says() {
	local runs=1 looks
	until grep -qs -- "$1" "${2-monitor.out}"; do
		[ $runs = 1 ] || {
			echo "monitor ended and did not say $1; it said:"
			cat monitor.out monitor.err
			return 1
		}
		look_again "monitor says $1" || return
		monitor_runs || runs=0
	done
}
# monitor_makes COMMAND...: waits until it succeeds, or the monitor has ended.
monitor_makes() {
	local looks
	until "$@" >/dev/null 2>&1; do
		monitor_runs || {
			echo "monitor ended, and still not: $*"
			cat monitor.err
			return 1
		}
		look_again "$@" || return
	done
}
# monitor_until JQ: waits until that holds of what it told, each thing's members by its name, or
# until it has ended. How many lines that takes depends on when it looks.
monitor_until() {
	local runs=1 looks
	until monitor_told | jq -e "$1" >/dev/null; do
		[ $runs = 1 ] || {
			echo "monitor ended and never told that $1; it told:"
			monitor_told
			return 1
		}
		look_again "monitor tells that $1" || return
		monitor_runs || runs=0
	done
}
monitor_runs() { kill -0 "$monitor" 2>/dev/null; }
monitor_told() {
	jq -cs 'reduce .[] as $e ({}; if $e.event == "gone" then del(.[$e.kind][$e.name])
		else .[$e.kind][$e.name // "-"] += ($e.after // {}) end)' monitor.out
}
# monitor_ends [SIGNAL]
monitor_ends() {
	local status
	kill -"${1-TERM}" "$monitor"
	wait "$monitor"
	status=$?
	[ -z "${documents-}" ] || { cp monitor.out "$documents/monitor$((documented = ${documented-0} + 1))" &&
		echo 'monitor --json' >"$documents/monitor$documented.command"; }
	return $status
}
# Hundredths of a second that it has used.
monitor_ticks() { awk '{ sub(/.*\) /, ""); print $12 + $13 }' "/proc/$monitor/stat"; }

# catches_term PID: it handles SIGTERM by now, or has blocked it to read it.
catches_term() {
	local mask
	for mask in $(awk '/^Sig(Blk|Cgt)/ { print $2 }' "/proc/$1/status"); do
		((16#$mask & 1 << 14)) && return
	done
	return 1
}

# A sanitizer's finding must not look like an ordinary failure.
export ASAN_OPTIONS=exitcode=99 UBSAN_OPTIONS=print_stacktrace=1 LC_ALL=C TZ=UTC
export COLUMNS=80
