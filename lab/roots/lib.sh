# SPDX-License-Identifier: MIT
# shellcheck shell=bash
# What lab/enter, lab/host-packages and lab/roots/make have in common, before there is a root
# with Python. Sourced with top set to the path of the repository.

NOMAP_CACHE=${NOMAP_CACHE:-${XDG_CACHE_HOME:-${HOME:-/root}/.cache}/nomap}
: "${NOMAP_T0:=$(date +%s)}"
export NOMAP_CACHE NOMAP_T0

# say MESSAGE...: one progress line with the time since the command began.
say() {
	local t=$(($(date +%s) - NOMAP_T0))
	printf '[%3d:%02d] %s\n' $((t / 60)) $((t % 60)) "$*" >&2
}

# die MESSAGE...: error and exit 1.
die() {
	printf 'nomap: error: %s\n' "$*" >&2
	exit 1
}

# root_dir NAME: the directory of the root NAME (build, guest, i386), whether it is made or not.
# Its key are the packages in lab/roots/NAME, without comments, and the recipe; paths.py has
# the same rule.
root_dir() {
	local k
	k=$(cd "$top/lab/roots" && { grep '^[a-z]' "$1"; cat make sid-prefix; } | sha256sum | cut -c1-20)
	printf '%s/roots/%s-%s' "$NOMAP_CACHE" "$1" "$k"
}

# use_cache: makes the cache directory, or checks that it is one: it has our marker or
# (older versions made none) only names of ours. Any other directory is refused, so that
# nothing is written to it, and distclean removes nothing from it.
cache_names=(roots images artifacts cargo ccache backports guest.queue guest.lock)
use_cache() {
	local name other=''
	if [ -e "$NOMAP_CACHE/.nomap-cache" ]; then
		[ -w "$NOMAP_CACHE" ] || die "the cache directory $NOMAP_CACHE cannot be written to: remount it, or let NOMAP_CACHE name another one"
		return 0
	fi
	mkdir -p "$NOMAP_CACHE" 2>/dev/null || die "the cache directory $NOMAP_CACHE cannot be made: let NOMAP_CACHE name another one"
	for name in "$NOMAP_CACHE"/* "$NOMAP_CACHE"/.[!.]*; do
		name=${name##*/}
		case $name in
		'*' | '.[!.]*' | .nomap-cache | guest.lock.* | backports.*) ;;
		*) [[ " ${cache_names[*]} " == *" $name "* ]] || other=$name ;;
		esac
	done
	[ -z "$other" ] || die "$NOMAP_CACHE is not a cache of nomap, '$other' is in it: let NOMAP_CACHE name an empty directory"
	{ printf 'Signature: nomap\nWhat is in this directory is made anew when it is missing; make distclean removes it.\n' \
		>"$NOMAP_CACHE/.nomap-cache"; } 2>/dev/null || die "the cache directory $NOMAP_CACHE cannot be written to: remount it, or let NOMAP_CACHE name another one"
}

# need_free MIB DIR WHAT: refuse to start WHAT when DIR's file system has less
# than MIB MiB free, so that nothing half-written is ever left to be used.
need_free() {
	local free
	mkdir -p "$2"
	free=$(df -Pm "$2" | awk 'NR == 2 { print $4 }')
	[ "$free" -ge "$1" ] ||
		die "$3 needs $1 MiB free in $2, but only $free MiB are left. Free some space, or point NOMAP_CACHE elsewhere."
}
