# SPDX-License-Identifier: MIT
# shellcheck shell=bash
# Functions by which lab/check reads and runs suites, and those that suites call. Sourced.
#
# A suite is a file lab/suites/NN-NAME, sourced by a shell of its own. Lines at its head:
#   # lane: builds     it needs no guest, or compiles: it goes beside suites with guests
#   # tier: all        none of its tests is in "make check", see tier below
#   # finds: FAULTS    what it is for, for docs/checks.md
# It only lists its tests, by calling
#   t NAME CMD...              one test: passes when CMD exits 0, is skipped at 77, and
#                              then the last line of its output is the reason
#   t_igt NAME RESULTS CMD...  a run of igt-tests/run by CMD, which passes "${only[@]}"
#                              on to it; RESULTS is the results.json it writes
#   t_cargo NAME CMD...        a run of "cargo test", to which CMD passes "${only[@]}"
#   t_piglit NAME RESULTS CMD...  a run of piglit by CMD, which passes "${only[@]}" on to
#                              "piglit run"; RESULTS is its results.json (or .bz2)
#   t_pytest NAME FILE... [-- ARG...]  pytest on these files of the repository, in the
#                              build root
# and, for all tests that follow,
#   tier check|all             their tier
#   needs TEST...              tests that must have passed before; without TEST: none. A
#                              test is not run, and fails, if one of these failed; it
#                              is skipped if one was skipped.
# Anything else at the top level of a suite may only define functions and variables:
# it is read for --list as well.

logs=$NOMAP_BUILD/check

# IGT tests that hold engines back for longer than others are given before a reset: they
# need a boot of their own, with radeon.lockup_timeout=60000.
# shellcheck disable=SC2034 # for suites
igt_held='radeon_gem_rw_(fairness|pages|flags@no-engine|caches@cpu-reads-after-gpu)'

# all_suites: their names in the order of their numbers.
all_suites() { local f; for f in lab/suites/[0-9]*; do suite_name "$f"; done | paste -sd' '; }
suite_name() { local n=${1##*/}; printf '%s\n' "${n#[0-9]*-}"; }
# suite_file NAME: its file; 1 if there is none.
suite_file() {
	local f
	for f in lab/suites/[0-9]*; do
		case $1 in "$(suite_name "$f")" | "${f##*/}") printf '%s\n' "$f"; return 0 ;; esac
	done
	return 1
}
suite_lane() { if grep -qx '# lane: builds' "$(suite_file "$1")"; then echo builds; else echo guests; fi; }
suite_tier() { sed -n 's/^# tier: //p' "$(suite_file "$1")" | grep . || echo check; }

# read_suite NAME: prints its tests, one a line: name, tier, runner ("-", igt, cargo,
# piglit, pytest), and the tests that it needs.
read_suite() {
	(
		set -e
		tier_now=$(suite_tier "$1") needs_now=''
		tier() { tier_now=$1; }
		needs() { needs_now=$*; }
		t() { printf '%s\t%s\t-\t%s\n' "$1" "$tier_now" "$needs_now"; }
		t_igt() { printf '%s\t%s\tigt\t%s\n' "$1" "$tier_now" "$needs_now"; }
		t_cargo() { printf '%s\t%s\tcargo\t%s\n' "$1" "$tier_now" "$needs_now"; }
		t_piglit() { printf '%s\t%s\tpiglit\t%s\n' "$1" "$tier_now" "$needs_now"; }
		t_pytest() { printf '%s\t%s\tpytest\t%s\n' "$1" "$tier_now" "$needs_now"; }
		# shellcheck source=/dev/null
		. "$(suite_file "$1")"
	)
}

# list_suite NAME: for --list.
list_suite() {
	local name tier runner _needs
	while IFS=$'\t' read -r name tier runner _needs; do
		printf '%-48s %-6s %s\n' "$name" "$tier" "${runner#-}"
	done < <(read_suite "$1") | sed 's/ *$//'
}

# resolve NAME TEST...: fills chosen[NAME] with the tests to run (empty: those of the
# tier) and the tests that they need, and only_for[NAME] with names for its runners.
# Returns 1 if a TEST does not exist; $unknown then has its name.
# A suite that cannot be read is kept, to fail when it is run.
declare -A chosen=() only_for=() broken=()
unknown=''
resolve() {
	local s=$1 name tier runner needs w n found more tests
	local -A runners=() need=()
	shift
	chosen[$s]='' only_for[$s]=''
	tests=$(read_suite "$s") || { broken[$s]=1; return 0; }
	while IFS=$'\t' read -r name tier runner needs; do
		runners[$name]=$runner need[$name]=$needs
	done <<<"$tests"
	for w; do
		found=''
		for n in "${!runners[@]}"; do
			if [ "$n" = "$w" ] || [ "$n" = "$s/$w" ]; then
				chosen[$s]+=" $n" found=1
			fi
		done
		[ -z "$found" ] || continue
		# A name that only a runner of this suite can know.
		for n in "${!runners[@]}"; do
			case ${runners[$n]} in
			cargo | pytest | piglit) found=1 ;;
			igt) [[ $w != *radeon_* ]] || found=1 ;;
			*) continue ;;
			esac
			[ -z "$found" ] || chosen[$s]+=" $n"
		done
		[ -n "$found" ] || { unknown=$w; return 1; }
		only_for[$s]+=" $w"
	done
	more=1
	while [ -n "$more" ]; do
		more=''
		for n in ${chosen[$s]}; do
			for w in ${need[$n]}; do
				[[ " ${chosen[$s]} " == *" $w "* ]] || { chosen[$s]+=" $w"; more=1; }
			done
		done
	done
}

