"""Which passwords are taken, and how they are kept."""

import statistics
import time

import pytest
from argon2 import extract_parameters

from app.accounts import passwords
from app.core.errors import Rejected


@pytest.mark.parametrize(
    "password",
    [
        "short",
        "password1234",
        "Password2025!",
        "qwertyuiop123",
        "123456789012",
        "aaaaaaaaaaaaaaaa",
        "WelcomeWelcome1",
        "x" * 129,
        "\ud800" * 12,
    ],
)
def test_short_long_and_common_passwords_are_refused(password):
    with pytest.raises(Rejected) as refused:
        passwords.hashed(password)
    assert refused.value.field == "password"


@pytest.mark.parametrize(
    "password", ["a staple and a horse", "пароль из слов", "密码密码密码密码密码密码一二", "x7#kQ!m2pL9z"]
)
def test_sentences_of_any_letters_are_taken(password):
    kept = passwords.hashed(password)
    assert passwords.matches(kept, password)
    assert not passwords.matches(kept, password + " ")


def test_hashes_have_the_recorded_strength():
    found = extract_parameters(passwords.hashed("a staple and a horse"))
    assert (found.type.name, found.memory_cost, found.time_cost, found.parallelism) == ("ID", 19_456, 2, 1)


def test_nobody_and_a_wrong_password_take_as_long():
    kept = passwords.hashed("a staple and a horse")

    def median(hashed):
        times = []
        for _ in range(5):
            start = time.process_time()
            passwords.matches(hashed, "wrong")
            times.append(time.process_time() - start)
        return statistics.median(times)

    median(None)
    assert median(None) > median(kept) / 3  # the same work is done, however busy this machine is


def test_a_broken_hash_opens_nothing():
    assert not passwords.matches("no hash", "a staple and a horse")
