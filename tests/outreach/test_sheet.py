"""Lists of people as spreadsheets save them."""

import pytest

from app.core.errors import Rejected
from app.outreach.people_file import MOST_BYTES, MOST_ROWS, Line, decoded, lines_of, written


@pytest.mark.parametrize(
    "text",
    [
        "ada@e.com,Ada,Lovelace",
        "ada@e.com;Ada;Lovelace",
        "ada@e.com\tAda\tLovelace\r\n",
        "\ufeffEmail,First name,Last name\nada@e.com,Ada,Lovelace",
        "Surname;E-Mail;First  Name\nLovelace;ada@e.com;Ada",
        '\n\n"ada@e.com" , " Ada " ,"Lovelace"\n\n',
        "last,role,email,first\rLovelace,Dev,ada@e.com,Ada",
        "Ada\tLovelace\tada@e.com",
        "Ada;ada@e.com;Lovelace",
    ],
)
def test_spellings_of_the_same_list(text: str) -> None:
    (line,) = lines_of(text)
    assert (line.email, line.first_name, line.last_name) == ("ada@e.com", "Ada", "Lovelace")


@pytest.mark.parametrize(
    "text",
    [
        "Ada Lovelace\tada@e.com\nBo\tbo@e.com",
        "Ada Lovelace, ada@e.com\nBo, bo@e.com",
        "Name\tEmail\nAda Lovelace\tada@e.com\nBo\tbo@e.com",
        "email;full name\nada@e.com;Ada Lovelace\nbo@e.com;Bo",
    ],
)
def test_cells_of_a_spreadsheet_with_name_and_address(text: str) -> None:
    assert [(one.email, one.first_name, one.last_name) for one in lines_of(text)] == [
        ("ada@e.com", "Ada Lovelace", None),
        ("bo@e.com", "Bo", None),
    ]


def test_a_list_without_any_address_is_read_from_the_left() -> None:
    assert lines_of("Ada, Lovelace") == [Line(1, "Ada", "Lovelace")]


def test_a_first_line_without_an_address_does_not_spoil_the_others() -> None:
    assert lines_of("Bo, not-an-address\nAda, ada@e.com") == [
        Line(1, "not-an-address", "Bo"),
        Line(2, "ada@e.com", "Ada"),
    ]


def test_names_may_be_left_out_and_lines_keep_their_numbers() -> None:
    assert lines_of("a@e.com\n\nb@e.com,Bo") == [Line(1, "a@e.com"), Line(3, "b@e.com", "Bo")]


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", "empty"),
        (" \n\n", "empty"),
        ("email,first name\n", "no one is listed"),
        ("a\0b", "not a text file"),
        ("\n".join(f"p{n}@e.com" for n in range(MOST_ROWS + 1)), "at most 1,000"),
        ('a@e.com,"' + "x" * 200_000, "cannot be read"),
    ],
)
def test_lists_that_are_none(text: str, words: str) -> None:
    with pytest.raises(Rejected, match=words):
        lines_of(text)


def test_files_of_every_spreadsheet() -> None:
    for encoding in ("utf-8", "utf-8-sig", "utf-16", "cp1252"):
        assert decoded("é@e.com,Zoë".encode(encoding)) == "é@e.com,Zoë"
    with pytest.raises(Rejected, match="256 KiB"):
        decoded(b"x" * (MOST_BYTES + 1))
    with pytest.raises(Rejected, match="not a text file"):
        decoded(b"PK\x03\x04\x81\x8d")


def test_a_list_is_read_as_it_was_written() -> None:
    people = [Line(2, "a@e.com", 'O"Neil, Ann', None), Line(3, "b@e.com", None, "=1+1")]
    assert lines_of(written(people)) == people
