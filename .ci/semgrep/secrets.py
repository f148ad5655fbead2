import hashlib
import hmac
import logging
import traceback

# ruleid: cipher-outside-encryption
from cryptography.fernet import Fernet
# ruleid: cipher-outside-encryption
import jwt
# ok: cipher-outside-encryption
from app.core.encryption import seal
from flask import request, session

log = logging.getLogger(__name__)


def lets_in(token, known, row, given):
    # ruleid: secret-compared-with-equals
    if token == known:
        return True
    # ruleid: secret-compared-with-equals
    if row.token_hash != given:
        return False
    # ruleid: secret-compared-with-equals
    if given == settings.secret:
        return True
    # ok: secret-compared-with-equals
    if token == "":
        return False
    # ok: secret-compared-with-equals
    if row.password_hash is None:
        return False
    # ok: secret-compared-with-equals
    found = db.session.scalar(select(Login).where(Login.token_hash == given))
    # ok: secret-compared-with-equals
    return hmac.compare_digest(token, known) and found


def sealed(key, text):
    # ruleid: weak-hash
    one = hmac.new(key, text, hashlib.sha1)
    # ruleid: weak-hash
    two = hmac.digest(key, text, "md5")
    # ruleid: weak-hash
    three = hashlib.md5(text, usedforsecurity=False)
    # ok: weak-hash
    four = hmac.new(key, text, hashlib.sha256)
    return one, two, three, four


def kept(codes, name):
    # ruleid: unsealed-in-session
    session["codes"] = codes
    # ruleid: unsealed-in-session
    session.update(codes=codes)
    # ok: unsealed-in-session
    session[name] = seal(codes, context=name)
    # ok: unsealed-in-session
    return session.get("csrf_token")


def told(candidate, interview, error):
    # ruleid: personal-data-in-log
    log.info("mail to %s", candidate.email)
    # ruleid: personal-data-in-log
    log.warning(f"{candidate.first_name} left")
    # ruleid: personal-data-in-log
    logger.error("key %s", settings.secret_key.encode())
    # ok: personal-data-in-log
    log.info("interview %s was left", interview.id)
    # ok: personal-data-in-log
    log.warning("letter %s: %s", interview.id, error.message)


def asked():
    # ruleid: request-in-log, personal-data-in-log
    log.info("asked for %s", request.url)
    typed = request.form["comment"]
    # ruleid: request-in-log
    log.warning("said %s", typed.strip())
    # ok: request-in-log
    log.warning("report, %d bytes", len(request.get_data()))
    # ok: request-in-log
    log.info("%s", request.method)


def failed(error):
    # ruleid: traceback-in-log
    log.exception("the round failed")
    # ruleid: traceback-in-log
    log.error("the round failed", exc_info=True)
    # ruleid: traceback-in-log
    traceback.print_exc()
    # ok: traceback-in-log
    log.error("the round failed: %s", type(error).__name__)
