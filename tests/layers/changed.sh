# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=bash
# Which sources a slow static check looks at. With VFCTL_LONG all of them; else those that changed since
# the last release, or where no tag names one, since the merge base with the branch that this clone came
# from, or since a day before the last commit. Sources that the same program found good before, in
# whatever clone, are left out, and at most CHANGED_MAX are checked: the full run checks the rest.
# Without a git history any source counts as changed.
CHANGED_MAX=60
checked_dir=${XDG_CACHE_HOME:-${HOME:-/var/tmp}/.cache}/vfctl/checked

# Prints the commit that sources are compared with; nothing if there is none.
changed_since() {
	local base
	git rev-parse -q --verify HEAD >/dev/null 2>&1 || return 0
	base=$(git describe --tags --match 'v[0-9]*' --abbrev=0 2>/dev/null) ||
		base=$(git merge-base HEAD origin/HEAD 2>/dev/null) || base=''
	[ -n "$base" ] && [ "$(git rev-parse "$base^{commit}")" != "$(git rev-parse HEAD)" ] ||
		base=$(git rev-list -1 --before="$(($(git log -1 --format=%ct) - 86400))" HEAD)
	printf '%s\n' "$base"
}

# usage: changed NAME STATE <FILES     prints those of FILES (a line each) that are to be checked. NAME is the
# check's, and STATE whatever its result depends on besides a file's text.
changed() {
	local base
	if [ -n "${VFCTL_LONG-}" ]; then
		cat
		return
	fi
	base=$(changed_since)
	if [ -n "$base" ]; then
		grep -Fxf <(git diff --name-only "$base"; git ls-files --others --exclude-standard)
	else
		cat
	fi | changed_unknown "$1" "$2" | head -n $CHANGED_MAX
}

# usage: changed_unknown NAME STATE <FILES     prints those whose text was not found good before
changed_unknown() {
	local sum file
	xargs -r -d '\n' sha256sum | sort | while read -r sum file; do
		[ -e "$checked_dir/$1-$2/$sum" ] || printf '%s\n' "$file"
	done
}

# usage: changed_good NAME STATE <FILES     they were found good
changed_good() {
	local sum
	[ -z "${VFCTL_LONG-}" ] || return 0
	mkdir -p "$checked_dir/$1-$2" 2>/dev/null || return 0
	find "$checked_dir" -mindepth 1 -maxdepth 1 -mtime +30 -exec rm -rf {} +
	touch "$checked_dir/$1-$2"
	xargs -r -d '\n' sha256sum | while read -r sum _; do : >"$checked_dir/$1-$2/$sum"; done
}
