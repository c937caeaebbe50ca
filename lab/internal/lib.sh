# SPDX-License-Identifier: MIT
# shellcheck shell=bash
# Shared by the lab's scripts: paths, stage messages, the content-keyed cache
# and the way into the Debian 13 build root.  Sourced, never run.
#
# Functions print progress on stderr only; stdout belongs to the caller.

set -euo pipefail

NOMAP_TOP=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
NOMAP_BUILD=$NOMAP_TOP/build
NOMAP_CACHE=${NOMAP_CACHE:-${XDG_CACHE_HOME:-${HOME:-/root}/.cache}/nomap}
: "${NOMAP_T0:=$(date +%s)}"
export NOMAP_CACHE NOMAP_T0

# The users that run QEMU and the board, and builds: ids that no account has, from the
# range for users made at run time.
guest_uid=61902
build_uid=61901

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

# help_of STATUS: prints the comment at the head of the running script, after its licence
# line, and exits: 0 because --help was asked for, 2 because of wrong arguments.
help_of() {
	local text
	text=$(sed -n '3,/^[^#]/s/^# \?//p' "$0")
	if [ "$1" = 0 ]; then printf '%s\n' "$text"; else printf '%s\n' "$text" >&2; fi
	exit "$1"
}

# no_arguments "$@": for a script that takes none: shows its help for -h and --help, and
# refuses anything else.
no_arguments() {
	[ $# -gt 0 ] || return 0
	case $1 in -h | --help) help_of 0 ;; esac
	echo "${0##*/}: unexpected argument '$1'" >&2
	help_of 2
}

# known_options PROGRAM ARG...: shows the running script's help for -h and --help, and
# refuses options that PROGRAM, a path below the repository, does not list in its own.
known_options() {
	local program=$1 options a
	shift
	[ $# -gt 0 ] || return 0
	for a; do case $a in -h | --help) help_of 0 ;; esac; done
	options=$(in_root "$program" --help 2>&1 | grep -oE -- '--[a-z][a-z-]*' | sort -u) || :
	for a; do
		case $a in
		-*) grep -qxF -- "${a%%=*}" <<<"$options" || {
			echo "${0##*/}: $program has no option $a, only: ${options//$'\n'/ }" >&2
			exit 2
		} ;;
		esac
	done
}

# use_cache: makes the cache directory, or checks that it is one: it has our marker or
# (older versions made none) only names of ours. Any other directory is refused, so that
# nothing is written to it, and distclean removes nothing from it.
cache_names=(roots images artifacts cargo ccache backports guest.queue guest.lock)
use_cache() {
	local name other=''
	[ ! -e "$NOMAP_CACHE/.nomap-cache" ] || return 0
	mkdir -p "$NOMAP_CACHE" || die "the cache directory $NOMAP_CACHE cannot be made"
	for name in "$NOMAP_CACHE"/* "$NOMAP_CACHE"/.[!.]*; do
		name=${name##*/}
		case $name in
		'*' | '.[!.]*' | .nomap-cache | guest.lock.* | backports.*) ;;
		*) [[ " ${cache_names[*]} " == *" $name "* ]] || other=$name ;;
		esac
	done
	[ -z "$other" ] || die "$NOMAP_CACHE is not a cache of nomap, '$other' is in it: let NOMAP_CACHE name an empty directory"
	printf 'Signature: nomap\nWhat is in this directory is made anew when it is missing; make distclean removes it.\n' \
		>"$NOMAP_CACHE/.nomap-cache" || die "the cache directory $NOMAP_CACHE cannot be written to"
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

# key PATH-OR-WORD...: a content key. Paths below the repository are hashed by
# their files (names, modes and contents); any other word by itself.
key() {
	local p
	for p; do
		if [ -e "$NOMAP_TOP/$p" ]; then
			(cd "$NOMAP_TOP" && find "$p" -type f ! -name '*.md' ! -path '*/target/*' -print0 |
				sort -z | xargs -0 -r sha256sum &&
				find "$p" -type f -perm -u+x ! -path '*/target/*' | sort)
		else
			printf '%s\n' "$p"
		fi
	done | sha256sum | cut -c1-20
}

# cached NAME KEY OUT CMD...: makes the directory OUT hold what CMD produces,
# running CMD only when neither OUT nor the cache has it for KEY already.
# CMD must fill OUT itself and may reuse what is in there (incremental build);
# files below OUT/work are never cached. The cache keeps the few of each NAME
# that were used last, see prune(). Calls with the same OUT wait for each other.
cached() {
	local fd
	mkdir -p "$(dirname "$3")"
	exec {fd}>"$(dirname "$3")/.$(basename "$3").lock"
	flock "$fd"
	cached_alone "$@"
	exec {fd}>&-
}
cached_alone() {
	local name=$1 k=$2 out=$3 store tmp t found=''
	shift 3
	use_cache
	store=$NOMAP_CACHE/artifacts/$name-$k
	mkdir -p "$NOMAP_CACHE/artifacts"
	! used "$store" || found=1
	if [ "$(cat "$out/.key" 2>/dev/null)" = "$k" ]; then
		return 0
	fi
	if [ "$found" ]; then
		mkdir -p "$out"
		find "$out" -mindepth 1 -maxdepth 1 ! -name work -exec rm -rf {} +
		cp -a "$store/." "$out/"
		printf '%s\n' "$k" >"$out/.key"
		say "$name: from cache ($k)"
		return 0
	fi
	say "$name: building"
	t=$(date +%s)
	mkdir -p "$out"
	rm -f "$out/.key"
	"$@" || die "$name: build failed (see above)"
	tmp=$(mktemp -d "$NOMAP_CACHE/artifacts/.tmp.XXXXXX")
	if (cd "$out" && find . -mindepth 1 -maxdepth 1 ! -name work ! -name .key -exec cp -a -t "$tmp" {} +); then
		chmod 755 "$tmp"
		mv -T "$tmp" "$store" 2>/dev/null || rm -rf "$tmp"
	else
		rm -rf "$tmp"
		die "$name: built, but could not be stored in $NOMAP_CACHE (disk full?)"
	fi
	printf '%s\n' "$k" >"$out/.key"
	prune "$name"
	say "$name: done in $(($(date +%s) - t)) s"
}

