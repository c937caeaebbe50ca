# SPDX-License-Identifier: MIT
# shellcheck shell=bash
# Functions that build.sh and series.sh share: taking the driver out of a kernel's
# source, and choosing the hooks and the overlay of a version. Sourced, never run.

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
radeon_dir=drivers/gpu/drm/radeon
# Other versions use the hooks of this one, unless they have their own.
hooks_base=6.12
# Findings that checkpatch ignores: the allocators that it prefers do not exist in 6.12; which
# commit a fix mends is known where the kernel's history is (check-series.sh asks for it).
checkpatch_ignore=ALLOC_WITH_SIZEOF,MISSING_FIXES_TAG

die() {
	echo "${0##*/}: $*" >&2
	exit 1
}

# unpack SOURCE DIR PART...: puts into DIR the radeon directory, the top Makefile, the
# files of checkpatch and kernel-doc, and the PARTs (files and directories) of the tree or
# tarball SOURCE.
unpack() {
	local source=$1 dir=$2
	shift 2
	take "$source" "$dir" "$radeon_dir" scripts/checkpatch.pl scripts/spelling.txt \
		scripts/const_structs.checkpatch scripts/kernel-doc "$@"
	# In newer kernels kernel-doc is a link to a Python program.
	[ ! -L "$dir/scripts/kernel-doc" ] ||
		take "$source" "$dir" tools/docs/kernel-doc tools/lib/python
	[ -e "$dir/$radeon_dir/Makefile" ] || die "$source has no $radeon_dir"
}

take() {
	local source=$1 dir=$2
	shift 2
	mkdir -p "$dir"
	if [ -d "$source" ]; then
		[ -d "$source/$radeon_dir" ] || die "$source has no $radeon_dir"
		# Leave out what a build in that tree may have left behind.
		tar -C "$source" -cf - --exclude='*.[oa]' --exclude='*.ko' \
			--exclude='.*' --exclude='*.mod' --exclude='*.mod.c' \
			--exclude='*_reg_safe.h' --exclude=mkregtable \
			--exclude=modules.order Makefile "$@" | tar -xf - -C "$dir"
	else
		# Patterns match a directory with all that is in it.
		tar -xf "$source" -C "$dir" --strip-components=1 --wildcards \
			--no-wildcards-match-slash 'linux*/Makefile' "${@/#/linux*/}"
	fi
}

# version_of MAKEFILE: prints the version in a kernel's top Makefile, as X.Y.Z.
version_of() {
	awk -F' *= *' '/^VERSION/ { v = $2 } /^PATCHLEVEL/ { p = $2 }
		/^SUBLEVEL/ { print v "." p "." $2; exit }' "$1"
}

# choose_patches X.Y: sets patches to the directory of patches/ for Linux X.Y, and
# hooks to the paths of the hooks, in order.
choose_patches() {
	local name f
	patches=$here/patches/$1
	[ -d "$patches" ] || patches=$here/patches/${1%%.*}.x
	[ -d "$patches" ] ||
		die "there are no patches for Linux $1 in $here/patches, only for: $(cd "$here/patches" && echo ?*)"
	hooks=()
	while read -r name; do
		case $name in '' | '#'*) continue ;; esac
		f=$patches/$name
		[ -e "$f" ] || f=$here/patches/$hooks_base/$name
		[ -e "$f" ] || die "there is no $f"
		hooks+=("$f")
	done <"$here/patches/$hooks_base/series"
	for f in "$patches"/*.patch; do
		[[ " ${hooks[*]} " = *" $f "* ]] || [ ! -e "$f" ] ||
			die "$f is not in $here/patches/$hooks_base/series"
	done
}

# choose_fixes X.Y: sets fixes to the paths of the patches of fixes/ for Linux X.Y, in order.
choose_fixes() {
	local own=$here/fixes/$1 f
	[ -d "$own" ] || own=$here/fixes/${1%%.*}.x
	fixes=()
	for f in "$here/fixes/$hooks_base"/*.patch; do
		[ ! -e "$own/${f##*/}" ] || f=$own/${f##*/}
		fixes+=("$f")
	done
}

