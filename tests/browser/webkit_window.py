"""A WebKit window (WebKitGTK, Safari's engine) that does what its standard input says: a program of its own.

It runs under Debian's Python, which has the GObject bindings. Each line in is ``{"do": name, ...}``, each line out
``{"value": …}`` or ``{"error": …}``, in order.
"""

import json
import os
import sys
from pathlib import Path
from typing import Any

import gi

gi.require_version("Gtk", "3.0")
gi.require_version("WebKit2", "4.1")
gi.require_version("Gst", "1.0")
from gi.repository import GLib, Gst, Gtk, WebKit2  # noqa: E402

if (Gst.VERSION_MAJOR, Gst.VERSION_MINOR) < (1, 24):  # without autovideoflip; WebKit's processes inherit the path
    os.environ["GST_PLUGIN_PATH"] = str(Path(__file__).with_name("gstreamer"))

# Script errors and breaches of the page's policy, from the first moment of each page.
WATCH = """
for (const name of ["error", "unhandledrejection", "securitypolicyviolation"]) addEventListener(name, (event) => {
  const { message, reason, violatedDirective, blockedURI } = event;
  if (name === "error" && !message) return; // a picture that is not there
  const what = violatedDirective ? `${violatedDirective} ${blockedURI}` : message ?? String(reason?.stack ?? reason);
  webkit.messageHandlers.trouble.postMessage(`${location.pathname}: ${name}: ${what}`);
});
"""

# WebKit's imitated microphone hums without an end and beeps for 70 ms, and neither is speech. Humming with pauses is.
PAUSES = """
const asked = navigator.mediaDevices.getUserMedia.bind(navigator.mediaDevices);
navigator.mediaDevices.getUserMedia = async (wanted) => {
  const stream = await asked(wanted);
  const context = new AudioContext();
  const [gate, half] = [new GainNode(context, { gain: 0.5 }), new GainNode(context, { gain: 0.5 })];
  const wave = new OscillatorNode(context, { type: "square", frequency: 0.2 }); // 2.5 s of each
  wave.connect(half).connect(gate.gain);
  wave.start();
  const heard = context.createMediaStreamDestination();
  context.createMediaStreamSource(stream).connect(gate).connect(heard);
  return new MediaStream([...heard.stream.getAudioTracks(), ...stream.getVideoTracks()]);
};
"""


class Window:
    """``told``: ``user_agent`` (null for its own) and ``size``, a pair of CSS pixels."""

    def __init__(self, told: dict[str, Any]) -> None:
        self.allows, self.trouble = True, []
        context = WebKit2.WebContext.new_ephemeral()
        content = WebKit2.UserContentManager()
        content.connect("script-message-received::trouble", self.troubled)
        content.register_script_message_handler("trouble")
        self.content = content
        content.add_script(script(WATCH))
        self.pauses = script(PAUSES)
        self.view = WebKit2.WebView(web_context=context, user_content_manager=content)
        self.settings = settings = self.view.get_settings()
        for name in ("enable-media-stream", "enable-mediasource", "enable-webaudio"):
            settings.set_property(name, True)
        settings.set_property("media-playback-requires-user-gesture", True)
        settings.set_property("hardware-acceleration-policy", WebKit2.HardwareAccelerationPolicy.NEVER)
        if told["user_agent"]:
            settings.set_user_agent(told["user_agent"])
        self.view.connect("permission-request", self.asked)
        self.view.connect("load-changed", self.loaded)
        self.view.connect("load-failed", self.failed)
        self.view.connect("web-process-terminated", self.terminated)
        self.window = Gtk.Window()
        self.window.add(self.view)
        self.size(told["size"])
        self.window.show_all()
        self.view.grab_focus()

    def size(self, size: list[int]) -> None:
        self.window.set_size_request(*size)
        self.window.resize(*size)

    def troubled(self, _: Any, message: Any) -> None:
        self.trouble.append(message.get_js_value().to_string())

    def asked(self, _: Any, request: Any) -> bool:
        request.allow() if self.allows else request.deny()
        return True

    def loaded(self, _: Any, event: Any) -> None:
        if event == WebKit2.LoadEvent.FINISHED and self.opening:
            self.opening = False
            answer(value=self.view.get_uri())

    def failed(self, _: Any, __: Any, uri: str, error: Any) -> bool:
        if self.opening:
            self.opening = False
            answer(error=f"{uri}: {error.message}")
        return False

    def terminated(self, _: Any, why: Any) -> None:
        self.trouble.append(f"process ended: {why}")
        if self.opening:  # no load ends any more
            self.opening = False
            answer(error=f"process ended: {why}")

    opening = False

    def open(self, url: str) -> None:
        self.opening = True
        self.view.load_uri(url)

    def reload(self) -> None:
        self.opening = True
        self.view.reload()

    def ask(self, body: str) -> None:
        """The value of an asynchronous function with this body, through JSON."""
        code = (
            f"const found = await (async () => {{{body}}})(); return JSON.stringify(found === undefined ? null : found)"
        )
        self.view.call_async_javascript_function(code, -1, None, None, None, None, self.found)

    def found(self, view: Any, result: Any) -> None:
        try:
            answer(value=json.loads(view.call_async_javascript_function_finish(result).to_string()))
        except GLib.Error as error:
            answer(error=error.message)

    def at_once(self, name: str, value: Any) -> Any:
        if name == "size":
            self.size(value)
        elif name == "allow":
            self.allows = value
        elif name == "mock":  # microphone and camera
            self.settings.set_property("enable-mock-capture-devices", value)
            (self.content.add_script if value else self.content.remove_script)(self.pauses)
        elif name == "records pictures":
            Gst.init(None)
            return Gst.ElementFactory.find("autovideoflip") is not None  # its recorder gives up without it
        elif name == "trouble":
            found, self.trouble = self.trouble, []
            return found
        return None


def script(source: str) -> Any:
    """One for every page, from its first moment."""
    start = WebKit2.UserScriptInjectionTime.START
    return WebKit2.UserScript.new(source, WebKit2.UserContentInjectedFrames.TOP_FRAME, start, None, None)


def answer(**what: Any) -> None:
    print(json.dumps(what), flush=True)


def main() -> None:
    window = Window(json.loads(sys.stdin.readline()))
    channel = GLib.IOChannel.unix_new(sys.stdin.fileno())

    def read(*_: Any) -> bool:
        line = channel.readline()
        if not line:
            Gtk.main_quit()
            return False
        told = json.loads(line)
        name, value = told["do"], told.get("value")
        if name in {"open", "ask"}:
            getattr(window, name)(value)
        elif name == "reload":
            window.reload()
        else:
            answer(value=window.at_once(name, value))
        return True

    GLib.io_add_watch(channel, GLib.PRIORITY_DEFAULT, GLib.IOCondition.IN | GLib.IOCondition.HUP, read)
    answer(value=f"{WebKit2.get_major_version()}.{WebKit2.get_minor_version()}.{WebKit2.get_micro_version()}")
    Gtk.main()


main()
