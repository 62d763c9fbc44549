# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=bash
# What the scripts share: words, logs, builds with progress, and the lab's image.

# shellcheck disable=SC2034 # used by the scripts that source this
top=$(readlink -f "$(dirname "${BASH_SOURCE[0]}")/../..")
logs=$top/build/logs
# shellcheck disable=SC2034
lab_dir=${VFCTL_LAB_DIR:-$top/build/lab}

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

# usage: build PRESET [CMAKE-OPTION...]     configures and builds, with the percentage as progress
build() {
	local preset=$1 log=build-$1 start=$SECONDS jobs
	jobs=$(nproc)
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

# Background work, each a process group of its own so that its whole tree can be ended.
groups=()

# usage: in_background COMMAND...     its process id is in $!
in_background() {
	set -m
	"$@" &
	groups+=("$!")
	set +m
}

# Ends what in_background started and still runs, and waits until it has cleaned up.
end_background() {
	local pid tenth
	for pid in "${groups[@]}"; do
		as_root kill -TERM -- "-$pid" 2>/dev/null || continue
		for ((tenth = 0; tenth < 300; tenth++)); do
			as_root kill -0 -- "-$pid" 2>/dev/null || break
			sleep 0.1
		done
	done
	groups=()
}

end_on_exit() {
	trap end_background EXIT
	trap 'exit 130' INT
	trap 'exit 143' TERM HUP
}

# Makes the lab's image; runs in the background, as `in_background make_lab_image`.
make_lab_image() {
	mkdir -p "$lab_dir" # not root's, if we are not
	logged lab-image as_root env VFCTL_LAB_DIR="$lab_dir" "$top/tests/lab/build"
}

# What the making of the image is at.
lab_image_stage() {
	local stage
	stage=$(as_root sh -c "cat '$lab_dir'/new-*/build.log" 2>/dev/null |
		grep -a '^I: ' | tail -n 1 | sed 's/^I: //; s/ in shell: .*//; s/ directly: .*//')
	case $(tail -n 1 "$logs/lab-image.log" 2>/dev/null) in
	*'writing the disk'*) stage='writing the disk' ;;
	*'first boot'*) stage='first boot of the image' ;;
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
