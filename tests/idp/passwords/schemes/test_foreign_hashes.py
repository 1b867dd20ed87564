"""Password hashes of other systems, against those systems' own vectors and other people's code."""

from __future__ import annotations

import ctypes
import functools
import random
import re
import string

import passlib.hash
import pytest
from werkzeug.security import generate_password_hash

from idp.config.settings import Config
from idp.passwords import schemes
from idp.passwords.hashing import Hasher, Verdict
from idp.passwords.schemes import UnreadableHash, WeakHash, crypt_base64, phpass, yescrypt
from tests.support.slices import one_in
from tests.support.transfer.foreign_hashes import VERIFIED
from tests.support.transfer.refused_hashes import REFUSED, TOO_WEAK

EVERY = [row for rows in VERIFIED.values() for row in rows]
ENCODED = [encoded for _, encoded in EVERY]

# How a hash is spoilt: each changes one character, to another that may stand there.
ALPHABETS = ["0123456789abcdef", string.ascii_letters + string.digits]


@pytest.fixture(scope="module")
def hasher():
    hasher = Hasher(Config())
    yield hasher
    hasher.close()


@pytest.mark.promise("user creation: hashedPassword")
@pytest.mark.full
@pytest.mark.parametrize(("password", "encoded"), EVERY, ids=ENCODED)
async def test_a_hash_from_elsewhere_verifies_its_password_and_no_other(hasher, password, encoded):
    near = password[:-1] + chr(ord(password[-1]) ^ 1) if password else "x"

    if not password:  # PHPass has a vector for no password at all; here that is no password
        assert schemes.read(encoded).verify(b"")
    else:
        assert await hasher.verify(password, encoded) == Verdict(True, needs_rehash(encoded))
    assert await hasher.verify(near, encoded) == Verdict(False, False)


def needs_rehash(encoded):
    return not encoded.startswith("$argon2id$v=19$m=19456,t=2,p=1$")


