"""Seeds: decode_webp_seeds.py FOLDER.

SPDX-License-Identifier: Apache-2.0
"""

import image_seeds

image_seeds.write({"webp"})
