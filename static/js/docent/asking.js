// --- Asking -----------------------------------------------------------------
// Every new question goes through the hidden form of its Answer block, wherever it
// was typed; the form it was typed in shows what went wrong.

const ASK = "#ai-answers-ask=";
const MARK = "ai-answers-ask"; // key in the tab's store

const asking = new Map(); // id of an Answer block whose question is on its way -> form it was typed in

const isBusy = (block) => asking.has(block.id) || block.querySelector("[data-docent-stream]") !== null;
const formsFor = (block) => inUse(`form[data-ai-answers-target="${CSS.escape(block.id)}"]`);
const askForm = (block) => block.querySelector("form[data-docent-ask]");

// The form in which a visitor would type the next new question for a block.
const questionForm = (block) => formsFor(block).find((form) => form.dataset.docentQuestion !== undefined);

const fill = (form, question) => {
  const field = form?.elements.question;
  if (field) field.value = question;
};

const showNotice = (form, text) => {
  const box = notice(text);
  byId(form?.dataset.docentNotice)?.replaceChildren(box);
  return box;
};

const clearNotices = (block) => {
  for (const form of formsFor(block)) byId(form.dataset.docentNotice)?.replaceChildren();
};

const sayBusy = (block, form) => {
  showNotice(form, block.dataset.textBusy).dataset.docentBusy = "";
};

const ask = (block, question, typedIn = askForm(block)) => {
  const form = askForm(block);
  if (!form || !question.trim()) return;
  if (isBusy(block)) {
    sayBusy(block, typedIn);
    return;
  }
  fill(form, question);
  asking.set(block.id, typedIn);
  form.requestSubmit();
};

const markBusy = (block) => {
  const busy = isBusy(block);
  for (const form of formsFor(block)) {
    if (!busy) byId(form.dataset.docentNotice)?.querySelector("[data-docent-busy]")?.remove();
    for (const button of form.querySelectorAll('button[type="submit"]')) {
      if (busy) button.setAttribute("aria-disabled", "true");
      else button.removeAttribute("aria-disabled");
    }
  }
};

// Goes to the page of the Answer block. The mark says that a person on this site
// just asked, so that a link with the same hash only fills the form.
const leaveToAsk = (url, target, question) => {
  const hash = `${ASK}${target}:${encodeURIComponent(question)}`;
  if (!tabStore.set(MARK, hash)) return false;
  location.assign(new URL(url, location.href).href.split("#")[0] + hash);
  return true;
};

// Reads the question that the address hands over. It reports the id of the block
// that was asked.
const readHash = () => {
  const hash = location.hash;
  if (!hash.startsWith(ASK)) return undefined;
  history.replaceState(history.state, "", location.pathname + location.search);
  const mark = tabStore.get(MARK);
  tabStore.set(MARK, null);
  const cut = hash.indexOf(":");
  if (cut < 0) return undefined;
  const block = byId(hash.slice(ASK.length, cut));
  let question;
  try {
    question = decodeURIComponent(hash.slice(cut + 1));
  } catch {
    return undefined;
  }
  const here = block?.matches(ANSWER);
  const form = here ? questionForm(block) : firstQuestion(); // without the block the question is not lost
  if (here && mark === hash) {
    ask(block, question, form);
    return block.id;
  }
  fill(form, question);
  form?.elements.question.focus();
  return undefined;
};

// A question typed in a Question block: asked here, on the page of its Answer
// block, or posted by the browser.
const submitQuestion = (event, form, question) => {
  const block = blockOf(form);
  if (block && askForm(block) && window.htmx) {
    stop(event);
    ask(block, question, form);
    return;
  }
  const url = form.dataset.aiAnswersTargetUrl;
  if (!block && url && leaveToAsk(url, form.dataset.aiAnswersTarget, question)) stop(event);
};

// Runs before htmx sees the event.
document.addEventListener("submit", (event) => {
  const form = event.target;
  if (form.dataset.docentChips !== undefined) {
    const main = byId(form.dataset.docentChips);
    const question = event.submitter?.value;
    if (!main || !question) return;
    stop(event);
    fill(main, question);
    main.requestSubmit();
    return;
  }
  if (form.dataset.aiAnswersTarget === undefined) return;
  const question = form.elements.question?.value ?? "";
  if (!question.trim()) {
    stop(event);
    return;
  }
  if (form.dataset.docentQuestion !== undefined) {
    submitQuestion(event, form, question);
    return;
  }
  const block = blockOf(form);
  // Its own form is being sent by ask, which has looked.
  if (!block || (asking.has(block.id) && form === askForm(block) && !block.querySelector("[data-docent-stream]"))) return;
  if (isBusy(block)) {
    stop(event);
    sayBusy(block, form);
  }
}, true);

document.addEventListener("ai-answers:ask", (event) => {
  const block = event.target.closest?.(ANSWER);
  const question = event.detail?.question;
  if (block && typeof question === "string") ask(block, question);
});

const isAsking = (element) => element?.matches?.("form[data-ai-answers-target]") ?? false;

document.addEventListener("htmx:before:request", (event) => {
  const form = event.detail.ctx.sourceElement;
  const block = isAsking(form) && blockOf(form);
  if (!block) return;
  event.detail.ctx.docentBlock = block;
  if (!asking.has(block.id)) asking.set(block.id, form);
  clearNotices(block);
  markBusy(block);
  announce(block.dataset.textAnswering);
});

// What went wrong is told where the question was typed.
document.addEventListener("htmx:before:swap", (event) => {
  const { ctx, tasks } = event.detail;
  if (!ctx.docentBlock || !(ctx.response?.status >= 400)) return;
  const place = byId(asking.get(ctx.docentBlock.id)?.dataset.docentNotice);
  const main = tasks.find((task) => task.type === "main");
  if (place && main) main.target = place;
});

// The place that had the focus while the question was sent is done with: the new
// turn's heading takes it, so that reading goes on from there.
const focusTurn = (block, form) => {
  const active = document.activeElement;
  const place = form?.closest("[data-docent-block='question']") ?? form;
  if (active === document.body || !active?.isConnected || place?.contains(active)) {
    turnsOf(block).at(-1)?.querySelector("h2[tabindex]")?.focus();
  }
};

document.addEventListener("htmx:finally:request", (event) => {
  const { docentBlock: block, response } = event.detail.ctx;
  if (!block) return;
  const form = asking.get(block.id);
  asking.delete(block.id);
  markBusy(block);
  if (!response) {
    showNotice(form?.isConnected ? form : askForm(block), block.dataset.textFailed);
    return;
  }
  if (response.status >= 400) return;
  fill(askForm(block), "");
  if (form?.isConnected) fill(form, "");
  rememberConversation(block);
  focusTurn(block, form);
});
