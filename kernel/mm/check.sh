#!/bin/bash
# SPDX-License-Identifier: MIT
#
# Check the patches of this directory. See --help.
#
# Nothing of the kernel is kept here: its user-space harness and what the tests
# compare are taken from SOURCE each time.

set -euo pipefail

. "$(dirname "${BASH_SOURCE[0]}")/../lib.sh"

usage() {
	cat <<END
usage: ${0##*/} STEP SOURCE OUT

  STEP    apply    the patches apply, one after the other, without fuzz
          style    checkpatch --strict finds nothing in any of them
          stock    the harness' own tests of the maple tree pass with them
                   (minutes; the sizes are theirs)
          guards   the test of the maple tree's guards that the series adds passes,
                   and fails with the maple tree as it is without
          oracle   random address spaces: the search is right, and finds what it
                   found without them but where README.md says otherwise
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

# Unpacking the tarball takes longer than all the rest, so once for each.
stamp="$(realpath "$source") $(stat -c %Y.%s "$source")"
if [ -d "$source" ] || [ "$(cat "$out/base.stamp" 2>/dev/null)" != "$stamp" ]; then
	rm -rf "$out/base" "$out/base.stamp"
	take "$source" "$out/base" include/linux lib mm scripts/checkpatch.pl \
		scripts/spelling.txt scripts/const_structs.checkpatch tools/include \
		tools/lib tools/scripts tools/arch/x86/include tools/testing/radix-tree \
		tools/testing/shared tools/testing/vma
	echo "$stamp" >"$out/base.stamp"
fi
version=$(version_of "$out/base/Makefile")
patches=$mm/patches/${version%.*}
[ -d "$patches" ] ||
	die "there are no patches for Linux ${version%.*}, only for: $(cd "$mm/patches" && echo ?*)"
# Tests come last. They have a directory of their own, as kernels are built from
# sources without tools/testing.
patches=("$patches"/0*.patch "$patches"-test/0*.patch)

# $out/new: the source with the patches.
apply() {
	local patch
	rm -rf "$out/new"
	cp -r "$out/base" "$out/new"
	for patch in "${patches[@]}"; do
		patch -d "$out/new" -p1 --fuzz=0 -s --no-backup-if-mismatch <"$patch" ||
			die "${patch##*/} does not apply to $version"
	done
}

step_apply() {
	apply
	echo "${#patches[@]} patches apply to $version"
}

step_style() {
	local patch failed=0 ignore
	for patch in "${patches[@]}"; do
		# MT_BUG_ON() is how the tests of the maple tree count, in user space.
		ignore=()
		case $patch in *-test/*) ignore=(--ignore AVOID_BUG,FILE_PATH_CHANGES) ;; esac
		perl "$out/base/scripts/checkpatch.pl" --no-tree --strict --quiet \
			--no-summary --terse --show-types "${ignore[@]}" "$patch" || failed=1
	done
	[ $failed = 0 ] || die "there are findings, see above"
}

# The harness wants liburcu; tests/search/compat has what it uses of it.
compat() {
	mkdir -p "$out/compat"
	gcc -g -O1 -Wall -fsanitize=address,undefined -I"$mm/tests/search/compat" \
		-c "$mm/tests/search/compat/urcu.c" -o "$out/compat/urcu.o"
	rm -f "$out/compat/liburcu.a"
	ar rc "$out/compat/liburcu.a" "$out/compat/urcu.o"
}

# harness TREE TARGET...: builds the harness' tests of TREE's maple tree.
harness() {
	local dir=$1/tools/testing/radix-tree
	shift
	CFLAGS="-I$mm/tests/search/compat" LDFLAGS="-L$out/compat" \
		make -s -C "$dir" "$@" >"$out/maple.build.log" 2>&1 || {
		tail -n 30 "$out/maple.build.log" >&2
		die "the harness does not build"
	}
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

# guards TREE: runs the test of guards alone, with TREE's maple tree.
guards() {
	local dir=$1/tools/testing/radix-tree
	cp "$mm/tests/search/guards.c" "$dir/"
	harness "$1" maple guards.o
	rm -f "$dir/guards"
	gcc -fsanitize=address,undefined "$dir"/*.o -L"$out/compat" -lurcu -lpthread -o "$dir/guards" || die "guards does not link"
	ASAN_OPTIONS=detect_leaks=0 timeout 120 "$dir/guards" >"$1.guards.log" 2>&1
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

# function FILE NAME: the definition of a C function.
function_of() {
	awk -v name="$2" '
		/^static inline$/ { held = $0 "\n"; next }
		/^[a-z]/ && index($0, " " name "(") { take = 1 }
		take { printf "%s%s\n", held, $0; n++; held = "" }
		!take { held = "" }
		/^}/ { take = 0 }
		END { exit n ? 0 : 1 }' "$1" || die "there is no $2() in ${1#"$out"/}"
}

# cut FILE FIRST LAST: the lines from the one that matches FIRST to the one
# that matches LAST.
cut_from() {
	awk -v first="$2" -v last="$3" '
		$0 ~ first { take = 1 }
		take { print; n++ }
		$0 ~ last { take = 0 }
		END { exit n ? 0 : 1 }' "$1" || die "there is no $2 in ${1#"$out"/}"
}

# search TREE DIR: what mm searches with, out of TREE, and the maple tree with
# two counters in the loops of its searches.
search() {
	local f n mmap=$1/mm/mmap.c
	# Where the search is in newer kernels.
	grep -q '^static unsigned long unmapped_area(' "$mmap" || mmap=$1/mm/vma.c
	mkdir -p "$2"
	{
		cut_from "$1/include/linux/mm.h" '^struct vm_unmapped_area_info {' '^};'
		cut_from "$1/include/linux/mm_types.h" '^struct vma_iterator {' '^};'
		cut_from "$1/include/linux/mm_types.h" '^#define VMA_ITERATOR' '[^\\\\]$'
		cut_from "$1/include/linux/mm_types.h" '^#define MM_MT_FLAGS' '[^\\\\]$'
		for f in stack_guard_start_gap vm_start_gap vm_end_gap; do
			function_of "$1/include/linux/mm.h" $f
		done
		cut_from "$1/include/linux/mm.h" '^static inline struct vm_area_struct .vma_next' '^}'
		cut_from "$1/include/linux/mm.h" '^static inline struct vm_area_struct .vma_prev' '^}'
		for f in vma_iter_addr vma_iter_end vma_iter_reset vma_iter_area_lowest vma_iter_area_highest; do
			function_of "$1/mm/vma.h" $f
		done
		! grep -q '^unsigned long mt_entry_guard(' "$mmap" ||
			function_of "$mmap" mt_entry_guard
		function_of "$mmap" unmapped_area
		function_of "$mmap" unmapped_area_topdown
	} >"$2/search.h"
	awk 'BEGIN { print "#include \"maple-shared.h\"\nunsigned long search_nodes, search_slots;" }
		/^static .*(mas_rev_awalk|mas_anode_descend)\(/ { in_walk = 1 }
		{ print }
		in_walk && /gaps = ma_gaps\(node, type\);/ { print "\tsearch_nodes++;" }
		in_walk && /^\t(while \(mas->index <= max\)|for \(; offset <= data_end; offset\+\+\)) \{/ { print "\t\tsearch_slots++;" }
		/^}/ { in_walk = 0 }' "$1/lib/maple_tree.c" >"$2/maple_tree.c"
	# Newer harnesses free nodes by a function of their own.
	! grep -q '^void maple_rcu_cb(' "$1/tools/testing/shared/maple-shim.c" ||
		function_of "$1/tools/testing/shared/maple-shim.c" maple_rcu_cb >>"$2/maple_tree.c"
	n=$(grep -cE '^\s+search_(nodes|slots)\+\+;$' "$2/maple_tree.c")
	[ "$n" = 4 ] || die "lib/maple_tree.c has other loops than the counters are for ($n of 4 in place)"
}

step_oracle() {
	local kind tree objects=() shared=$out/new/tools/testing/shared
	# shellcheck disable=SC2054
	local flags=(-g -O2 -Wall -Wno-unused -Wno-maybe-uninitialized -D_LGPL_SOURCE -fsanitize=address,undefined
		-fno-sanitize-recover=all -I"$mm/tests/search/compat" -I"$mm/tests/search")
	apply
	compat
	make -s -C "$shared/../radix-tree" generated/autoconf.h generated/bit-length.h \
		generated/map-shift.h >/dev/null
	for kind in old new up; do
		tree=$out/new
		[ $kind != old ] || tree=$out/base
		search "$tree" "$out/$kind.search"
		for f in "$mm/tests/search/unit.c" "$out/$kind.search/maple_tree.c"; do
			gcc "${flags[@]}" -DUNIT=$kind -I"$out/$kind.search" \
				-I"$tree/tools/testing/shared" -I"$shared/../radix-tree" \
				-I"$tree/tools/include" -I"$tree/tools/arch/x86/include" -I"$tree/lib" \
				-c "$f" -o "$out/$kind.search/$(basename "$f" .c).o"
		done
		# Two maple trees in one program: only what unit.h has is seen.
		ld -r "$out/$kind.search"/{unit,maple_tree}.o -o "$out/$kind.o"
		objcopy --keep-global-symbol=unit_$kind "$out/$kind.o"
		objects+=("$out/$kind.o")
	done
	for f in "$shared/linux.c" "$out"/new/tools/lib/{slab,find_bit,bitmap,hweight,vsprintf}.c; do
		gcc "${flags[@]}" -I"$shared" -I"$shared/../radix-tree" -I"$out/new/tools/include" \
			-I"$out/new/tools/arch/x86/include" -I"$out/new/lib" -c "$f" -o "$out/$(basename "$f" .c).o"
		objects+=("$out/$(basename "$f" .c).o")
	done
	gcc "${flags[@]}" "$mm"/tests/search/{space,oracle}.c "${objects[@]}" \
		-L"$out/compat" -lurcu -lpthread -o "$out/oracle"
	ASAN_OPTIONS=detect_leaks=0 timeout 300 "$out/oracle"
}

case $step in
apply | style | stock | guards | oracle) "step_$step" ;;
*) usage >&2; exit 2 ;;
esac
