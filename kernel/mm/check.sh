#!/bin/bash
# SPDX-License-Identifier: MIT
#
# Check the patches of this directory. See --help.
#
# No code of the kernel is kept here: its user-space harness and the code that the
# tests compare are taken from SOURCE each time.

set -euo pipefail

. "$(dirname "${BASH_SOURCE[0]}")/../lib.sh"

usage() {
	cat <<END
usage: ${0##*/} STEP SOURCE OUT

  STEP    apply    the patches apply, one after the other, without fuzz
          style    checkpatch --strict finds nothing in any of them
          stock    the harness' own tests of the maple tree pass with them
                   (minutes; the sizes are theirs)
          vma      the kernel's tests of VMAs in user space (tools/testing/vma)
                   build without new warnings and pass with them; 77 if they
                   do not build without, as those of 6.12.117
          guards   the test of the maple tree's guards that the series adds passes,
                   and fails with the maple tree as it is without
          oracle   random address spaces: the search is right, and finds what it
                   found without them but where README.md says otherwise
          oracle32 the same where a long has 32 bits
          planted  each bug of tests/search/planted, put into the patched source,
                   makes guards or the oracle fail (10 minutes)
          cost     builds OUT/cost, which counts instructions of stores and searches
                   in a guest: lab/run --accel icount --smp 1 -- /build/mm/cost
          series   OUT/series: the series as it is mailed, numbered, with its cover
                   letter; git am takes it
  SOURCE  unpacked kernel source, or the linux-source tarball
  OUT     directory for everything intermediate
END
}

case ${1-} in -h | --help) usage; exit 0 ;; esac
[ $# -eq 3 ] || { usage >&2; exit 2; }
step=$1 source=$2 out=$3
mm=$here/mm
[ -e "$source" ] || die "no kernel source in $source"
mkdir -p "$out"
out=$(cd "$out" && pwd)

# The radeon directory is needed for OUT/base to be a valid SOURCE of take() itself.
parts=("$radeon_dir/Makefile" include/linux kernel/fork.c lib mm Documentation/core-api/maple_tree.rst
	scripts/checkpatch.pl scripts/spelling.txt scripts/const_structs.checkpatch
	tools/include tools/lib tools/scripts tools/arch/x86/include
	tools/testing/radix-tree tools/testing/shared tools/testing/vma)
# Unpacking takes longer than all the rest, so unpack each tarball only once.
stamp="$(realpath "$source") $(stat -c %Y.%s "$source") ${parts[*]}"
if [ -d "$source" ] || [ "$(cat "$out/base.stamp" 2>/dev/null)" != "$stamp" ]; then
	rm -rf "$out/base" "$out/base.stamp"
	take "$source" "$out/base" "${parts[@]}"
	echo "$stamp" >"$out/base.stamp"
fi
version=$(version_of "$out/base/Makefile")
patches=$mm/patches/${version%.*}
[ -d "$patches" ] ||
	die "there are no patches for Linux ${version%.*}, only for: $(cd "$mm/patches" && echo ?*)"
# Tests come last. They have a directory of their own, as kernels are built from
# sources without tools/testing.
patches=("$patches"/0*.patch "$patches"-test/0*.patch)

# apply: makes $out/new, the source with the patches.
apply() {
	local patch
	rm -rf "$out/new"
	cp -r "$out/base" "$out/new"
	for patch in "${patches[@]}"; do
		patch -d "$out/new" -p1 --fuzz=0 -s --no-backup-if-mismatch <"$patch" ||
			die "${patch##*/} does not apply to $version"
	done
}

# shellcheck source=tests/search/build.sh
. "$mm/tests/search/build.sh"
# shellcheck source=tests/search/planted.sh
. "$mm/tests/search/planted.sh"

step_apply() {
	apply
	echo "${#patches[@]} patches apply to $version"
}

step_style() {
	local patch failed=0 ignore
	for patch in "${patches[@]}"; do
		# The maple tree's tests in user space count by MT_BUG_ON().
		ignore=()
		case $patch in *-test/*) ignore=(--ignore AVOID_BUG,FILE_PATH_CHANGES) ;; esac
		perl "$out/base/scripts/checkpatch.pl" --no-tree --strict --quiet \
			--no-summary --terse --show-types "${ignore[@]}" "$patch" || failed=1
	done
	[ $failed = 0 ] || die "there are findings, see above"
}

step_stock() {
	local dir=$out/new/tools/testing/radix-tree
	apply
	compat
	harness "$out/new" maple
	(cd "$dir" && ASAN_OPTIONS=detect_leaks=0 timeout 3600 ./maple) >"$out/maple.log" 2>&1 || {
		tail -n 30 "$out/maple.log" >&2
		die "the harness' tests fail"
	}
	tail -n 1 "$out/maple.log"
}

step_vma() {
	local tree dir
	apply
	compat
	rm -rf "$out/vma-base"
	cp -r "$out/base" "$out/vma-base"
	for tree in vma-base new; do
		dir=$out/$tree/tools/testing/vma
		CFLAGS="-I$mm/tests/search/compat" make -s -C "$dir" LDLIBS="-L$out/compat -lpthread -lurcu" vma \
			>"$out/$tree.vma.log" 2>&1 || {
			# Those of 6.12.117 lack a function that a stable update has brought.
			[ $tree = new ] || {
				echo "tools/testing/vma of $version does not build without the series either: $(grep -m 1 'error:' "$out/$tree.vma.log")"
				exit 77
			}
			tail -n 30 "$out/$tree.vma.log" >&2
			die "tools/testing/vma does not build"
		}
		(cd "$dir" && ASAN_OPTIONS=detect_leaks=0 timeout 300 ./vma) >"$out/$tree.vma.run" 2>&1 || {
			tail -n 30 "$out/$tree.vma.run" >&2
			die "tools/testing/vma fails ($tree)"
		}
	done
	# As many tests as without the series, and no warning that is not there without.
	cmp "$out/vma-base.vma.run" "$out/new.vma.run" || die "other tests were run than without the series"
	[ "$(grep -c warning: "$out/new.vma.log")" -le "$(grep -c warning: "$out/vma-base.vma.log")" ] ||
		die "the series adds warnings: $out/new.vma.log"
	tail -n 1 "$out/new.vma.run"
}

step_guards() {
	apply
	compat
	guards "$out/new" || {
		tail -n 30 "$out/new.guards.log" >&2
		die "the test of guards fails"
	}
	tail -n 1 "$out/new.guards.log"
	rm -rf "$out/without"
	cp -r "$out/new" "$out/without"
	cp "$out/base/lib/maple_tree.c" "$out/without/lib/"
	! guards "$out/without" || die "the test of guards passes without them"
	# The harness ends with the first check that fails.
	grep '^BUG at check_guards\|^BUG at guard_' "$out/without.guards.log" | sed 's/^/without: /' ||
		die "the test of guards fails without them, but for another reason"
}

step_oracle() {
	apply
	compat
	generated
	units base old
	units new new up
	link_oracle
	ASAN_OPTIONS=detect_leaks=0 timeout 300 "$out/oracle"
}

# With 32 bits the tree's nodes have other sizes.
step_oracle32() {
	for_32_bits
	step_oracle
	readelf -h "$out/oracle" | grep -q ELF32 || die "the oracle was not built for 32 bits"
}

# Optimised, without sanitizers, and static: it runs in a guest.
step_cost() {
	sanitize=-static
	apply
	compat -DURCU_AT_ONCE=1
	generated
	units base old
	units new new up
	link_units cost cost.c
	echo "$out/cost is built"
}

# Builds do not need the numbers and the cover letter, so the patches do not have them.
step_series() {
	local repo=$out/series.git dir=$out/series n=${#patches[@]} i=0 patch title
	local git=(git -C "$repo" -c user.name=nomap -c user.email=nomap@localhost)
	rm -rf "$repo" "$dir"
	mkdir -p "$dir"
	cp -r "$out/base" "$repo"
	"${git[@]}" init -q
	"${git[@]}" add -Af
	"${git[@]}" commit -q -m "Linux $version"
	"${git[@]}" tag base
	for patch in "${patches[@]}"; do
		i=$((i + 1))
		sed "0,/^Subject: \[PATCH\]/s//Subject: [PATCH v3 $i\/$n]/" "$patch" >"$dir/${patch##*/}"
		"${git[@]}" am -q "$dir/${patch##*/}" || die "git am does not take ${patch##*/}"
	done
	title=$(sed -n '1s/^Subject: //p' "$mm/patches/cover-letter")
	[ -n "$title" ] || die "the cover letter has no subject"
	{
		sed -n '1{p;q}' "${patches[0]}"
		sed -n '2,/^Date:/p' "${patches[0]}"
		printf 'Subject: [PATCH v3 0/%s] %s\n' "$n" "$title"
		sed 1d "$mm/patches/cover-letter"
		printf '\nFor Linux %s.\n\n' "$version"
		"${git[@]}" shortlog --format='%s' base..HEAD
		"${git[@]}" diff --stat=72 --summary base..HEAD
	} >"$dir/0000-cover-letter.patch"
	rm -rf "$repo"
	echo "$((n + 1)) messages in $dir"
}

case $step in
apply | style | stock | vma | guards | oracle | oracle32 | planted | cost | series) "step_$step" ;;
*) usage >&2; exit 2 ;;
esac
