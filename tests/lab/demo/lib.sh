# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=bash
# How the demo speaks. Runs in the lab, as root.

bold='' green='' red='' blue='' dim='' plain=''
use_colour() {
	bold=$'\e[1m' green=$'\e[32m' red=$'\e[31m' blue=$'\e[36m' dim=$'\e[2m' plain=$'\e[0m'
}

steps=0 passed=0 claims=()

# The lab has no polkit, and virsh says so at each call.
virsh() { command virsh "$@" 2> >(grep -v '^Authorization not available' >&2); }

# usage: begin title|text|command|verdict     an empty line between parts of a different kind
begin() {
	case $last,$1 in
	,* | title,text | verdict,verdict) ;;
	*) printf '\n' ;;
	esac
	last=$1
}
last=''

# usage: indent WIDTH     output of commands, without the empty line virsh ends with
indent() { sed -e "s/^./$(printf '%*s' "$1" '')&/" -e '${/^$/d}'; }

# usage: step TITLE     text on standard input: why
step() {
	steps=$((steps + 1))
	begin title
	printf '%s== %d. %s%s\n' "$bold" "$steps" "$1" "$plain"
	tell
}

tell() {
	begin text
	fmt -w 88
}

# usage: run COMMAND_LINE     shown as typed, then its output; the status stays in $status
run() {
	begin command
	printf '%s$ %s%s\n' "$green" "$1" "$plain"
	eval "$1" </dev/null 2>&1 | indent 4
	status=${PIPESTATUS[0]}
}

# usage: outside COMMAND_LINE     the same, for a look with somebody else's tools
outside() {
	begin command
	printf '  %swithout vfctl:%s %s$ %s%s\n' "$dim" "$plain" "$blue" "$1" "$plain"
	eval "$1" </dev/null 2>&1 | indent 6
}

# usage: run_slowly SECONDS COMMAND_LINE     with a sign of life, as it takes about that long
run_slowly() {
	local pid start=$SECONDS
	begin command
	printf '%s$ %s%s\n' "$green" "$2" "$plain"
	eval "$2" </dev/null >/tmp/slow.log 2>&1 &
	pid=$!
	while sleep "$tick" && kill -0 "$pid" 2>/dev/null; do
		printf '%s    %d s of about %d%s%s' "$dim" "$((SECONDS - start))" "$1" "$plain" "$end_of_tick"
	done
	printf '%s' "$end_of_ticks"
	status=0
	wait "$pid" || status=$?
	indent 4 </tmp/slow.log
}
tick=5 end_of_tick=$'\n' end_of_ticks=''

# usage: verdict COLOUR WORD TEXT
verdict() {
	begin verdict
	claims+=("$1$2$plain  $3")
	printf '%s  %s  %s%s\n' "$1" "$2" "$3" "$plain"
}

# usage: claim TEXT COMMAND...     true if the command succeeds; all are listed at the end
claim() {
	local text=$1 output
	shift
	if output=$("$@" 2>&1); then
		passed=$((passed + 1))
		verdict "$green" PASS "$text"
	else
		verdict "$red" FAIL "$text"
		[ -z "$output" ] || printf '        %s\n' "${output//$'\n'/$'\n        '}"
	fi
}

# usage: claim_is TEXT EXPECTED ACTUAL
claim_is() {
	claim "$1" same "$2" "$3"
}
same() {
	[ "$1" = "$2" ] || {
		printf 'expected: %s\nfound:    %s\n' "$1" "$2"
		return 1
	}
}

# usage: claim_refused TEXT [STATUS]     the last `run` failed and changed nothing; 2: it cannot succeed
claim_refused() { claim_is "$1" "${2-1}" "$status"; }

# Prints the list of claims; fails if one of them does.
summary() {
	local line
	begin title
	printf '%s== What was claimed, and found%s\n' "$bold" "$plain"
	for line in "${claims[@]}"; do
		printf '  %s\n' "$line"
	done
	printf '\n%d of %d claims hold.\n' "$passed" "${#claims[@]}"
	[ "$passed" = "${#claims[@]}" ]
}
