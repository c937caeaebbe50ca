#!/bin/bash
# SPDX-License-Identifier: MIT
#
# Print how many lines each layer of the driver adds: files and hooks.
#
# usage: lines.sh SERIES
#
#   SERIES  directory that series.sh has written

set -euo pipefail

. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

[ $# -eq 1 ] && [ -e "$1/tree/.git" ] || { sed -n '4,/^$/s/^# \?//p' "$0" >&2; exit 2; }
export GIT_CONFIG_GLOBAL=/dev/null GIT_CONFIG_SYSTEM=/dev/null
cd "$1/tree"

total=0
while read -r commit subject; do
	n=$(git show --format= --numstat "$commit" -- "$radeon_dir" |
		awk '{ n += $1 - $2 } END { print n + 0 }')
	total=$((total + n))
	printf '%5d %5d  %s\n' "$n" "$total" "$subject"
done < <(git log --reverse --format='%H %s' base..series)
