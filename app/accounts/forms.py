"""What the account pages take in."""

from collections.abc import Iterable

from flask_wtf import FlaskForm
from wtforms import (
    BooleanField,
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
from app.web.fields import flaw_of

ROLES = [
    SelectChoice(Role.RECRUITER.value, "Recruiter: works with flows, interviews and candidates"),
    SelectChoice(Role.VIEWER.value, "Viewer: may only look"),
    SelectChoice(Role.ADMIN.value, "Administrator: also manages people, keys and recordings"),
]
PASSWORD_HELP = f"{passwords.SHORTEST} to {passwords.LONGEST} characters; a sentence is fine."


def clean(_form: Form, field: Field) -> None:
    """No character that cannot be kept."""
    flaw = flaw_of(field.data or "")
    if flaw:
        raise ValidationError(flaw)


def address(_form: Form, field: Field) -> None:
    """A well-formed email address."""
    try:
        passwords.checked_address(field.data or "")
    except Rejected:
        raise ValidationError("This is not an email address, such as name@example.com.") from None


def strong(_form: Form, field: Field) -> None:
    """A password that can be used."""
    flaw = passwords.flaw_of(field.data or "")
    if flaw:
        raise ValidationError(f"The password {flaw}.")


def _name(label: str, missing: str) -> StringField:
    return StringField(label, [DataRequired(missing), Length(max=300, message="At most 300 characters."), clean])


class SignInForm(FlaskForm):  # type: ignore[misc]
    """Address and password."""

    email = EmailField("Email address", [InputRequired("Enter your email address."), Length(max=320), clean])
    password = PasswordField("Password", [InputRequired("Enter your password."), Length(max=1000)])
    next = HiddenField()


class CodeForm(FlaskForm):  # type: ignore[misc]
    """The second step: a code of the authenticator app, or a recovery code."""

    code = StringField("Code", [InputRequired("Enter the code."), Length(max=100), clean])
    next = HiddenField()


class SetUpForm(FlaskForm):  # type: ignore[misc]
    """The first administrator names everything."""

    organization = _name("Organization", "Name your organization.")
    team = _name("First team", "Name the first team.")
    full_name = StringField("Your name", [Optional(), Length(max=300), clean])
    email = EmailField(
        "Your email address", [InputRequired("Enter your email address."), Length(max=320), clean, address]
    )
    password = PasswordField(
        "Password", [InputRequired("Choose a password."), clean, strong], description=PASSWORD_HELP
    )


class MemberForm(FlaskForm):  # type: ignore[misc]
    """A further member, who is invited by a link, or gets a first password that is handed over in person."""

    email = EmailField("Email address", [InputRequired("Enter an email address."), Length(max=320), clean, address])
    full_name = StringField("Name", [Optional(), Length(max=300), clean])
    role = SelectField("Role", choices=ROLES)
    team = SelectField("Team", choices=[])
    password = PasswordField(
        "First password",
        [Optional(), clean, strong],
        description=f"Leave it empty, and they choose their own by a link. {PASSWORD_HELP}",
    )


class ForgottenForm(FlaskForm):  # type: ignore[misc]
    """Who has forgotten the password."""

    email = EmailField("Email address", [InputRequired("Enter your email address."), Length(max=320), clean, address])


class ChoosePasswordForm(FlaskForm):  # type: ignore[misc]
    """A password by a link, and one's name, where it is the first one."""

    full_name = StringField("Your name", [Optional(), Length(max=300, message="At most 300 characters."), clean])
    password = PasswordField(
        "Password", [InputRequired("Choose a password."), clean, strong], description=PASSWORD_HELP
    )


class ChangeForm(FlaskForm):  # type: ignore[misc]
    """Role and teams of a member."""

    role = SelectField("Role", choices=ROLES)
    teams = SelectMultipleField(
        "Teams", choices=[], description="Recruiters and viewers see flows and candidates of their teams only."
    )

    def offer(self, teams: Iterable[Team]) -> None:
        """The teams to choose from."""
        self.teams.choices = [SelectChoice(team.id, team.name) for team in teams]


class ResetForm(FlaskForm):  # type: ignore[misc]
    """A new password for another member."""

    password = PasswordField(
        "New password", [InputRequired("Choose a new password."), clean, strong], description=PASSWORD_HELP
    )


class TeamForm(FlaskForm):  # type: ignore[misc]
    """A further team."""

    name = _name("Team", "Name the team.")


class KeyForm(FlaskForm):  # type: ignore[misc]
    """A new API key."""

    name = _name("What will use it?", "Name what will use the key.")
    is_test = BooleanField(
        "Test mode",
        description="Interviews that are created with a test key complete by themselves.",
    )


class OrganizationForm(FlaskForm):  # type: ignore[misc]
    """Settings of the organization."""

    assess_language = BooleanField("Assess language")
    shows_status = BooleanField("Show candidates their status")


class ProfileForm(FlaskForm):  # type: ignore[misc]
    """What a member says about themselves."""

    full_name = StringField("Your name", [Optional(), Length(max=300, message="At most 300 characters."), clean])


class AddressForm(FlaskForm):  # type: ignore[misc]
    """A member's own new address."""

    email = EmailField("New address", [InputRequired("Enter the new address."), Length(max=320), clean, address])
    password = PasswordField("Your password", [InputRequired("Enter your password."), Length(max=1000)])


class AddressOfMemberForm(FlaskForm):  # type: ignore[misc]
    """A new address for another member."""

    email = EmailField("New address", [InputRequired("Enter the new address."), Length(max=320), clean, address])


class PasswordForm(FlaskForm):  # type: ignore[misc]
    """A member's own new password."""

    current = PasswordField("Present password", [InputRequired("Enter your present password."), Length(max=1000)])
    password = PasswordField(
        "New password", [InputRequired("Choose a new password."), clean, strong], description=PASSWORD_HELP
    )