# used STORE: is this artifact there? If so, prune() keeps it for another hour at least.
used() {
	(
		flock -s 8
		[ -d "$1" ] && touch "$1"
	) 8>"$NOMAP_CACHE/artifacts/.lock"
}

# prune NAME: removes artifacts of NAME from the cache, but for the three that
# were used last and for all that were used within the last hour, as another
# build may be copying them. Removes leftovers of killed builds, too.
prune() {
	local a=$NOMAP_CACHE/artifacts old
	(
		flock 8
		find "$a" -maxdepth 1 -regextype posix-extended -regex ".*/$1-[0-9a-f]{20}" -printf '%T@ %f\n' |
			sort -rn | sed '1,3d' | while read -r _ old; do
			[ -z "$(find "$a/$old" -maxdepth 0 -mmin +60)" ] || mv -T "$a/$old" "$a/.tmp.$old.$$"
		done
	) 8>"$a/.lock"
	rm -rf --one-file-system "$a/.tmp.$1"-*".$$"
	find "$a" -maxdepth 1 -name '.tmp.*' -mmin +180 -exec rm -rf --one-file-system {} +
}

# root_dir NAME: where the root NAME ("build" or "guest") lives once made.
root_dir() {
	local k
	k=$(root_key "$1")
	printf '%s/roots/%s-%s' "$NOMAP_CACHE" "$1" "$k"
}

# Comments in a package list do not make a new root.
root_key() {
	local list=$NOMAP_TOP/lab/roots/$1
	set -- "$(grep '^[a-z]' "$list")" lab/roots/make
	! grep -q '^sid:' "$list" || set -- "$@" lab/roots/sid-prefix
	key "$@"
}

# in_root CMD...: runs CMD in the build root, in mount and PID namespaces of
# its own, so that neither a mount nor a process can outlive it. The
# repository is /nomap (and stays visible under its own path), the cache is
# /cache. stdin, stdout and stderr are the caller's. LAB_ROOT names another root.
in_root() {
	(exec_in_root "$@")
}

# exec_in_root CMD...: the same, in place of this shell. When the shell's parent
# or the command dies, everything else ends with it.
exec_in_root() {
	local root
	root=$(root_dir "${LAB_ROOT:-build}")
	[ -x "$root/bin/sh" ] || die "the ${LAB_ROOT:-build} root is missing: run 'make roots' first"
	use_cache
	exec setpriv --pdeathsig KILL \
		unshare --mount --pid --fork --kill-child --propagation private \
		"$NOMAP_TOP/lab/internal/enter-root" "$root" "$NOMAP_TOP" "$NOMAP_CACHE" "$PWD" "$@"
}

# in_build_root OUT CMD...: runs CMD in the build root as the user for builds, who owns the
# directory OUT (and cargo's and ccache's) meanwhile. Afterwards all of it but OUT/work
# is root's, so that no later build changes it. As root where that user cannot be had, or
# cannot read the checkout.
in_build_root() {
	local out=$1 d rc=0
	shift
	mkdir -p "$out" "$NOMAP_CACHE/cargo" "$NOMAP_CACHE/ccache"
	if ! (NOMAP_AS=$build_uid exec_in_root sh -c '[ -r /nomap/Makefile ] && [ -x /nomap/build ] && [ -x /cache/cargo ]') 2>/dev/null; then
		say "building as root: uid $build_uid cannot be had, or cannot read this checkout or the cache"
		in_root "$@"
		return
	fi
	for d in "$out" "$NOMAP_CACHE/cargo" "$NOMAP_CACHE/ccache"; do
		# Other checkouts use the caches, too: files come and go.
		find "$d" ! -uid "$build_uid" -exec chown -h "$build_uid:$build_uid" {} + 2>/dev/null || :
	done
	(NOMAP_AS=$build_uid exec_in_root "$@") || rc=$?
	find "$out" -path "$out/work" -prune -o -uid "$build_uid" -exec chown -h 0:0 {} +
	return $rc
}

# rendered_by RENDERER CMD...: runs a GL program natively in the build root: by the board's
# chip ("board", RV770) or by one of Mesa's software renderers (llvmpipe, softpipe).
rendered_by() {
	local env=(LIBGL_ALWAYS_SOFTWARE=1 GALLIUM_DRIVER="$1")
	[ "$1" != board ] || env=(LD_PRELOAD=/nomap/build/board/libr7xx_shim.so R7XX_CHIP=rv770)
	shift
	in_root env "${env[@]}" "$@"
}

# root_image NAME: path of the file system image of the root NAME, guest or i386.
root_image() {
	local root
	root=$(root_dir "$1")
	printf '%s/images/%s.ext4' "$NOMAP_CACHE" "${root##*/}"
}

# kernel_fragments NAME: what lab/kernels/NAME.config consists of, besides
# itself; nothing if there is no such kernel.
kernel_fragments() {
	sed -n 's/^# with: //p' "$NOMAP_TOP/lab/kernels/$1.config" 2>/dev/null || :
}

# kernel_has NAME FRAGMENT: is FRAGMENT one of the kernel's fragments?
kernel_has() {
	case " $(kernel_fragments "$1") " in *" $2 "*) return 0 ;; esac
	return 1
}
