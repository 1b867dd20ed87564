"""Scripts that ask a page what a user of it would notice."""

from __future__ import annotations

# Both for `page.evaluate`: what a script is given to begin with.
_SEEN = """
const isSeen = (each) => each.checkVisibility({ visibilityProperty: true })
    && !each.closest(".unseen, .skip");
const name = (each) => each.outerHTML.slice(0, 120);
"""

# Elements that cut off a part of what they contain.
CUT_OFF = f"""() => {{
    {_SEEN}
    const cuts = (way) => way === "hidden" || way === "clip";
    const own = "input, select, textarea, img, svg, svg *, iframe, progress";
    return [...document.querySelectorAll("body *")]
        .filter((each) => !each.matches(own) && isSeen(each))
        .filter((each) => {{
            const style = getComputedStyle(each);
            return (cuts(style.overflowX) && each.scrollWidth > each.clientWidth + 1)
                || (cuts(style.overflowY) && each.scrollHeight > each.clientHeight + 1);
        }})
        .map(name);
}}"""

# Lines of text that lie over each other, or reach out of their button, chip or cell, or out of
# the page. What is in a part that scrolls by itself may reach out of the page.
OUT_OF_PLACE = f"""() => {{
    {_SEEN}
    const lines = [], found = [];
    const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
    while (walker.nextNode()) {{
        const node = walker.currentNode, of = node.parentElement;
        if (!node.data.trim() || of.matches("script, option, textarea") || !isSeen(of)) continue;
        const range = document.createRange();
        range.selectNodeContents(node);
        for (const rect of range.getClientRects())
            if (rect.width > 1) lines.push({{ of, rect, text: node.data.trim().slice(0, 60) }});
    }}
    for (const {{ of, rect, text }} of lines) {{
        const box = of.closest("button, .button, .chip, summary, td, th")?.getBoundingClientRect();
        if (box && (rect.left < box.left - 2 || rect.right > box.right + 2
            || rect.top < box.top - 2 || rect.bottom > box.bottom + 2))
            found.push(`out of its box: ${{text}}`);
        if (!of.closest(".scroll, pre")
            && (rect.left < -1 || rect.right > document.documentElement.clientWidth + 1))
            found.push(`out of the page: ${{text}}`);
    }}
    lines.forEach((one, n) => lines.slice(n + 1).forEach((other) => {{
        const a = one.rect, b = other.rect;
        const across = Math.min(a.right, b.right) - Math.max(a.left, b.left);
        const down = Math.min(a.bottom, b.bottom) - Math.max(a.top, b.top);
        if (across > 2 && down > Math.min(a.height, b.height) / 3)
            found.push(`over each other: ${{one.text}} | ${{other.text}}`);
    }}));
    return found;
}}"""

_TARGETS = "a[href], button, input:not([type=hidden]), select, textarea, summary"
# Targets that are smaller than 24 px, but for links in a sentence, and with less than that around
# them (WCAG 2.2, 2.5.8): the circle of 24 px on the middle of one touches another target, or the
# circle of another one that is as small.
SMALL_TARGETS = f"""() => {{
    {_SEEN}
    const all = [...document.querySelectorAll("{_TARGETS}")].filter(isSeen)
        .map((of) => ({{ of, box: of.getBoundingClientRect() }}));
    const isSmall = ({{ box }}) => box.width < 24 || box.height < 24;
    const isInSentence = ({{ of }}) => getComputedStyle(of).display === "inline"
        && of.parentElement.textContent.trim() !== of.textContent.trim();
    const middle = ({{ box }}) => [box.left + box.width / 2, box.top + box.height / 2];
    const isNear = (one, other) => {{
        const [x, y] = middle(one), [otherX, otherY] = middle(other);
        if (isSmall(other) && Math.hypot(x - otherX, y - otherY) < 24) return true;
        const across = Math.max(other.box.left - x, 0, x - other.box.right);
        const down = Math.max(other.box.top - y, 0, y - other.box.bottom);
        return Math.hypot(across, down) < 12;
    }};
    return all.filter((one) => isSmall(one) && !isInSentence(one)
            && all.some((other) => other !== one && isNear(one, other)))
        .map(({{ of, box }}) => `${{box.width}} x ${{box.height}}: ${{name(of)}}`);
}}"""

