#!/usr/bin/env bash
# The first hour of an administrator, by JSON over HTTP. README.md says how to run it.
set -euo pipefail -o noclobber # a password in a file is never lost to another run
umask 077

URL="${IDP_URL:-http://localhost:8080}"
TOKEN="${IDP_TOKEN:-$(cat admin.pat)}"
GRAFANA="${GRAFANA:-localhost:3000}"
ORG=

say() { printf '%s\n' "$*" >&2; }
new_password() { head -c 18 /dev/urandom | base64; }

# call METHOD PATH [BODY]: the answer of one call, a refusal on stderr; the token is on no command line.
call() {
  local answer
  answer=$(curl -sS --fail-with-body -X "$1" "$URL$2" -H @- ${3+-d "$3"} <<HEADERS
Authorization: Bearer $TOKEN
Content-Type: application/json
x-idp-orgid: $ORG
HEADERS
  ) || { say "$answer"; return 1; }
  printf '%s\n' "$answer"
}
# field NAME: this field of the JSON on stdin.
field() { python3 -c 'import json, sys
text = sys.stdin.read()
if text: print(json.loads(text)[sys.argv[1]])' "$1"; }
# preset PART: a part of Grafana's preset, for the place where Grafana is.
preset() {
  call GET /management/v1/presets/grafana |
    python3 -c 'import json, sys; part = json.load(sys.stdin)[sys.argv[1]]
print(part if isinstance(part, str) else json.dumps(part))' "$1" |
    sed "s#https://app.example#http://$GRAFANA#g; s#https%3A%2F%2Fapp.example#http%3A%2F%2F${GRAFANA/:/%3A}#g"
}

say "An organization, with its owner"
new_password > anna.password
ORG=$(call POST /admin/v1/orgs/_setup '{"org": {"name": "Acme"}, "human": {"userName": "anna",
  "profile": {"firstName": "Anna", "lastName": "Owner"}, "password": "'"$(cat anna.password)"'",
  "email": {"email": "anna@acme.example", "isEmailVerified": true}}}' | field orgId)

say "A project, and a role in it"
PROJECT=$(call POST /management/v1/projects '{"name": "Operations"}' | field id)
call POST "/management/v1/projects/$PROJECT/roles" \
  '{"roleKey": "admin", "displayName": "Administrator"}' > role.txt

say "A person who has the role"
new_password > max.password
MAX=$(call POST /v2/users/human '{"username": "max",
  "profile": {"givenName": "Max", "familyName": "Muster"},
  "email": {"email": "max@acme.example", "isVerified": true},
  "password": {"password": "'"$(cat max.password)"'"}}' | field userId)
call POST "/management/v1/users/$MAX/grants" \
  '{"projectId": "'"$PROJECT"'", "roleKeys": ["admin"]}' > grant.txt

say "An application by the preset of Grafana, and Grafana's configuration"
SETTINGS=$(preset settings)
call POST "/management/v1/projects/$PROJECT/apps/oidc" "{\"name\": \"Grafana\", ${SETTINGS#\{}" \
  > grafana.json
APP=$(field appId < grafana.json)
field clientSecret < grafana.json > grafana.secret
preset configuration | sed "s/CLIENT_ID/$APP/" > grafana.ini

say "One more address that people may be taken back to"
BOTH='["http://'"$GRAFANA"'/login/generic_oauth", "https://grafana.acme.example/login/generic_oauth"]'
call PUT "/management/v1/projects/$PROJECT/apps/$APP/oidc_config" \
  "{\"redirectUris\": $BOTH, $(python3 -c 'import json, sys
settings = json.loads(sys.argv[1])
del settings["redirectUris"]
print(json.dumps(settings)[1:])' "$SETTINGS")" > redirects.txt

say "A script with a token for a day, which may read what is in the organization"
NIGHTLY=$(call POST /management/v1/users/machine \
  '{"userName": "nightly", "name": "Nightly script"}' | field userId)
TOMORROW=$(date -u -d '+24 hours' +%Y-%m-%dT%H:%M:%SZ)
call POST "/management/v1/users/$NIGHTLY/pats" '{"expirationDate": "'"$TOMORROW"'"}' |
  field token > nightly.token
call POST /management/v1/orgs/me/members \
  '{"userId": "'"$NIGHTLY"'", "roles": ["ORG_OWNER_VIEWER"]}' > member.txt

say "Longer passwords"
call POST /management/v1/policies/password/complexity '{"minLength": 12}' > policy.txt

say "New keys sign from now on"
call POST /admin/v1/keys/_rotate '{}' > keys.txt

say "What was changed, by whom and when"
call POST /admin/v1/events/_search '{"limit": 1000}' |
  python3 -c 'import json, sys
for event in json.load(sys.stdin)["events"]: print(json.dumps(event))' > audit.ndjson
