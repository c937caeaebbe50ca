#!/bin/bash
# SPDX-License-Identifier: MIT
#
# Write this directory's driver as a series of patches for the kernel's mailing
# lists. See --help.
#
# The commits are made from the same overlay and hooks as the out-of-tree build, so
# nothing is kept twice.
#
# - Each hook that patches/ has for the version is a commit. The files of the overlay
#   come in with the patch that adds their objects to the Makefile; headers with
#   the first commit that includes them. So every commit builds.
# - What radeon_drm_rw.h adds to radeon_drm.h is a commit with the message upstream/uapi.txt,
#   before the first that uses it.
# - Documentation/ comes last, with upstream/docs.txt.
# - upstream/cover.txt is the cover letter. What the alternatives cost follows it, from
#   docs/results/alternatives-cover.txt.
# - upstream/sender is who signs the patches off and has the copyright of new files,
#   upstream/recipients to whom they go, upstream/base-commit which commits they are for.
#   check-series.sh refuses to send while a placeholder is there.

set -euo pipefail

. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

usage() {
	cat <<END
usage: ${0##*/} SOURCE OUT [VERSION-OF-PATCHES]

Write the series to OUT, for git am on the kernel of SOURCE.

  SOURCE  unpacked kernel source, or the linux-source tarball
  OUT     directory for 0000-cover-letter.patch, 0001-...; OUT/tree is a git
          repository of the parts of the source that matter, with the commits
          ("base" tags the pristine source)
  VERSION-OF-PATCHES
          directory of patches/, if not that of the source's version
END
}

case ${1-} in -h | --help) usage; exit 0 ;; esac
[ $# -ge 2 ] && [ $# -le 3 ] || { usage >&2; exit 2; }
source=$1 out=$2
command -v git >/dev/null || die "git is missing; on Debian, install the package git"
[ -e "$source" ] || die "no kernel source in $source"

mkdir -p "$out"
out=$(cd "$out" && pwd)
tree=$out/tree
rm -rf "$tree" "$out"/*.patch
unpack "$source" "$tree" include/uapi/drm Documentation/gpu

version=$(version_of "$tree/Makefile")
exact=$version version=${version%.*}
choose_patches "${3-$version}"
# The overlay, with the changes for this version.
overlay=$(mktemp -d)
trap 'rm -rf "$overlay"' EXIT
copy_overlay "$overlay" drivers include Documentation

# All commits have the sender as author, and those that are made here the date of the first
# hook, so that the same sources always give the same series.
GIT_AUTHOR_DATE=$(sed -n 's/^Date: //p' "${hooks[0]}")
export GIT_AUTHOR_DATE GIT_COMMITTER_DATE=$GIT_AUTHOR_DATE
cd "$tree"
make_repository

# add FILE...: adds files of the overlay to the last commit. The user API is in radeon_drm.h
# in the kernel's tree.
add() {
	local f
	for f; do
		mkdir -p "$(dirname "$f")"
		signed_off <"$overlay/$f" | sed 's/radeon_drm_rw\.h/radeon_drm.h/g' >"$f"
		chmod 644 "$f"
		git add -f "$f"
	done
	[ $# -eq 0 ] || git commit -q --amend --no-edit
}

# objects_of PATCH: prints the files of the overlay whose objects the patch adds to the
# Makefile, and that no commit has yet.
objects_of() {
	local o
	sed -n '/^+++ .*\/Makefile$/,/^diff /p' "$1" | grep '^+' | grep -oE '[a-z0-9_]+\.o\b' | sort -u | while read -r o; do
		o=$radeon_dir/${o%.o}.c
		[ ! -e "$overlay/$o" ] || [ -e "$o" ] || echo "$o"
	done
}

# new_headers: prints the headers of the overlay that the text on stdin includes and that
# no commit has yet.
new_headers() {
	local h
	sed -n 's/^+\?#include "\(.*\)"$/\1/p' | sort -u | while read -r h; do
		[ ! -e "$overlay/$radeon_dir/$h" ] || [ -e "$radeon_dir/$h" ] || echo "$radeon_dir/$h"
	done
}

# begin MESSAGE-FILE: makes an empty commit, signed off.
begin() {
	git commit -q --allow-empty -s -F "$1"
}

uapi=include/uapi/drm/radeon_drm.h
for hook in "${hooks[@]}"; do
	mapfile -t files < <(objects_of "$hook")
	if git diff --quiet base HEAD -- $uapi && [ ${#files[@]} -gt 0 ] &&
		(cd "$overlay" && grep -q RADEON_GEM_RW_ "${files[@]}"); then
		begin "$here/upstream/uapi.txt"
		awk -f "$here/merge-uapi.awk" "$overlay/${uapi%.h}_rw.h" $uapi >"$out/uapi.h" ||
			die "$uapi of $version has no place for what radeon_drm_rw.h adds"
		mv "$out/uapi.h" $uapi
		git add $uapi
		git commit -q --amend --no-edit
	fi
	commit_patch "$hook"
	# Headers that these files and the hook include, and the headers that those include.
	text=$(git show --format=; for f in "${files[@]}"; do cat "$overlay/$f"; done)
	while mapfile -t headers < <(new_headers <<<"$text") && [ ${#headers[@]} -gt 0 ]; do
		add "${headers[@]}"
		text=$(for f in "${headers[@]}"; do cat "$overlay/$f"; done)
	done
	add "${files[@]}"
done

# Add the pages to the table of contents by sed: it differs between versions.
begin "$here/upstream/docs.txt"
mapfile -t files < <(cd "$overlay" && find Documentation -type f)
contents=Documentation/gpu/drivers.rst
for f in "${files[@]}"; do
	sed -i "0,/^   tegra$/s//   $(basename "$f" .rst)\n   tegra/" $contents
done
! git diff --quiet -- $contents || die "$contents has no place for the pages of Documentation/"
git add $contents
add "${files[@]}"

# The series must have all files of the overlay. Hooks may have changed them.
(cd "$overlay" && find . -type f ! -name radeon_drm_rw.h) | while read -r f; do
	[ -e "$f" ] ||
		die "$f is in no commit: no patch adds its object to the Makefile, and nothing includes it"
done
[ -z "$(git status --porcelain --ignored)" ] || die "something was left uncommitted"

base=$(awk -v v="$exact" '$1 == v { print $2 }' "$here/upstream/base-commit")
alternatives=$here/../docs/results/alternatives-cover.txt
[ -s "$alternatives" ] || die "$alternatives is missing: it has what the alternatives cost"
git config branch.series.description "$(cat "$here/upstream/cover.txt"
	printf '\n'
	cat "$alternatives"
	printf '\nMade against Linux %s.\n\nbase-commit: %s\n' "$exact" "${base:-not in upstream/base-commit}")"
mapfile -t to < <(sed -E 's/^(To|Cc): (.*)/--\L\1\E=\2/' "$here/upstream/recipients")
git format-patch -q --cover-letter --cover-from-description=subject --no-signature --rfc \
	"${to[@]}" --zero-commit -o "$out" base
echo "$(git rev-list --count base..) patches against Linux $exact"
