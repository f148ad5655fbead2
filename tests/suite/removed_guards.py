"""Removes guards of docs/security.md one by one, each in a copy of the tree, and shows that a test fails without it.

    .venv/bin/python -m tests.suite.removed_guards [--only WORD] [--table]

Every row of that table has one. All tests named here have to pass first, in the copy as it is: a test that fails anyway
proves nothing. A guard whose test still passes without it is a hole. Exits 1 then, and where the code to be replaced is
no longer there. The tests run on SQLite, or on PostgreSQL when DATABASE_URL names a server. Row-level security needs
PostgreSQL.
"""

import argparse
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from tests.architecture.source import ROOT

SECURITY = "docs/security.md"
LONGEST = 300
"""Seconds for one run of pytest."""


@dataclass(frozen=True, slots=True)
class Guard:
    """``old`` is in ``file`` exactly ``times`` times and becomes ``new``; ``test`` (file::name) then has to fail."""

    row: str
    removed: str
    file: str
    old: str
    new: str
    test: str
    times: int = 1
    on_postgresql: bool = False

    def apply(self, tree: Path) -> None:
        """Remove the guard from a copy of the tree. Raises LookupError if its code is not there exactly once."""
        path = tree / self.file
        source = path.read_text()
        if source.count(self.old) != self.times:
            raise LookupError(f"{self.file} has {source.count(self.old)} times, not {self.times}: {self.old!r}")
        path.write_text(source.replace(self.old, self.new))


