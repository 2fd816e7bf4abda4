"""Reasons for which a test may be skipped in a part that is stored all the same: what would let it run is in the part's key.

A reason that is not here keeps its part out of the store: the part runs again every time, until the reason is gone or is listed.

SPDX-License-Identifier: Apache-2.0
"""

import re

# (reason, what in the key changes when the test can run)
KNOWN = [(re.compile(pattern), why) for pattern, why in (
    (r"built without|this build has|this libjpeg makes no", "packages"),
    (r"is not installed|no Python (here|with)|has no numpy|No module named|not installed for any Python|cannot be downloaded",
     "tools: python; packages"),
    (r"there is no (clang|C compiler|prometheus|python3|cargo|Chromium)", "tools; packages"),
    (r"is not (here|there)|is absent", "data"),
    (r"root reads everything|root's rights cannot be given up", "machine: the user"),
    (r"the sanitizer has a malloc of its own|sanitizers need the address space|this build stops (at|there)", "the command: the preset"),
    (r"no sparse file|no locale with|sets no seccomp filters|no address space|DATALINE_CUDA_LIBRARY|real driver", "machine"),
    (r"another test of this process has installed the handler", "the command"),
)]


def unknown(skips):
    """The skips ("test: reason") whose reason is not listed above."""
    return [skip for skip in skips if not any(pattern.search(skip) for pattern, _ in KNOWN)]
