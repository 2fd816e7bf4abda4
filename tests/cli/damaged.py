"""What the tests of damaged sets and files share: flipped bits, records of TFRecord, recoveries and their reports.

SPDX-License-Identifier: Apache-2.0
"""

import json
import shutil
import struct

from shell import ShellTest

TABLE = []
for byte in range(256):
    for _ in range(8):
        byte = byte >> 1 ^ (0x82F63B78 if byte & 1 else 0)
    TABLE.append(byte)


def masked(data):
    """TFRecord's masked CRC-32C."""
    crc = 0xFFFFFFFF
    for byte in data:
        crc = crc >> 8 ^ TABLE[(crc ^ byte) & 255]
    crc ^= 0xFFFFFFFF
    return struct.pack("<I", ((crc >> 15 | crc << 17) + 0xA282EAD8) & 0xFFFFFFFF)


def record(data):
    length = struct.pack("<Q", len(data))
    return length + masked(length) + data + masked(data)


class Damage(ShellTest):
    def flip(self, name, at):
        data = bytearray(self.read(name))
        data[at] ^= 1
        self.write(name, bytes(data))

    def recover(self, uri, *args):
        """The report of a recovery into arrow:saved."""
        shutil.rmtree(self.path("saved"), ignore_errors=True)
        ran = self.run_shell("recover", uri, "arrow:saved", "--json", *args)
        self.assertEqual(ran.status, 0, ran.err)
        return json.loads(ran.out)

    def saved(self, field=None):
        return self.ok("cat", "arrow:saved", *(["--field", field] if field else []))

    def verify(self, uri, *args):
        ran = self.run_shell("verify", uri, "--json", *args)
        return ran.status, json.loads(ran.out)
