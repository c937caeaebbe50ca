# SPDX-License-Identifier: MIT
# shellcheck shell=bash
# Packages of one suite, without touching the root's own lists. Sourced by what downloads
# packages in the build root, which has a function no() that prints and exits.

# private_apt DIR TYPE SUITE [OPTIONS]: fills apt with the options by which apt-get and
# apt-cache know the packages (TYPE: deb or deb-src) of that suite of the mirror that the
# root itself uses, and no others. Lists and cache are in DIR. OPTIONS are those of a line in
# sources.list. SUITE is one that the root has, or another (then its line for trixie is taken).
apt=()
private_apt() {
	local dir=$1 type=$2 suite=$3 options=${4:+[$4] } lines
	lines=$(cat /etc/apt/sources.list /etc/apt/sources.list.d/*.list 2>/dev/null)
	mkdir -p "$dir/lists/partial" "$dir/parts" "$dir/cache/archives/partial"
	grep -E "^$type .* $suite " <<<"$lines" >"$dir/parts/$suite.list" ||
		sed -n "/^$type .* trixie /s/ trixie / $suite /p" <<<"$lines" >"$dir/parts/$suite.list"
	[ -s "$dir/parts/$suite.list" ] || no "the build root does not know where $suite is"
	[ -z "$options" ] || sed -i "s/^$type \(\[[^]]*\] \)\?/$type $options/" "$dir/parts/$suite.list"
	apt=(-o Dir::Etc::SourceList=/dev/null -o "Dir::Etc::SourceParts=$dir/parts" -o "Dir::State::Lists=$dir/lists"
		-o "Dir::Cache=$dir/cache" -o APT::Sandbox::User=root -o Acquire::Retries=2 -o Acquire::http::Timeout=30)
	if ! apt-get "${apt[@]}" -q -o APT::Update::Error-Mode=any update >"$dir/log" 2>&1; then
		grep -E '^(E|W|Err)' "$dir/log" | head -n 5 >&2
		no "the packages of $suite cannot be listed. No network? Check with: apt-get update"
	fi
}
