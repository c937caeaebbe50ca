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
# exec_xorg CONFIG OUT [OPTION...]: becomes Xorg on :0, with its logs xorg.log and xorg.out in OUT.
exec_xorg() {
	exec Xorg :0 -config "$1" -logfile "$2/xorg.log" -noreset -nolisten tcp -dpi 96 \
		vt1 -novtswitch "${@:3}" >"$2/xorg.out" 2>&1
}
# start_xorg CONFIG OUT [OPTION...]: the same in a process of its own, which is in xorg_pid; waits until it answers.
start_xorg() {
	exec_xorg "$@" &
	xorg_pid=$!
	await :0 $xorg_pid
}
# start_server KIND OUT TEMPLATE BUS: a server on :0, with its logs xorg.log and xorg.out in OUT; its process is in
# xorg_pid. KIND is one of
#   modesetting    Xorg's own driver, with glamor
#   radeon         xf86-video-ati with glamor
#   exa            the same with EXA
#   exa-nomap      xf86-video-ati with our patches, and libdrm_radeon with ours, with EXA
#   xvfb           draws in software
# With EXA, exa_dri=3 has it offer DRI3. Returns 1, with a message, if the server does not come up; 2 if it runs, but
# without the acceleration of its kind, with which it would draw the same and be no case.
start_server() {
	local driver=radeon accel=EXA what='Acceleration enabled'
	local -a ours=()
	xorg_pid=
	case $1 in
	modesetting) driver=modesetting accel=glamor what='glamor X acceleration enabled' ;;
	radeon) accel=glamor what='glamor X acceleration enabled|Use GLAMOR acceleration' ;;
	exa) ;;
	exa-nomap) ours=(-modulepath "/run/nomap-ddx,/usr/lib/xorg/modules") ;;
	xvfb) ;;
	*) echo "there is no server $1" >&2; return 1 ;;
	esac
	write_config "$3" /tmp/xorg.conf "$4" "$driver" "$accel"
	[ "$accel" = glamor ] || [ -z "${exa_dri-}" ] || sed -i "/AccelMethod/a\\\tOption \"DRI\" \"$exa_dri\"" /tmp/xorg.conf
	if [ "$1" = exa-nomap ]; then
		# Copied from 9p, as programs map them.
		cp -r /build/ddx/modules /run/nomap-ddx && cp -L /build/libdrm/lib/libdrm_radeon.so.1 /run/ || return 1
	fi
	(
		[ "$1" != exa-nomap ] || export LD_LIBRARY_PATH=/run
		[ "$1" != xvfb ] || exec Xvfb :0 -screen 0 1024x768x24 -noreset -nolisten tcp -dpi 96 >"$2/xorg.out" 2>&1
		exec_xorg /tmp/xorg.conf "$2" "${ours[@]}"
	) &
	xorg_pid=$!
	if ! await :0 $xorg_pid; then
		echo "$1: the server did not come up" >&2
		tail -n 20 "$2"/xorg.* >&2
		return 1
	fi
	if [ "$1" != xvfb ] && ! grep -Eq "$what" "$2/xorg.log"; then
		echo "$1: its log does not say '$what'" >&2
		return 2
	elif [ "$1" = exa-nomap ] && ! grep -q 'Loading /run/nomap-ddx/drivers/radeon_drv.so' "$2/xorg.log"; then
		echo "$1: the server has not loaded our driver" >&2
		return 2
	fi
}
# stop_server: ends the server that start_server has started, if there is one.
stop_server() { [ -z "$xorg_pid" ] || { kill "$xorg_pid" && wait "$xorg_pid"; }; }
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
# settled: waits until nothing on the screen has changed for three seconds; fails if that takes more than two minutes.
settled() {
	local i
	rm -f /tmp/a.xwd
	for ((i = 0; i < 40; i++)); do
		still && return
	done
	return 1
}
