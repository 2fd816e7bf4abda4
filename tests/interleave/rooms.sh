#!/bin/sh
# Rooms that are compiled without the scheduler's types (core/cmake/dataline_compile.cmake) must not see them: they would
# be of another size there.  rooms.sh NINJA BUILD_FOLDER
# SPDX-License-Identifier: Apache-2.0
"$1" -C "$2" -t deps | awk '
  /^core.(order|transform)/ { inside = 1; seen = 1 }
  /^$/ { inside = 0 }
  inside && /core.base.atomic[.]h/ { bad = 1; print }
  END { exit bad || !seen }'
