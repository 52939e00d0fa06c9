// --- Keys and fields --------------------------------------------------------

const firstQuestion = () => inUse("form[data-docent-question]")[0];

// Ctrl+K, or Command+K on Apple's keyboards, goes to the question if the site
// turns it on. Texts of several lines and rich text have uses of their own for it.
const apple = /Mac|iP(hone|ad|od)/.test(navigator.platform);

const isShortcut = (event) =>
  event.key.toLowerCase() === "k" && (apple ? event.metaKey && !event.ctrlKey : event.ctrlKey && !event.metaKey) &&
  !event.altKey && !event.shiftKey && !event.target.closest?.('textarea, [contenteditable]:not([contenteditable="false"])');

const offerShortcut = () => {
  const field = firstQuestion()?.elements.question;
  if (!field || document.documentElement.dataset.docentShortcut === undefined) return;
  field.setAttribute("aria-keyshortcuts", apple ? "Meta+K" : "Control+K");
  const hint = document.createElement("kbd");
  hint.className = "d-question__key";
  hint.setAttribute("aria-hidden", "true"); // the field says it
  hint.textContent = apple ? "⌘K" : "Ctrl K";
  field.after(hint);
  document.addEventListener("keydown", (event) => {
    if (!isShortcut(event)) return;
    event.preventDefault();
    field.focus();
    field.select();
  });
};

// A question in the address is there to be looked at, never asked.
const prefill = () => {
  const question = new URLSearchParams(location.search).get("q");
  const form = firstQuestion();
  if (question && form && !form.elements.question.value) fill(form, question);
};

const focusFirst = () => {
  const form = inUse("form[data-docent-question][data-docent-autofocus]")[0];
  if (form && !location.hash && document.activeElement === document.body) form.elements.question.focus({ preventScroll: true });
};

document.addEventListener("click", (event) => {
  const button = event.target.closest?.("[data-docent-reveal]");
  if (!button) return;
  const field = byId(button.dataset.docentReveal);
  const show = field.type === "password";
  field.type = show ? "text" : "password";
  button.setAttribute("aria-pressed", String(show));
});
