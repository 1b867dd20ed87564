"""Texts that attackers put into names and parameters, to become markup, script, style, or a
header.

`canary` is an attribute that no page has; `x.invalid` is a host that no page requests.
"""

from __future__ import annotations

ALERT = "alert(1)"

# Names that the management API accepts.
NAMES = (
    "<script>alert(1)</script>",
    '"><svg/onload=alert(1)>',
    "'><img src=x onerror=alert(1)>",
    '" autofocus onfocus=alert(1) canary="',
    "' onmouseover=alert(1) canary='",
    "` onload=alert(1) canary=`",
    "</title><script>alert(1)</script>",
    "</textarea></select></pre><img src=x onerror=alert(1)>",
    "--><script>alert(1)</script><!--",
    "</script><script>alert(1)//",
    "<![CDATA[<script>alert(1)</script>]]>",
    "javascript:alert(1)//",
    "data:text/html,<script>alert(1)</script>",
    '<a href="java&#9;script:alert(1)" canary>x</a>',
    '<iframe srcdoc="<script>parent.alert(1)</script>">',
    '<noscript><p title="</noscript><img src=x onerror=alert(1)>">',
    "<math><mtext><table><mglyph><style><!--</style><img src=x onerror=alert(1)>",
    "<svg><style>&lt;img src=x onerror=alert(1)&gt;",
    "<style>*{display:none}</style><link rel=stylesheet href=//x.invalid>",
    ";}*{background:url(//x.invalid/c)}/*",
    "<base href=//x.invalid><meta http-equiv=refresh content=0;url=//x.invalid>",
    "</form><form action=//x.invalid><button formaction=javascript:alert(1)>",
    "{{7*7}}${7*7}<%= 7*7 %>#{7*7}%(n)s<%def name='x()'>{0}",
    "&lt;script&gt;alert(1)&lt;/script&gt;&#x3c;svg/onload=alert(1)&#62;",
    "%0d%0aX-Evil:%201%3Csvg/onload=alert(1)%3E+%u003csvg",
    "＜script＞alert(1)＜/script＞ \u202etxet\u202c \u2066a\u2069 e\u0301",  # noqa: RUF001
    "<b canary>" * 10,
)
# Texts that no name may contain, but a parameter may.
PARAMETERS = (
    "\r\nX-Evil: 1\r\n\r\n<script>alert(1)</script>",
    "\u2028alert(1)//\u2029</script>",
    "\0<script\0>alert(1)</script>",
)


def packed(most: int, payloads: tuple[str, ...] = NAMES) -> list[str]:
    """The payloads in order, joined into as few texts of at most this length as possible."""
    texts = [""]
    for payload in payloads:
        if texts[-1] and len(texts[-1]) + len(payload) >= most:
            texts.append("")
        texts[-1] = f"{texts[-1]} {payload}".strip()
    return texts
