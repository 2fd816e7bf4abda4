"""Methods that are as the calls of the header.

Generated from capi/api.json by capi/api/generate.py; do not edit.

SPDX-License-Identifier: Apache-2.0
"""

from __future__ import annotations

from . import _core
from ._rows import whole
from ._structs import OpenProgress, Stats, Tuned


class Dataset(_core.Dataset):
    """The base of ``dataline.Dataset``."""


class Loader(_core.Loader):
    """The base of ``dataline.Loader``."""

    def stats(self) -> Stats:
        """Counters since the loader was created. delivered + skipped + dropped = the number of slots of this rank
        in the epochs so far."""
        return Stats(**self._stats())

    def set_workers(self, count: int) -> None:
        """Sets the number of active workers: 1 to ``Tuned.most_workers``. Other workers finish the rows that they
        are loading and then sleep. This ends tuning. Never blocks for long. Any thread.

        Raises DataError, WrongStateError (created with ``num_workers=0``), ForkedError.

        It may still change in a minor release.
        """
        self._set_workers(whole(count, "count"))

    def tuned(self) -> Tuned:
        """The workers and the depth in use, and what tuning does or would do. Any thread.

        It may still change in a minor release.
        """
        return Tuned(**self._tuned())


class Opening(_core.Opening):
    """The base of ``dataline.Opening``."""

    def progress(self) -> OpenProgress:
        """The progress of an opening. All numbers only grow. The library lists files before it opens the first
        one, so totals grow as well, but a total is never less than the part that is done. Log lines with
        ``"progress"`` contain the same numbers.

        Never blocks. Any thread.

        It may still change in a minor release.
        """
        return OpenProgress(**self._progress())


class Writer(_core.Writer):
    """The base of ``dataline.Writer``."""
