# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=bash
# CASE_BOOT 2
# The session of docs/start/first-hour.md, typed line by line: each command prints what stands there. "..." stands
# for any lines, or within a line for any text; numbers of processes differ from run to run.
. "$(dirname "$0")/lib.sh"

page=/payload/first-hour.md
mkdir -p /var/lib/libvirt/images /root/session
qemu-img convert -f raw -O qcow2 /payload/guest/ejector.img /var/lib/libvirt/images/web.qcow2
cd /root/session || exit 1
# As on a host that has had no VFs yet.
modprobe -rq vfio-pci

# usage: matches EXPECTED-FILE PRINTED-FILE     line by line
matches() {
	awk '
		function pattern(text) {
			gsub(/[][\\^$.*+?(){}|\/]/, "\\\\&", text)
			gsub(/\\\.\\\.\\\./, ".*", text)
			gsub(/pid [0-9]+/, "pid [0-9]+", text)
			return "^" text "$"
		}
		NR == FNR { want[++wants] = $0; next }
		{ got[++gots] = $0 }
		function fits(w, g) {
			for (; w <= wants; w++) {
				if (want[w] ~ /^ *\.\.\.$/) {
					for (; g <= gots + 1; g++)
						if (fits(w + 1, g))
							return 1
					return 0
				}
				if (g > gots || got[g] !~ pattern(want[w]))
					return 0
				g++
			}
			return g == gots + 1
		}
		END { exit !fits(1, 1) }' "$1" "$2"
}

# usage: try COMMAND     types it, and compares what it prints with ./want
try() {
	local command=$1
	# The lab has no KVM, which a guest has to say.
	if [ "$command" = 'cat web.yaml' ]; then
		{ cat want && echo 'virtualization: qemu'; } >web.yaml
		command='grep -v ^virtualization web.yaml'
	fi
	# What a guest's boot takes before it heeds hot plug.
	[[ $command != *' --live'* ]] || sleep 15
	eval "$command" </dev/null 2>&1 | sed -e 's/[[:space:]]*$//' | grep -v '^$' >got
	grep -v '^$' want >wanted
	{ echo "    # $1" && sed 's/^/    /' got; } >>/results/first-hour.txt # for whoever rewrites the page
	if matches wanted got; then
		ok "$1"
	else
		not_ok "$1" "$(diff wanted got)"
	fi
}

# The blocks of the section: "    # COMMAND", then what it prints.
command=
while IFS= read -r line; do
	case $line in
	'    # '*)
		[ -z "$command" ] || try "$command"
		command=${line#    # }
		: >want
		;;
	'    '*) [ -z "$command" ] || printf '%s\n' "${line#    }" >>want ;;
	*)
		[ -z "$line" ] || { [ -z "$command" ] || try "$command"; command=; }
		;;
	esac
done < <(sed -n '/^## A session/,/^### Repeated commands/p' "$page")
[ -z "$command" ] || try "$command"

check_is "no VF is left" "0 0" bash -c "cat $pci/$left/sriov_numvfs $pci/$right/sriov_numvfs | xargs"
check_is "the session has the commands of a whole life" "1 1 1 1 1 1" bash -c \
	"for verb in create plan define attach detach apply; do grep -c '^    # vfctl '\$verb /payload/first-hour.md | sed 's/[1-9].*/1/'; done | xargs"
finish