@pytest.mark.full
@pytest.mark.parametrize(("password", "encoded"), one_in(12, EVERY, first=1))
def test_whatever_character_of_a_hash_is_another_it_does_not_verify(password, encoded):
    alphabet = ALPHABETS["$" not in encoded or encoded.startswith(("pbkdf2:", "scrypt:")) is False]
    for at in random.Random(encoded).sample(range(len(encoded) // 2, len(encoded)), 3):
        other = next(each for each in alphabet if each != encoded[at])
        try:
            spoilt = schemes.read(encoded[:at] + other + encoded[at + 1 :])
        except UnreadableHash:
            continue
        assert not spoilt.verify(password.encode()) or is_same_hexadecimal(encoded)


def is_same_hexadecimal(encoded):
    return encoded.upper() == encoded


@pytest.mark.parametrize("encoded", ENCODED)
def test_what_is_brought_is_as_expensive_as_the_settings_say(encoded):
    if encoded not in TOO_WEAK:
        assert schemes.read_imported(encoded, Config())
        return

    with pytest.raises(WeakHash, match=TOO_WEAK[encoded]) as refused:
        schemes.read_imported(encoded, Config())

    strength = schemes.read(encoded).strength
    assert refused.value.error_code == "password_hash.too_weak"
    assert str(getattr(Config(), strength.setting)) in refused.value.message
    assert schemes.read_imported(encoded, Config(**{strength.setting: strength.value}))
    with pytest.raises(WeakHash):
        schemes.read_imported(encoded, Config(**{strength.setting: strength.value + 1}))


@pytest.mark.parametrize("encoded", REFUSED)
def test_what_is_not_verified_is_refused_with_the_reason(encoded):
    with pytest.raises(UnreadableHash, match=re.escape(REFUSED[encoded])) as refused:
        schemes.read(encoded)

    assert refused.value.error_code == "password_hash.unreadable"


def test_every_format_has_a_vector():
    found = {max(filter(each.startswith, schemes.SCHEMES), key=len) for each in ENCODED}

    assert found == {*schemes.SCHEMES}


# Other people's code as an oracle


def werkzeug(method):
    return functools.partial(generate_password_hash, method=method)


def libpass(name, **settings):
    made = getattr(passlib.hash, name)
    return lambda password: (made.using(**settings) if settings else made).hash(password)


def drupal(password):
    """As Drupal's includes/password.inc does it, character by character."""
    import hashlib

    salt = "".join(random.choices(crypt_base64.ALPHABET, k=8))
    digest = hashlib.sha512((salt + password).encode()).digest()
    for _ in range(2**7):
        digest = hashlib.sha512(digest + password.encode()).digest()
    bits = "".join(f"{octet:08b}"[::-1] for octet in digest)
    values = [int(bits[at : at + 6][::-1], 2) for at in range(0, 43 * 6, 6)]
    letters = "".join(crypt_base64.ALPHABET[value] for value in values)
    return f"$S${crypt_base64.ALPHABET[7]}{salt}{letters}"


def libcrypt(prefix):
    def made(password):
        library = yescrypt.usable_library()
        library.crypt_gensalt_rn.restype = ctypes.c_char_p
        chance, room = random.randbytes(16), ctypes.create_string_buffer(256)
        salt = library.crypt_gensalt_rn(prefix, ctypes.c_ulong(3), chance, 16, room, 256)
        return library.crypt_r(
            password.encode(), salt, ctypes.create_string_buffer(262144)
        ).decode()

    return made


ORACLES = {
    "argon2id": libpass("argon2", memory_cost=64, rounds=1, parallelism=1),
    "argon2i": libpass("argon2", type="I", memory_cost=64, rounds=2, parallelism=2),
    "bcrypt": libpass("bcrypt", rounds=4),
    "scrypt": libpass("scrypt", rounds=4),
    "pbkdf2": libpass("pbkdf2_sha1", rounds=10),
    "pbkdf2-sha256": libpass("pbkdf2_sha256", rounds=11),
    "pbkdf2-sha512": libpass("pbkdf2_sha512", rounds=12),
    "md5-crypt": libpass("md5_crypt"),
    "sha256-crypt": libpass("sha256_crypt", rounds=1000),
    "sha512-crypt": libpass("sha512_crypt", rounds=1001),
    "sha512-crypt of the usual rounds": libpass("sha512_crypt", rounds=5000),
    "phpass": libpass("phpass", rounds=7),
    "phpass of phpBB": libpass("phpass", rounds=7, ident="$H$"),
    "drupal7": drupal,
    "md5": libpass("hex_md5"),
    "sha1": libpass("hex_sha1"),
    "{SHA}": libpass("ldap_sha1"),
    "{SSHA}": libpass("ldap_salted_sha1"),
    "{SSHA256}": libpass("ldap_salted_sha256"),
    "{SSHA512}": libpass("ldap_salted_sha512"),
    "django pbkdf2": libpass("django_pbkdf2_sha256", rounds=10),
    "django pbkdf2 sha1": libpass("django_pbkdf2_sha1", rounds=10),
    "django argon2": libpass("django_argon2", memory_cost=64, rounds=1, parallelism=1),
    "django bcrypt": libpass("django_bcrypt", rounds=4),
    "django bcrypt_sha256": libpass("django_bcrypt_sha256", rounds=4),
    "werkzeug pbkdf2": werkzeug("pbkdf2:sha256:10"),
    "werkzeug pbkdf2 sha512": werkzeug("pbkdf2:sha512:10"),
    "werkzeug scrypt": werkzeug("scrypt:1024:8:1"),
    "yescrypt": libcrypt(b"$y$"),
}
LETTERS = string.printable[:95] + "äßéñЖ漢🦊"


def verifies_what(oracle, chance, length):
    password = "".join(chance.choices(LETTERS, k=length))
    stored, octets = schemes.read(oracle(password)), password.encode()
    assert stored.verify(octets), password
    assert not stored.verify(octets[:-1]), password
    assert not stored.verify(bytes([octets[0] ^ 1]) + octets[1:]), password


# bcrypt ends at 72 bytes.
@pytest.mark.full
@pytest.mark.parametrize("name", ORACLES)
def test_what_other_peoples_code_makes_verifies(name):
    chance = random.Random(name)
    for length in (1, 2, 7, 8, 15, 16, 17):
        verifies_what(ORACLES[name], chance, length)


@pytest.mark.load
@pytest.mark.parametrize("name", ORACLES)
def test_a_hundred_hashes_of_other_peoples_code_verify(name):
    chance, longest = random.Random(name), 17 if "bcrypt" in name else 128
    for _ in range(100):
        verifies_what(ORACLES[name], chance, chance.randint(1, longest))


@pytest.mark.parametrize("length", [63, 64, 65, 100])
@pytest.mark.parametrize("name", ["md5-crypt", "sha256-crypt", "sha512-crypt", "phpass"])
def test_long_passwords_verify_where_every_round_is_over_the_password(name, length):
    verifies_what(ORACLES[name], random.Random(length), length)


# Traps


def test_where_libcrypt_is_missing_yescrypt_is_refused_when_it_is_brought(monkeypatch):
    encoded = VERIFIED["yescrypt"][0][1]
    monkeypatch.setattr(yescrypt, "usable_library", lambda: None)

    with pytest.raises(UnreadableHash, match="needs libxcrypt, which this system doesn't have"):
        schemes.read(encoded)


def test_no_libcrypt_is_found_where_none_knows_yescrypt(monkeypatch):
    class Old:
        def __init__(self, name):
            if name.endswith(".2"):
                raise OSError

        def crypt_checksalt(self, setting):
            return 1

    monkeypatch.setattr(yescrypt.ctypes, "CDLL", Old)

    assert yescrypt.usable_library.__wrapped__() is None


def test_c_does_not_cut_a_password_at_its_nul():
    password, encoded = VERIFIED["yescrypt"][0]

    assert not schemes.read(encoded).verify(password.encode() + b"\0x")


def test_many_rounds_over_a_long_password_are_not_begun():
    encoded = "$6$rounds=1000000$salt$" + "." * 86

    assert not schemes.read(encoded).verify(b"x" * 129)


@pytest.mark.promise("faults: phpass")
def test_the_rounds_of_phpass_have_both_their_edges():
    for exponent in (phpass.MIN_EXPONENT, phpass.MAX_EXPONENT):
        assert schemes.read(f"$P${crypt_base64.ALPHABET[exponent]}{'a' * 8}{'.' * 22}").cost
    for exponent in (phpass.MIN_EXPONENT - 1, phpass.MAX_EXPONENT + 1):
        with pytest.raises(UnreadableHash, match="2 to the 7 to 19"):
            schemes.read(f"$P${crypt_base64.ALPHABET[exponent]}{'a' * 8}{'.' * 22}")


@pytest.mark.parametrize(
    ("encoded", "is_read"),
    [
        ("$pbkdf2-sha256$2000000$c2FsdA$" + "A" * 43, True),
        ("$pbkdf2-sha256$2000001$c2FsdA$" + "A" * 43, False),
        ("$pbkdf2-sha256$1000000$c2FsdA$" + "A" * 86, True),
        ("$pbkdf2-sha256$1000001$c2FsdA$" + "A" * 86, False),
        ("$pbkdf2-sha512$1000000$c2FsdA$" + "A" * 86, True),
        ("$pbkdf2-sha512$1000001$c2FsdA$" + "A" * 86, False),
        ("$pbkdf2-sha1$2000000$c2FsdA$" + "A" * 27, True),
        ("$pbkdf2$2000001$c2FsdA$" + "A" * 27, False),
        ("$pbkdf2$4294967295$c2FsdA$" + "A" * 27, False),
        ("$pbkdf2$0$c2FsdA$" + "A" * 27, False),
        ("$pbkdf2$9$" + "A" * 86 + "$" + "A" * 27, True),
        ("$pbkdf2$9$" + "A" * 88 + "$" + "A" * 27, False),
        ("$pbkdf2$9$c2FsdA$" + "A" * 22, True),
        ("$pbkdf2$9$c2FsdA$" + "A" * 20, False),
        ("$pbkdf2$9$A+A.$" + "A" * 27, False),
        ("$pbkdf2$9$A.A.$" + "A" * 27, True),
        ("$pbkdf2$9$c2FsdA=$" + "A" * 27, False),
        ("$pbkdf2$9$c2FsdA==$" + "A" * 27 + "=", True),
        ("$scrypt$ln=17,r=8,p=3$c2FsdA$" + "A" * 43, True),
        ("$scrypt$ln=17,r=8,p=4$c2FsdA$" + "A" * 43, False),
        ("$scrypt$ln=18,r=8,p=1$c2FsdA$" + "A" * 43, False),
        ("$scrypt$ln=20,r=1,p=1$c2FsdA$" + "A" * 43, True),
        ("$scrypt$ln=15,r=32,p=1$c2FsdA$" + "A" * 43, True),
        ("$scrypt$ln=15,r=33,p=1$c2FsdA$" + "A" * 43, False),
        ("$scrypt$ln=31,r=1048576,p=1$c2FsdA$" + "A" * 43, False),
        ("$scrypt$ln=14,r=8,p=16$c2FsdA$" + "A" * 43, True),
        ("$scrypt$ln=14,r=8,p=17$c2FsdA$" + "A" * 43, False),
        ("scrypt$16383$salt$8$1$" + "A" * 86 + "==", False),
        ("scrypt:2097152:1:1$salt$" + "a" * 128, False),
        ("$5$rounds=1000000$salt$" + "." * 43, True),
        ("$5$rounds=1000001$salt$" + "." * 43, False),
        ("$5$rounds=999$salt$" + "." * 43, False),
        ("$6$rounds=999999999$salt$" + "." * 86, False),
        ("$y$jDT$salt$" + "." * 43, False),
        ("$y$jCT$salt$" + "." * 43, True),
        ("$y$j.T$salt$" + "." * 43, True),
        ("$y$jE5$salt$" + "." * 43, True),
        ("$y$jF5$salt$" + "." * 43, False),
        ("$y$jD5.7$salt$" + "." * 43, False),
        ("{SSHA}" + "A" * 28, True),
        ("{SSHA}" + "A" * 27 + "=", False),
        ("{SHA}" + "A" * 27 + "=", True),
        ("{SHA}" + "A" * 28, False),
        ("$md5salted-middle$salt$" + "A" * 22 + "==", False),
    ],
)
def test_a_window_has_its_edges(encoded, is_read):
    if is_read:
        assert schemes.read(encoded)
    else:
        with pytest.raises(UnreadableHash):
            schemes.read(encoded)
