"""Hostile addresses: what must not be kept, and what may be kept but must never be connected to."""

BAD_FORM = [
    "", " ", "http:", "http://", "https://", "https:///path", "//example.com/", "example.com/hook", "/hook",
    "ftp://example.com/", "file:///etc/passwd", "gopher://example.com:70/_x", "dict://example.com:11211/stat",
    "javascript:alert(1)", "data:text/html,x", "ldap://example.com/", "ws://example.com/", "unix:///run/redis.sock",
    "http+unix://%2Frun%2Fredis.sock/x", "jar:https://example.com/!/x", "netdoc:///etc/passwd",
    # user and password, and what some parsers take for the host
    "https://user@example.com/", "https://user:pass@example.com/", "https://example.com@127.0.0.1/",
    "https://127.0.0.1@example.com/", "https://@example.com/", "https://example.com:443@127.0.0.1/",
    "https://example.com%40127.0.0.1/", "https://[::1]@example.com/",
    # backslashes, white space, control characters
    "https://example.com\\@127.0.0.1/", "https:\\\\127.0.0.1/", "https://127.0.0.1\\.example.com/",
    "https://example.com/a b", " https://example.com/", "https://example.com/ ", "https://exa mple.com/",
    "https://example.com/\t", "https://example.com/\r\nX: y", "https://example.com/\n", "https://example.com\x00/",
    "https://exam\x7fple.com/", "https://example.com/\x01",
    # fragments
    "https://example.com/#x", "https://example.com#@127.0.0.1/", "https://127.0.0.1#.example.com/",
    # hosts that are numbers in disguise: getaddrinfo takes each of these for an address
    "https://2130706433/", "https://017700000001/", "https://0x7f000001/", "https://0x7f.1/", "https://0177.0.0.1/",
    "https://127.1/", "https://127.0.1/", "https://0/", "https://0.0/", "https://①②⑦.⓪.⓪.①/", "https://１２７.0.0.1/",
    "https://127。0。0。1/", "https://127．0．0．1/", "https://0x7f.0x0.0x0.0x1/", "https://127.0.0.01/",
    "https://127.0.0.0x1/", "https://00000177.0.0.1/", "https://256.1.1.1/", "https://1.2.3/", "https://1.2.3.4.5/",
    "https://127.0.0.1./", "https://4294967295/", "https://169.254.43518/", "https://0xa9fea9fe/", "https://2852039166/",
    "https://0251.0376.0251.0376/", "https://a.1/", "https://example.0x1/",
    # names that are none
    "https://localhost/", "https://LOCALHOST/", "https://localhost./", "https://redis/", "https://-a.example.com/",
    "https://a-.example.com/", "https://a..example.com/", "https://.example.com/", "https://example.com./",
    "https://exa_mple.com/", "https://example.com,127.0.0.1/", "https://*.example.com/", "https://%31%32%37.0.0.1/",
    "https://ex%61mple.com/", "https://" + "a" * 64 + ".example.com/", "https://" + "a.a" * 100 + ".example.com/",
    "https://ⓔxample.com/", "https://exam\u200bple.com/", "https://exam\u202eple.com/", "https://ℂ.example.com/",
    # brackets
    "https://[::1/", "https://::1/", "https://[127.0.0.1]/", "https://[example.com]/", "https://[::1]x/",
    "https://[fe80::1%25eth0]/", "https://[fe80::1%eth0]/", "https://[::1%251]/", "https://[v1.x]/", "https://[]/",
    "https://[::g]/", "https://[1:2:3]/", "https://[::ffff:127.1]/", "https://[::ffff:0x7f.1]/",
    # ports
    "https://example.com:0/", "https://example.com:22/", "https://example.com:25/", "https://example.com:1023/",
    "https://example.com:65536/", "https://example.com:6379/", "https://example.com:5432/", "https://example.com:11211/",
    "https://example.com:3306/", "https://example.com:9200/", "https://example.com:27017/", "https://example.com:2375/",
    "https://example.com:10250/", "https://example.com:/", "https://example.com:0443/", "https://example.com:+443/",
    "https://example.com:４４３/", "https://example.com:443:80/", "https://example.com:8e3/", "https://example.com:-1/",
    "https://example.com:99999999999/",
    # length and letters
    "https://example.com/" + "a" * 2048, "https://example.com/ü",
]  # fmt: skip
"""Refused when it is saved, whatever the installation allows."""

BAD_ADDRESS = [
    # loopback, private, shared, link-local
    "127.0.0.1", "127.255.255.254", "0.0.0.0", "0.1.2.3", "10.0.0.1", "10.255.255.255", "100.64.0.1", "100.127.255.255",
    "169.254.0.1", "169.254.169.254", "169.254.170.2", "172.16.0.1", "172.31.255.255", "192.168.0.1", "192.168.255.255",
    # what is_global lets through, and other special ranges
    "192.0.0.1", "192.0.0.8", "192.0.0.192", "192.0.2.1", "192.88.99.1", "192.88.99.3", "198.18.0.1", "198.19.255.255",
    "198.51.100.1", "203.0.113.7", "224.0.0.1", "239.255.255.250", "240.0.0.1", "255.255.255.255",
    # clouds
    "168.63.129.16", "100.100.100.200", "fd00:ec2::254",
    # the same again in IPv6, in every wrapping
    "::", "::1", "::127.0.0.1", "::ffff:127.0.0.1", "::ffff:10.0.0.1", "::ffff:169.254.169.254", "::ffff:8.8.8.8",
    "::ffff:0:127.0.0.1", "::ffff:0:8.8.8.8", "64:ff9b::7f00:1", "64:ff9b::a9fe:a9fe", "64:ff9b::808:808",
    "64:ff9b:1::a00:1", "64:ff9b:1::1", "2002:7f00:1::", "2002:a9fe:a9fe::", "2002:808:808::1", "2001::1",
    "2001:0:53aa:64c::1", "2001:10::1", "2001:20::1", "2001:db8::1", "2620:4f:8000::1", "3fff::1", "5f00::1", "100::1",
    "100:0:0:1::1", "fc00::1", "fd12:3456::1", "fe80::1", "febf::1", "fec0::1", "feff::1", "ff02::1", "ff0e::1",
    "4000::1", "a000::1", "e000::1",
]  # fmt: skip
"""Refused at every attempt, as a literal and as the answer of a name server."""

GOOD_ADDRESS = [
    "8.8.8.8", "1.1.1.1", "93.184.215.14", "172.15.255.255", "172.32.0.1", "100.63.255.255", "100.128.0.1", "192.0.1.1",
    "198.17.255.255", "198.20.0.1", "223.255.255.254", "2606:4700::1111", "2a00:1450:4001::1", "2001:4860:4860::8888",
    "2400:cb00::1", "2001:200::1",
]  # fmt: skip
GOOD_FORM = [
    "https://example.com", "https://example.com/", "https://EXAMPLE.com/Hook?x=1&y=%20", "https://example.com:443/",
    "https://example.com:8443/a/b", "https://sub.domain.example.co.uk/x", "https://münchen.example/hook",
    "https://xn--mnchen-3ya.example/", "https://93.184.215.14/hook", "https://[2606:4700::1111]:8443/x",
    "https://example.com/" + "a" * 2000, "https://hooks.example.com/?token=a@b:c", "https://a-b.example.com/~x;y,z!",
]  # fmt: skip
