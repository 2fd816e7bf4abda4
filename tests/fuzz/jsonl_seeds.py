"""JSON lines as seeds, a byte of settings before each.

SPDX-License-Identifier: Apache-2.0
"""

import json


def seeds():
    row = {"a": "text \n \u00e9 \U0001f600", "t": "plain", "n": [1, -2, 3], "f": 1.5e-3, "b": True, "m": {"b": [0.5, 2]}, "x": None}
    texts = {
        "one": json.dumps(row) + "\n",
        "utf8": json.dumps(row, ensure_ascii=False) + "\n",
        "many": "".join(json.dumps({**row, "n": list(range(i))}) + "\r\n" for i in range(9)),
        "no-end": json.dumps(row),
        "missing": json.dumps(row) + "\n{}\n" + json.dumps({"a": 1}) + "\n\n\n",
        "mark": "\ufeff" + json.dumps(row) + "\n",
        "deep": '{"m": {"m": {"b": [[1, 2], {"c": "\\ud83d\\ude00"}]}}, "a": 255}\n',
        "numbers": '{"a": 0, "n": [9223372036854775807, -9223372036854775808], "f": 1e-400, "b": false}\n',
    }
    for name, text in texts.items():
        for keys in range(5):
            yield f"{name}-{keys}", bytes([keys]) + text.encode()
