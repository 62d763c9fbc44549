#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# usage: growth.sh [ROUNDS [SECONDS]]     run by hand, no round begun after SECONDS:
#     tests/lab/run --payload DIR --timeout 3000 cases/growth.sh 100
# Rounds of create, define, undefine and destroy: nothing on the host becomes more.
# shellcheck source=tests/lab/cases/lib.sh
. "$(dirname "$0")/lib.sh"
# shellcheck source=tests/lab/cases/recovery.sh
. "$(dirname "$0")/recovery.sh"

rounds=${1:-100} limit=${2:-} failed=0

once() {
	vfctl create "$ens1" 2 && vfctl define /tmp/one.yaml && vfctl undefine one &&
		vfctl destroy "$ens1"
}

recovery_begin
check "the hook" vfctl hook install
check "a first round" once
size=$(sizes)
for ((round = 1; round <= rounds; round++)); do
	[ -z "$limit" ] || [ $SECONDS -lt "$limit" ] || break
	once >/dev/null 2>&1 || failed=$((failed + 1))
	if [ $((round % 10)) = 0 ]; then
		echo "# $round rounds, $failed failed"
		check_is "it has not grown" "$size" sizes
	fi
done
check_is "none of $((round - 1)) failed" 0 echo $failed
check_is "it has not grown" "$size" sizes
look
check_is "the host is as it was" "$(counted 0 0 0)" counts
check_is "nothing is astray" "" astray
sizes | sed 's/^/# /'
finish
