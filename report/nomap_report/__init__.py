# SPDX-License-Identifier: MIT
"""What nomap does on a real card: runs tests, collects what tells about them, nothing personal."""
