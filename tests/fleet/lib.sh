# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=bash
# Members of etcd on loopback, with their data in a directory of their own; all of it is gone
# when the test ends, however it ends. The machine's own etcd, if it runs, is left alone.
set -euo pipefail

# Unpacked by scripts/test: the package, installed, would start a service.
etcd=$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")/../../build/tools/usr/bin/etcd
[ -x "$etcd" ] || etcd=$(command -v etcd || true)
etcdctl=$(command -v etcdctl || true)
if [ -z "$etcd" ] || [ -z "$etcdctl" ]; then
	echo "skipped: no etcd (apt-get install etcd-server etcd-client)"
	exit 77
fi
unset "${!ETCD@}" "${!ETCDCTL@}" || true
# What one call may take; each test that stops etcd sets a shorter etcd.timeout for its hosts.
export ETCDCTL_API=3 ETCDCTL_DIAL_TIMEOUT=60s ETCDCTL_COMMAND_TIMEOUT=60s
export http_proxy=http://127.0.0.1:1 https_proxy=http://127.0.0.1:1
scratch=$(mktemp -d /tmp/vfctl-fleet-XXXXXX)
children=()
unsafe=(--unsafe-no-fsync) # what a power failure loses is no part of these tests
[ -z "${FSYNC-}" ] || unsafe=()

# shellcheck disable=SC2317 # called by trap
clean_up() {
	local status=$? pid
	trap '' TERM INT HUP
	for pid in "${children[@]}"; do
		kill -KILL "$pid" 2>/dev/null || true
		wait "$pid" 2>/dev/null || true
	done
	rm -rf "$scratch"
	exit "$status"
}
trap clean_up EXIT
trap 'exit 143' TERM
trap 'exit 130' INT
trap 'exit 129' HUP

fail() {
	echo "FAILED: $*"
	echo "--- last answer:"
	head -c 4000 "$scratch/out" "$scratch/err" 2>/dev/null || true
	exit 1
}

# A port that nobody listens on now, below those the kernel gives to clients.
free_port() {
	local port
	for _ in $(seq 200); do
		port=$((20000 + RANDOM % 12000))
		case " ${ports[*]-} " in *" $port "*) continue ;; esac
		(: </dev/tcp/127.0.0.1/$port) 2>/dev/null && continue
		ports+=("$port")
		REPLY=$port
		return
	done
	fail "no free port"
}
ports=()
patience=60s

declare -A pid_at=() # the process of the member at each port
# usage: member NAME SCHEME CLIENT_PORT PEER_PORT CLUSTER [option...]; its pid in pid_NAME
member() {
	local name=$1 scheme=$2 client=$3 peer=$4 cluster=$5
	shift 5
	"$etcd" --name "$name" --data-dir "$scratch/etcd-$client" --logger zap --log-level error \
		--listen-client-urls "$scheme://127.0.0.1:$client" \
		--advertise-client-urls "$scheme://127.0.0.1:$client" \
		--listen-peer-urls "http://127.0.0.1:$peer" \
		--initial-advertise-peer-urls "http://127.0.0.1:$peer" \
		--initial-cluster "$cluster" --initial-cluster-state new \
		"${unsafe[@]}" "$@" >"$scratch/etcd-$name.log" 2>&1 &
	children+=($!)
	pid_at[client]=$!
	printf -v "pid_$name" '%s' $!
}

# usage: one_member [option...]: a cluster of one; its address in $endpoint
one_member() {
	local client peer
	free_port
	client=$REPLY
	free_port
	peer=$REPLY
	endpoint=http://127.0.0.1:$client
	member one http "$client" "$peer" "one=http://127.0.0.1:$peer" "$@"
	wait_healthy "$endpoint"
}

# Ends when etcd answers, or its process has ended.
wait_healthy() { # ENDPOINT [etcdctl option...]
	local port=${1##*:}
	until timeout 60 "$etcdctl" --endpoints "$@" endpoint health >/dev/null 2>&1; do
		kill -0 "${pid_at[$port]}" 2>/dev/null || {
			cat "$scratch"/etcd-*.log
			fail "etcd at $1 has ended"
		}
		sleep 0.1
	done
}

ctl() { "$etcdctl" --endpoints "$endpoint" "$@"; }

# usage: host NAME [line of etcd:...]: its host.yaml; without a timeout: among the lines it is $patience
host() {
	local name=$1 line
	shift
	{
		printf 'host: %s\nstore: etcd\netcd:\n  endpoints: [%s]\n' "$name" "${endpoints:-$endpoint}"
		[[ " $* " == *' timeout: '* ]] || printf '  timeout: %s\n' "$patience"
		for line; do printf '  %s\n' "$line"; done
		printf 'guid-pools:\n- {name: p, ranges: [%s], rest: %s}\n' \
			"${range:-0x200..0x2fff}" "${rest:-0s}"
	} >"$scratch/$name.yaml"
}

# usage: wait_lines FILE COUNT PID: the process has printed as many, or has ended
wait_lines() {
	until [ "$(wc -l <"$1")" -ge "$2" ] || ! kill -0 "$3" 2>/dev/null; do sleep 0.02; done
}
# usage: again NAME FROM <numbers of domains: those that were not served while etcd was away are served
# now that it is back; each 5th of them, beginning with that one
again() {
	local n
	awk -v from="$2" 'NR % 5 == from' | while read -r n; do
		"$taker" "$scratch/$1.db" "$scratch/$1.yaml" "$n" 1 | grep -v '^#' >>"$scratch/all" || true
		tail -n 1 "$scratch/all" | grep -q "^$n 0" || fail "$(tail -n 1 "$scratch/all"), and etcd is back"
	done
}

# usage: on NAME ACTION [argument...]: vfctl guid as that host; output in out and err
on() {
	local name=$1
	shift
	status=0
	"$vfctl" --state "$scratch/$name.db" guid --host-yaml "$scratch/$name.yaml" "$@" \
		>"$scratch/out" 2>"$scratch/err" </dev/null || status=$?
}
must() { # like on, and it must succeed
	on "$@"
	[ "$status" = 0 ] || fail "$* has status $status"
}
refused() { # like on, and it must fail with nothing changed
	on "$@"
	[ "$status" = 1 ] || [ "$status" = 2 ] || fail "$* has status $status"
}
says() { grep -qF -- "$1" "$scratch/out" "$scratch/err" || fail "it does not say '$1'"; }
uuid() { printf '%08x-0000-4000-8000-000000000000' "$1"; }
rows() { # NAME [SQL condition]: what its mirror has
	sqlite3 "$scratch/$1.db" "SELECT count(*) FROM identity WHERE ${2:-1}"
}
