// The console's pages work without this file.

// One checkbox selects all rows of its table.
for (const all of document.querySelectorAll("[data-all]")) {
  const rows = () => [...document.getElementsByName(all.dataset.all)];
  all.addEventListener("change", () => {
    for (const row of rows()) row.checked = all.checked;
  });
  all.closest("table").addEventListener("change", () => {
    const marked = rows().filter((row) => row.checked).length;
    all.checked = marked === rows().length;
    all.indeterminate = marked > 0 && !all.checked;
  });
  all.closest(".box").hidden = false;
}

// A colour is picked or typed.
for (const picker of document.querySelectorAll("[type=color]")) {
  const text = document.getElementById(picker.dataset.of);
  const follow = () => {
    if (/^#[0-9a-f]{6}$/i.test(text.value)) picker.value = text.value;
  };
  picker.addEventListener("input", () => {
    text.value = picker.value;
  });
  text.addEventListener("input", follow);
  follow();
  picker.hidden = false;
}

// The preview follows what is entered.
const preview = document.querySelector("[data-preview]");
if (preview) {
  let timer;
  preview.form.addEventListener("input", () => {
    clearTimeout(timer);
    timer = setTimeout(() => preview.form.requestSubmit(preview), 400);
  });
}

// The search is reached by keys. The slash alone can be switched off, on the page of the results.
const search = document.querySelector(".find [name=q]");
const hasSlash = () => !document.cookie.split("; ").includes("idp_keys=off");
const isTyping = (target) => target.matches("input, textarea, select, [contenteditable]");
addEventListener("keydown", (event) => {
  if (!event.key) return; // filled in by the browser
  const isControl = event.key.toLowerCase() === "k" && (event.ctrlKey || event.metaKey);
  const isPlain = !event.ctrlKey && !event.metaKey && !event.altKey;
  const isSlash = event.key === "/" && isPlain && hasSlash() && !isTyping(event.target);
  if (!search || !(isControl || isSlash)) return;
  event.preventDefault();
  search.focus();
  search.select();
});

const keys = document.querySelector("[data-keys]");
if (keys) {
  const box = keys.querySelector("input");
  box.checked = hasSlash();
  box.addEventListener("change", () => {
    const isSecure = location.protocol === "https:" ? "; Secure" : "";
    const age = box.checked ? 0 : 31536000;
    document.cookie = `idp_keys=off; Path=/; SameSite=Lax; Max-Age=${age}${isSecure}`;
  });
  keys.hidden = false;
}
