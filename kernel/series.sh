#!/bin/bash
# SPDX-License-Identifier: MIT
#
# Write this directory's driver as a series of patches for the kernel's mailing
# lists. See --help.
#
# The commits are made from the same overlay and hooks as the out-of-tree build, so
# nothing is kept twice.
#
# - upstream/uapi.txt is the message of the first commit, the uapi header.
# - Each hook that patches/ has for the version is a commit. The files of the overlay
#   come in with the patch that adds their objects to the Makefile; headers with
#   the first commit that includes them. So every commit builds.
# - Documentation/ comes last, with upstream/docs.txt.
# - upstream/cover.txt is the cover letter.

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

# A repository of its own, also if a directory above is one.
unset GIT_DIR GIT_WORK_TREE GIT_INDEX_FILE
export GIT_CONFIG_GLOBAL=/dev/null GIT_CONFIG_SYSTEM=/dev/null
cd "$tree"
git -c init.defaultBranch=series init -q .

# The commits that are made here have the author and the date of the first hook, so that
# the same sources always give the same series.
author=$(git mailinfo /dev/null /dev/null <"${hooks[0]}")
field() { sed -n "s/^$1: //p" <<<"$author"; }
GIT_AUTHOR_NAME=$(field Author) GIT_AUTHOR_EMAIL=$(field Email) GIT_AUTHOR_DATE=$(field Date)
export GIT_AUTHOR_NAME GIT_AUTHOR_EMAIL GIT_AUTHOR_DATE
export GIT_COMMITTER_NAME=$GIT_AUTHOR_NAME GIT_COMMITTER_EMAIL=$GIT_AUTHOR_EMAIL
export GIT_COMMITTER_DATE=$GIT_AUTHOR_DATE

git config core.safecrlf false
git config gc.auto 0
git add -Af .
git commit -q -m "Linux $version, in part"
git tag base

# add FILE...: adds files of the overlay to the last commit.
add() {
	local f
	for f; do
		mkdir -p "$(dirname "$f")"
		cp "$overlay/$f" "$f"
		chmod 644 "$f"
		git add -f "$f"
	done
	[ $# -eq 0 ] || git commit -q --amend --no-edit
}

# apply PATCH: commits the patch with its own message.
apply() {
	git am -q --keep-cr --committer-date-is-author-date "$1" >"$out/am.log" 2>&1 || {
		cat "$out/am.log" >&2
		die "${1##*/} does not apply to $version"
	}
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

begin "$here/upstream/uapi.txt"
add include/uapi/drm/radeon_drm_rw.h

for hook in "${hooks[@]}"; do
	apply "$hook"
	mapfile -t objects < <(git show --format= -- "$radeon_dir/Makefile" |
		grep '^+' | grep -oE '[a-z0-9_]+\.o\b' | sort -u)
	files=()
	for o in "${objects[@]}"; do
		c=$radeon_dir/${o%.o}.c
		[ ! -e "$overlay/$c" ] || [ -e "$c" ] || files+=("$c")
	done
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
(cd "$overlay" && find . -type f) | while read -r f; do
	[ -e "$f" ] ||
		die "$f is in no commit: no patch adds its object to the Makefile, and nothing includes it"
done
[ -z "$(git status --porcelain --ignored)" ] || die "something was left uncommitted"

git config branch.series.description "$(cat "$here/upstream/cover.txt"; printf '\nMade against Linux %s.\n' "$exact")"
git format-patch -q --cover-letter --cover-from-description=subject --no-signature \
	--zero-commit -o "$out" base
echo "$(git rev-list --count base..) patches against Linux $exact"
