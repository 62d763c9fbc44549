# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=bash
# Where this machine gets Debian's packages from, for the Debian systems made on it.

# usage: apt_mirror RELEASES     prints the address of the first of RELEASES (a|b|c) it knows
apt_mirror() {
	# shellcheck disable=SC2016 # apt expands these
	apt-get indextargets --format '$(RELEASE) $(COMPONENT) $(REPO_URI)' \
		'Created-By: Packages' 2>/dev/null |
		awk -v release="^($1)\$" '$2 == "main" && $1 ~ release && !seen++ { print $3 }'
}

# Proxies and relaxations this machine needs to reach its mirror hold for those systems too.
apt_settings() {
	apt-config dump | grep -E '^Acquire::(http|https|ftp|Retries|Check-|ForceIPv)' || true
}
