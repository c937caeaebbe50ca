# SPDX-License-Identifier: MIT
"""The lab's commands: a module each, whose docstring is its --help."""
