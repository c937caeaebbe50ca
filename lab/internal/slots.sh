# SPDX-License-Identifier: MIT
# shellcheck shell=bash
# Places for guests: as many run at a time as the machine carries, in all checkouts that
# share $NOMAP_CACHE. A place is a file guest.lock.N in the cache, locked by the run that has
# it and by what that started. Sourced by lab/run; its file descriptors 8 and up stay open.
#
# Lock order: guest.queue (held only while waiting for a place), then
# guest.lock.0, 1, ... A run that wants all of them takes them in this order, with the queue
# held, so that no other overtakes it.

# guest_slots: prints the number of places, the same in all checkouts of a machine.
guest_slots() {
	local n mem
	n=$(nproc --all)
	mem=$(awk '/^MemTotal:/ { print int($2 / 4194304) }' /proc/meminfo)
	n=$((mem < n ? mem : n))
	n=${NOMAP_GUESTS:-$n}
	[[ $n =~ ^[0-9]+$ ]] && [ "$n" -ge 1 ] || n=1
	printf '%s\n' "$n"
}

# take_slot EXCLUSIVE: waits for a place, or for all of them if EXCLUSIVE is 1, and keeps
# it until this shell and its children have ended.
take_slot() {
	local n i fd said='' queue
	n=$(guest_slots)
	use_cache
	exec {queue}>"$NOMAP_CACHE/guest.queue"
	flock -n "$queue" || {
		say "waiting for another guest to end"
		said=1
		flock "$queue"
	}
	if [ "$1" = 1 ]; then
		# Take all places that exist: another checkout may use more (NOMAP_GUESTS).
		for fd in "$NOMAP_CACHE"/guest.lock.*; do
			i=${fd##*.}
			[[ ! $i =~ ^[0-9]+$ ]] || [ "$i" -lt "$n" ] || n=$((i + 1))
		done
		for ((i = 0; i < n; i++)); do
			exec {fd}>"$NOMAP_CACHE/guest.lock.$i"
			flock -n "$fd" && continue
			[ -n "$said" ] || say "waiting for all other guests to end"
			said=1
			flock "$fd"
		done
	else
		while :; do
			for ((i = 0; i < n; i++)); do
				exec {fd}>"$NOMAP_CACHE/guest.lock.$i"
				if flock -n "$fd"; then
					exec {queue}>&-
					return 0
				fi
				exec {fd}>&-
			done
			[ -n "$said" ] || say "waiting for another guest to end"
			said=1
			sleep 0.3
		done
	fi
	exec {queue}>&-
}