# has_tests NAME: is there anything to run in it?
has_tests() {
	local name tier_of _rest
	[ -z "${chosen[$1]}${broken[$1]:-}" ] || return 0
	while IFS=$'\t' read -r name tier_of _rest; do
		[ "$tier" = check ] && [ "$tier_of" = all ] || return 0
	done < <(read_suite "$1")
	return 1
}

# next_suite KIND: takes a suite out of the queue, one of KIND if there is any; returns 1
# if the queue is empty.
next_suite() {
	(
		flock 8
		local line
		line=$(grep -m1 "^$1 " "$logs/.queue" || head -n 1 "$logs/.queue")
		[ -n "$line" ] || exit 1
		grep -vxF -- "$line" "$logs/.queue" >"$logs/.queue.new" || :
		mv "$logs/.queue.new" "$logs/.queue"
		printf '%s\n' "$line"
	) 8>"$logs/.queue.lock"
}

# run_lane N KIND: runs suites until the queue is empty.
run_lane() {
	local kind s rc
	trap - EXIT
	while read -r kind s < <(next_suite "$2"); do
		# Not "(...) || ...": that would switch errexit off in all tests of the suite.
		set +e
		(
			set -e
			# Emulated guests, whose drivers have time-outs, get the CPUs before compilers.
			[ "$kind" != builds ] || [ "$lanes" = 1 ] || renice -n 10 -p "$BASHPID" >/dev/null
			run_suite "$s"
		)
		rc=$?
		set -e
		[ $rc = 0 ] || record "$s" "$s/suite" fail 0 0 "" "the suite ended with status $rc" ""
	done
}

# show: prints stdin in one piece, not mixed with output of the other lane.
show() {
	local text
	text=$(cat)
	(flock 8; printf '%s\n' "$text") 8>>"$logs/.queue.lock"
}