# apply_fixes DIR: applies the chosen fixes to the kernel source in DIR, but those that it has.
apply_fixes() {
	local before file fix log i there=()
	# A fix can change lines around those of an earlier one, so what the source has is found from the
	# last to the first, each taken out of a copy before the one below it is looked for.
	before=$(mktemp -d)
	(cd "$1" && sed -n 's|^+++ b/||p' "${fixes[@]}" | sort -u | while IFS= read -r file; do
		[ ! -e "$file" ] || cp --parents -t "$before" "$file"
	done)
	for ((i = ${#fixes[@]} - 1; i >= 0; i--)); do
		if ! patch -d "$before" -p1 --fuzz=0 -s -f --dry-run <"${fixes[i]}" >/dev/null 2>&1 &&
			patch -d "$before" -p1 --fuzz=0 -s -f -R --dry-run <"${fixes[i]}" >/dev/null 2>&1; then
			patch -d "$before" -p1 --fuzz=0 -s -R --no-backup-if-mismatch <"${fixes[i]}"
			there[i]=1
		fi
	done
	rm -rf "$before"
	for i in "${!fixes[@]}"; do
		[ -z "${there[i]-}" ] || continue
		fix=${fixes[i]}
		if ! log=$(patch -d "$1" -p1 --fuzz=0 -s -f --dry-run <"$fix" 2>&1); then
			echo "$log" >&2
			die "$fix does not apply without fuzz, and is not in the source either"
		fi
		patch -d "$1" -p1 --fuzz=0 -s --no-backup-if-mismatch <"$fix"
	done
}

# make_repository: makes the current directory, with the source of Linux $version, a git repository
# of the sender's; "base" tags the source.
make_repository() {
	# Of its own, also if a directory above is one.
	unset GIT_DIR GIT_WORK_TREE GIT_INDEX_FILE
	export GIT_CONFIG_GLOBAL=/dev/null GIT_CONFIG_SYSTEM=/dev/null
	sender=$(cat "$here/upstream/sender")
	GIT_AUTHOR_NAME=${sender% <*} GIT_AUTHOR_EMAIL=${sender##* <}
	GIT_AUTHOR_EMAIL=${GIT_AUTHOR_EMAIL%>}
	export GIT_AUTHOR_NAME GIT_AUTHOR_EMAIL
	export GIT_COMMITTER_NAME=$GIT_AUTHOR_NAME GIT_COMMITTER_EMAIL=$GIT_AUTHOR_EMAIL
	git -c init.defaultBranch=series init -q .
	git config core.safecrlf false
	git config gc.auto 0
	git add -Af .
	git commit -q -m "Linux $version, in part"
	git tag base
}

# commit_patch PATCH: commits the patch with its own message, signed off by the sender; git's words
# are in $out/am.log.
commit_patch() {
	signed_off <"$1" | git am -q --keep-cr >"$out/am.log" 2>&1 || {
		cat "$out/am.log" >&2
		die "${1##*/} does not apply to $version"
	}
	git commit -q --amend --no-edit --author="$sender"
}

# signed_off: copies stdin with the copyright and the sign-off of upstream/sender.
signed_off() {
	local sender
	sender=$(cat "$here/upstream/sender")
	sed -E -e "s|^([ +-]? \* Copyright [0-9]+) .*|\1 ${sender% <*}|" -e "s|^Signed-off-by: .*|Signed-off-by: $sender|"
}

# copy_overlay DIR DIRECTORY...: copies these directories of the overlay (drivers,
# include, ...) into DIR, and applies overlay.diff of the chosen version.
copy_overlay() {
	local dir log
	dir=$(cd "$1" && pwd) || die "there is no directory $1"
	shift
	(cd "$here" && cp -r --parents "$@" "$dir/") || die "the overlay cannot be copied"
	[ -e "$patches/overlay.diff" ] || return 0
	log=$(patch -d "$dir" -p1 --fuzz=0 -s --no-backup-if-mismatch <"$patches/overlay.diff" 2>&1) || {
		echo "$log" >&2
		die "$patches/overlay.diff does not apply to the files of $here; it has to be adapted"
	}
}