# What has the focus: its place among what the Tab key reaches, whether it has an outline of at
# least 2 px, whether some of it can be seen, and where it is.
STOP = """() => {
    const each = document.activeElement, style = getComputedStyle(each);
    const { left, right, top, bottom } = each.getClientRects()[0] ?? new DOMRect();
    const points = [[(left + right) / 2, (top + bottom) / 2],
        [left + 2, top + 2], [right - 2, top + 2],
        [left + 2, bottom - 2], [right - 2, bottom - 2]];
    return {
        place: Number(each.dataset.n ?? -1),
        isOutlined: style.outlineStyle !== "none" && parseFloat(style.outlineWidth) >= 2,
        isSeen: points.some(([x, y]) => each.contains(document.elementFromPoint(x, y))),
        what: each.outerHTML.slice(0, 120),
    };
}"""

# Gives the focus to the nth of what the Tab key reaches, and returns the middle of it.
FOCUS_ON = """(n) => {
    const each = document.querySelector(`[data-n="${n}"]`);
    each.scrollIntoView({ block: "center" });
    each.focus();
    const { left, right, top, bottom } = each.getClientRects()[0];
    return [(left + right) / 2, (top + bottom) / 2];
}"""

# Types each character of a text where no field has the focus.
TYPE = """(text) => {
    for (const key of text)
        for (const type of ["keydown", "keypress", "keyup"])
            document.body.dispatchEvent(
                new KeyboardEvent(type, { key, bubbles: true, cancelable: true }));
}"""

# What users can see now, as the places of elements in the document.
VISIBLE = """() => [...document.querySelectorAll("body *")]
    .map((each, n) => each.checkVisibility({ opacityProperty: true, visibilityProperty: true })
        ? n : -1)
    .filter((n) => n >= 0)"""

# What acts like a control without being one: no keyboard reaches it.
ONLY_FOR_MICE = f"""() => {{
    {_SEEN}
    return [...document.querySelectorAll("body *")]
        .filter((each) => isSeen(each) && getComputedStyle(each).cursor === "pointer")
        .filter((each) => !each.closest("a[href], button, summary, label, input, select"))
        .map(name);
}}"""

# Controls whose accessible name lacks the text that users see on them (WCAG 2.2, 2.5.3).
OTHERWISE_NAMED = f"""() => {{
    {_SEEN}
    const plain = (text) => text.toLowerCase().replace(/\\s+/g, " ").trim();
    return [...document.querySelectorAll("[aria-label]:is(a, button, summary, input, select)")]
        .filter((each) => isSeen(each)
            && !plain(each.getAttribute("aria-label")).includes(plain(each.innerText)))
        .map(name);
}}"""

# Elements that show or play something other than text, but for pictures that have a known place:
# logos, icons, QR codes and the preview of a brand.
OTHER_THAN_TEXT = f"""() => {{
    {_SEEN}
    const known = ".logo, .mark, .backdrop, .specimen img, .picture img, .picture svg, svg.icon";
    return [...document.querySelectorAll(
            "img, svg, canvas, audio, video, object, embed, marquee, blink")]
        .filter((each) => !each.matches(known))
        .map(name);
}}"""

# Each input that has a problem, with the text that describes it.
PROBLEMS = """() => [...document.querySelectorAll("[aria-invalid=true]")].map((each) => {
    const ids = (each.getAttribute("aria-describedby") ?? "").split(" ").filter(Boolean);
    const texts = ids.map((id) => document.getElementById(id))
        .filter((text) => text.checkVisibility({ visibilityProperty: true }));
    return {
        name: each.name,
        label: each.labels[0]?.innerText ?? "",
        text: texts.map((text) => text.innerText.trim()).join(" "),
        hasIcon: texts.some((text) => text.querySelector("svg.icon")),
    };
})"""
