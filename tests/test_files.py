"""Files are written whole or not at all."""

from __future__ import annotations

import os
import stat
from pathlib import Path

import pytest

from bitsieve.report import write_atomically


def test_replaces_the_old_content_and_leaves_nothing_else(tmp_path: Path) -> None:
    path = tmp_path / "deep" / "folder" / "a.txt"
    write_atomically(path, b"one")
    assert write_atomically(path, b"two") == path
    assert path.read_bytes() == b"two"
    assert os.listdir(path.parent) == ["a.txt"]


def test_a_failed_write_keeps_the_old_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "a.txt"
    write_atomically(path, b"old")

    def full(_: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(OSError, match="No space left on device") as caught:
        write_atomically(path, b"new")
    assert caught.value.filename == str(path)
    assert path.read_bytes() == b"old"
    assert os.listdir(tmp_path) == ["a.txt"]


@pytest.mark.skipif(os.name == "nt", reason="Windows has no umask")
def test_permissions_follow_the_umask(tmp_path: Path) -> None:
    old = os.umask(0o027)
    try:
        path = write_atomically(tmp_path / "a.txt", b"")
    finally:
        os.umask(old)
    assert stat.S_IMODE(path.stat().st_mode) == 0o640


@pytest.mark.skipif(os.name == "nt", reason="Windows has no umask")
def test_the_umask_of_the_process_is_never_touched(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # Other threads make files too, and theirs would be open to all meanwhile.
    monkeypatch.setattr(os, "umask", None)
    write_atomically(tmp_path / "a.txt", b"")


def test_a_name_as_long_as_the_file_system_allows(tmp_path: Path) -> None:
    path = tmp_path / ("β" * 125 + ".txt")
    assert write_atomically(path, b"one").read_bytes() == b"one"


@pytest.mark.skipif(os.name != "posix", reason="only there a folder can be flushed")
def test_file_and_folder_reach_the_disk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    flushed: list[bool] = []
    plain = os.fsync

    def fsync(descriptor: int) -> None:
        flushed.append(stat.S_ISDIR(os.fstat(descriptor).st_mode))
        plain(descriptor)

    monkeypatch.setattr(os, "fsync", fsync)
    write_atomically(tmp_path / "a.txt", b"")
    assert flushed == [False, True]


@pytest.mark.skipif(os.name != "posix", reason="only there a folder can be flushed")
def test_a_folder_that_cannot_be_flushed_is_no_failure(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fsync(descriptor: int) -> None:
        if stat.S_ISDIR(os.fstat(descriptor).st_mode):
            raise OSError(22, "Invalid argument")

    monkeypatch.setattr(os, "fsync", fsync)
    assert write_atomically(tmp_path / "a.txt", b"one").read_bytes() == b"one"
