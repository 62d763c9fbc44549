#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# usage: kills.sh [ROUNDS [SEED [HOOKS [SECONDS]]]]
# Rounds of create, destroy, define, attach, detach and undefine, vfctl killed in each at a random
# time (one of five times the first recovery too); HOOKS of 100 are rounds of start and stop, the
# hook killed. Looked at from outside all is then as before or as after; if as before, then to the
# last letter of a definition. No round begins after SECONDS. By default few rounds, without the
# hook; hundreds are run by hand:
#     tests/lab/run --payload DIR --timeout 3600 cases/kills.sh 200 1 15
# shellcheck source=tests/lab/cases/lib.sh
. "$(dirname "$0")/lib.sh"
# shellcheck source=tests/lab/cases/recovery.sh
. "$(dirname "$0")/recovery.sh"

rounds=${1:-6} seed=${2:-$((SRANDOM % 100000))} hooks=${3:-0} limit=${4:-}
RANDOM=$seed
l=3 r=0 g=0 # VFs that $left, $right and the guest have
declare -A usual=() tally=([before]=0 [after]=0)

# usage: random N     sets n to 0..N-1; printed, it would be of a subshell that is always the same
random() { n=$((RANDOM % $1)); }
count_in() { tally[$1]=$((${tally[$1]:-0} + 1)); }

# usage: ask VERB COUNT     sets command, and to: the VFs that there are after it
ask() {
	verb=$1
	case $1 in
	create) command=(create "$ens2" "$2") to="$l $2 $g" ;;
	destroy) command=(destroy "$ens2") to="$l 0 $g" ;;
	define) command=(define /tmp/one.yaml) to="$l $r 1" ;;
	attach) command=(attach one --pf "$ens1" --config vlan=78) to="$l $r $((g + 1))" ;;
	detach)
		command=(detach one --config --vf "$ens1/$(query 'SELECT max(idx) FROM lease_vf')")
		to="$l $r $((g - 1))"
		;;
	undefine) command=(undefine one) to="$l $r 0" ;;
	esac
}

choose() {
	local verbs=(create) count
	[ "$r" = 0 ] || verbs+=(destroy)
	case $g in
	0) verbs+=(define define) ;;
	1) verbs+=(attach attach undefine) ;;
	*) verbs+=(detach detach undefine) ;;
	esac
	random ${#verbs[@]}
	verb=${verbs[n]}
	random 7
	count=$((n + 1))
	[ $count != "$r" ] || count=$((count % 7 + 1))
	ask "$verb" $count
}

whole() {
	read -r l r g <<<"$1"
	look
	before=$(picture)
	# shellcheck disable=SC2086 # three
	check_is "it is whole" "$(counted $1)" counts
	check_is "nothing is astray" "" astray
}

# usage: unharmed VERB COUNT     nothing is killed: how long does it take?
unharmed() {
	local begun=$EPOCHREALTIME
	ask "$@"
	check "$verb" vfctl "${command[@]}"
	usual[$verb]=$(since "$begun")
	read -r l r g <<<"$to"
}

# What follows shall not fail for what went wrong before.
mend() {
	vfctl recover --accept
	virsh --quiet undefine one
	vfctl undefine one --force
	vfctl destroy "$ens2"
	r=0 g=0
	look
	before=$(picture)
} >/dev/null 2>&1

# usage: settled WHAT [AFTER]     the host is as it was before, to the letter, or as it should be after
settled() {
	local now wrong was=$before
	look
	before=$(picture)
	now=$(counts)
	wrong=$(astray)
	# shellcheck disable=SC2086 # three
	if [ -n "${2:-}" ] && [ "$now" = "$(counted $2)" ]; then
		came=after
		read -r l r g <<<"$2"
	else
		came=before
		wrong+=$(diff <(echo "$was") <(echo "$before"))
	fi
	count_in $came
	if [ -z "$wrong" ] && { [ $came = after ] || [ "$now" = "$(counted "$l" "$r" "$g")" ]; }; then
		ok "$1: as $came"
	else
		not_ok "$1" "$now"$'\n'"$wrong"$'\n'"recover said: $said"
		mend
	fi
}

recover() {
	random 5
	if [ "$n" = 0 ]; then
		random 100
		killed "$(part "$n" "${usual[recover]}")" vfctl recover
	fi
	said=$(vfctl recover 2>&1) || said+=" (status $?)"
	[ "$said" = 'nothing to recover' ] || count_in recovered
}

kill_round() {
	local seconds
	choose
	random 110
	seconds=$(part "$n" "${usual[$verb]}")
	killed "$seconds" vfctl "${command[@]}"
	[ $? != 137 ] || count_in killed
	recover
	settled "round $1: ${command[*]}, killed after $seconds s" "$to"
}

# usage: kill_hook OPERATION PID     of what libvirt does for PID: who watches, who works, or both
kill_hook() {
	local which words="50-vfctl one $1"
	until pgrep -f "$words" >/dev/null; do
		kill -0 "$2" 2>/dev/null || return
	done
	random 80
	sleep "$(part "$n" 1)"
	random 3
	which=(-o -n '')
	# shellcheck disable=SC2046,SC2086 # none or several
	! kill -KILL $(pgrep ${which[n]} -f "$words") 2>/dev/null || count_in killed
}

# usage: libvirt_does VERB [OPERATION]     start or destroy, the hook killed at that operation
libvirt_does() {
	virsh --quiet "$1" one </dev/null >/dev/null 2>&1 &
	[ -z "${2:-}" ] || kill_hook "$2" $!
	wait $!
}

no_hook() { ! pgrep 50-vfctl >/dev/null; }

hook_round() {
	local operations=(prepare prepare prepare start release) operation
	random ${#operations[@]}
	operation=${operations[n]}
	if [ "$operation" = release ]; then
		libvirt_does start
		libvirt_does destroy release
	else
		libvirt_does start "$operation"
		libvirt_does destroy
	fi
	for ((n = 0; n < 200; n++)); do
		! no_hook || break
		sleep 0.1
	done
	recover
	if [ -n "$(query "$of_runs")" ]; then
		said+="; $(vfctl release one 2>&1)"
		count_in released
	fi
	settled "round $1: the hook, killed at $operation"
}

echo "# $rounds rounds, seed $seed, $hooks of 100 with the hook"
recovery_begin
check "the hook" vfctl hook install
check "VFs" vfctl create "$ens1" $l
begun=$EPOCHREALTIME
check "nothing to recover" vfctl recover
usual[recover]=$(since "$begun")
for verb in create destroy define attach detach undefine; do
	unharmed $verb 4
done
whole "$l $r $g"
size=$(sizes)
for ((round = 1; round <= rounds; round++)); do
	[ -z "$limit" ] || [ $SECONDS -lt "$limit" ] || break
	random 100
	if [ "$n" -lt "$hooks" ] && [ "$g" != 0 ]; then
		hook_round $round
	else
		kill_round $round
	fi
done
[ "$g" = 0 ] || unharmed undefine
[ "$r" = 0 ] || unharmed destroy
whole "$l $r $g"
check_is "it has not grown" "$size" sizes
echo "# $((round - 1)) rounds: ${tally[before]} as before, ${tally[after]} as after; ${tally[killed]:-0} were killed in time," \
	"${tally[recovered]:-0} recovered, ${tally[released]:-0} released"
check "no VFs" vfctl destroy "$ens1"
finish
