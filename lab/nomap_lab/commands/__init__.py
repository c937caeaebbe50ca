# SPDX-License-Identifier: MIT
"""The lab's commands, lab/NAME."""
