// --- Conversations ----------------------------------------------------------
// The tab remembers which conversation a block on a page shows, so that loading
// the page again shows it again; the server has kept it, or has not.

const CONVERSATIONS = "/ai-answers/conversations/";

const shownKey = (block) => `ai-answers-shown:${location.pathname}#${block.id}`;
const shownIn = (block) => turnsOf(block).at(-1)?.dataset.docentConversation;

// After a question: its conversation is the one the block shows.
const rememberConversation = (block) => {
  const id = shownIn(block);
  if (!id) return;
  tabStore.set(shownKey(block), id);
  noteRecent(block, id);
};

const forgetConversation = (id) => {
  for (const block of answerBlocks()) {
    if (tabStore.get(shownKey(block)) === id) tabStore.set(shownKey(block), null);
  }
};

const isGone = (status) => status === 403 || status === 404 || status === 410;

// Shows a stored conversation in a block. It reports whether it did, "gone" if
// there is none any more.
const showConversation = async (block, id) => {
  const fields = askForm(block)?.elements;
  const query = new URLSearchParams({ block: block.id });
  for (const name of ["lang", "without"]) {
    if (fields?.[name]?.value) query.set(name, fields[name].value);
  }
  try {
    const response = await fetch(`${CONVERSATIONS}${encodeURIComponent(id)}?${query}`, { headers: { "HX-Request": "true", Accept: "text/html" } });
    if (isGone(response.status)) return "gone";
    if (!response.ok) return "failed";
    const text = await response.text();
    if (isBusy(block)) return "busy";
    const target = transcriptOf(block);
    await htmx.swap({ text, target, sourceElement: target });
  } catch {
    return "failed";
  }
  tabStore.set(shownKey(block), id);
  settle();
  return "shown";
};

const restoreConversation = async (block) => {
  const id = tabStore.get(shownKey(block));
  const transcript = transcriptOf(block);
  if (!id || !transcript || id === shownIn(block)) return;
  transcript.dataset.docentRestoring = ""; // no glimpse of the empty state
  const outcome = await showConversation(block, id);
  delete transcript.dataset.docentRestoring;
  if (outcome === "gone") forgetConversation(id);
  if (outcome === "shown") restorePlace();
};

// The browser could not go back to where the reader was: the text was not there yet.
const PLACE = "ai-answers-place";

const restorePlace = () => {
  const [path, top] = (tabStore.get(PLACE) ?? "").split(" ");
  const type = performance.getEntriesByType("navigation")[0]?.type;
  if (path === location.pathname && type !== "navigate" && scrollY === 0) scrollTo(0, Number(top));
};
addEventListener("pagehide", () => {
  tabStore.set(PLACE, answerBlocks().some(shownIn) ? `${location.pathname} ${Math.round(scrollY)}` : null);
});

// --- A new question ---------------------------------------------------------

const clearBlock = (block) => {
  const transcript = transcriptOf(block);
  const empty = block.querySelector("template[data-docent-empty]");
  if (!transcript || !empty) return;
  closeCard();
  transcript.replaceChildren(empty.content.cloneNode(true));
  block.querySelector("[data-docent-follow-up]")?.replaceChildren();
  for (const list of sourceLists(block)) {
    for (const part of list.querySelectorAll("[data-docent-cited], [data-docent-waiting], [data-docent-count]")) part.replaceChildren();
  }
  clearNotices(block);
  tabStore.set(shownKey(block), null);
  showRecent(block);
};

document.addEventListener("click", (event) => {
  const control = event.target.closest?.("[data-docent-new]");
  const block = blockOf(control);
  if (!block?.querySelector("template[data-docent-empty]") || event.ctrlKey || event.metaKey || event.shiftKey) return;
  if (location.pathname.startsWith(CONVERSATIONS)) return; // the page is that of one conversation: the link leads away
  event.preventDefault();
  if (isBusy(block)) return;
  clearBlock(block);
  const field = questionForm(block)?.elements.question;
  if (field) {
    field.focus();
    return;
  }
  block.tabIndex = -1;
  block.focus();
});
