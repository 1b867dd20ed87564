"""Whoever can't sign in writes nothing of his own into the log (CVE-2026-54338)."""

from __future__ import annotations


async def test_a_login_name_reaches_no_log_however_long_it_is(start_program, open_browser):
    program = start_program()
    browser, longest = open_browser(program), max(map(len, program.errors), default=0)
    page = await browser.open(program.demo().authorize_url())
    for name in ("n" * 201, "n" * 60_000, "forged\nline", "\x1b[31mforged"):
        await browser.submit(page, loginName=name)
    page = await browser.submit(page, loginName="n" * 200)
    await browser.submit(page, password="wrong")
    program.wait_for(lambda: "sign-in refused" in program.printed, "the line of the refusal")

    assert "n" * 20 not in program.printed
    assert "forged" not in program.printed
    assert max(map(len, program.errors)) < max(longest, 2000)
