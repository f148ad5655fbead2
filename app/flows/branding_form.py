"""The form of an organization's logo and accent color, which flows without their own have."""

from flask_wtf import FlaskForm
from wtforms import BooleanField, FileField, StringField

from app.core.errors import Rejected
from app.flows import media
from app.flows.forms import limited, sent


class BrandingForm(FlaskForm):  # type: ignore[misc]
    """An organization's logo and accent color."""

    logo_file = FileField(
        "Logo",
        description="PNG, JPEG or WebP, at most 2 MiB.",
        render_kw={"accept": ".png,.jpg,.jpeg,.webp,image/png,image/jpeg,image/webp"},
    )
    remove_logo = BooleanField("Remove the logo")
    accent = StringField(
        "Accent color",
        description="For buttons and links. In dark mode, Parley lightens the color to give it enough contrast.",
        render_kw=limited("accent", placeholder="#0d655e", autocomplete="off", spellcheck="false"),
    )

    def wanted_media(self) -> media.Wanted:
        """The uploaded logo, if any."""
        return media.Wanted(logo_file=sent(self.logo_file.data))

    def without(self) -> list[str]:
        """Which of the stored files to remove."""
        return ["logo"] if self.remove_logo.data else []

    def blame(self, refusal: Rejected) -> None:
        """Show a refusal at its field, or at the color."""
        blamed = self._fields.get(refusal.field or "", self.accent)
        blamed.errors = [refusal.message]
