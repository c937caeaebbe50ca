#!/bin/bash
# SPDX-License-Identifier: MIT
#
# Build radeon.ko with the files and patches of this directory, out of tree,
# against the headers of an installed kernel. See --help.
#
# Nothing outside drivers/gpu/drm/radeon is built or needed. The sources must
# be those of exactly the kernel that the headers belong to: the directory changes
# between point releases, and the module has to match the running kernel.

set -euo pipefail

. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

usage() {
	cat <<END
usage: ${0##*/} [-j JOBS] SOURCE KVER OUT [MAKE-ARGUMENT...]

Build OUT/radeon.ko for kernel KVER.

  SOURCE  unpacked kernel source, or the linux-source tarball, of exactly
          the version of KVER
  KVER    kernel whose headers are in /lib/modules/KVER/build, or the directory
          with the headers of a kernel that is not installed
  OUT     directory for the module and everything intermediate; a second run
          builds only what has changed

MAKE-ARGUMENTs go to the kernel's make: W=1 for more warnings, C=1 to check
what is compiled with sparse, V=1 to see commands. Objects of the radeon directory
can be named too; then only these are compiled, and no module is made.

AFTER_PATCHES in the environment is a command that changes the patched sources, in the
directory with drivers/: mutations of the driver (lab/mutations) are made so.
END
}

begun=$SECONDS
stage() {
	printf '[%3ds] %s\n' $((SECONDS - begun)) "$*"
}

jobs=$(nproc)
while getopts hj:-: option; do
	case $option in
	j) jobs=$OPTARG ;;
	h) usage; exit 0 ;;
	-) [ "$OPTARG" = help ] || { usage >&2; exit 2; }; usage; exit 0 ;;
	*) usage >&2; exit 2 ;;
	esac
done
shift $((OPTIND - 1))
[ $# -ge 3 ] || { usage >&2; exit 2; }
source=$1 kver=$2 out=$3
shift 3
make_args=("$@")
targets=()
for arg; do
	case $arg in *=*) ;; *) targets+=("$arg") ;; esac
done

# Check what is needed before anything is written.

need() {
	command -v "$1" >/dev/null ||
		die "$1 is missing; on Debian, install the package $2"
}
need make make
need gcc gcc
need patch patch
need tar tar
need flock util-linux
need strip binutils
for arg in "${make_args[@]}"; do
	case $arg in C=[12]) need sparse sparse ;; esac
done

