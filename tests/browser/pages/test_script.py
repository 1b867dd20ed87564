"""What the pages' own script adds, and what no page lets happen."""

CANARY = '"><img src=x onerror=alert(1)><script>alert(2)</script>'


def at_password(person):
    person.go("/demo/sign-in")
    person.fill(loginName="demo")
    person.press("Continue")
    return person.page.locator("input[name=password]"), person.page.locator(".reveal > button")


def test_a_password_can_be_shown(new_person):
    person = new_person()
    field, button = at_password(person)
    assert button.get_attribute("aria-pressed") == "false"
    button.click()
    assert (field.get_attribute("type"), button.get_attribute("aria-pressed")) == ("text", "true")
    field.fill(person.program.user[1])
    person.press("Sign in")

    assert person.name == "demo"


def test_a_double_click_sends_a_step_once(new_person):
    person = new_person()
    at_password(person)
    sent = []
    person.page.on("request", lambda request: sent.append(request.method))
    person.fill(password=person.program.user[1])
    with person.page.expect_navigation():
        person.page.locator("#step button").filter(has_text="Sign in").dblclick()

    assert person.name == "demo"
    assert sent.count("POST") == 1


def test_who_stopped_the_loading_can_send_the_step_again(new_person):
    person = new_person()
    person.page.clock.install()
    at_password(person)
    stopped = []

    def stop(route):
        stopped.append(route.request.method)
        route.abort("aborted")  # as the Esc key does

    person.page.route("**/ui/login/password*", stop)
    person.fill(password=person.program.user[1])
    button = person.page.locator("#step button").filter(has_text="Sign in")
    with person.page.expect_event("requestfailed"):
        button.click(no_wait_after=True)
    button.click(no_wait_after=True)  # too early: it might be the second of a double click
    person.page.clock.run_for(5000)
    person.page.unroute_all()
    person.press("Sign in")

    assert stopped == ["POST"]
    assert person.name == "demo"


def test_a_sign_in_needs_no_mouse(person):
    person.go("/demo/sign-in")
    person.wait_for_focus("loginName")
    person.page.keyboard.type("demo")
    with person.page.expect_navigation():
        person.page.keyboard.press("Enter")
    person.wait_for_focus("password")
    person.page.keyboard.type(person.program.user[1])
    with person.page.expect_navigation():
        person.page.keyboard.press("Enter")

    assert person.name == "demo"


def test_the_focus_is_in_the_field_with_the_only_problem(person):
    person.go("/demo/sign-in")
    person.fill(loginName="  ")
    person.press("Continue")
    person.wait_for_focus("loginName")
    described = person.page.locator("[name=loginName]").get_attribute("aria-describedby")

    assert "Enter your email or username." in person.page.locator(f"#{described}").inner_text()


def test_each_of_several_problems_is_one_key_away_from_its_field(person):
    person.go("/demo/sign-in?prompt=create")
    person.fill(givenName="Nora", familyName="N", email="nora@", newPassword="password")
    person.press("Create account")
    person.page.locator(".summary:focus").wait_for()
    person.page.keyboard.press("Tab")
    assert person.page.evaluate("document.activeElement.textContent") == "Email"
    person.page.keyboard.press("Enter")

    assert person.page.url.endswith("#email")


def test_what_others_wrote_is_never_run(person):
    demo = person.program.demo()
    person.page.goto(demo.authorize_url(login_hint=CANARY, state=CANARY))
    assert person.page.input_value("input[name=loginName]") == CANARY
    person.press("Continue")
    assert person.page.locator("img").count() == 1  # the service's own
    person.page.goto(demo.authorize_url(redirect_uri=CANARY))

    assert person.name == "explain"
    assert person.page.locator("script").count() == 1
    assert person.complaints == []


def test_no_site_can_frame_a_page(new_person, program):
    person = new_person()
    frame = f"<iframe src='{program.issuer}/ui/login'></iframe>"
    answer = {"body": frame, "content_type": "text/html"}
    person.page.route("http://evil.localhost/", lambda route: route.fulfill(**answer))
    with person.page.expect_event("console"):
        person.page.goto("http://evil.localhost/")

    assert any("frame-ancestors" in each for each in person.complaints)
    person.complaints.clear()
