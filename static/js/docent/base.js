// Docent's own script. Every page works without it: forms post, links lead on.
// With it, questions asked anywhere reach their Answer block, growing answers are
// announced and never moved under the reader, and citations open their source.
//
// The files of this folder are put together into one, inside one function: what
// one of them declares, the others see.

const ANSWER = '[data-docent-block="answer"]';

const byId = (id) => document.getElementById(id);
// Blocks that are only looked at, in previews, take no part in anything.
const inUse = (selector) => [...document.querySelectorAll(selector)].filter((element) => !element.closest("[inert]"));
const answerBlocks = () => inUse(ANSWER);
const turnsOf = (block) => [...block.querySelectorAll("[data-docent-turn]")];
const transcriptOf = (block) => block.querySelector("[data-docent-transcript]");

// The Answer block that a form asks, or that an element stands in; none is undefined.
const blockOf = (element) => {
  const named = element?.dataset?.aiAnswersTarget;
  const block = named ? byId(named) : element?.closest?.(ANSWER);
  return block?.matches(ANSWER) ? block : undefined;
};

// The Sources lists that follow a block, its own first.
const sourceLists = (block) =>
  [...document.querySelectorAll(`[data-ai-answers-sources-target="${CSS.escape(block.id)}"]`)]
    .sort((a, b) => block.contains(b) - block.contains(a));

const stop = (event) => {
  event.preventDefault();
  event.stopImmediatePropagation();
};

// Announcements go through one polite live region that is never replaced.
const announce = (text) => {
  const region = byId("docent-announcer");
  if (!region || !text) return;
  region.textContent = "";
  setTimeout(() => { region.textContent = text; }, 50);
};

const notice = (text) => {
  const box = document.createElement("div");
  box.className = "notice notice--wait";
  box.setAttribute("role", "status");
  const p = document.createElement("p");
  p.textContent = text;
  box.append(p);
  return box;
};

// A store of the browser. Where it is blocked nothing is kept and nothing breaks:
// set says whether it did.
const store = (name) => ({
  get(key) {
    try {
      return window[name].getItem(key);
    } catch {
      return null;
    }
  },
  set(key, value) {
    try {
      if (value === null) window[name].removeItem(key);
      else window[name].setItem(key, value);
      return true;
    } catch {
      return false;
    }
  },
});
const tabStore = store("sessionStorage");
const browserStore = store("localStorage");

document.documentElement.classList.add("js");
// Addresses are whole on paper.
document.documentElement.style.setProperty("--docent-origin", JSON.stringify(location.origin));
