// --- Recent questions -------------------------------------------------------
// What this visitor asked lately, in this browser only. A block without the
// template keeps nothing.

const RECENT = "ai-answers-recent"; // key in the browser's store
const RECENT_MOST = 20;

const readRecent = () => {
  try {
    const entries = JSON.parse(browserStore.get(RECENT) ?? "[]");
    return entries.filter((entry) => typeof entry?.id === "string" && typeof entry.question === "string").slice(0, RECENT_MOST);
  } catch {
    return [];
  }
};

const writeRecent = (entries) => browserStore.set(RECENT, entries.length ? JSON.stringify(entries.slice(0, RECENT_MOST)) : null);

const conversationsOf = (entry) => [entry.id, ...(Array.isArray(entry.also) ? entry.also.filter((id) => typeof id === "string") : [])];

const recentTemplate = (block) => block.querySelector("template[data-docent-recent]");

// A conversation is listed by its first question, and each question once, the one
// asked last on top. Others that began with the same one are deleted with it.
const noteRecent = (block, id) => {
  if (!recentTemplate(block)) return;
  const entries = readRecent();
  const question = entries.find((entry) => entry.id === id)?.question ?? turnsOf(block)[0].querySelector("h2").textContent;
  const same = entries.filter((entry) => entry.id === id || entry.question === question);
  const also = [...new Set(same.flatMap(conversationsOf))].filter((other) => other !== id).slice(0, RECENT_MOST);
  writeRecent([{ id, also, question, time: Date.now() }, ...entries.filter((entry) => !same.includes(entry))]);
};

const forgetRecent = (id) => {
  writeRecent(readRecent().filter((entry) => entry.id !== id));
  forgetConversation(id);
};

// Fills the list into the empty state of a block.
const showRecent = (block) => {
  const template = recentTemplate(block);
  const transcript = transcriptOf(block);
  if (!template || !transcript) return;
  transcript.querySelector("[data-docent-recent-list]")?.remove();
  const entries = readRecent();
  if (!entries.length || turnsOf(block).length) return;
  const section = template.content.firstElementChild.cloneNode(true);
  const list = section.querySelector("ul");
  const item = list.firstElementChild;
  const day = new Intl.DateTimeFormat(document.documentElement.lang || undefined, { dateStyle: "medium" });
  const items = entries.map((entry, n) => {
    const li = item.cloneNode(true);
    li.dataset.docentRecentId = entry.id;
    const open = li.querySelector("[data-docent-reopen]");
    open.textContent = entry.question;
    open.id = `${block.id}-recent-${n}`;
    const time = li.querySelector("time");
    if (entry.time) {
      time.dateTime = new Date(entry.time).toISOString();
      time.textContent = day.format(entry.time);
    }
    const forget = li.querySelector("[data-docent-forget]");
    forget.id = `${open.id}-forget`;
    forget.setAttribute("aria-labelledby", `${forget.id} ${open.id}`);
    return li;
  });
  list.replaceChildren(...items);
  transcript.append(section);
};

// Shows the conversation while it lives; afterwards its question is filled in.
const reopen = async (block, id) => {
  const entry = readRecent().find((one) => one.id === id);
  if (!entry || isBusy(block)) return;
  const outcome = await showConversation(block, id);
  if (outcome === "shown") {
    turnsOf(block)[0]?.querySelector("h2[tabindex]")?.focus();
    return;
  }
  const form = questionForm(block);
  if (outcome === "gone" && form) {
    fill(form, entry.question);
    showNotice(form, block.dataset.textGone);
    form.elements.question.focus();
  } else if (outcome !== "busy") {
    showNotice(askForm(block), outcome === "gone" ? block.dataset.textGone : byId("docent-announcer")?.dataset.textFailed);
  }
};

// Deletes a conversation where it is kept. It reports whether it is gone.
const deleteConversation = async (id) => {
  try {
    const response = await fetch(`${CONVERSATIONS}${encodeURIComponent(id)}/delete`, { method: "POST", keepalive: true, headers: { Accept: "application/json" } });
    return response.ok || response.status === 404 || response.status === 410;
  } catch {
    return false;
  }
};

const deleteEntry = async (entry) => {
  for (const id of conversationsOf(entry)) {
    if (!(await deleteConversation(id))) return false;
  }
  forgetRecent(entry.id);
  return true;
};

const deleteRecent = async (block, ids) => {
  const at = [...block.querySelectorAll("[data-docent-recent-id]")].findIndex((li) => ids.includes(li.dataset.docentRecentId));
  let failed = false;
  for (const entry of readRecent().filter((one) => ids.includes(one.id))) {
    if (!(await deleteEntry(entry))) failed = true;
  }
  for (const other of answerBlocks()) showRecent(other);
  if (failed) showNotice(askForm(block), byId("docent-announcer")?.dataset.textFailed);
  const left = block.querySelectorAll("[data-docent-forget]");
  const next = left[Math.min(Math.max(at, 0), left.length - 1)];
  if (next) next.focus();
  else {
    block.tabIndex = -1;
    block.focus();
  }
};

document.addEventListener("click", (event) => {
  const button = event.target.closest?.("[data-docent-reopen], [data-docent-forget], [data-docent-forget-all]");
  const block = blockOf(button);
  if (!block) return;
  const id = button.closest("[data-docent-recent-id]")?.dataset.docentRecentId;
  if (button.dataset.docentReopen !== undefined) reopen(block, id);
  else deleteRecent(block, id ? [id] : readRecent().map((entry) => entry.id));
});

// The conversation's own page deletes it with a form.
document.addEventListener("submit", (event) => {
  const id = /\/ai-answers\/conversations\/([^/?]+)\/delete(?:\?|$)/.exec(event.target.action)?.[1];
  if (id && !event.defaultPrevented) forgetRecent(decodeURIComponent(id));
});

// Another tab asked or deleted something.
addEventListener("storage", (event) => {
  if (event.key !== RECENT && event.key !== null) return;
  for (const block of answerBlocks()) showRecent(block);
});
