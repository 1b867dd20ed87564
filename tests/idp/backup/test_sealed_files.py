"""A file that only its passphrase opens, and only as it was written."""

from __future__ import annotations

import io
import struct

import pytest

from idp.backup import sealed_files
from idp.backup.sealed_files import (
    CHUNK,
    HEADER,
    TAG,
    Cost,
    DamagedBackup,
    SealedWriter,
    WrongPassphrase,
    decrypted,
)
from tests.support.random import SeededRandom

PASSPHRASE = "correct horse battery"
CHEAP = Cost(8, 1, 1)
SIZES = [0, 1, CHUNK - 1, CHUNK, CHUNK + 1, 3 * CHUNK, 3 * CHUNK + 5]


def sealed(content: bytes, passphrase=PASSPHRASE, cost=CHEAP, seed=0, piece=100_000) -> bytes:
    file = io.BytesIO()
    writer = SealedWriter(file, passphrase, SeededRandom(seed), cost)
    for start in range(0, len(content), piece):
        writer.write(content[start : start + piece])
    writer.finish()
    return file.getvalue()


def read(octets: bytes, passphrase=PASSPHRASE) -> bytes:
    return b"".join(decrypted(io.BytesIO(octets), passphrase))


def content(size: int) -> bytes:
    return SeededRandom(size).token_bytes(size)


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("piece", [1000, 10**6])
def test_what_was_sealed_is_read_again(size, piece):
    octets = sealed(content(size), piece=piece)

    assert read(octets) == content(size)
    chunks = max(1, -(-size // CHUNK))
    assert len(octets) == HEADER + size + chunks * TAG


def test_another_passphrase_opens_nothing():
    octets = sealed(b"text")

    for other in ("", "correct horse batterY", PASSPHRASE + " "):
        with pytest.raises(WrongPassphrase, match="not the passphrase"):
            read(octets, other)


def test_a_passphrase_is_the_same_however_its_letters_are_composed():
    assert read(sealed(b"text", "Gr\u00fc\u00dfe an alle"), "Gru\u0308\u00dfe an alle") == b"text"


def test_the_same_content_is_sealed_otherwise_each_time():
    assert sealed(b"text", seed=1)[HEADER:] != sealed(b"text", seed=2)[HEADER:]
    assert sealed(b"text", seed=1)[16:] != sealed(b"text", "another passphrase", seed=1)[16:]


def test_nothing_of_the_content_or_the_passphrase_is_in_the_file():
    octets = sealed(b"canary of the content" * 1000)

    assert b"canary" not in octets
    assert PASSPHRASE.encode() not in octets


def test_no_byte_can_be_changed():
    octets = sealed(content(100))

    for place in range(len(octets)):
        for mask in (1, 0x80, 0xFF):
            damaged = bytearray(octets)
            damaged[place] ^= mask
            with pytest.raises((DamagedBackup, WrongPassphrase)):
                read(bytes(damaged))


@pytest.mark.parametrize("size", [0, 10, 2 * CHUNK, 2 * CHUNK + 9])
def test_no_end_can_be_cut_off(size):
    octets = sealed(content(size))
    ends = {0, 1, HEADER - 1, HEADER, HEADER + TAG - 1, len(octets) - 1}
    ends |= {HEADER + n * (CHUNK + TAG) for n in range(3)}

    for end in {end for end in ends if end < len(octets)}:
        with pytest.raises(DamagedBackup):
            read(octets[:end])


def test_nothing_is_given_of_a_chunk_that_is_damaged():
    octets = bytearray(sealed(content(2 * CHUNK)))
    octets[-1] ^= 1
    chunks = decrypted(io.BytesIO(bytes(octets)), PASSPHRASE)

    assert next(chunks) == content(2 * CHUNK)[:CHUNK]
    with pytest.raises(DamagedBackup):
        next(chunks)


def chunks_of(octets: bytes) -> list[bytes]:
    return [octets[n : n + CHUNK + TAG] for n in range(HEADER, len(octets), CHUNK + TAG)]


def test_chunks_can_not_be_moved_doubled_left_out_or_taken_from_elsewhere():
    octets, other = sealed(content(4 * CHUNK)), sealed(content(4 * CHUNK), seed=9)
    header, (a, b, c, d) = octets[:HEADER], chunks_of(octets)
    foreign = chunks_of(other)[1]

    for spliced in ([b, a, c, d], [a, b, b, c, d], [a, c, d], [a, foreign, c, d], [a, b, c]):
        with pytest.raises(DamagedBackup):
            read(header + b"".join(spliced))
    for more in (b"\0", a, d):
        with pytest.raises(DamagedBackup):
            read(octets + more)
    with pytest.raises(DamagedBackup):
        read(other[:HEADER] + octets[HEADER:])


def with_cost(*cost: int) -> bytes:
    """A file whose header asks for that cost, as one who makes it on purpose would write it."""
    octets = bytearray(sealed(b"text"))
    octets[8:20] = struct.pack(">III", *cost)
    octets[36:44] = sealed_files._checksum(bytes(octets[:36]))
    return bytes(octets)


@pytest.mark.parametrize(
    "cost", [(2**32 - 1, 1, 1), (256 * 1024 + 1, 1, 1), (8, 17, 1), (8, 1, 17), (0, 1, 1)]
)
def test_a_file_that_asks_for_too_much_work_is_refused_before_any(cost, monkeypatch):
    octets = with_cost(*cost)
    monkeypatch.setattr(sealed_files, "hash_secret_raw", None)

    with pytest.raises(DamagedBackup, match="more costly"):
        read(octets)


def test_a_later_form_is_distinguished_from_damage():
    octets = bytearray(sealed(b"text"))
    octets[7] = 2
    octets[36:44] = sealed_files._checksum(bytes(octets[:36]))

    with pytest.raises(DamagedBackup, match="later version"):
        read(bytes(octets))


@pytest.mark.parametrize("octets", [b"", b"PK\x03\x04", b"SQLite format 3\0" * 10, b"idp-bak"])
def test_what_is_no_backup_is_reported_as_such(octets):
    with pytest.raises(DamagedBackup):
        read(octets)


def test_the_usual_cost_is_slow_for_who_guesses_and_within_the_bounds():
    assert sealed_files.COST >= (64 * 1024, 3, 1)
    assert all(a <= b for a, b in zip(sealed_files.COST, sealed_files._BOUNDS, strict=True))


def test_a_file_that_can_not_be_read_is_reported():
    class Broken(io.BytesIO):
        def read(self, size=-1):
            raise OSError(5, "Input/output error")

    with pytest.raises(DamagedBackup, match="Input/output"):
        read(b"".join(decrypted(Broken(), PASSPHRASE)))
