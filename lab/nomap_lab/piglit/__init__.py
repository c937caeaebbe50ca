# SPDX-License-Identifier: MIT
"""What lab/piglit needs: Debian's piglit, choice of tests, results and their judgement."""
