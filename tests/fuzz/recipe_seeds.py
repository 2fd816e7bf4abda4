"""Recipes of mixes as seeds.

SPDX-License-Identifier: Apache-2.0
"""

A, B = '{"name": "a", "uri": "npy:a.npy", "weight": 1}', '{"name": "b", "uri": "npy:b%20.npy?x=1", "weight": 0.25e-3}'
RECIPES = [
    '{"parts": [' + A + "]}",
    '{"parts": [' + A + ",\n" + B + '], "schedule": [{"step": 5, "weights": {"a": 0, "b": 1}}], "samples_per_epoch": 70}\n',
    '{"schedule": [{"weights": {"b": 1e300}, "step": 1}], "parts": [' + B + "]}",
    '{"parts": [{"uri": "a,b", "repeat": 2.5}, {"uri": "c", "repeat": 1}]}',
    '{"parts": [{"uri": "\\u00e4\\ud83d\\ude00\\"\\\\", "weight": 3}]}',
    '{"parts": [' + A + ", " + A + "]}",
    '{"parts": [{"uri": "a", "weight": 1, "repeat": 1}]}',
    '{"parts": [{"uri": "a", "weight": -1}]}',
    '{"parts": [{"uri": "a", "weight": 1e999}]}',
    '{"parts": [' + A + '], "schedule": [{"step": 0, "weights": {}}]}',
    '{"parts": [' + A + '], "samples_per_epoch": 18446744073709551616}',
    '{"part": []}',
    "{",
    "[]",
    "",
]


def seeds():
    for at, text in enumerate(RECIPES):
        yield f"recipe-{at:02}", text.encode()
