# SPDX-License-Identifier: MIT
"""The lab: builds nomap's parts, boots guests with the emulated board, and runs the tests."""
