# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=bash
# Sourced by the tests that measure with real programs, with vfctl's path as $1: a directory of their
# own, TAP, and two namespaces on one wire.
vfctl=$(realpath "$1") || exit 1
here=$(dirname "$(realpath "$0")")
dir=$(mktemp -d) || exit 1
trap 'rm -rf "$dir"; remove_namespaces' EXIT
cd "$dir" || exit 1
count=0 failures=0

report() { # OK TEXT [OUTPUT]
	count=$((count + 1))
	if [ "$1" = 0 ]; then
		echo "ok $count - $2"
	else
		failures=$((failures + 1))
		printf 'not ok %d - %s\n%s\n' "$count" "$2" "${3:-}" | sed '2,$s/^/# /'
	fi
}
check() { # TEXT COMMAND...
	local text=$1 output
	shift
	output=$("$@" 2>&1)
	report $? "$text" "$*: $output"
}
# usage: fails STATUS WORDS TEXT COMMAND...     it ends so, and says that
fails() {
	local status=$1 words=$2 text=$3 output got
	shift 3
	output=$("$@" 2>&1)
	got=$?
	[ $got = "$status" ] && grep -qF -- "$words" <<<"$output"
	report $? "$text" "$* ($got): $output"
}
bench() { "$vfctl" --state "$dir/state.db" bench "$@"; }
lines() { wc -l <"$1/trials.jsonl"; }
# usage: await COMMAND...     until it succeeds; false when the last background job has ended before
await() {
	until "$@"; do
		kill -0 $! 2>/dev/null || { "$@"; return; }
		sleep 0.05
	done
}
# usage: gone PATTERN     until no process has such a command line: one that was killed may die late
gone() {
	while pgrep -f "$1" >/dev/null; do sleep 0.05; done
}
# The long form runs all sections of a test, the short form those that need little time.
long_form() { [ "${VFCTL_LONG-}" ]; }
has_lines() { [ "$(lines "$1" 2>/dev/null || echo 0)" -ge "$2" ]; }
errors() { jq -r 'select(.error != null) | .error' "$1/trials.jsonl"; }

left=vfctl-$$-l right=vfctl-$$-r
remove_namespaces() {
	ip netns del $left
	ip netns del $right
} 2>/dev/null
make_namespaces() {
	ip netns add $left && ip netns add $right &&
		ip link add wire-l netns $left type veth peer name wire-r netns $right &&
		ip -n $left link set wire-l up && ip -n $right link set wire-r up
} 2>/dev/null
finish() {
	echo "1..$count"
	[ "$failures" = 0 ]
}
