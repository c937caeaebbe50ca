# SPDX-License-Identifier: MIT
"""Programs in a guest whose Mesa uses an address space of the chip's VM: on Cayman, with RADEON_VA."""

from __future__ import annotations

from collections.abc import Sequence

#: Runs its arguments. Fails if radeon has not set the page directory of any VM context meanwhile, as it does for the first
#: submission of a client with an address space.
SCRIPT = r"""
events=/sys/kernel/tracing/events/radeon/radeon_vm_flush
echo 1 >$events/enable && RADEON_VA=true "$@"
status=$?
flushes=$(grep -c radeon_vm_flush: /sys/kernel/tracing/trace)
echo "$flushes flushes of VM contexts" >&2
[ $status -ne 0 ] || [ "$flushes" -gt 0 ] || { echo "no address space was used" >&2; status=1; }
exit $status
"""


def in_space(command: Sequence[str]) -> list[str]:
    """The words that run `command` in a guest so."""
    return ["sh", "-c", SCRIPT, "sh", *command]
