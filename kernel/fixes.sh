#!/bin/bash
# SPDX-License-Identifier: MIT
#
# Write the patches of fixes/ as a series for the kernel's mailing lists, without the
# driver's. See --help.

set -euo pipefail

. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

usage() {
	cat <<END
usage: ${0##*/} SOURCE OUT

Write the fixes of the unmodified driver to OUT, for git am on the kernel of SOURCE.

  SOURCE  unpacked kernel source, or the linux-source tarball
  OUT     directory for 0001-..., of the form that check-series.sh checks; OUT/tree is a
          git repository of the parts of the source that matter, with the commits
          ("base" tags the pristine source)
END
}

case ${1-} in -h | --help) usage; exit 0 ;; esac
[ $# -eq 2 ] || { usage >&2; exit 2; }
source=$1 out=$2
command -v git >/dev/null || die "git is missing; on Debian, install the package git"
[ -e "$source" ] || die "no kernel source in $source"

mkdir -p "$out"
out=$(cd "$out" && pwd)
rm -rf "$out/tree" "$out"/*.patch
unpack "$source" "$out/tree" include/uapi/drm
cd "$out/tree"
version=$(version_of Makefile)
choose_fixes "${version%.*}"

make_repository
for fix in "${fixes[@]}"; do
	commit_patch "$fix"
done
mapfile -t to < <(sed -E 's/^(To|Cc): (.*)/--\L\1\E=\2/' "$here/upstream/recipients")
git format-patch -q --no-signature "${to[@]}" --zero-commit -o "$out" base
echo "$(git rev-list --count base..) fixes for Linux $version"
