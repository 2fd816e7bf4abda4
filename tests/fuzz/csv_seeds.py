"""CSV as seeds, a byte of settings before each.

SPDX-License-Identifier: Apache-2.0
"""

import csv
import io


def seeds():
    rows = [["t", "a", "x", "b"], ["plain", "1", "-2.5e3", "true"], ['say "hi", \n', "2", "nan", "0"], ["\u00e9\u20ac", "", "1e-400", "False"], ["", "7", "inf", "1"]]

    def text(**dialect):
        out = io.StringIO(newline="")
        csv.writer(out, **dialect).writerows(rows)
        return out.getvalue()
    texts = {
        "plain": text(),
        "lf": text(lineterminator="\n"),
        "quoted": text(quoting=csv.QUOTE_ALL),
        "semicolon": text(delimiter=";"),
        "mark": "\ufeff" + text(),
        "blank": "\n\n" + text().replace("\r\n", "\r\n\r\n"),
        "no-end": text().rstrip(),
        "odd": 't,a,x,b\n5" pipe,1,2,true\n"a"b,1,2,0\nx,1\n\xff,2,3,1\n',
    }
    for name, each in texts.items():
        for keys in range(5):
            yield f"{name}-{keys}", bytes([keys]) + each.encode()
