"""Signatures: known answers, and every flipped byte fails."""

import base64
import hashlib
import hmac
import json

import pytest

from app.webhooks.signature import sign, standard

BODY = b'{"event_type": "interview_processed", "status": "completed"}'
FULL = (
    b'{"event_type": "interview_processed", "interview_flow_id": "3f6c1f2e-8a4b-4c57-9d0e-5b7a1c2d3e4f", '
    b'"interview_id": "9b1deb4d-3b7d-4bad-9bdd-2b0d7b3dcb6d", "interview_link": '
    b'"https://parley.example.com/interviews/9b1deb4d-3b7d-4bad-9bdd-2b0d7b3dcb6d", "interview_flow_name": '
    b'"Team interview", "interviewee_email_address": null, "interviewee_first_name": null, '
    b'"interviewee_last_name": null, "status": "completed"}'
)


def test_the_known_answer_of_the_interface():
    assert len(BODY) == 60
    assert sign("myGoodSecret", BODY) == "5c0c15865c98b192c9bcd58479bba3a486fb1fcf63c8270c989846db26ff1ba6"


def test_the_known_answer_of_a_whole_body():
    assert len(FULL) == 412
    expected = "997fd8ef1a5b7e1b952a1b1804490551496a5d6b9e94e71bacdbdd2e7b3b421e"
    assert sign("parley-webhook-test-secret-000001", FULL) == expected


def test_the_known_answer_of_standard_webhooks():
    found = standard("myGoodSecret", BODY, event_id="evt_3f1c2a9e5b7d4c608e1f0a2b3c4d5e6f", timestamp=1700000000)
    assert found == "v1,SSL7Gw9iwFupu/wYZhEwEzVYvqqrCWxqBbtpbRRV7gw="


def test_a_library_verifies_with_the_secret_in_its_own_form():
    given = "whsec_bXlHb29kU2VjcmV0"
    key = base64.b64decode(given.removeprefix("whsec_"))
    signed = b"evt_3f1c2a9e5b7d4c608e1f0a2b3c4d5e6f.1700000000." + BODY
    mine = "v1," + base64.b64encode(hmac.digest(key, signed, "sha256")).decode()
    assert mine == standard("myGoodSecret", BODY, event_id="evt_3f1c2a9e5b7d4c608e1f0a2b3c4d5e6f", timestamp=1700000000)


@pytest.mark.parametrize("secret", ["x", "ü" * 40, "whsec_bXlHb29kU2VjcmV0", "a b\tc", "k" * 500])
def test_the_key_is_the_secrets_utf8_and_is_never_decoded(secret):
    assert sign(secret, BODY) == hmac.new(secret.encode("utf-8"), BODY, hashlib.sha256).hexdigest()


def test_every_flipped_byte_fails():
    good = sign("secret", BODY)
    for place in range(len(BODY)):
        flipped = bytearray(BODY)
        flipped[place] ^= 1
        assert sign("secret", bytes(flipped)) != good


def test_a_reserialized_body_fails():
    assert sign("secret", json.dumps(json.loads(BODY), separators=(",", ":")).encode()) != sign("secret", BODY)
