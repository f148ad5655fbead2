import re

from flask import redirect, render_template, request, send_file, url_for
# ruleid: cors-opened
from flask_cors import CORS
# ok: cors-opened
from flask_wtf.csrf import CSRFProtect


def back(form):
    # ruleid: redirect-to-input
    first = redirect(request.args.get("next"))
    target = form.next.data or "/"
    # ruleid: redirect-to-input
    second = redirect(target, 303)
    # ok: redirect-to-input
    third = redirect(safe_next(request.args.get("next")) or "/")
    # ok: redirect-to-input
    fourth = redirect(url_for("flows.index", at=request.args.get("at")), 303)
    return first, second, third, fourth


def download(storage, upload):
    # ruleid: path-from-request
    one = open(request.args["name"])
    # ruleid: path-from-request
    two = storage.open(f"documents/{upload.filename}")
    # ruleid: path-from-request
    three = Path("uploads") / Path(request.form["name"])
    # ok: path-from-request
    four = storage.open(f"documents/{secrets.token_hex(16)}")
    # ok: path-from-request
    five = Path(f"part-{int(request.args['number'])}")
    return one, two, three, four, five


def sent(path, content):
    # ruleid: file-sent-by-path
    one = send_file(path)
    # ruleid: file-sent-by-path
    two = send_from_directory(path, "report.pdf")
    # ok: file-sent-by-path
    three = send_file(io.BytesIO(content), mimetype="audio/wav")
    return one, two, three


def page():
    name = request.args["page"]
    # ruleid: template-named-by-input
    one = render_template(f"conversation/{name}.html")
    # ok: template-named-by-input
    two = render_template("conversation/page.html", name=name)
    return one, two


def searched(text):
    # ruleid: expression-from-request
    one = re.search(request.args["q"], text)
    # ok: expression-from-request
    two = re.search(re.escape(request.args["q"]), text)
    # ok: expression-from-request
    three = re.search(r"[a-z]+", request.args["q"])
    return one, two, three


def known(response, token, secure):
    # ruleid: cookie-without-flags
    response.set_cookie("sid", token)
    # ruleid: cookie-without-flags
    response.set_cookie("sid", token, secure=secure, httponly=True)
    # ruleid: cookie-without-flags
    response.set_cookie("sid", token, secure=secure, httponly=True, samesite="None")
    # ok: cookie-without-flags
    response.set_cookie("sid", token, path="/", secure=secure, httponly=True, samesite="Lax")
    # ok: cookie-without-flags
    response.delete_cookie("sid", samesite="Strict", secure=secure, httponly=True)


# ruleid: csrf-switched-off
@csrf.exempt
def hook():
    # ruleid: csrf-switched-off
    form = Form(meta={"csrf": False})
    # ruleid: csrf-switched-off
    app.config["WTF_CSRF_ENABLED"] = False
    # ok: csrf-switched-off
    csrf.protect()
    return form


class Form(FlaskForm):
    class Meta:
        # ruleid: csrf-switched-off
        csrf = False


@pages.get("/interviews/<id>")
def show(id):
    count_visit(id)
    # ruleid: state-changed-on-get
    db.session.commit()
    return ""


@pages.post("/interviews/<id>")
def change(id):
    # ok: state-changed-on-get
    db.session.commit()
    return ""


def begun(app):
    # ruleid: debug-on
    app.debug = True
    # ruleid: debug-on
    app.run(debug=True)
    # ruleid: debug-on
    app.config.update(DEBUG=True)
    # ok: debug-on
    app.run(debug=False)


def open_to_all(response):
    # ruleid: cors-opened
    response.headers["Access-Control-Allow-Origin"] = "*"
    # ok: cors-opened
    response.headers["Cross-Origin-Opener-Policy"] = "same-origin"