case $kver in
*/*) headers=$kver ;;
*) headers=/lib/modules/$kver/build ;;
esac
[ -e "$headers/Makefile" ] ||
	die "no headers in $headers; on Debian, install linux-headers-$kver"
[ -e "$headers/Module.symvers" ] ||
	die "$headers has no Module.symvers, so modules cannot be linked"
grep -qs '^CONFIG_DRM_RADEON=m' "$headers/.config" ||
	grep -qs '^CONFIG_DRM_RADEON=m' "$headers/include/config/auto.conf" ||
	die "kernel $kver does not have radeon as a module"

[ -e "$source" ] ||
	die "no kernel source in $source; on Debian, install linux-source-$(cut -d. -f1,2 <<<"$kver")"

mkdir -p "$out"
out=$(cd "$out" && pwd)
exec 9>"$out/.lock"
flock -n 9 || { stage "waiting for another build in $out"; flock 9; }

# If anything fails, leave no module.
done=
trap '[ "$done" ] || rm -f "$out/radeon.ko" "$out/radeon.ko.new"' EXIT

# The pristine directory, with the scripts for kernel/check.sh. Unpacking a tarball takes
# long, so remember which one it came from.

pristine=$out/pristine
if [ -d "$source" ]; then
	key="tree $source"
else
	case $source in *.xz) need xz xz-utils ;; esac
	key="tarball $source $(stat -c '%s %Y' "$source")"
fi
if [ -d "$source" ] || [ "$key" != "$(cat "$pristine/.key" 2>/dev/null)" ]; then
	stage "taking $radeon_dir from $source"
	rm -rf "$pristine"
	unpack "$source" "$pristine"
	echo "$key" >"$pristine/.key"
fi

# The headers' own Makefile includes the one with the version.
headers_makefile=$headers/Makefile
while included=$(awk '$1 == "include" && $2 ~ /Makefile$/ { print $2; exit }' \
		"$headers_makefile") && [ -n "$included" ] &&
		[ -z "$(version_of "$headers_makefile")" ]; do
	headers_makefile=$included
done
have=$(version_of "$pristine/Makefile")
want=$(version_of "$headers_makefile")
[ "$have" = "$want" ] ||
	die "the source is $have, but kernel $kver is $want; take the source of $want"

choose_patches "${have%.*}"
choose_fixes "${have%.*}"

# Patch a fresh copy, then bring only what differs into the tree that is
# built, so that make sees what has changed.

stage "patching $have"
fresh=$out/fresh
rm -rf "$fresh"
cp -r "$pristine" "$fresh"
rm -f "$fresh/.key"
copy_overlay "$fresh" drivers include
mkdir -p "$fresh/include/trace"
apply_fixes "$fresh"
for hook in "${hooks[@]}"; do
	patch -d "$fresh" -p1 --fuzz=0 -s --no-backup-if-mismatch \
		<"$hook" >"$out/patch.log" 2>&1 || {
		cat "$out/patch.log" >&2
		die "$hook does not apply to $have without fuzz; it has to be adapted, in a file of the same name in $patches"
	}
done

# Tests change the driver here, to see what notices.
[ -z "${AFTER_PATCHES:-}" ] || (cd "$fresh" && eval "$AFTER_PATCHES")

tree=$out/tree
mkdir -p "$tree"
(cd "$fresh" && find . -type d) | (cd "$tree" && xargs -d '\n' mkdir -p)
(cd "$fresh" && find . -type f) | while read -r file; do
	cmp -s "$fresh/$file" "$tree/$file" || cp "$fresh/$file" "$tree/$file"
done
# Remove sources that are gone; leave what the build has made.
if [ -e "$out/files" ]; then
	(cd "$fresh" && find . -type f | sort) | comm -13 - "$out/files" |
		(cd "$tree" && xargs -r -d '\n' rm -f)
fi
(cd "$fresh" && find . -type f | sort) >"$out/files"
rm -rf "$fresh"

# radeon_trace.h names a path relative to include/trace; an empty directory of
# that name on the include path makes the path lead into the radeon directory.

# In the kernel's own tree radeon_drm.h has what radeon_drm_rw.h has here: the installed
# headers come first, so it cannot be changed. Every file gets it.

stage "building ${targets[*]-radeon.ko} for $kver"
[ ${#targets[@]} -gt 0 ] || make_args+=(modules)
# A kernel that has KUnit gets the driver's unit tests.
! grep -qs '^CONFIG_KUNIT=' "$headers/include/config/auto.conf" || make_args+=(CONFIG_DRM_RADEON_KUNIT_TEST=y)
if ! make -C "$headers" M="$tree/$radeon_dir" -j"$jobs" --no-print-directory \
	KCFLAGS="-include $tree/include/uapi/drm/radeon_drm_rw.h" \
	CFLAGS_radeon_trace_points.o="-I$tree/include/trace" \
	"${make_args[@]}" >"$out/build.log" 2>&1; then
	grep -E 'error|Error|ERROR|undefined' "$out/build.log" >&2 ||
		tail -n 20 "$out/build.log" >&2
	die "the build failed, see $out/build.log"
fi

# The driver's other files have warnings of their own with W=1 and C=1.
(cd "$here/$radeon_dir" && printf '%s\n' *) |
	grep -F -f - "$out/build.log" | grep -i 'warning:' | sort -u || true
grep '^WARNING: modpost' "$out/build.log" || true

if [ ${#targets[@]} -eq 0 ]; then
	strip --strip-debug -o "$out/radeon.ko.new" "$tree/$radeon_dir/radeon.ko"
	mv "$out/radeon.ko.new" "$out/radeon.ko"
	stage "$out/radeon.ko is ready"
fi
done=yes
