# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=bash
# A controller of Ansible, and the lab as its host over ssh, with keys of this run. Both are this machine, so the
# controller's ansible-core and the host's Python are those of one Debian.
# shellcheck disable=SC2154 # left, right and pci are from lib.sh of the cases
plays=$(dirname "${BASH_SOURCE[0]}")
control=/run/lab/ansible ssh_port=2222

start_ssh() {
	mkdir -p "$control" /run/sshd
	ssh-keygen -q -t ed25519 -N '' -f "$control/host" &&
		ssh-keygen -q -t ed25519 -N '' -f "$control/user" || return
	printf '[127.0.0.1]:%s %s\n' "$ssh_port" "$(cut -d ' ' -f 1,2 "$control/host.pub")" >"$control/known_hosts"
	/usr/sbin/sshd -f /dev/null -p "$ssh_port" -h "$control/host" -E "$control/sshd.log" -o ListenAddress=127.0.0.1 \
		-o PidFile="$control/sshd.pid" -o UsePAM=no -o PasswordAuthentication=no -o StrictModes=no \
		-o AuthorizedKeysFile="$control/user.pub"
}

# The plugin "results" (tests/ansible/results.py) writes each result of a task as a line of JSON.
configure_ansible() {
	local ssh="-F none -o UserKnownHostsFile=$control/known_hosts -o StrictHostKeyChecking=yes -o IdentitiesOnly=yes"
	cat >"$control/ansible.cfg" <<-EOT
		[defaults]
		inventory = $control/inventory
		interpreter_python = /usr/bin/python3
		callback_plugins = /payload/ansible
		callbacks_enabled = results
		private_key_file = $control/user
		remote_user = root
		[ssh_connection]
		pipelining = True
		ssh_args = $ssh -o ControlMaster=auto -o ControlPersist=60s
	EOT
	printf '[kvm]\nlab ansible_host=127.0.0.1 ansible_port=%s\n' "$ssh_port" >"$control/inventory"
	export ANSIBLE_CONFIG=$control/ansible.cfg HOME=$control LC_ALL=C.UTF-8
}

# usage: run_play NAME PLAYBOOK [OPTION...]     leaves NAME.json and NAME.log
run_play() {
	rm -f "$control/$1.json"
	VFCTL_RESULTS=$control/$1.json ansible-playbook "$plays/$2.yml" "${@:3}" >"$control/$1.log" 2>&1 || {
		local status=$?
		grep -E -A 3 '^(fatal|failed|\[ERROR)' "$control/$1.log"
		return "$status"
	}
}

# usage: run_task NAME MODULE ARGUMENTS
run_task() { ansible kvm -m "vfctl.sriov.$2" -a "$3" >"$control/$1.log" 2>&1; }

# usage: changed NAME     prints the tasks that changed something
changed() { jq -r 'select(.outcome == "changed") | .task' "$control/$1.json"; }

# usage: items NAME FILTER [TASKS]     prints what FILTER selects of each item of each changed task, or of those TASKS
items() {
	jq -c "select(.outcome == \"changed\") | .task as \$task | (.result.results // [.result])[] | [\$task, $2]" \
		"$control/$1.json" | grep -E "^\[\"[^\"]*(${3:-})"
}

# usage: failure NAME     prints the task that failed, with its message
failure() { jq -r 'select(.outcome == "failed") | .task + ": " + .result.msg' "$control/$1.json"; }

# usage: failed_with NAME TASK TEXT     the task failed, and its message has this text
failed_with() {
	local message
	message=$(failure "$1")
	[[ $message == *"$2: "*"$3"* ]] || {
		echo "$message"
		return 1
	}
}

# What the plays change, as the kernel, systemd and libvirt show it.
print_state() {
	local pf file
	for pf in "$left" "$right"; do
		cat "$pci/$pf/sriov_numvfs"
		ip -j link show dev "$(link_of "$pf")" | jq -c '.[0].vfinfo_list'
		for file in "$pci/$pf"/virtfn*; do
			[ ! -e "$file" ] || driver_of "$(basename "$(readlink "$file")")"
		done
		ethtool -c "$(link_of "$pf")" | grep '^rx-usecs:'
	done
	find /etc/vfctl /etc/libvirt/hooks -type f -exec sha256sum {} + 2>/dev/null | sort -k 2
	for file in /etc/libvirt/qemu/*.xml; do
		echo "$file"
		xmllint --xpath '//devices' "$file"
	done
	find /etc/systemd/system -name 'vfctl*' | sort
	[ ! -e /var/lib/vfctl/state.db ] || sqlite3 /var/lib/vfctl/state.db \
		'SELECT domain_name FROM lease ORDER BY 1; SELECT story FROM change ORDER BY 1;'
}

# usage: keep_state NAME
keep_state() { print_state >"$control/$1.state"; }

# usage: check_state TEXT NAME     the host is as it was at keep_state NAME
check_state() { check "$1" diff "$control/$2.state" <(print_state); }

# usage: await_vf PF     the first VF of PF exists: vfctl is half-way through the creation of VFs
await_vf() {
	local tenth
	for ((tenth = 0; tenth < 3000; tenth++)); do
		[ ! -e "$pci/$1/virtfn0" ] || return 0
		sleep 0.1
	done
	not_ok "VFs of $1 are created"
}

# A domain that vfctl did not define.
define_own() {
	guest_xml own >/tmp/own.xml && virsh -q define /tmp/own.xml && virsh dumpxml own --inactive >/tmp/own.xml
}

# The host is as before for the cases that follow.
end_ansible() {
	cp -r "$control" "/results/$(basename "$0" .sh)"
	rm -f "/results/$(basename "$0" .sh)"/{host,user}
	systemctl -q disable vfctl-apply.service vfctl-recover.service
	ethtool -C "$(link_of "$left")" rx-usecs 3
	kill "$(<"$control/sshd.pid")"
}
