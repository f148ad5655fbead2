"""The accent color and the organization's default logo, on candidates' pages and in mail."""

import colorsys
import re
from pathlib import Path

import pytest

from app.core import colors
from app.core.db import db
from app.flows import accent
from app.flows.models import InterviewFlow
from app.gateways import Gateways
from app.gateways.mail import Mail
from app.interviews import actions as interviews
from app.mail_outbox.html_part import html_of
from tests.factories import Made
from tests.flows.server import picture
from tests.flows.test_uploads import _file, _sent, _typed
from tests.people import Browser, Person

EVERY = [
    "#" + "".join(f"{round(255 * one):02x}" for one in colorsys.hls_to_rgb(hue / 24, light / 10, saturation / 2))
    for hue in range(24)
    for light in range(11)
    for saturation in range(3)
]


@pytest.mark.parametrize(
    ("one", "other", "ratio"),
    [("#000000", "#ffffff", 21.0), ("#777777", "#ffffff", 4.48), ("#ffffff", "#0000ff", 8.59)],
)
def test_contrast_is_that_of_wcag(one: str, other: str, ratio: float) -> None:
    assert colors.contrast(one, other) == pytest.approx(ratio, abs=0.01)


def test_whatever_is_chosen_can_be_read_on_light_and_dark_pages() -> None:
    for color in EVERY:
        offered = colors.nearest_readable(color)
        light, dark = colors.on_light(offered), colors.on_dark(offered)
        pairs = [(light.accent, colors.LIGHT), (light.accent, colors.ON_LIGHT), (light.hover, colors.ON_LIGHT)]
        pairs += [(dark.accent, colors.DARK), (dark.accent, colors.ON_DARK), (dark.hover, colors.ON_DARK)]
        assert min(colors.contrast(*pair) for pair in pairs) >= colors.READABLE, (color, offered, pairs)
        assert accent.checked(offered) == offered
        assert offered == color or not colors.is_readable(color)


def test_the_backgrounds_are_those_of_the_style_sheet(app: object) -> None:
    light, dark = Path("static/css/tokens.css").read_text("utf-8").split("prefers-color-scheme: dark")
    grounds = [re.findall(r"--(?:bg|surface): (#\w+)", part) for part in (light, dark)]
    assert min(grounds[0], key=lambda one: colors.contrast(one, "#000000")) == colors.LIGHT
    assert min(grounds[1], key=lambda one: colors.contrast(one, "#ffffff")) == colors.DARK


@pytest.mark.parametrize(("text", "color"), [(" #0D655E ", "#0d655e"), ("06c", "#0066cc"), ("", None)])
def test_a_color_is_read_as_people_write_it(text: str, color: str | None) -> None:
    assert accent.checked(text) == color


def test_a_color_that_cannot_be_read_is_refused_with_the_nearest_one(owner: Person, make_flow: Made) -> None:
    flow = make_flow()
    seen = owner.browser.post(f"/flows/{flow.id}/edit", data=_typed(owner, accent="#ffd400"))
    nearest = accent.nearest("#ffd400")
    assert nearest is not None
    assert (seen.status_code, "#ffd400 is too light to read on a light page" in seen.text) == (422, True)
    assert f'name="accent_instead" value="{nearest}"' in re.sub(r"\s+", " ", seen.text)
    taken = owner.browser.post(f"/flows/{flow.id}/edit", data=_typed(owner, accent="#ffd400", accent_instead=nearest))
    assert taken.text.count("The flow is not saved yet.") == 1
    assert f'value="{nearest}"' in taken.text
    assert owner.browser.post(f"/flows/{flow.id}/edit", data=_typed(owner, accent=nearest)).status_code == 303
    assert db.session.query(InterviewFlow).one().accent == nearest


@pytest.mark.parametrize("text", ["teal", "#12", "#12345g", "url(x)", "}body{display:none"])
def test_what_is_no_color_is_refused(owner: Person, text: str) -> None:
    seen = owner.browser.post("/flows/new", data=_typed(owner, accent=text))
    assert (seen.status_code, "six digits" in seen.text) == (422, True) if len(text) <= 20 else seen.status_code == 422


def test_candidates_get_the_color_as_a_style_sheet(client: Browser, owner: Person, make_flow: Made) -> None:
    flow = make_flow(accent="#7a1f5c")
    interview = interviews.book(owner.organization, flow.id, email="robin@example.com")
    db.session.commit()
    page = client.get(f"/interview/api/{interview.flow_id}/{interview.id}")
    assert '<link rel="stylesheet" href="/accent/7a1f5c.css">' in page.text
    sheet = client.get("/accent/7a1f5c.css")
    assert (sheet.status_code, sheet.mimetype) == (200, "text/css")
    assert sheet.headers["Cache-Control"] == "public, max-age=86400"
    assert "--accent:#7a1f5c" in sheet.text
    assert len(sheet.data) < 600


@pytest.mark.parametrize("color", ["ffd400", "7A1F5C", "7a1", "x", "7a1f5c;}"])
def test_there_are_style_sheets_of_readable_colors_alone(client: Browser, color: str) -> None:
    assert [client.get(f"/accent/{kind}{color}.css").status_code for kind in ("", "mail/")] == [404, 404]


def test_the_organization_s_logo_and_color_are_those_of_flows_without_their_own(
    owner: Person, client: Browser, make_flow: Made, engines: Gateways
) -> None:
    plain = make_flow().id
    own = make_flow(accent="#0d655e", logo_key="flow-media/own.png").id
    typed = {"accent": "#7a1f5c", "logo_file": _file(picture(), "logo.png")}
    assert _sent(owner.browser, "/organization/branding", typed).status_code == 303
    db.session.expire_all()
    flows = {flow.id: flow for flow in db.session.query(InterviewFlow)}
    assert [flows[plain].accent_path, flows[own].accent_path] == ["/accent/7a1f5c.css", "/accent/0d655e.css"]
    assert client.get(f"/flows/{plain}/logo").content_type == "image/png"
    assert owner.browser.get("/organization/logo").status_code == 200
    key = flows[plain].organization.logo_key
    db.session.rollback()
    assert owner.browser.post("/organization/branding", data={"accent": "", "remove_logo": "y"}).status_code == 303
    db.session.expire_all()
    assert (flows[plain].logo_path, flows[plain].accent_path) == (None, None)
    db.session.rollback()
    assert key not in list(engines.storage.list("flow-media"))
    assert client.get(f"/flows/{plain}/logo").status_code == 404


def test_a_logo_that_cannot_be_used_changes_nothing(owner: Person) -> None:
    typed = {"accent": "#7a1f5c", "logo_file": _file(b"<svg/>", "logo.svg")}
    seen = _sent(owner.browser, "/organization/branding", typed)
    assert (seen.status_code, "The logo cannot be used" in seen.text) == (422, True)
    db.session.expire_all()
    assert owner.team.organization.accent is None


def test_the_button_of_a_mail_has_the_color(app: object) -> None:
    mail = Mail("a@b.example", "Come", "Hello\n\nhttps://p.example/1", link="https://p.example/1", button="Start")
    plain, colored = html_of(mail), html_of(Mail(**{**_values(mail), "accent": "#7a1f5c"}))
    assert "#7a1f5c" not in plain
    assert re.search(r'class="button"[^>]*style="[^"]*background-color:\s*#7a1f5c', colored)
    assert colors.on_dark("#7a1f5c").accent in colored


def _values(mail: Mail) -> dict[str, str]:
    return {name: getattr(mail, name) for name in ("to", "subject", "text", "link", "button")}
