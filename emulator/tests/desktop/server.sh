# SPDX-License-Identifier: MIT
# shellcheck shell=bash
# An X server on the board, for scripts in a guest. Sourced.

# board_bus: the board's PCI address in Xorg's form; fails without a board.
board_bus() {
	local slot
	slot=$(lspci -D -d 1002: | head -n 1 | cut -d' ' -f1)
	[[ $slot =~ ^0000:(..):(..)\.(.)$ ]] || return 1
	echo "PCI:$((16#${BASH_REMATCH[1]})):$((16#${BASH_REMATCH[2]})):${BASH_REMATCH[3]}"
}
# board_chip: what radeon and Mesa call the board's chip: "RV770", "TURKS"; fails if radeon has not said it.
board_chip() { dmesg | sed -n 's/.*initializing kernel modesetting (\([A-Z0-9]*\) .*/\1/p' | grep .; }
# write_config TEMPLATE FILE BUS DRIVER [ACCEL]: Xorg's configuration; ACCEL is glamor (default) or EXA.
write_config() {
	sed "s/@BUSID@/$3/; s/@DRIVER@/$4/; s/\"glamor\"/\"${5:-glamor}\"/" "$1" >"$2"
}
# await DISPLAY PID: until a server answers; fails if its process ends or it does not within 90 s.
await() {
	local i
	for ((i = 0; i < 900; i++)); do
		DISPLAY=$1 xset q >/dev/null 2>&1 && return
		kill -0 "$2" || return 1
		sleep 0.1
	done
	return 1
}
# start_xorg CONFIG OUT [OPTION...]: Xorg on :0, with its logs xorg.log and xorg.out in OUT; its process is in xorg_pid.
start_xorg() {
	Xorg :0 -config "$1" -logfile "$2/xorg.log" -noreset -nolisten tcp -dpi 96 \
		vt1 -novtswitch "${@:3}" >"$2/xorg.out" 2>&1 &
	xorg_pid=$!
	await :0 $xorg_pid
}
# picture FILE: the whole screen.
picture() { xwd -root -silent | xwdtopnm 2>/dev/null | pnmtopng >"$1" 2>/dev/null; }
# board_maps PID: mappings of BOs that a process has.
board_maps() { grep -c ' /dev/dri/' "/proc/$1/maps"; }
# still: waits three seconds; is the screen as at the call before? The first one has /tmp/a.xwd removed.
still() {
	sleep 3
	xwd -root -silent -out /tmp/b.xwd || return 1
	cmp -s /tmp/a.xwd /tmp/b.xwd && return
	mv /tmp/b.xwd /tmp/a.xwd
	return 1
}
