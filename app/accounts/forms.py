"""Forms of the account pages."""

from collections.abc import Iterable

from flask_wtf import FlaskForm
from wtforms import (
    BooleanField,
    DateField,
    EmailField,
    Form,
    HiddenField,
    PasswordField,
    SelectField,
    SelectMultipleField,
    StringField,
    ValidationError,
)
from wtforms.fields import Field, SelectChoice
from wtforms.validators import DataRequired, InputRequired, Length, Optional

from app.accounts import passwords
from app.accounts.models import Role, Team
from app.core.errors import Rejected
from app.core.rooms import FlowLabel
from app.web.fields import flaw_of

ROLES = [
    SelectChoice(
        Role.RECRUITER.value, "Recruiter: can create flows and interviews, and make decisions about candidates"
    ),
    SelectChoice(Role.VIEWER.value, "Viewer: can view their teams' flows and candidates, but cannot change anything"),
    SelectChoice(
        Role.ADMIN.value,
        "Administrator: can do what a recruiter can, and manage members, API keys, endpoints and retention",
    ),
]
PASSWORD_HELP = f"Use {passwords.SHORTEST} to {passwords.LONGEST} characters. A long phrase works well."


def clean(_form: Form, field: Field) -> None:
    """Raises ValidationError for characters that cannot be stored."""
    flaw = flaw_of(field.data or "")
    if flaw:
        raise ValidationError(flaw)


def address(_form: Form, field: Field) -> None:
    """Raises ValidationError for a malformed email address."""
    try:
        passwords.checked_address(field.data or "")
    except Rejected:
        raise ValidationError("Enter an email address such as name@example.com.") from None


def strong(_form: Form, field: Field) -> None:
    """Raises ValidationError for a password that is too short, too long or too common."""
    flaw = passwords.flaw_of(field.data or "")
    if flaw:
        raise ValidationError(f"The password {flaw}.")


def _at_most(characters: int) -> Length:
    return Length(max=characters, message=f"Enter at most {characters} characters.")


def _name(label: str, missing: str) -> StringField:
    return StringField(label, [DataRequired(missing), _at_most(300), clean])


class SignInForm(FlaskForm):  # type: ignore[misc]
    email = EmailField("Email address", [InputRequired("Enter your email address."), _at_most(320), clean])
    password = PasswordField("Password", [InputRequired("Enter your password."), _at_most(1000)])
    next = HiddenField()


class CodeForm(FlaskForm):  # type: ignore[misc]
    """The second step: a code of the authenticator app, or a recovery code."""

    code = StringField("Code", [InputRequired("Enter the code."), _at_most(100), clean])
    next = HiddenField()


class SetUpForm(FlaskForm):  # type: ignore[misc]
    """The first administrator sets up the installation."""

    organization = _name("Organization", "Enter the name of your organization.")
    team = _name("First team", "Enter a name for the first team.")
    full_name = StringField("Your name", [Optional(), _at_most(300), clean])
    email = EmailField(
        "Your email address", [InputRequired("Enter your email address."), _at_most(320), clean, address]
    )
    password = PasswordField(
        "Password", [InputRequired("Choose a password."), clean, strong], description=PASSWORD_HELP
    )


class MemberForm(FlaskForm):  # type: ignore[misc]
    """A new member, invited by a link or given a first password in person."""

    email = EmailField("Email address", [InputRequired("Enter an email address."), _at_most(320), clean, address])
    full_name = StringField("Name", [Optional(), _at_most(300), clean])
    role = SelectField("Role", choices=ROLES)
    team = SelectField("Team", choices=[])
    password = PasswordField(
        "Initial password",
        [Optional(), clean, strong],
        description="If you leave this empty, the member gets a link to choose a password. If you enter one, use "
        f"{passwords.SHORTEST} to {passwords.LONGEST} characters. A long phrase works well.",
    )


class ForgottenForm(FlaskForm):  # type: ignore[misc]
    email = EmailField("Email address", [InputRequired("Enter your email address."), _at_most(320), clean, address])


