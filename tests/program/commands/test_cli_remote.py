"""The command line at a service that runs elsewhere: its address, its certificate, its token."""

from __future__ import annotations

from idp.start import exit_codes
from tests.support.programs.program import run
from tests.support.programs.shell import Shell
from tests.support.servers.certificate import self_signed

SHOW = ("feature", "show")


def test_a_token_works_from_its_file_or_the_environment_and_only_on_its_own_service(
    start_program, tmp_path
):
    program = start_program("--admin-pat", "pat")
    shell, issuer, token = Shell(tmp_path), program.issuer, program.announcement["adminPat"]
    file = str(tmp_path / "pat")

    from_file = shell(*SHOW, "--token-file", file, IDP_URL=issuer)
    from_environment = shell(*SHOW, IDP_URL=f"{issuer}/", IDP_TOKEN=token)
    wrong = shell(*SHOW, IDP_URL=issuer, IDP_TOKEN="idp_pat_x", code=exit_codes.NOT_AUTHORISED)
    elsewhere = shell(
        *SHOW,
        IDP_URL=issuer.replace("localhost", "127.0.0.1"),
        IDP_TOKEN=token,
        code=exit_codes.FAILED,
    )
    missing = shell(
        *("--org", "nobody"), *SHOW, IDP_URL=issuer, IDP_TOKEN=token, code=exit_codes.USAGE
    )
    nobody = shell(
        *SHOW, "--org", "nobody", IDP_URL=issuer, IDP_TOKEN=token, code=exit_codes.NOT_FOUND
    )

    assert from_file == from_environment
    assert "(token.invalid)" in wrong.err
    assert token not in elsewhere.err
    assert "No such option" in missing.err
    assert "(organization.not_found)" in nobody.err


def test_a_certificate_that_nobody_vouches_for_is_not_believed(start_program, tmp_path):
    chain, key = self_signed(tmp_path)
    program = start_program("--tls-cert", chain, "--tls-key", key, "--admin-pat", "pat")
    place = {"IDP_URL": program.issuer, "IDP_TOKEN": program.announcement["adminPat"]}

    unknown = run(tmp_path, *SHOW, **place)
    trusted = run(tmp_path, *SHOW, **place, SSL_CERT_FILE=tmp_path / chain)

    assert unknown.returncode == exit_codes.UNREACHABLE
    assert "certificate" in unknown.stderr.lower()
    assert (trusted.returncode, trusted.stderr) == (0, "")
