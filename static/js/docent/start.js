// --- Start ------------------------------------------------------------------

prefill();
offerShortcut();
focusFirst();

// What needs htmx waits until that has taken over the forms: a question that the
// address hands over, and conversations to show again.
document.addEventListener("htmx:after:process", function start({ target }) {
  if (target !== document.body) return;
  document.removeEventListener("htmx:after:process", start);
  settle();
  const asked = readHash();
  for (const block of answerBlocks()) {
    if (block.id === asked) continue;
    showRecent(block);
    restoreConversation(block);
  }
});
addEventListener("hashchange", readHash);
