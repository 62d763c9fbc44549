# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=bash
# Network namespaces with a VF each, and Linux guests that take commands.
traffic=$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")

# ---- namespaces ----

# usage: place_in NAMESPACE DEVICE ADDRESS     the device goes there and is up as ADDRESS/24
place_in() {
	ip netns add "$1" 2>/dev/null
	ip link set "$2" netns "$1" &&
		ip -n "$1" link set lo up &&
		ip -n "$1" addr add "$3/24" dev "$2" &&
		ip -n "$1" link set "$2" up
}

has_link() { [ "$(ip netns exec "$1" cat "/sys/class/net/$2/carrier" 2>/dev/null)" = 1 ]; }

lost_link() { ! has_link "$@"; }

# usage: answers NAMESPACE ADDRESS     it answers an echo request from there
answers() { ip netns exec "$1" busybox ping -c 1 -W 2 "$2"; }

# usage: silent NAMESPACE ADDRESS     three requests, none is answered
silent() { ! ip netns exec "$1" busybox ping -c 3 -W 3 "$2"; }

# usage: forget_neighbours NAMESPACE...     so that the next packet asks for the address again
forget_neighbours() {
	local name
	for name; do ip -n "$name" neigh flush all; done
}

# usage: seconds_for_500_kB FROM TO ADDRESS     prints how long they take over TCP, 20 at most
seconds_for_500_kB() {
	local start receiver pipe=/tmp/no-input
	rm -f $pipe
	mkfifo $pipe # at the end of its input busybox's nc would end
	ip netns exec "$2" busybox nc -l -p 5000 <>$pipe >/dev/null &
	receiver=$!
	sleep 1
	start=$SECONDS
	head -c 500000 /dev/zero |
		ip netns exec "$1" timeout 20 busybox nc -w 3 "$3" 5000 >/dev/null 2>&1
	printf '%s\n' "$((SECONDS - start))"
	kill "$receiver"
	wait "$receiver"
} 2>/dev/null

# ---- Linux guests ----

# usage: linux_spec NAME [XML] < YAML     the rest of the guest.yaml, and more devices for the
# template; prints where it is
linux_spec() {
	local template
	mkdir -p /run/lab
	template=$(sed "s/NAME/$1/" "$traffic/linux.xml")
	printf '%s\n' "${template/'</devices>'/"${2:-}</devices>"}" >"/run/lab/$1.xml"
	{
		cat <<-EOT
			name: $1
			memory: 256MiB
			hugepages: none
			virtualization: qemu
			cpu: qemu64
			iothreads: 0
			kernel: /boot/vmlinux.lab
			initrd: /run/lab/initrd
			cmdline: console=ttyS0 loglevel=6 panic=-1 cryptomgr.notests audit=0 random.trust_cpu=on maxcpus=1 noreplace-smp nokaslr nowatchdog no_timer_check tsc=reliable apparmor=0 ipv6.disable=1 rodata=off initcall_blacklist=jent_mod_init,crypto_kdf108_init,load_system_certificate_list,param_sysfs_builtin_init,init_encrypted,slab_sysfs_init,trace_eval_init
			template: /run/lab/$1.xml
		EOT
		cat
	} >"/run/lab/$1.yaml"
	printf '/run/lab/%s.yaml\n' "$1"
}

# usage: linux_pipes NAME     before each start
linux_pipes() {
	rm -f "/run/lab/$1.in" "/run/lab/$1.out"
	mkfifo "/run/lab/$1.in" "/run/lab/$1.out"
}

# usage: linux_up NAME SECONDS     it is up within that time. Looks seldom: each look is a process,
# and costs the guest, emulated on the same CPUs, more than it seems.
linux_up() {
	local deadline=$((SECONDS + $2))
	until guest_said "$1" 'guest up'; do
		[ "$SECONDS" -lt "$deadline" ] || return 1
		sleep 3
	done
}

# usage: in_guest NAME COMMAND     runs it there; prints what it prints, and has its status
in_guest() {
	local line
	(
		exec 5<>"/run/lab/$1.in" 6<>"/run/lab/$1.out"
		while read -r -t 0.2 -u 6 line; do :; done # of a command that was given up
		printf '%s\n' "$2" >&5
		while read -r -t "${guest_patience:-60}" -u 6 line; do
			line=${line%$'\r'}
			[[ $line =~ ^\[exit\ ([0-9]+)\]$ ]] && exit "${BASH_REMATCH[1]}"
			printf '%s\n' "$line"
		done
		echo "no answer from $1 to: $2"
		exit 1
	)
}
