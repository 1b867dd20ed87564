// Adds "show password" to password fields. Every page works without this file.
for (const input of document.querySelectorAll("input[data-show]")) {
  const button = document.createElement("button");
  button.type = "button";
  button.className = "show";
  button.textContent = input.dataset.show;
  button.setAttribute("aria-controls", input.id);
  const show = (shown) => {
    input.type = shown ? "text" : "password";
    button.setAttribute("aria-pressed", String(shown));
  };
  button.addEventListener("click", () => show(input.type === "password"));
  // Sent as a password, so that browsers don't remember it as a form entry.
  input.form.addEventListener("submit", () => show(false));
  show(false);
  input.after(button);
}
// A second click must not send a step twice: the browser would drop the first one's answer.
const step = document.getElementById("step");
if (step) {
  let isSent = false;
  step.addEventListener("submit", (event) => {
    if (isSent) event.preventDefault();
    isSent = true;
    // Whoever stopped the loading may send it again.
    setTimeout(() => { isSent = false; }, 5000);
  });
  // The page may come back from the browser's memory by the back button.
  addEventListener("pageshow", () => { isSent = false; });
}
// An answer to an application is on its way at once.
if (document.body.dataset.page === "form-post") step.submit();
// The set-up link carries what its page asks for where no server and no log sees it: after the #.
const link = new URLSearchParams(location.hash.slice(1));
if (document.body.dataset.page === "setup" && link.has("t")) {
  const { loginName, password, newPassword } = step.elements;
  loginName.value = link.get("u");
  password.value = link.get("t");
  // In another language the page is fetched anew: what the link carried comes along.
  for (const form of document.querySelectorAll("form.language")) {
    form.action = location.pathname + location.hash;
  }
  history.replaceState(null, "", location.pathname + location.search);
  newPassword.focus();
}
