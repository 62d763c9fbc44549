# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=bash
# The Debian packages vfctl is built and tested with: the one list. Debian 12 names.

# To build: compiler, CMake, and the headers of every library.
# shellcheck disable=SC2034 # used by the scripts that source this
packages_build=(gcc libc6-dev binutils make cmake pkg-config
	libmnl-dev libjansson-dev libyaml-dev libexpat1-dev
	libpci-dev libhwloc-dev libxml2-dev libvirt-dev libsqlite3-dev libibverbs-dev
	libcurl4-openssl-dev)

# Loaded while running, when first needed.
# shellcheck disable=SC2034
packages_run=(libpci3 libhwloc15 libxml2 libsqlite3-0 libvirt0 libcurl4)

# To test: libvirt0 brings the schema of domain XML, libxml2-utils the program that checks it;
# gcc carries ASan and UBSan. The fleet's tests start members of etcd of their own.
# shellcheck disable=SC2034
packages_test=(libcmocka-dev libxml2-utils sqlite3 jq man-db shellcheck etcd-server etcd-client
	openssl)

# To make and boot the lab's disk image (tests/lab/build).
# shellcheck disable=SC2034
packages_lab=(mmdebstrap e2fsprogs xz-utils util-linux tar)

# usage: packages_missing PACKAGE...     prints those that are not installed
packages_missing() {
	local package
	for package; do
		[ "$(dpkg-query -W -f '${db:Status-Status}' "$package" 2>/dev/null)" = installed ] ||
			printf '%s\n' "$package"
	done
}

# apt knows a version of each of them to install
packages_known() {
	local package
	for package; do
		apt-cache policy "$package" 2>/dev/null |
			awk '$1 == "Candidate:" && $2 != "(none)" { found = 1 } END { exit !found }' ||
			return 1
	done
}

# usage: packages_size PACKAGE...     prints what apt would fetch, and the disk it would take
packages_size() {
	as_root env LC_ALL=C apt-get install --assume-no --no-install-recommends "$@" 2>/dev/null |
		sed -n -e 's/^Need to get \(.*\) of archives\./\1 to fetch/p' \
			-e 's/^After this operation, \(.*\) of additional disk.*/\1 on disk/p' |
		paste -sd , | sed 's/,/, /'
}

# usage: packages_install [--no-install] PACKAGE...
# Says what is missing and installs that, nothing else. With --no-install, fails if any is.
packages_install() {
	local no_install='' missing=()
	if [ "${1:-}" = --no-install ]; then
		no_install=yes
		shift
	fi
	command -v dpkg-query >/dev/null || die "this is not Debian; install by hand: $*"
	mapfile -t missing < <(packages_missing "$@")
	if [ ${#missing[@]} = 0 ]; then
		say "packages: all installed"
		return
	fi
	if [ -n "$no_install" ]; then
		die "not installed: ${missing[*]}"
	fi
	say "packages to install: ${missing[*]}"
	if ! packages_known "${missing[@]}"; then
		say "apt does not know all of them: updating its lists"
		logged apt-update as_root apt-get -q update ||
			say "apt-get update had errors, going on with what it got"
		packages_known "${missing[@]}" ||
			die "apt has no $(packages_missing "$@" | xargs); is a Debian 12 mirror in its sources?"
	fi
	say "  $(packages_size "${missing[@]}")"
	if ! install_quietly "${missing[@]}"; then
		say "once more with fresh package lists"
		logged apt-update as_root apt-get -q update || true
		install_quietly "${missing[@]}" || die_with_log apt-install "apt-get install failed"
	fi
}

# etcd-server brings a service, which Debian starts and enables: the tests want the program
# alone. Policy-rc.d (invoke-rc.d(8)) keeps it from being started, where there is none yet.
install_quietly() {
	local policy=/usr/sbin/policy-rc.d status=0 etcd=''
	[[ " $* " != *" etcd-server "* ]] || etcd=yes
	if [ -n "$etcd" ] && [ ! -e "$policy" ]; then
		printf '#!/bin/sh\n[ "$1" != etcd ] || exit 101\n' | as_root tee "$policy" >/dev/null
		as_root chmod 755 "$policy"
		install_now "$@" || status=$?
		as_root rm -f "$policy"
	else
		install_now "$@" || status=$?
	fi
	[ -z "$etcd" ] || as_root systemctl disable etcd >/dev/null 2>&1 || true
	return "$status"
}

install_now() {
	logged apt-install as_root env DEBIAN_FRONTEND=noninteractive \
		apt-get -q install -y --no-install-recommends "$@"
}
