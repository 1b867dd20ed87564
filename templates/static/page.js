// Every page works without this file.

// Passwords can be shown, until they are sent: browsers must not remember them as form entries.
for (const button of document.querySelectorAll(".reveal > button")) {
  const input = document.getElementById(button.getAttribute("aria-controls"));
  const show = (isShown) => {
    input.type = isShown ? "text" : "password";
    button.setAttribute("aria-pressed", String(isShown));
  };
  button.addEventListener("click", () => show(input.type === "password"));
  input.form.addEventListener("submit", () => show(false));
  button.hidden = false;
}

// Each rule of a new password is marked once what is typed follows it.
const newPassword = document.querySelector("[name=newPassword]");
newPassword?.addEventListener("input", () => {
  for (const rule of document.querySelectorAll("[data-rule]")) {
    rule.toggleAttribute("data-met", new RegExp(rule.dataset.rule, "v").test(newPassword.value));
  }
});

// A second click must not send a step twice: the browser would drop the first one's answer.
const step = document.getElementById("step");
if (step) {
  let pressed, timer;
  const release = () => {
    clearTimeout(timer);
    pressed?.removeAttribute("aria-busy");
    pressed?.removeAttribute("data-busy");
    pressed = undefined;
  };
  step.addEventListener("submit", (event) => {
    if (event.submitter?.formTarget) return; // a preview is sent to a frame
    if (pressed) {
      event.preventDefault();
      return;
    }
    pressed = event.submitter ?? step;
    pressed.setAttribute("aria-busy", "true");
    const button = pressed;
    timer = setTimeout(() => button.setAttribute("data-busy", ""), 300);
    // A user who stopped the loading may send it again.
    setTimeout(release, 5000);
  });
  // The page may come back from the browser's memory by the back button.
  addEventListener("pageshow", release);
}

// Another code can be requested after some seconds, which are counted down.
for (const button of document.querySelectorAll("[data-wait]")) {
  const label = button.textContent;
  let left = Number(button.dataset.wait);
  const count = () => {
    button.disabled = left > 0;
    button.textContent = left > 0 ? `${label} (${left})` : label;
    if (left-- > 0) setTimeout(count, 1000);
  };
  count();
}

// What a user needs elsewhere is copied.
for (const button of document.querySelectorAll("[data-copy]")) {
  const status = button.parentElement.querySelector("[data-done]");
  button.hidden = !navigator.clipboard;
  button.addEventListener("click", async () => {
    await navigator.clipboard.writeText(document.getElementById(button.dataset.copy).textContent);
    button.toggleAttribute("data-copied", true);
    status.textContent = status.dataset.done;
  });
}

// Times are shown in the time zone of the browser, from the next page on.
const zone = Intl.DateTimeFormat().resolvedOptions().timeZone;
if (zone && !document.cookie.split("; ").includes(`idp_tz=${zone}`)) {
  const isSecure = location.protocol === "https:" ? "; Secure" : "";
  document.cookie = `idp_tz=${zone}; Path=/; SameSite=Lax; Max-Age=31536000${isSecure}`;
}

// The language menu closes as menus do.
for (const menu of document.querySelectorAll(".menu")) {
  menu.addEventListener("keydown", (event) => {
    if (event.key !== "Escape" || !menu.open) return;
    menu.open = false;
    menu.querySelector("summary").focus();
  });
  addEventListener("click", (event) => {
    if (!menu.contains(event.target)) menu.open = false;
  });
}

// An answer to an application is on its way at once.
if (document.body.dataset.page === "form-post") step.submit();

// The set-up link carries what its page asks for where no server and no log sees it: after the #.
const link = new URLSearchParams(location.hash.slice(1));
if (document.body.dataset.page === "setup" && link.has("t")) {
  const { loginName, password } = step.elements;
  loginName.value = link.get("u");
  password.value = link.get("t");
  // In another language the page is fetched anew: what the link carried comes along.
  for (const each of document.querySelectorAll(".menu a")) each.href += location.hash;
  history.replaceState(null, "", location.pathname + location.search);
  newPassword.focus();
}
