#!/bin/bash
# SPDX-License-Identifier: MIT
#
# Check the style of this directory's files and patches (checkpatch --strict,
# kernel-doc), and compile the new files with more warnings (W=1) and sparse.
# Any finding is an error.
#
# usage: check.sh SOURCE [KVER [OUT]]
#
#   SOURCE  as for build.sh, a kernel source with its scripts directory
#   KVER    kernel to compile for; the only one with headers, if not given
#   OUT     directory for everything intermediate; build/kernel-check beside this
#           directory, if not given

set -euo pipefail

. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

[ $# -ge 1 ] && [ $# -le 3 ] || { sed -n '4,/^$/s/^# \?//p' "$0" >&2; exit 2; }
source=$1
kver=${2-}
out=${3-$here/../build/kernel-check}

if [ -z "$kver" ]; then
	kvers=(/lib/modules/*/build)
	[ ${#kvers[@]} -eq 1 ] && [ -e "${kvers[0]}" ] ||
		die "there is not exactly one kernel with headers in /lib/modules; name one"
	kver=${kvers[0]#/lib/modules/}
	kver=${kver%/build}
fi
command -v perl >/dev/null ||
	die "perl is missing; on Debian, install the package perl"

objects=() flags=()
for file in "$here/$radeon_dir"/*.c; do
	object=${file##*/}
	object=${object%.c}.o
	objects+=("$object")
	# KUnit tests are compiled as for a kernel with KUnit; they run in lab/check kunit.
	case $object in *_test.o) flags+=("CFLAGS_$object=-DCONFIG_KUNIT=1") ;; esac
done

# Remove the objects, so that all are compiled and show their warnings again.
(cd "$out/tree/$radeon_dir" 2>/dev/null && rm -f "${objects[@]}") || true
"$here/build.sh" "$source" "$kver" "$out" W=1 C=2 "${flags[@]}" "${objects[@]}"

scripts=$out/pristine/scripts
[ -e "$scripts/checkpatch.pl" ] || die "$source has no scripts/checkpatch.pl"
failed=0
if (cd "$here/$radeon_dir" && printf '%s\n' *) |
	grep -F -f - "$out/build.log" | grep -qiE 'warning:|error:'; then
	failed=1
fi

sources=("$here/$radeon_dir"/*.[ch] "$here"/include/uapi/drm/*.h)
perl "$scripts/checkpatch.pl" --no-tree --strict --quiet --no-summary --terse \
	--show-types --ignore $checkpatch_ignore --file "${sources[@]}" || failed=1
for patch in "$here"/patches/*/*.patch "$here"/fixes/*/*.patch; do
	perl "$scripts/checkpatch.pl" --no-tree --strict --quiet --no-summary \
		--terse --show-types --ignore $checkpatch_ignore "$patch" || failed=1
done
"$scripts/kernel-doc" -none -Wall -Werror "${sources[@]}" || failed=1

# The changes that each version makes to the new files still apply.
for dir in "$here"/patches/*; do
	rm -rf "$out/overlay"
	mkdir "$out/overlay"
	(choose_patches "${dir##*/}" && copy_overlay "$out/overlay" drivers include) || failed=1
done
rm -rf "$out/overlay"

[ $failed = 0 ] || die "there are findings, see above"
echo "checkpatch, kernel-doc, W=1 and sparse have found nothing in ${#sources[@]} files and $(printf '%s\n' "$here"/patches/*/*.patch "$here"/fixes/*/*.patch | wc -l) patches"
