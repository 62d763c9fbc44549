# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=bash
# The schemas of domain XML of the libvirt versions that vfctl supports: 9.0, 11.3 and the newest. They are data
# files of Debian's packages, unpacked and not installed.

# The release of Debian, and its package with the schemas.
schemas_packages=(bookworm:libvirt0 trixie:libvirt-common forky:libvirt-common)

# usage: schemas_apt DIR ARGUMENT...     apt-get with package lists of its own
schemas_apt() {
	local dir=$1
	shift
	apt-get -q -o Dir::Etc::sourcelist="$dir/sources.list" -o Dir::Etc::sourceparts=- \
		-o Dir::State="$dir/state" -o Dir::State::status=/dev/null -o Dir::Cache="$dir/cache" \
		-o Acquire::Languages=none -o APT::Sandbox::User="$(id -un)" "$@"
}

# usage: schemas_of DIR SUITE PACKAGE
schemas_of() {
	local main
	main=$(apt_mirror "$2|bookworm|trixie|forky|sid|stable|testing|unstable")
	[ -n "$main" ] || die "this machine's apt sources name no Debian mirror"
	rm -rf "$1"
	mkdir -p "$1/state/lists/partial" "$1/cache/archives/partial" "$1/deb"
	printf 'deb %s %s main\n' "$main" "$2" >"$1/sources.list"
	schemas_apt "$1" update && (cd "$1/deb" && schemas_apt "$1" download "$3") &&
		dpkg-deb -x "$1"/deb/*.deb "$1/root" && rm -rf "$1/state" "$1/cache" "$1/deb"
}

# usage: schemas_fetch DIR     into DIR/SUITE; leaves the directories of domain.rng in $schemas_there (a:b:c)
schemas_fetch() {
	local item suite place
	schemas_there=
	for item in "${schemas_packages[@]}"; do
		suite=${item%:*}
		place=$1/$suite/root/usr/share/libvirt/schemas
		if [ ! -e "$place/domain.rng" ]; then
			say "unpacking libvirt's schemas of $suite into ${1#"$top/"}"
			logged "schemas-$suite" schemas_of "$1/$suite" "$suite" "${item#*:}" ||
				logged "schemas-$suite" schemas_of "$1/$suite" "$suite" "${item#*:}" ||
				die_with_log "schemas-$suite" "libvirt's schemas of $suite did not arrive"
		fi
		schemas_there+=${schemas_there:+:}$place
	done
}
