"""The pages of second factors, for `page_samples`."""

DRAWN = '<b class="qr">drawn</b>'


def choice(said, icon):
    url = "/ui/login/passkey?" + said("flow=f1")
    return {"label": said("Passkey"), "hint": said("Use it."), "icon": icon, "url": url}


def pages(said):
    asked = {
        "login_name": said("minnie"),
        "back_url": "/ui/login/name?" + said("flow=f1"),
        "other_url": "/ui/login/factor?" + said("flow=f1"),
    }
    shown = {
        "codes": [said("abcde-fghij")],
        "file_url": "data:text/plain;charset=utf-8," + said("a"),
    }
    return {
        "factor": {
            "login_name": said("minnie"),
            "choices": [choice(said, "smartphone"), choice(said, "key-round")],
            "support_url": "mailto:" + said("help@acme.example"),
        },
        "totp": asked,
        "recovery-code": asked,
        "factor-offer": {
            "login_name": said("minnie"),
            "kinds": [{"name": "totp", "icon": "smartphone", "label": said("Set up an app")}],
            "is_optional": True,
        },
        "totp-enrol": {
            "login_name": said("minnie"),
            "picture": DRAWN,
            "app_url": "otpauth://totp/" + said("a"),
            "secret": said("ABCD EFGH"),
            "device_name": said("Pixel"),
            "is_optional": True,
        },
        "passkey-enrol": {
            "login_name": said("minnie"),
            "device_name": said("Phone"),
            "maximum": 100,
            "options": said("{}"),
            "is_optional": True,
        },
        "passkey": {
            "login_name": said("minnie"),
            "options": said("{}"),
            "other_label": said("Use your password"),
            "other_url": "/ui/login?" + said("flow=f1"),
        },
        "recovery-codes": shown,
        "account/recovery-codes": shown,
    }


def bare(message):
    shown = {"codes": [], "file_url": "data:text/plain;charset=utf-8,"}
    asked = {"login_name": "", "back_url": "/ui/login/name", "other_url": "/ui/login/factor"}
    return {
        "factor": {"login_name": "", "choices": [], "support_url": None},
        "totp": asked,
        "recovery-code": asked,
        "factor-offer": {
            "login_name": "",
            "kinds": [{"name": "totp", "icon": "smartphone", "label": message("An app")}],
            "is_optional": False,
        },
        "totp-enrol": {
            "login_name": "",
            "picture": DRAWN,
            "app_url": "otpauth://totp/a",
            "secret": "ABCD",
            "device_name": "",
            "is_optional": False,
        },
        "recovery-codes": shown,
        "account/recovery-codes": shown,
    }
