# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=bash
# The Debian packages vfctl is built and tested with: the one list. Each name exists in
# Debian 12, in Debian 13 and in forky.

# To build: compiler, CMake, and the headers of every library. Each package of headers brings its
# library, whose own package has another name in each release (libcurl4, libcurl4t64; libgsl27,
# libgsl28): so they also bring what is loaded while running.
# shellcheck disable=SC2034 # used by the scripts that source this
packages_build=(gcc libc6-dev binutils make cmake pkg-config
	libmnl-dev libjansson-dev libyaml-dev libexpat1-dev
	libpci-dev libhwloc-dev libxml2-dev libvirt-dev libsqlite3-dev libibverbs-dev
	libcurl4-openssl-dev zlib1g-dev libgsl-dev)

# To test: libvirt-dev has brought the schema of domain XML and libvirt's test driver, libxml2-utils the
# program that checks it;
# gcc carries ASan and UBSan. The fleet's tests start members of etcd of their own. librsvg2-bin has
# rsvg-convert, which makes the PNG of vfctl topology --png. vfctl bench
# measures with the four behind python3-jsonschema; that reads the schemas of our JSON answers.
# abigail-tools compares the library's binary interface with its record; the Python module needs cffi,
# and mypy checks its annotations. codespell reads the documentation and the messages. ccache keeps
# compiled objects for the next clone. zsh and fish complete the command line, as bash does.
# The modules of the Ansible collection need ansible-core.
# shellcheck disable=SC2034
packages_test=(libcmocka-dev libglpk-dev libxml2-utils sqlite3 jq man-db shellcheck
	ibsim-utils libumad2sim0 infiniband-diags libopensm9 libosmcomp5 libosmvendor5
	libwrap0 etcd-client openssl librsvg2-bin clang-format python3-jsonschema
	sockperf iperf3 iperf qperf netcat-openbsd procps iproute2 clang
	abigail-tools python3-cffi mypy codespell ccache zsh fish ansible-core)

# For tests of the full run alone: R and SciPy stand beside the statistics of vfctl bench; clang has the
# fuzzers' runtime in a package of its own. ansible-test runs the last three.
# shellcheck disable=SC2034
packages_long=(r-base-core python3-scipy libclang-rt-dev
	python3-voluptuous pycodestyle yamllint)

# Of these only the program is wanted: installed, they would start a service, and a second
# subnet manager on a real fabric is no joke. Unpacked into build/tools.
# shellcheck disable=SC2034
packages_unpacked=(opensm etcd-server)

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

# usage: packages_unknown PACKAGE...     prints those of which apt knows no version to install
packages_unknown() {
	local package
	for package; do
		apt-cache policy "$package" 2>/dev/null |
			awk '$1 == "Candidate:" && $2 != "(none)" { found = 1 } END { exit !found }' ||
			printf '%s\n' "$package"
	done
}

# usage: packages_size PACKAGE...     prints what apt would fetch, and the disk it would take
packages_size() {
	as_root env LC_ALL=C apt-get install --assume-no --no-install-recommends "$@" 2>/dev/null |
		sed -n -e 's/^Need to get \(.*\) of archives\./\1 to fetch/p' \
			-e 's/^After this operation, \(.*\) of additional disk.*/\1 on disk/p' |
		paste -sd , | sed 's/,/, /'
}

# usage: packages_libraries_there DIR DEB     programs of DEB, unpacked into DIR, find their libraries
packages_libraries_there() {
	local program missing status=0
	while read -r program; do
		missing=$(ldd "$1/$program" 2>/dev/null | grep 'not found') || continue
		printf '%s: %s\n' "$program" "$missing" >&2
		status=1
	done < <(dpkg-deb --fsys-tarfile "$2" | tar -tf - | grep -E '^\./usr/s?bin/.')
	return $status
}

# usage: packages_download PACKAGE     into this directory, with a second attempt
packages_download() {
	logged "apt-download-$1" apt-get -q download "$1" && return
	say "$1 did not arrive: once more with fresh package lists"
	logged apt-update as_root apt-get -q update || true
	logged "apt-download-$1" apt-get -q download "$1"
}

# usage: packages_unpack DIR PACKAGE...    what is in the packages, under DIR; nothing is installed
packages_unpack() {
	local dir=$1 package fetched
	shift
	for package; do
		[ -e "$dir/.$package" ] && continue
		say "unpacking $package into ${dir#"$top/"} (not installed: it would start a service)"
		fetched=$(mktemp -d)
		chmod 755 "$fetched"
		if ! (cd "$fetched" && packages_download "$package" && mkdir -p "$dir" &&
			dpkg-deb -x ./*.deb "$dir"); then
			rm -rf "$fetched"
			die_with_log "apt-download-$package" "apt-get download $package failed"
		fi
		if ! packages_libraries_there "$dir" "$fetched"/*.deb; then
			rm -rf "$fetched"
			die "$package needs libraries of packages that are in no list of scripts/lib/packages.sh"
		fi
		touch "$dir/.$package"
		rm -rf "$fetched"
	done
}

# usage: packages_install [--no-install] PACKAGE...
# Says what is missing and installs that, nothing else. With --no-install, fails if any is.
packages_install() {
	local no_install='' unknown missing=()
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
	if [ -n "$(packages_unknown "${missing[@]}")" ]; then
		say "apt does not know all of them: updating its lists"
		logged apt-update as_root apt-get -q update ||
			say "apt-get update had errors, going on with what it got"
		unknown=$(packages_unknown "${missing[@]}" | xargs)
		[ -z "$unknown" ] ||
			die "apt has no package $unknown; is a mirror of Debian 12 or newer in its sources?"
	fi
	say "  $(packages_size "${missing[@]}")"
	if ! install_quietly "${missing[@]}"; then
		say "once more with fresh package lists"
		logged apt-update as_root apt-get -q update || true
		install_quietly "${missing[@]}" || die_with_log apt-install "apt-get install failed"
	fi
}

install_quietly() {
	logged apt-install as_root env DEBIAN_FRONTEND=noninteractive \
		apt-get -q install -y --no-install-recommends "$@"
}
