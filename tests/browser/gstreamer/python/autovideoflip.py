"""``autovideoflip``, which WebKit's recorder asks for and Debian 12's GStreamer lacks: ``videoflip`` under that name.

A plugin of GStreamer (see ``webkit_window.py``), run by gstreamer1.0-python3-plugin-loader in WebKit's own process.
"""

import gi

gi.require_version("Gst", "1.0")
gi.require_version("GstVideo", "1.0")
from gi.repository import GObject, Gst, GstVideo  # noqa: E402

AUTO = GstVideo.VideoOrientationMethod.AUTO


class AutoVideoFlip(Gst.Bin):
    __gstmetadata__ = ("autovideoflip", "Filter/Effect/Video", "videoflip under another name", "Parley")
    video_direction = GObject.Property(type=GstVideo.VideoOrientationMethod, default=AUTO)

    def __init__(self) -> None:
        super().__init__()
        flip = Gst.ElementFactory.make("videoflip")
        self.add(flip)
        for name in ("sink", "src"):
            self.add_pad(Gst.GhostPad.new(name, flip.get_static_pad(name)))
        self.bind_property("video-direction", flip, "video-direction", GObject.BindingFlags.SYNC_CREATE)


__gstelementfactory__ = ("autovideoflip", Gst.Rank.NONE, AutoVideoFlip)
