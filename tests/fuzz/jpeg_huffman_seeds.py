"""Seeds: jpeg_huffman_seeds.py FOLDER.

SPDX-License-Identifier: Apache-2.0
"""

import image_seeds

image_seeds.write({"jpeg"})
