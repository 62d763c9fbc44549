# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=bash
# What every clone on this machine uses: the lab's disk image, compiled objects, and which sources were
# checked. Nothing of it is needed: what is missing is made again.

# shellcheck disable=SC2034 # used by the scripts that source this
cache_dir=${XDG_CACHE_HOME:-${HOME:-/var/tmp}/.cache}/vfctl
lab_dir=${VFCTL_LAB_DIR:-$cache_dir/lab}
