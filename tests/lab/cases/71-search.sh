# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=bash
# vfctl tune search on real interfaces: the emulated card throttles interrupts as the real one does. The
# verdict follows from the figures. With a file "long" in the payload, on an idle machine (ten minutes; docs/dev/lab.md):
# what is better is found three times, where nothing differs nothing is claimed, and a refused value, and a VF.
# shellcheck source=tests/lab/cases/lib.sh
. "$(dirname "$0")/lib.sh"
# shellcheck source=tests/lab/cases/traffic/lib.sh
. "$(dirname "$0")/traffic/lib.sh"

ens1=$(link_of "$left") ens2=$(link_of "$right")
vf_link() { ls "$pci/$(vf_of "$1" "$2")/net"; }
results=/run/lab/search
long='' times=1 tries=(--try rx-usecs=3)
if [ -e /payload/long ]; then
	long=yes times="1 2 3" tries+=(--try rx-usecs=250)
fi
usecs() { ip netns exec "$1" ethtool -c "$2" | sed -n 's/^rx-usecs:[[:space:]]*//p'; }
no_servers() { ! pgrep -x 'sockperf' >/dev/null; }
mkdir -p "$results"

check "port 1 goes to a namespace" place_in left "$ens1" 10.9.0.1
check "port 2 goes to another" place_in right "$ens2" 10.9.0.2
eventually "both have link" 90 has_link left "$ens1"
eventually "and so has the other" 90 has_link right "$ens2"
before=$(usecs left "$ens1")

# usage: searched NAMESPACE DEVICE USECS RESULT OPTION...     with that moderation as it is
searched() {
	local place=$1 device=$2 usecs=$3 result=$results/$4 old status=0
	shift 4
	old=$(usecs "$place" "$device")
	[ "$old" != 1 ] || old=0 # igbvf tells 1 when it was set to 0
	ip netns exec "$place" ethtool -C "$device" rx-usecs "$usecs"
	ip netns exec "$place" vfctl tune search "$device" --duration 1s --trials 6 --noise 20% \
		--output "$result" --json "$@" >"$result.json" || status=1
	[ "$(usecs "$place" "$device")" = "$usecs" ] || status=1
	[ "$old" = "$usecs" ] || ip netns exec "$place" ethtool -C "$device" rx-usecs "$old"
	return $status
}
# "better" with a confirmation that shows it by the rule, and not without one.
by_rule() {
	jq '.alpha as $alpha | .noise as $noise | (.verdict == "better") == (.confirmation | . != null and
		.p_adjusted < $alpha and (.change | fabs) >= $noise and .change < 0) and
		(.verdict == "better") == (.best != .baseline) and .runs <= .most_runs' "$results/$1.json"
}
verdict() { jq -r '.verdict + ", " + .best' "$results/$1.json"; }
tell() { jq -r '"# \(.runs) runs of \(.most_runs), \(.seconds) s", "# " + .sentences[]' "$results/$1.json"; }
to_right=(--to 10.9.0.2 --on netns:right)

# ---- port to port ----
for i in $times; do
	check "a search from 1000 us, $i" searched left "$ens1" 1000 "from-1000-$i" "${to_right[@]}" \
		--seed "$i" "${tries[@]}"
	tell "from-1000-$i"
	check_is "the verdict follows from the figures" true by_rule "from-1000-$i"
	[ -n "$long" ] || continue
	check_is "finds that 3 us are better" "better, rx-usecs-3" verdict "from-1000-$i"
	check_is "in few runs" true jq '.runs <= 30' "$results/from-1000-$i.json"
done
no_difference() {
	check "a search from 3 us, of 10" searched left "$ens1" 3 from-3 "${to_right[@]}" --try rx-usecs=10
	tell from-3
	check_is "the verdict follows from the figures" true by_rule from-3
	check_is "shows no difference" "no difference shown, as-it-is" verdict from-3
}
[ -z "$long" ] || no_difference
refused_one() {
	check "of a value that the driver refuses, and of 1000 us" searched left "$ens1" 3 refused "${to_right[@]}" \
		--try rx-usecs=5 --try rx-usecs=1000
	tell refused
	check_is "what is there now is best" "none better, as-it-is" verdict refused
	check_is "the first fails, the other is worse" "fails worse" jq -r '[.candidates[1, 2].state] | join(" ")' "$results/refused.json"
}
[ -z "$long" ] || refused_one
check_is "what is worth trying with the driver" "as-it-is, and more" bash -c "ip netns exec left vfctl tune search '$ens1' \
	--to 10.9.0.2 --on netns:right --dry-run --json | jq -r '.settings[0] + (if (.settings | length) > 4 then \", and more\" else \"\" end)'"
check_is "the port has its own moderation" "$before" usecs left "$ens1"
check "no server is left" no_servers

# ---- a VF to a port ----
ip netns del right
on_vf() {
	eventually "port 2 is back" 20 ip link show dev "$ens2"
	check "it is up" ip link set "$ens2" up
	check "a VF of port 2, on its own driver" vfctl create "$ens2" 1 --driver host
	udevadm settle --timeout=30
	vf=$(vf_link "$right" 0)
	check "it goes to a namespace" place_in vf "$vf" 10.9.0.3
	eventually "and has link" 90 has_link vf "$vf"
	check "a search on the VF from 1000 us" searched vf "$vf" 1000 vf --to 10.9.0.1 --on netns:left --try rx-usecs=0
	tell vf
	check_is "finds that 0 is better" "better, rx-usecs-0" verdict vf
	ip netns del vf
	eventually "the VF is back on the host" 60 ip link show dev "$vf"
	check "no VFs" vfctl destroy "$ens2"
}
[ -z "$long" ] || on_vf

# ---- nothing is left ----
ip netns del left
eventually "the devices are back on the host" 60 ip link show dev "$ens1"
finish
