# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=bash
# What the scripts share: words, logs, builds with progress, and the lab's image.

# shellcheck disable=SC2034 # used by the scripts that source this
top=$(readlink -f "$(dirname "${BASH_SOURCE[0]}")/../..")
logs=$top/build/logs
# shellcheck source=scripts/lib/cache.sh
source "$top/scripts/lib/cache.sh"

say() { printf '%s: %s\n' "$(basename "$0")" "$*"; }

die() {
	printf '%s: %s\n' "$(basename "$0")" "$*" >&2
	exit 1
}

# usage: die_with_log LOG TEXT     fails, showing the end of build/logs/LOG.log
die_with_log() {
	printf '%s\n' "--- the end of $logs/$1.log:" >&2
	grep -n -m 5 -E '(error|Error):? ' "$logs/$1.log" >&2 || true
	tail -n 30 "$logs/$1.log" >&2
	die "$2"
}

# usage: logged LOG COMMAND...     its output goes to build/logs/LOG.log
logged() {
	local log=$1
	shift
	mkdir -p "$logs"
	"$@" >"$logs/$log.log" 2>&1 </dev/null
}

# Root, or sudo; a password is asked for on the terminal, if there is one.
as_root() {
	if [ "$(id -u)" = 0 ]; then
		"$@"
	else
		sudo "$@"
	fi
}

# usage: need_root WHAT     fails unless as_root can work
need_root() {
	[ "$(id -u)" != 0 ] || return 0
	command -v sudo >/dev/null || die "$1 needs root, or sudo"
	sudo -n true 2>/dev/null || { [ -t 0 ] && sudo -v; } || die "$1 needs root, or sudo"
}

# Objects of the same sources are compiled once, in whatever clone: ccache, where it is installed, must not
# tell clones apart by the directory that they are in.
use_ccache() {
	command -v ccache >/dev/null || return 0
	mkdir -p "$cache_dir/ccache" 2>/dev/null || return 0
	export CCACHE_DIR=$cache_dir/ccache CCACHE_BASEDIR=$top CCACHE_NOHASHDIR=1 CCACHE_MAXSIZE=1G
	export CMAKE_C_COMPILER_LAUNCHER=ccache
}

# usage: build PRESET [CMAKE-OPTION...]     configures and builds, with the percentage as progress
build() {
	local preset=$1 log=build-$1 start=$SECONDS jobs
	jobs=$(nproc)
	use_ccache
	logged "configure-$preset" cmake -S "$top" --preset "$@" ||
		die_with_log "configure-$preset" "cmake --preset $preset failed"
	mkdir -p "$logs"
	if ! cmake --build "$top/build/$preset" -j "$jobs" 2>&1 </dev/null |
		tee "$logs/$log.log" | show_percent "build $preset"; then
		die_with_log "$log" "the build of $preset failed"
	fi
	say "build $preset: done in $((SECONDS - start)) s"
}

# Reads make's "[ 40%] ..." lines: on a terminal one line that counts, else every fifth part.
show_percent() {
	local line percent shown=0
	while IFS= read -r line; do
		[[ $line =~ ^\[\ *([0-9]+)%\] ]] || continue
		percent=${BASH_REMATCH[1]}
		if [ -t 1 ]; then
			printf '\r%s: %s %3d%%' "$(basename "$0")" "$1" "$percent"
		elif [ $((percent / 20)) -gt $((shown / 20)) ]; then
			say "$1: $percent%"
		fi
		shown=$percent
	done
	if [ -t 1 ] && [ "$shown" != 0 ]; then printf '\r\033[K'; fi
}

# What keeps this machine from booting the lab, in words; nothing if it can.
lab_obstacle() {
	if [ -n "${VFCTL_NO_LAB:-}" ]; then
		echo "VFCTL_NO_LAB is set"
	elif [ "$(uname -m)" != x86_64 ]; then
		echo "the lab is x86_64 only, this machine is $(uname -m)"
	elif [ "$(id -u)" != 0 ] && ! sudo -n true 2>/dev/null; then
		echo "the lab needs root, or sudo without a password"
	elif ! as_root unshare --mount true 2>/dev/null; then
		echo "this container may not mount (CAP_SYS_ADMIN)"
	elif [ "$(awk '/MemAvailable/ { print int($2 / 1024) }' /proc/meminfo)" -lt 4096 ]; then
		echo "the lab needs 4 GiB of free memory"
	elif grep -qE '^VERSION_CODENAME=(forky|sid)$' /etc/os-release 2>/dev/null; then
		echo "the lab is Debian 13, where what is built on this newer Debian does not run (libxml2's soname differs)"
	fi
}

# The lab's image of these very sources exists.
lab_image_there() { as_root test -d "$("$top/tests/lab/build" --path)"; }

# ---- what a run starts, and how it ends ----

# Each process that a run starts has the run's mark in its environment (VFCTL_TEST_RUN, with those of the runs that
# it is part of), so that it is found in whatever process group and session it is. The mark has the PID
# namespace, because process ids of a clean room mean nothing outside of it.
# usage: mark_of PID     its id, start time and namespace; nothing if there is no such process
mark_of() { awk '{ sub(/^.*\) /, ""); print "'"$1:\" \$20 \":$pid_namespace"'" }' "/proc/$1/stat" 2>/dev/null; }
pid_namespace=$(readlink /proc/self/ns/pid | tr -dc 0-9)

