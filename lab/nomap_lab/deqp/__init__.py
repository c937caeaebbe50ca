# SPDX-License-Identifier: MIT
"""What lab/deqp needs: the source of VK-GL-CTS, case lists, and what Mesa CI has seen."""