GUARDS = [
    Guard(
        row="One organization's data from another",
        removed="any organization gets an interview by its id",
        file="app/interviews/queries.py",
        old="    if interview.organization_id != organization.id:\n"
        '        raise Forbidden(FOREIGN, code="other_organization")\n',
        new="",
        test="tests/security/test_tenancy.py::test_v1_serves_the_organization_of_the_key_alone",
    ),
    Guard(
        row="The same on PostgreSQL, enforced by the database",
        removed="every transaction can read and change the rows of all organizations",
        file="app/core/db/row_security.py",
        old="    whose = _whose.get()\n",
        new="    whose = EVERYONE\n",
        times=3,
        test="tests/security/test_row_level_security.py::test_one_organization_sees_and_changes_nothing_of_another",
        on_postgresql=True,
    ),
    Guard(
        row="API keys",
        removed="an API key works after it has expired",
        file="app/accounts/access.py",
        old="key.revoked_at is None and (key.expires_at is None or key.expires_at > now) and",
        new="key.revoked_at is None and (key.expires_at is None or bool(now)) and",
        test="tests/accounts/test_ping.py::test_an_expired_key_is_refused",
    ),
    Guard(
        row="Calls of `/v1`",
        removed="calls are counted by address, even those with a valid key",
        file="app/web/rate_limits.py",
        old="return str(request.environ.get(KEY_ID) or address_of_request())",
        new="return address_of_request()",
        test="tests/web/test_limits.py::test_beyond_the_limit_a_key_waits_and_others_go_on",
    ),
    Guard(
        row="Tools for AI assistants",
        removed="email addresses in what candidates said reach the model",
        file="app/operations/mcp_server/untrusted.py",
        old="return seen if shows_emails else _EMAIL.sub(HIDDEN, seen)",
        new="return seen",
        test="tests/mcp_server/test_untrusted.py::test_no_result_contains_an_address_unless_the_operator_allows_it",
    ),
    Guard(
        row="Sign-in",
        removed="wrong passwords do not delay the next attempt",
        file="app/accounts/passwords.py",
        old="return math.ceil(max(delays).total_seconds())",
        new="return 0 * len(delays)",
        test="tests/accounts/test_lockout.py::test_guesses_from_one_address_do_not_keep_the_owner_out_elsewhere",
    ),
    Guard(
        row="Two-step sign-in",
        removed="the code of an authenticator app works twice",
        file="app/accounts/second_factor.py",
        old="unused = sa.or_(TeamMember.totp_step.is_(None), TeamMember.totp_step < step)",
        new="unused = sa.true()",
        test="tests/accounts/test_second_factor.py::test_a_code_works_once",
    ),
    Guard(
        row="Invitations and forgotten passwords",
        removed="a link works for two browsers at the same moment",
        file="app/accounts/password_links.py",
        old="sa.update(kind).where(kind.id == link.id, kind.ended_at.is_(None))",
        new="sa.update(kind).where(kind.id == link.id)",
        test="tests/accounts/test_entry_links.py::test_of_two_browsers_with_one_link_one_wins",
    ),
    Guard(
        row="Other host names",
        removed="requests for any host name are served",
        file="app/web/hosts.py",
        old="        if not self._only_warns:\n            return respond(Failure(421, REFUSED))\n",
        new="",
        test="tests/web/test_hosts.py::test_any_other_is_refused_with_a_way_out",
    ),
    Guard(
        row="Forms",
        removed="the origin of a form is not checked",
        file="app/web/security.py",
        old="    if not comes_from_here(request):\n",
        new="    if not request.method:\n",
        test="tests/security/test_tenancy.py::test_no_page_is_changed_from_another_site_or_without_its_token",
    ),
    Guard(
        row="Compressed pages (BREACH)",
        removed="pages that another site requests are compressed",
        file="app/web/compress.py",
        old='return is_file or request.headers.get("Sec-Fetch-Site") in ASKED_BY_OURSELVES',
        new="return True",
        test="tests/web/test_compress.py::test_pages_that_another_site_asks_for_tell_nothing_by_their_length",
    ),
    Guard(
        row="Pages",
        removed="pages behind sign-in may stay in caches",
        file="app/web/security.py",
        old="if is_private or is_api_path(request.path):",
        new="if is_api_path(request.path):",
        test="tests/web/test_security.py::test_pages_behind_the_login_are_kept_by_no_cache",
    ),
    Guard(
        row="Secrets at rest",
        removed="a sealed secret opens in any row",
        file="app/core/encryption.py",
        old=", context.encode())",
        new=', b"")',
        times=2,
        test="tests/web/test_vault.py::test_another_row_cannot_open_it",
    ),
    Guard(
        row="Files on the host",
        removed="a new DATA_DIR and everything in it can be read by every user",
        file="app/core/data_dir.py",
        old="UMASK = 0o077",
        new="UMASK = 0o022",
        test="tests/platform/test_up.py::test_nothing_below_the_data_directory_can_be_read_by_other_users",
    ),
    Guard(
        row="Your internal network",
        removed="the address that a connection reached is not checked",
        file="app/gateways/outbound/dial.py",
        old="refusal = self.guard.refusal(sock.getpeername()[0])",
        new="refusal = None",
        test="tests/outbound/test_guard.py::test_where_a_connection_really_ended_is_looked_at_before_a_byte_is_sent",
    ),
    Guard(
        row="Notices in Slack and Teams",
        removed="a flow's title can mention everyone in a channel",
        file="app/review/notices/delivery.py",
        old="summary.translate(_ESCAPED).translate(_LOOKALIKES)",
        new="summary",
        test="tests/notices/test_sending.py::test_what_others_typed_is_shown_as_it_is_and_does_nothing",
    ),
    Guard(
        row="The candidate's invite link",
        removed="a second browser takes over a running interview immediately",
        file="app/conversation/actions.py",
        old="is_free = sa.or_(Sitting.token_hash.is_(None), Sitting.heartbeat_at < claims.moment(-TAKEOVER_AFTER))",
        new="is_free = sa.true()",
        test="tests/conversation/test_races.py::test_of_a_hundred_starts_at_once_exactly_one_wins",
    ),
    Guard(
        row="The candidate's own page",
        removed="a code can be guessed without limit",
        file="app/privacy/own_page/queries.py",
        old="MOST_TRIES = 5\n",
        new="MOST_TRIES = 1_000_000\n",
        test="tests/own_page/test_codes.py::test_five_wrong_tries_use_a_code_up",
    ),
    Guard(
        row="Erasure",
        removed="the receipt does not wait until the storage lists nothing",
        file="app/privacy/jobs/sweeps.py",
        old='            log.warning("interview %s is erased, but %d files are left", interview_id, left)\n'
        "            continue\n",
        new='            log.warning("interview %s is erased, but %d files are left", interview_id, left)\n',
        test="tests/privacy/test_erase.py::test_the_proof_waits_until_the_files_are_really_gone",
    ),
    Guard(
        row="Legal holds",
        removed="a hold placed while an erasure waits for the rows is ignored",
        file="app/privacy/actions.py",
        old="_refuse_held(interview, through)  # placed while we waited",
        new="pass",
        test="tests/privacy/test_retention.py::test_a_hold_placed_while_an_erasure_waits_stops_it",
    ),
    Guard(
        row="Backups",
        removed="a restore accepts files that differ from the manifest",
        file="app/operations/backups/archive.py",
        old="                if listed != member:\n",
        new="                if listed is None:\n",
        test="tests/backups/test_restore.py::test_every_flipped_member_is_found",
    ),
    Guard(
        row="Recordings",
        removed="a download that has begun continues after revocation",
        file="app/interviews/recordings/download.py",
        old="            closed = queries.is_revoked(self._served.interview_id)\n",
        new="            closed = False\n",
        test="tests/recordings/test_pages.py::test_a_running_answer_ends_when_access_does",
    ),
    Guard(
        row="Uploads",
        removed="an Office file may expand more than a hundredfold",
        file="app/interviews/documents/file_types.py",
        old="if entry.file_size > LARGEST_RATIO * max(entry.compress_size, 1):",
        new="if entry.file_size < 0:",
        test="tests/security/test_hostile_documents.py::test_a_harmful_document_is_refused_in_words_and_leaves_nothing",
    ),
    Guard(
        row="The audit log",
        removed="the mark of the last check is not verified",
        file="app/accounts/audit/check.py",
        old="if last is not None and not chain.has_other_key and not _is_sealed(last):",
        new="if last is not None and last.number < 0:",
        test="tests/accounts/test_audit.py::test_what_the_last_check_kept_cannot_be_forged_either",
    ),
    Guard(
        row="Dependencies",
        removed="a package whose advisories were never looked up passes",
        file=".ci/audit.py",
        old="        if pin.package not in known:\n            wrong.append(",
        new="        if pin.package not in known:\n            str(",
        test="tests/security/test_audit.py::test_a_package_that_was_never_looked_up_fails",
    ),
    Guard(
        row="Figures of the installation",
        removed="programs on other machines can read the figures if there is no token",
        file="app/operations/metrics/pages.py",
        old="    elif not _is_at_home(settings):\n        raise NotFound\n",
        new="",
        test="tests/metrics/test_metrics.py::test_without_a_token_only_this_machine_reads",
    ),
    Guard(
        row="Personal data in logs",
        removed="the log quotes an unexpected error",
        file="app/web/errors.py",
        old='log.error("unexpected %s at %s", type(error).__name__, place_of(error))',
        new='log.error("unexpected %r at %s", error, place_of(error))',
        test="tests/web/test_errors.py::test_unexpected_errors_tell_no_details_to_caller_or_log",
    ),
    Guard(
        row="Speech models",
        removed="a downloaded file becomes a model regardless of its content",
        file="app/gateways/speech/model_files/store.py",
        old="        if _hash_of(part) != (file.bytes, file.sha256):\n",
        new="        if not part.is_file():\n",
        test="tests/speech/test_model_fetching.py::test_wrong_bytes_never_become_a_model",
    ),
    Guard(
        row="Programs that process strangers' input",
        removed="engines inherit the whole environment",
        file="app/gateways/speech/engines/children.py",
        old="            env=_ENVIRONMENT,\n",
        new="",
        test="tests/speech/test_children.py::test_no_secret_of_ours_reaches_the_engine",
    ),
]


