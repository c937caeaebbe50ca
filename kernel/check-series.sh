#!/bin/bash
# SPDX-License-Identifier: MIT
#
# Check a series that kernel/series.sh or fixes.sh has made. Any finding is an error.
#
# usage: check-series.sh STEP SERIES [KVER [SUBJECT]]
#
#   STEP    apply   the patches apply with git am, one after the other, to the
#                   pristine source, and end as what they were made from
#           style   checkpatch --strict finds nothing in any of them
#           docs    kernel-doc finds everything that Documentation/ refers to
#           build   with each patch more the driver still builds as a module,
#                   and neither gcc (W=1) nor sparse says anything new
#           module  writes SERIES/module/radeon.ko, the driver with the patches up to and
#                   with the one whose subject is SUBJECT
#           send    it can be sent: the sender is no placeholder, and the commit that it
#                   is for is known. Prints the command
#           Fixes, which go to stable kernels, name the commits that they fix
#   SERIES  directory that series.sh or fixes.sh has written
#   KVER    for build and module: kernel with headers in /lib/modules, or their directory;
#           the only one in /lib/modules, if not given or empty
#   SUBJECT for module: of the last patch that is applied

set -euo pipefail

. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

[ $# -ge 2 ] && [ $# -le 4 ] || { sed -n '4,/^$/s/^# \?//p' "$0" >&2; exit 2; }
step=$1
series=$(cd "$2" && pwd)
kver=${3-}
subject=${4-}
tree=$series/tree
patches=("$series"/0*.patch)
[ -e "$tree/.git" ] && [ ${#patches[@]} -gt 1 ] ||
	die "there is no series in $series; make it with series.sh"
case ${patches[0]} in *-cover-letter.patch) patches=("${patches[@]:1}") ;; esac

unset GIT_DIR GIT_WORK_TREE GIT_INDEX_FILE
export GIT_CONFIG_GLOBAL=/dev/null GIT_CONFIG_SYSTEM=/dev/null
export GIT_COMMITTER_NAME=tester GIT_COMMITTER_EMAIL=tester@localhost
work=$series/check
mkdir -p "$work"

check_apply() {
	rm -rf "$work/am"
	git clone -q --no-checkout "$tree" "$work/am"
	cd "$work/am"
	git checkout -q -b am base
	git am "${patches[@]}"
	[ "$(git rev-parse 'HEAD^{tree}')" = "$(git -C "$tree" rev-parse 'series^{tree}')" ] ||
		die "applied, the series is not what it was made from"
	cd "$series"
	rm -rf "$work/am"
}

# FILE_PATH_CHANGES asks for a change of MAINTAINERS with each new file, but the
# entry for radeon names directories.
check_style() {
	local patch failed=0
	for patch in "${patches[@]}"; do
		perl "$tree/scripts/checkpatch.pl" --no-tree --strict --quiet \
			--no-summary --terse --show-types --ignore FILE_PATH_CHANGES,$checkpatch_ignore \
			"$patch" || failed=1
	done
	[ $failed = 0 ] || die "there are findings, see above"
}

# docs_findings FILE: prints what kernel-doc finds, without the place.
docs_findings() {
	scripts/kernel-doc -none -Wall "$1" 2>&1 | sed -E 's/^[^ ]*:[0-9]+: //' | sort -u || :
}

check_docs() {
	local page source='' line title old
	cd "$tree"
	git diff --name-only --diff-filter=A base series -- Documentation | grep '\.rst$' | while read -r page; do
		! grep -nE '\s$' "$page" || die "$page: trailing space"
		grep -q "^   $(basename "$page" .rst)$" Documentation/gpu/drivers.rst ||
			die "$page is in no table of contents"
		while read -r line; do
			case $line in
			'.. kernel-doc:: '*)
				source=${line#.. kernel-doc:: }
				[ -e "$source" ] || die "$page refers to $source, which does not exist"
				# Files that are older may have findings of their own.
				old=$(mktemp -d)
				git show "base:$source" >"$old/source" 2>/dev/null || : >"$old/source"
				docs_findings "$old/source" >"$old/before"
				docs_findings "$source" | comm -13 "$old/before" - >"$old/new"
				cat "$old/new" >&2
				[ ! -s "$old/new" ] || die "kernel-doc has findings in $source"
				rm -r "$old" ;;
			':doc: '*)
				title=${line#:doc: }
				[ -n "$(scripts/kernel-doc -rst -function "$title" "$source" 2>/dev/null)" ] ||
					die "$source has no section \"$title\", which $page refers to" ;;
			esac
		done <"$page"
	done
}

# find_headers: sets headers to the directory of those of the kernel to build for.
find_headers() {
	local kvers
	if [ -z "$kver" ]; then
		kvers=(/lib/modules/*/build)
		[ ${#kvers[@]} -eq 1 ] || die "there is not exactly one kernel with headers in /lib/modules; name one"
		kver=${kvers[0]%/build}
		kver=${kver#/lib/modules/}
	fi
	case $kver in
	*/*) headers=$(cd "$kver" && pwd) ;;
	*) headers=/lib/modules/$kver/build ;;
	esac
	[ -e "$headers/Module.symvers" ] || die "no headers in $headers"
}

# compile TREE LOG MAKE-ARGUMENT...: builds the radeon directory of the commit that is checked out in TREE.
compile() {
	local dir=$1 log=$2
	shift 2
	# The empty directory makes a path in radeon_trace.h work, see build.sh.
	mkdir -p "$dir/include/trace"
	make -C "$headers" M="$dir/$radeon_dir" -j"$(nproc)" --no-print-directory "$@" \
		KCFLAGS="-include $dir/include/uapi/drm/radeon_drm.h" \
		CFLAGS_radeon_trace_points.o="-I$dir/include/trace" modules >"$log" 2>&1
}
# warnings LOG: prints the messages of gcc and sparse, without line numbers, which move.
warnings() {
	grep -hE 'warning:|error:' "$1" | sed -E "s|^.*/$radeon_dir/|$radeon_dir/|; s/:[0-9]+(:[0-9]+)?:/:/" | sort -u || :
}

check_build() {
	local commit n=0 begun=$SECONDS
	find_headers
	command -v sparse >/dev/null || die "sparse is missing"
	rm -rf "$work/build"
	git clone -q --no-checkout "$tree" "$work/build"
	cd "$work/build"
	git checkout -q base
	compile "$work/build" "$work/base.log" W=1 C=1 || { grep -E 'error|Error' "$work/base.log" >&2; die "the pristine driver does not build"; }
	warnings "$work/base.log" >"$work/base.warnings"
	printf '[%3ds] pristine: built, %d old warnings\n' $((SECONDS - begun)) "$(wc -l <"$work/base.warnings")"
	for commit in $(git rev-list --reverse base..origin/series); do
		n=$((n + 1))
		git checkout -q "$commit"
		compile "$work/build" "$work/$n.log" W=1 C=1 || {
			grep -E 'error|Error|undefined' "$work/$n.log" >&2
			die "with patch $n the driver does not build"
		}
		warnings "$work/$n.log" | comm -13 "$work/base.warnings" - >"$work/$n.warnings"
		if [ -s "$work/$n.warnings" ]; then
			cat "$work/$n.warnings" >&2
			die "patch $n brings new warnings"
		fi
		printf '[%3ds] patch %d: builds, nothing new (%s)\n' $((SECONDS - begun)) $n "$(git log -1 --format=%s)"
	done
	cd "$series"
	rm -rf "$work/build"
}

# The tree stays, so that the next commit compiles only what it changes.
check_module() {
	local commit out=$series/module
	find_headers
	commit=$(git -C "$tree" log --format='%H %s' base..series | awk -v s="$subject" 'substr($0, index($0, " ") + 1) == s { print $1 }')
	[ -n "$commit" ] || die "no patch of the series has the subject '$subject'"
	mkdir -p "$out"
	rm -f "$out/radeon.ko"
	[ -e "$out/tree/.git" ] || git clone -q --no-checkout "$tree" "$out/tree"
	git -C "$out/tree" fetch -q origin
	git -C "$out/tree" checkout -q -f "$commit"
	compile "$out/tree" "$out/build.log" || {
		grep -E 'error|Error|undefined' "$out/build.log" >&2
		die "with '$subject' the driver does not build"
	}
	strip --strip-debug -o "$out/radeon.ko" "$out/tree/$radeon_dir/radeon.ko"
}

# A placeholder is an address that nobody can answer.
check_send() {
	local sender patch unsigned
	sender=$(cat "$here/upstream/sender")
	case $sender in
	*noreply* | *.example\> | *.invalid\> | *localhost\> | *example.*) die "upstream/sender is a placeholder: $sender" ;;
	*' <'*@*.*\>) ;;
	*) die "upstream/sender is not NAME <ADDRESS>: $sender" ;;
	esac
	# grep's status does not tell: that of -L is another in each version.
	unsigned=$(grep -L "^Signed-off-by: $sender$" "${patches[@]}" || :)
	[ -z "$unsigned" ] || die "not signed off by upstream/sender: make the series again"
	for patch in "${patches[@]}"; do
		! grep -q '^Cc: stable@' "$patch" || grep -qE '^Fixes: [0-9a-f]{12} ' "$patch" ||
			die "${patch##*/} has no Fixes: line; the kernel's history tells the commit"
	done
	# Fixes have no cover letter.
	if [ -e "$series/0000-cover-letter.patch" ]; then
		grep -qE '^base-commit: [0-9a-f]{40}$' "$series"/0000-*.patch ||
			die "upstream/base-commit has no commit for this kernel"
		grep -qE '^Mesa: https://' "$series"/0000-*.patch ||
			die "upstream/cover.txt has no link of Mesa's merge request"
	fi
	echo "git send-email --confirm=always $series/0*.patch"
}

case $step in
apply | style | docs | build | module | send) "check_$step" ;;
*) die "no step '$step'" ;;
esac
