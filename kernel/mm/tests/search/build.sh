# SPDX-License-Identifier: MIT
# shellcheck shell=bash
# How check.sh builds the tests of the search: sourced by it, never run. $out is its
# OUT, $mm kernel/mm. OUT/base is the source, OUT/new the source with the patches.

sanitize=-fsanitize=address,undefined

# Compiler and linker of everything except the harness' own files, and the bits of a long.
cc=(gcc) ld=(ld) bits=$(getconf LONG_BIT)
for_32_bits() { cc=(gcc -m32) ld=(ld -m elf_i386) bits=32; }

# The harness needs liburcu; tests/search/compat has the part that it uses.
# compat [FLAG...]
compat() {
	mkdir -p "$out/compat"
	"${cc[@]}" -g -O1 -Wall "$sanitize" "$@" -I"$mm/tests/search/compat" \
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

# guards TREE: runs the test of guards alone, with TREE's maple tree.
guards() {
	local dir=$1/tools/testing/radix-tree
	cp "$mm/tests/search/guards.c" "$dir/"
	harness "$1" maple guards.o
	rm -f "$dir/guards"
	gcc -fsanitize=address,undefined "$dir"/*.o -L"$out/compat" -lurcu -lpthread -o "$dir/guards" || die "guards does not link"
	ASAN_OPTIONS=detect_leaks=0 timeout 120 "$dir/guards" >"$1.guards.log" 2>&1
}

# function_of FILE NAME: prints the definition of a C function.
function_of() {
	awk -v name="$2" '
		/^static inline$/ { held = $0 "\n"; next }
		/^[a-z]/ && index($0, " " name "(") { take = 1 }
		take { printf "%s%s\n", held, $0; n++; held = "" }
		!take { held = "" }
		/^}/ { take = 0 }
		END { exit n ? 0 : 1 }' "$1" || die "there is no $2() in ${1#"$out"/}"
}

# cut_from FILE FIRST LAST: prints the part of FILE that begins with a line like FIRST
# and ends with one like LAST (regular expressions).
cut_from() {
	awk -v first="$2" -v last="$3" '
		$0 ~ first { take = 1 }
		take { print; n++ }
		$0 ~ last { take = 0 }
		END { exit n ? 0 : 1 }' "$1" || die "there is no $2 in ${1#"$out"/}"
}

# search TREE DIR: writes mm's searches of TREE to DIR, and the maple tree with two
# counters in the loops of its searches.
search() {
	local f n mmap=$1/mm/mmap.c
	# In newer kernels the search is in another file.
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
		if grep -q '^unsigned long vma_guard_gap(' "$mmap"; then
			# The maple tree calls the one of unit.c, which counts.
			function_of "$mmap" vma_guard_gap | sed 's/vma_guard_gap(/mm_guard_gap(/'
			echo '#define SEARCH_GUARD mm_guard_gap'
		fi
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

# Flags of the oracle's programs. Not position independent: on i386 the objects of a unit
# would share code that objcopy makes local.
oracle_flags=(-g -O2 -Wall -Wno-unused -Wno-maybe-uninitialized -D_LGPL_SOURCE -DCONFIG_MMU=
	-fno-sanitize-recover=all -fno-pie -I"$mm/tests/search/compat" -I"$mm/tests/search")

# generated: writes the headers that shared.mk generates, in the patched source.
generated() {
	local shared=$out/new/tools/testing/shared dir=$out/new/tools/testing/radix-tree/generated
	mkdir -p "$dir"
	cp "$shared/autoconf.h" "$dir/"
	echo "#define CONFIG_${bits}BIT 1" >"$dir/bit-length.h"
	echo '#define XA_CHUNK_SHIFT 3' >"$dir/map-shift.h"
}

# units TREE UNIT...: builds the searches of the source in OUT/TREE, as these units.
units() {
	local tree=$out/$1 kind f
	shift
	for kind; do
		search "$tree" "$out/$kind.search"
		for f in "$mm/tests/search/unit.c" "$out/$kind.search/maple_tree.c"; do
			"${cc[@]}" "${oracle_flags[@]}" "$sanitize" -DUNIT="$kind" -I"$out/$kind.search" \
				-I"$tree/tools/testing/shared" -I"$out/new/tools/testing/radix-tree" \
				-I"$tree/tools/include" -I"$tree/tools/arch/x86/include" -I"$tree/lib" \
				-c "$f" -o "$out/$kind.search/$(basename "$f" .c).o"
		done
		# Two maple trees in one program: only what unit.h has is seen.
		"${ld[@]}" -r "$out/$kind.search"/{unit,maple_tree}.o -o "$out/$kind.o"
		objcopy --keep-global-symbol="unit_$kind" "$out/$kind.o"
	done
}

# link_units PROGRAM SOURCE...: links a program of kernel/mm/tests/search.
link_units() {
	local program=$1 f objects=("$out"/{old,new,up}.o) shared=$out/new/tools/testing/shared
	shift
	for f in "$shared/linux.c" "$out"/new/tools/lib/{slab,find_bit,bitmap,hweight,vsprintf}.c; do
		"${cc[@]}" "${oracle_flags[@]}" "$sanitize" -I"$shared" -I"$shared/../radix-tree" -I"$out/new/tools/include" \
			-I"$out/new/tools/arch/x86/include" -I"$out/new/lib" -c "$f" -o "$out/$(basename "$f" .c).o"
		objects+=("$out/$(basename "$f" .c).o")
	done
	"${cc[@]}" "${oracle_flags[@]}" "$sanitize" -no-pie "${@/#/$mm/tests/search/}" "${objects[@]}" \
		-L"$out/compat" -lurcu -lpthread -o "$out/$program"
}
link_oracle() { link_units oracle space.c layouts.c oracle.c; }