@contextmanager
def copied() -> Iterator[Path]:
    """A copy of what git tracks and of what it does not ignore, as it is in the working tree."""
    listed = subprocess.run(
        ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"],
        cwd=ROOT,
        capture_output=True,
        check=True,
    )
    with tempfile.TemporaryDirectory(prefix="parley-guards-") as folder:
        tree = Path(folder)
        for name in filter(None, listed.stdout.decode().split("\0")):
            if (ROOT / name).is_file():
                (tree / name).parent.mkdir(parents=True, exist_ok=True)
                shutil.copy2(ROOT / name, tree / name)
        yield tree


@dataclass(frozen=True, slots=True)
class Outcome:
    """``failed`` has the names of failed tests; ``code`` is pytest's: 0 all passed, 1 some failed, else no answer."""

    code: int
    failed: list[str]
    output: str


def tested(tree: Path, *tests: str) -> Outcome:
    """Run tests of a copy against that copy; stops at the first failure."""
    command = [sys.executable, "-m", "pytest", "-q", "-x", "-n0", "-p", "no:randomly", "-p", "no:cacheprovider", *tests]
    ended = subprocess.run(
        command,
        cwd=tree,
        env={**os.environ, "PYTHONPATH": str(tree)},
        capture_output=True,
        text=True,
        check=False,
        timeout=LONGEST * max(1, len(tests) // 4),
    )
    failed = re.findall(r"^FAILED \S+?::(\w+)", ended.stdout, re.MULTILINE)
    return Outcome(ended.returncode, list(dict.fromkeys(failed)), ended.stdout + ended.stderr)


def report(guards: list[Guard]) -> int:
    """Remove each, print what fails without it, and return the exit code."""
    caught = 0
    with copied() as tree:
        whole = tested(tree, *dict.fromkeys(guard.test for guard in guards))
        if whole.code != 0:
            print(f"The tests fail with every guard in place, so they show nothing:\n{whole.output[-3_000:]}")
            return 1
        print(f"with every guard in place: {whole.output.strip().splitlines()[-1]}\n", flush=True)
        for guard in guards:
            began, source = time.monotonic(), (tree / guard.file).read_bytes()
            try:
                guard.apply(tree)
                outcome = tested(tree, guard.test)
            except (LookupError, subprocess.TimeoutExpired) as error:
                outcome = Outcome(-1, [], str(error))
            finally:
                (tree / guard.file).write_bytes(source)
            is_caught = outcome.code == 1 and bool(outcome.failed)
            caught += is_caught
            words = ", ".join(outcome.failed) if is_caught else f"NOT CAUGHT\n{outcome.output[-1_500:]}"
            print(f"{guard.row}: {guard.removed}\n  {time.monotonic() - began:.0f} s  {words}", flush=True)
    print(f"\n{caught} of {len(guards)} removed guards are caught")
    return 0 if caught == len(guards) else 1


def table(guards: list[Guard]) -> str:
    """The list as the table of docs/figures/guards.md."""
    lines = ["| Row of security.md | Without the guard | In | The test that fails |", "|---|---|---|---|"]
    for guard in guards:
        module, _, name = guard.test.partition("::")
        lines.append(f"| {guard.row} | {guard.removed} | `{guard.file}` | `{Path(module).name}`: `{name}` |")
    return "\n".join(lines) + "\n"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", default="", help="a word of the rows to remove guards of")
    parser.add_argument("--table", action="store_true", help="print the list and run nothing")
    options = parser.parse_args()
    if options.table:
        print(table(GUARDS), end="")
        return 0
    chosen = [guard for guard in GUARDS if options.only.lower() in guard.row.lower()]
    here = [guard for guard in chosen if "DATABASE_URL" in os.environ or not guard.on_postgresql]
    for guard in chosen:
        if guard not in here:
            print(f"left out, as it needs DATABASE_URL=postgresql://...: {guard.row}")
    return report(here)


if __name__ == "__main__":
    sys.exit(main())
