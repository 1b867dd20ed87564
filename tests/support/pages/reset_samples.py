"""The pages of a forgotten password, for `page_samples`."""


def pages(said):
    return {
        "expired": {
            "sentence": said("This link was used."),
            "again_url": "/ui/reset?" + said("a"),
            "has_cookie": False,
        },
        "reset": {
            "closed": None,
            "login_name": said("minnie"),
            "login_url": "/ui/login/name?" + said("flow=f1"),
        },
        "reset-code": {
            "login_name": said("minnie"),
            "mail_url": "/dev/mail?" + said("a"),
            "reset_url": "/ui/login/reset?" + said("flow=f1"),
            "password_url": "/ui/login/password?" + said("flow=f1"),
            "wait_seconds": 42,
        },
    }


def bare(message):
    return {
        "reset": {
            "closed": message("Nobody can."),
            "login_name": "",
            "login_url": "/ui/login/name",
        },
        "reset-code": {
            "login_name": "",
            "mail_url": None,
            "reset_url": "/ui/login/reset",
            "password_url": "/ui/login/password",
            "wait_seconds": 0,
        },
    }
