#!/usr/bin/env bash
# The first hour of an administrator, by the command line. README.md says how to run it.
set -euo pipefail -o noclobber # a password in a file is never lost to another run
umask 077

export IDP_URL="${IDP_URL:-http://localhost:8080}"
export IDP_TOKEN="${IDP_TOKEN:-$(cat admin.pat)}"
GRAFANA="${GRAFANA:-localhost:3000}"

say() { printf '%s\n' "$*" >&2; }
new_password() { head -c 18 /dev/urandom | base64; }

say "An organization, with its owner"
new_password > anna.password
ORG=$(idp org create --name Acme --owner-user-name anna --owner-email anna@acme.example \
  --owner-email-verified --owner-first-name Anna --owner-last-name Owner \
  --owner-password-file anna.password --get orgId)

say "A project, and a role in it"
PROJECT=$(idp project create --org "$ORG" --name Operations --get id)
idp role add --project "$PROJECT" --key admin --display-name Administrator > role.txt

say "A person who has the role"
new_password > max.password
MAX=$(idp user create --org "$ORG" --user-name max --email max@acme.example --email-verified \
  --given-name Max --family-name Muster --password-file max.password --get userId)
idp grant create --user "$MAX" --project "$PROJECT" --role-key admin > grant.txt

say "An application by the preset of Grafana, and Grafana's configuration"
APP=$(idp app create --project "$PROJECT" --name Grafana --type web --preset grafana \
  --host "$GRAFANA" --secret-file grafana.secret --get appId)
idp preset configuration grafana --host "$GRAFANA" --client-id "$APP" > grafana.ini

say "One more address that people may be taken back to"
idp app set-redirects --project "$PROJECT" "$APP" \
  --redirect-uri "http://$GRAFANA/login/generic_oauth" \
  --redirect-uri "https://grafana.acme.example/login/generic_oauth" > redirects.txt

say "A script with a token for a day, which may read what is in the organization"
NIGHTLY=$(idp service-user create --org "$ORG" --user-name nightly --name "Nightly script" \
  --get userId)
idp pat create --user "$NIGHTLY" --expires 24h --secret-file nightly.token > token.txt
idp member add --org "$ORG" --user "$NIGHTLY" --role ORG_OWNER_VIEWER > member.txt

say "Longer passwords"
idp policy set password-complexity --org "$ORG" --min-length 12 > policy.txt

say "New keys sign from now on"
idp keys rotate > keys.txt

say "What was changed, by whom and when"
idp audit search --all --format ndjson > audit.ndjson