# usage: marked MARK     prints the ids of the processes that have it, but for this script
marked() {
	local environ
	grep -lzsE -- "^VFCTL_TEST_RUN=(.* )?$1( .*)?\$" /proc/[0-9]*/environ | while IFS=/ read -r _ _ environ _; do
		[ "$environ" = $$ ] || printf '%s\n' "$environ"
	done
}

# usage: end_processes PID...     SIGTERM; and SIGKILL for what still runs after ten seconds
end_processes() {
	local tenth
	[ $# -gt 0 ] || return 0
	as_root kill -TERM "$@" 2>/dev/null || true
	for ((tenth = 0; tenth < 100; tenth++)); do
		as_root kill -0 "$@" 2>/dev/null || return 0
		sleep 0.1
	done
	as_root kill -KILL "$@" 2>/dev/null || true
}

# Ends what a run left behind that was killed (SIGKILL, no memory) and could not end it itself.
end_leftovers() {
	local environ mark pid left=()
	for environ in /proc/[0-9]*/environ; do
		for mark in $(tr '\0' '\n' 2>/dev/null <"$environ" | sed -n 's/^VFCTL_TEST_RUN=//p'); do
			[ "${mark##*:}" = "$pid_namespace" ] || continue
			[ "$(mark_of "${mark%%:*}")" = "$mark" ] && continue
			pid=${environ#/proc/}
			left+=("${pid%/environ}")
			break
		done
	done
	[ ${#left[@]} = 0 ] || say "ending ${#left[@]} processes of a run that was killed"
	end_processes "${left[@]}"
}

# Background work, each a process group of its own so that its whole tree can be ended.
groups=()

# usage: in_background COMMAND...     its process id is in $!
in_background() {
	set -m
	"$@" &
	groups+=("$!")
	set +m
}

# usage: interruptible COMMAND...     in the foreground for the caller, but a signal ends it at once
interruptible() {
	local status=0
	in_background "$@"
	wait "$!" || status=$?
	return "$status"
}

# Ends what in_background started and still runs, waits until it has cleaned up, and ends what that left.
end_background() {
	local pid tenth
	for pid in "${groups[@]}"; do
		as_root kill -TERM -- "-$pid" 2>/dev/null || true
	done
	for pid in "${groups[@]}"; do
		for ((tenth = 0; tenth < 300; tenth++)); do
			as_root kill -0 -- "-$pid" 2>/dev/null || break
			sleep 0.1
		done
	done
	groups=()
	# shellcheck disable=SC2046 # words
	[ -z "${own_mark-}" ] || end_processes $(marked "$own_mark")
}

end_on_exit() {
	own_mark=$(mark_of $$)
	export VFCTL_TEST_RUN="${VFCTL_TEST_RUN:+$VFCTL_TEST_RUN }$own_mark"
	trap end_background EXIT
	trap 'trap "" INT TERM HUP; exit 130' INT
	trap 'trap "" INT TERM HUP; exit 143' TERM
	trap 'trap "" INT TERM HUP; exit 129' HUP
}

# Makes the lab's image, with a second attempt, as packages may not arrive; runs in the background, as
# `in_background make_lab_image`.
make_lab_image() {
	mkdir -p "$lab_dir" # not root's, if we are not
	build_lab_image && return
	say "lab: the disk image could not be made; once more (log: build/logs/lab-image-failed.log)"
	cp "$logs/lab-image.log" "$logs/lab-image-failed.log"
	build_lab_image
}
build_lab_image() { logged lab-image as_root env VFCTL_LAB_DIR="$lab_dir" "$top/tests/lab/build"; }

# What the making of the image is at.
lab_image_stage() {
	local stage
	stage=$(as_root sh -c "cat '$lab_dir'/new-*/build.log" 2>/dev/null |
		grep -a '^I: ' | tail -n 1 | sed 's/^I: //; s/ in shell: .*//; s/ directly: .*//')
	case $(tail -n 1 "$logs/lab-image.log" 2>/dev/null) in
	*'writing the disk'*) stage='writing the disk' ;;
	*waiting*) stage='waiting for another build of it' ;;
	esac
	printf '%s' "${stage:-starting}"
}

# usage: wait_for_lab_image PID     with a line that counts, or one every half minute
wait_for_lab_image() {
	local start=$SECONDS seconds
	while kill -0 "$1" 2>/dev/null; do
		seconds=$((SECONDS - start))
		if [ -t 1 ]; then
			printf '\r\033[K%s: disk image: %d s, %s' "$(basename "$0")" "$seconds" "$(lab_image_stage)"
		elif [ $((seconds % 30)) = 29 ]; then
			say "disk image: $((seconds + 1)) s, $(lab_image_stage)"
		fi
		sleep 1
	done
	if [ -t 1 ]; then printf '\r\033[K'; fi
	wait "$1" || die_with_log lab-image "the lab's disk image could not be made"
	say "disk image: done in $((SECONDS - start)) s"
}
