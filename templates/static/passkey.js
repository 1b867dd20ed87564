// Passkeys: asks the person's device, and sends what it answers by the page's own form. Every page
// leads on without this file; where the browser has no passkeys, what is hidden stays so.
const place = document.querySelector("[data-passkey]");
const octets = (text) =>
  Uint8Array.from(atob(text.replace(/-/g, "+").replace(/_/g, "/")), (one) => one.charCodeAt(0));
const base64url = (buffer) =>
  btoa(String.fromCharCode(...new Uint8Array(buffer)))
    .replace(/\+/g, "-").replace(/\//g, "_").replace(/=+$/, "");

// The same options as the browser's own methods take them (those for JSON are not in all yet).
const read = ({ user, excludeCredentials, allowCredentials, ...options }) => {
  const known = (list) => list.map((each) => ({ ...each, id: octets(each.id) }));
  options.challenge = octets(options.challenge);
  if (user) options.user = { ...user, id: octets(user.id) };
  if (excludeCredentials) options.excludeCredentials = known(excludeCredentials);
  if (allowCredentials) options.allowCredentials = known(allowCredentials);
  return options;
};

const written = ({ rawId, type, response }) => {
  const told = {};
  for (const name of ["clientDataJSON", "attestationObject", "authenticatorData", "signature",
    "userHandle"]) {
    if (response[name]?.byteLength) told[name] = base64url(response[name]);
  }
  if (response.getTransports) told.transports = response.getTransports();
  return JSON.stringify({ id: base64url(rawId), type, response: told });
};

if (window.PublicKeyCredential) {
  for (const each of document.querySelectorAll("[data-able]")) each.hidden = false;
  for (const each of document.querySelectorAll("[data-unable]")) each.hidden = true;
  if (place) begin();
}

function begin() {
  const form = document.getElementById("step");
  const { passkey: method, options } = place.dataset;
  const publicKey = read(JSON.parse(options));
  const say = (name) => {
    for (const text of place.querySelectorAll("[data-when]")) {
      const isMeant = text.dataset.when === name;
      text.setAttribute("role", isMeant ? "alert" : "none"); // so that it is read out, too
      text.hidden = !isMeant;
    }
  };
  const ask = async (how) => {
    const credential = await navigator.credentials[method]({ publicKey, ...how });
    form.elements.passkey.value = written(credential);
    form.submit(); // whatever else the form asks for is not needed now
  };
  // The browser offers passkeys among the names that it fills in; one question at a time.
  let offer = new AbortController();
  const offerWithNames = async () => {
    if (place.dataset.names === undefined) return;
    if (!await PublicKeyCredential.isConditionalMediationAvailable?.()) return;
    offer = new AbortController();
    ask({ mediation: "conditional", signal: offer.signal }).catch(() => {});
  };
  let isAsking = false;
  place.querySelector("button").addEventListener("click", async () => {
    if (isAsking || (method === "create" && !form.reportValidity())) return;
    isAsking = true;
    offer.abort();
    say("");
    try {
      await ask({});
    } catch (error) {
      say(error.name === "InvalidStateError" ? "known" : "nothing");
      offerWithNames();
    }
    isAsking = false;
  });
  addEventListener("pageshow", () => { form.elements.passkey.value = ""; });
  offerWithNames();
}
