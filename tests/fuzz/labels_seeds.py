"""Lists of labels as seeds.

SPDX-License-Identifier: Apache-2.0
"""

LISTS = ["path,label\na.jpg,1\nb.jpg,2\n", "a.jpg,cat\r\nb.jpg,dog\r\n", "label,other,PATH\n1,x,\"a,\"\"b\"\".jpg\"\n", "a,1\n\n\n", "a,1\n\nb,2\n",
         "\"a\nb\",1\nc,2", "a\"b,1\n", "\"a\"b,1\n", "a\rb,1\n", "\"open,1\n", "path,path,label\n", "a\n", "a,b,c\n", "path,label", "\n", ",\n", "\"\",\"\"\n",
         '{"path": "a.jpg", "label": 1}\n{"label": "cat", "path": "b\\u00e4\\ud83d\\ude00.jpg"}\n',
         '{"path":"a","label":-0,"x":[1,2.5e-3,true,false,null,{"y":[]}]}\n\n', '{"path":"a","label":1.5}\n', '{"path":"a","label":01}\n',
         '{"path":"a"}\n', '{"path":"a","path":"b","label":1}\n', '{"path":"\\ud800","label":1}\n', '{"path":"\\q","label":1}\n', '{}x\n', '[1]\n',
         '{"path":"a","label":1,"deep":' + "[" * 40 + "]" * 40 + "}\n", '{"path":"a\\u0000b","label":"\\n\\t\\"\\\\\\/"}\n']


def seeds():
    for at, text in enumerate(LISTS):
        yield f"list-{at:02}", text.encode()