class ChoosePasswordForm(FlaskForm):  # type: ignore[misc]
    """The password chosen through a link; the name is asked for with the first one."""

    full_name = StringField("Your name", [Optional(), _at_most(300), clean])
    password = PasswordField(
        "Password", [InputRequired("Choose a password."), clean, strong], description=PASSWORD_HELP
    )


class ChangeForm(FlaskForm):  # type: ignore[misc]
    role = SelectField("Role", choices=ROLES)
    teams = SelectMultipleField(
        "Teams",
        choices=[],
        description="Recruiters and viewers see only the flows and candidates of their own teams, and flows they "
        "were given access to.",
    )

    def offer(self, teams: Iterable[Team]) -> None:
        self.teams.choices = [SelectChoice(team.id, team.name) for team in teams]


class ResetForm(FlaskForm):  # type: ignore[misc]
    """A new password, set by an administrator for another member."""

    password = PasswordField(
        "New password", [InputRequired("Choose a new password."), clean, strong], description=PASSWORD_HELP
    )


class TeamForm(FlaskForm):  # type: ignore[misc]
    name = _name("Team name", "Enter a name for the team.")


class _Day(DateField):  # type: ignore[misc]
    """A day; what is not one is refused in Parley's words."""

    def process_formdata(self, valuelist: list[str]) -> None:
        try:
            super().process_formdata([one for one in valuelist if one])
        except ValueError:
            raise ValueError("Enter a day, such as 2027-01-31.") from None


class KeyForm(FlaskForm):  # type: ignore[misc]
    name = _name("What will use this key?", "Name the program that will use this key.")
    is_test = BooleanField(
        "Test key",
        description="Interviews created with a test key are test interviews. They complete without a candidate.",
    )
    is_read_only = BooleanField("Read only", description="The key can read data, but cannot change it.")
    hides_secrets = BooleanField(
        "No secrets", description="The key never sees the secrets that sign webhooks, and cannot change them."
    )
    expires = _Day(
        "Last day",
        [Optional()],
        description="The key works until the end of this day (UTC). If you leave this empty, it works until you "
        "revoke it.",
    )
    teams = SelectMultipleField(
        "Only these teams", choices=[], description="To allow all teams, choose none.", validate_choice=False
    )
    flows = SelectMultipleField(
        "Only these flows",
        choices=[],
        description="To allow all flows, choose none. A key that is limited to flows cannot create flows.",
        validate_choice=False,
    )

    def offer(self, teams: Iterable[Team], flows: Iterable[FlowLabel]) -> None:
        self.teams.choices = [SelectChoice(team.id, team.name) for team in teams]
        self.flows.choices = [SelectChoice(flow.id, flow.title) for flow in flows]


class OrganizationForm(FlaskForm):  # type: ignore[misc]
    assess_language = BooleanField("Assess language")
    shows_status = BooleanField("Show candidates their status")
    rates_first = BooleanField("Rate first")


class ProfileForm(FlaskForm):  # type: ignore[misc]
    full_name = StringField("Your name", [Optional(), _at_most(300), clean])


class AddressForm(FlaskForm):  # type: ignore[misc]
    """The member's own new address, with their password."""

    email = EmailField(
        "New email address", [InputRequired("Enter the new email address."), _at_most(320), clean, address]
    )
    password = PasswordField("Your password", [InputRequired("Enter your password."), _at_most(1000)])


class AddressOfMemberForm(FlaskForm):  # type: ignore[misc]
    """A new address, entered by an administrator for another member."""

    email = EmailField(
        "New email address", [InputRequired("Enter the new email address."), _at_most(320), clean, address]
    )


class PasswordForm(FlaskForm):  # type: ignore[misc]
    current = PasswordField("Current password", [InputRequired("Enter your current password."), _at_most(1000)])
    password = PasswordField(
        "New password", [InputRequired("Choose a new password."), clean, strong], description=PASSWORD_HELP
    )
