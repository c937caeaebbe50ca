# SPDX-License-Identifier: MIT
# shellcheck shell=bash
# check.sh planted: sourced by it, never run.

# planted_bugs: prints the lines of the list that are not comments.
planted_bugs() { grep -v '^#' "$mm/tests/search/planted"; }

# planted_found: prints which tests fail with the source in OUT/planted, which has to
# compile.
planted_found() {
	local found=()
	units planted new up
	link_oracle
	ASAN_OPTIONS=detect_leaks=0 timeout 300 "$out/oracle" 1 400 >"$out/planted.log" 2>&1 ||
		found+=(oracle)
	guards "$out/planted" || found+=(guards)
	echo "${found[*]}"
}

step_planted() {
	local name file change found missed=0 n=0
	# Most of the time is for building, which happens 40 times: optimise less.
	oracle_flags+=(-O1)
	apply
	compat
	generated
	units base old
	rm -rf "$out/planted"
	cp -r "$out/new" "$out/planted"
	found=$(planted_found)
	[ -z "$found" ] || die "without a bug $found fails"
	while IFS=$'\t' read -r name file change; do
		cp "$out/new/lib/maple_tree.c" "$out/planted/lib/"
		cp "$out"/new/mm/*.c "$out/planted/mm/"
		cp "$out/new/include/linux/mm_types.h" "$out/planted/include/linux/"
		perl -0pi -e "$change or die qq(nothing to change\n)" "$out/planted/$file" ||
			die "$name: $file has nothing that it changes"
		found=$(planted_found)
		printf '%-28s %s\n' "$name" "${found:-NOTHING}"
		[ -n "$found" ] || missed=$((missed + 1))
		n=$((n + 1))
	done < <(planted_bugs)
	[ $missed = 0 ] || die "$missed of $n planted bugs are not found"
	echo "all $n planted bugs are found"
}