# record SUITE NAME STATUS SECONDS CPU-SECONDS LOG REASON CASES: one line of results.tsv.
record() {
	local field line=''
	for field; do
		field=${field//[$'\t\r\n']/ }
		line+=${line:+$'\t'}${field:--}
	done
	(flock 8; printf '%s\n' "$line" >>"$logs/results.tsv") 8>>"$logs/.queue.lock"
}

# run_suite NAME
run_suite() {
	local suite=$1 tier_now needs_now='' only_words shell_pid
	local -A state=()
	tier_now=$(suite_tier "$suite") shell_pid=$BASHPID
	read -ra only_words <<<"${only_for[$suite]}"
	# Two guests of one checkout must not write the same console.log.
	export NOMAP_LOGS=$logs/guest-$suite
	tier() { tier_now=$1; }
	needs() { needs_now=$*; }
	t() { run_test - "$1" "" "${@:2}"; }
	t_igt() { run_test igt "$1" "$2" "${@:3}"; }
	t_cargo() { run_test cargo "$1" "" "${@:2}"; }
	t_piglit() { run_test piglit "$1" "$2" "${@:3}"; }
	t_pytest() {
		local xml=build/check/${1//[^A-Za-z0-9._-]/_}.pytest.xml
		run_test pytest "$1" "$xml" in_pytest "$xml" "${@:2}"
	}
	say "check: $suite"
	# shellcheck source=/dev/null
	. "$(suite_file "$suite")"
}

# in_pytest XML FILE...: FILEs under pytest, and those of their cases that were asked for.
in_pytest() {
	local xml=$1 k=''
	shift
	rm -f "$xml"
	[ ${#only[@]} -eq 0 ] || { k=$(printf ' or %s' "${only[@]}"); set -- -k "${k# or }" "$@"; }
	lab/in-root python3 -B -m pytest -q -p no:cacheprovider --import-mode=importlib --junitxml "$xml" "$@"
}

# is_chosen NAME: is this test to be run?
is_chosen() {
	if [ -n "${chosen[$suite]}" ]; then
		[[ " ${chosen[$suite]} " == *" $1 "* ]]
	else
		[ "$tier" = all ] || [ "$tier_now" = check ]
	fi
}

# children_cpu [BEFORE]: CPU seconds of all children of this shell that have ended, less
# BEFORE. $shell_pid is this shell (fields 16 and 17 of stat are cutime and cstime).
children_cpu() {
	awk -v clock="$(getconf CLK_TCK)" -v before="${1:-0}" '{ sub(/^.*\) /, ""); printf "%.1f\n", ($14 + $15) / clock - before }' "/proc/$shell_pid/stat"
}

# run_test RUNNER NAME RESULTS CMD...
run_test() {
	local runner=$1 name=$2 results=$3 n rc=0 log cases='' time status reason='' only=() w before cpu
	shift 3
	is_chosen "$name" || return 0
	for n in $needs_now; do
		case ${state[$n]:-} in
		ok) ;;
		skip) state[$name]=skip; verdict skip "$name" 0 0 "" "needs $n, which was skipped"; return 0 ;;
		'') ;; # of another tier, or not in this run
		*) state[$name]=fail; verdict FAIL "$name" 0 0 "" "needs $n, which failed"; return 0 ;;
		esac
	done
	for w in "${only_words[@]}"; do
		case $runner in
		igt) case $w in *@*) only+=(-t "(^|@)$w\$") ;; *) only+=(-t "(^|@)$w@") ;; esac ;;
		cargo | pytest) only+=("$w") ;;
		piglit) only+=(-t "^$w\$") ;;
		esac
	done
	log=$logs/${name//[^A-Za-z0-9._-]/_}.log
	before=$(date +%s) cpu=$(children_cpu)
	# Not "(...) || rc=$?": that would switch errexit off in the test itself.
	set +e
	(set -e; "$@") >"$log" 2>&1 </dev/null
	rc=$?
	set -e
	time="$(($(date +%s) - before)) $(children_cpu "$cpu")"
	reason=$(tail -n 1 "$log" | tr -d '\r')
	if [ "$runner" != - ]; then
		cases=${log%.log}.cases.json
		# shellcheck disable=SC2086 # two numbers
		counted "$runner" "$name" "$results" $time
		return 0
	fi
	case $rc in
	0) status=ok reason='' ;;
	77)
		status=skip
		[ -n "$reason" ] || status=FAIL reason="skipped without a reason"
		;;
	*) status=FAIL reason="exit status $rc: $reason" ;;
	esac
	state[$name]=${status/FAIL/fail}
	# shellcheck disable=SC2086 # two numbers
	verdict $status "$name" $time "$log" "$reason"
}

# verdict STATUS NAME SECONDS CPU-SECONDS LOG REASON: shows and records a test's result.
verdict() {
	record "$suite" "$2" "${1/FAIL/fail}" "$3" "$4" "$5" "$6" ""
	{
		printf '%-4s %-50s %4d s\n' "$1" "$2" "$3"
		case $1 in
		skip) printf '     %s\n' "$6" ;;
		FAIL)
			printf '     %s\n' "$6"
			if [ -n "$5" ]; then
				printf '     %s ends:\n' "${5#"$NOMAP_TOP"/}"
				tail -n 25 "$5" | sed 's/^/     | /'
			fi
			;;
		esac
	} | show
}

# counted RUNNER NAME RESULTS SECONDS CPU-SECONDS: reads a runner's cases from its log and
# results into $cases, and shows and records the result. cases.py's first word is the status.
counted() {
	local out first
	out=$(lab/in-root python3 -B lab/internal/cases.py "$1" --name "$2" --status "$rc" --out "${cases#"$NOMAP_TOP"/}" \
		${3:+--results "$3"} "${log#"$NOMAP_TOP"/}" 2>&1) || out="fail its cases could not be counted: $out"
	first=${out%%$'\n'*}
	state[$2]=${first%% *}
	record "$suite" "$2" "${first%% *}" "$4" "$5" "$log" "${first#* }" "$cases"
	{
		printf '%-4s %-50s %4d s\n' "${state[$2]/fail/FAIL}" "$2" "$4"
		printf '     %s\n' "${first#* }"
		[ "$first" = "$out" ] || printf '%s\n' "${out#*$'\n'}" | sed 's/^/     | /'
		[ "${state[$2]}" != fail ] || tail -n 40 "$log" | tr -d '\r' | sed 's/^/     | /'
	} | show
}
