// Docent's own script. Every page works without it: forms post, links lead on.
// With it, questions asked anywhere reach their Answer block, growing answers are
// announced and never moved under the reader, and citations open their source.
(() => {
  "use strict";

  const ASK = "#ai-answers-ask=";
  const MARK = "ai-answers-ask"; // key in sessionStorage
  const QUIET = 7000; // milliseconds without new text before "still working"
  const OUTAGE = 2000; // milliseconds without a connection before a word about it

  const byId = (id) => document.getElementById(id);
  const stop = (event) => {
    event.preventDefault();
    event.stopImmediatePropagation();
  };

  document.documentElement.classList.add("js");

  // Announcements go through one polite live region that is never replaced.
  const announce = (text) => {
    const region = byId("docent-announcer");
    if (!region || !text) return;
    region.textContent = "";
    setTimeout(() => { region.textContent = text; }, 50);
  };

  // --- Asking ---------------------------------------------------------------

  const sending = new Set(); // ids of Answer blocks whose question is on its way

  const isBusy = (block) => sending.has(block.id) || block.querySelector("[data-docent-stream]") !== null;
  const formsFor = (block) => document.querySelectorAll(`form[data-ai-answers-target="${CSS.escape(block.id)}"]`);

  // The form a question from elsewhere goes through: a visible Question block if
  // there is one, else the Answer block's own.
  const askForm = (block) =>
    [...formsFor(block)].find((form) => form.closest('[data-docent-block="question"]')) ??
    block.querySelector("form[data-docent-ask]");

  const fill = (form, question) => {
    const field = form?.elements.question;
    if (field) field.value = question.slice(0, field.maxLength > 0 ? field.maxLength : undefined);
  };

  const ask = (block, question) => {
    const form = askForm(block);
    if (!form || !question.trim()) return;
    fill(form, question);
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

  const showNotice = (form, text) => {
    const place = byId(form.dataset.docentNotice);
    if (!place) return;
    place.replaceChildren(notice(text));
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

  const clearNotices = (block) => {
    for (const form of formsFor(block)) byId(form.dataset.docentNotice)?.replaceChildren();
  };

  // Goes to the page of the Answer block. The mark says that a person on this site
  // just asked, so that a link with the same hash only fills the form.
  const leaveToAsk = (url, target, question) => {
    const hash = `${ASK}${target}:${encodeURIComponent(question)}`;
    try {
      sessionStorage.setItem(MARK, hash);
    } catch {
      return false;
    }
    location.assign(new URL(url, location.href).href.split("#")[0] + hash);
    return true;
  };

  const takeMark = () => {
    try {
      const mark = sessionStorage.getItem(MARK);
      sessionStorage.removeItem(MARK);
      return mark;
    } catch {
      return null;
    }
  };

  const readHash = () => {
    const hash = location.hash;
    if (!hash.startsWith(ASK)) return;
    history.replaceState(history.state, "", location.pathname + location.search);
    const cut = hash.indexOf(":");
    if (cut < 0) return;
    const marked = takeMark() === hash;
    const block = byId(hash.slice(ASK.length, cut));
    let question;
    try {
      question = decodeURIComponent(hash.slice(cut + 1));
    } catch {
      return;
    }
    if (!block) return;
    if (marked) ask(block, question);
    else fill(askForm(block), question);
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
    const target = form.dataset.aiAnswersTarget;
    if (target === undefined) return;
    const block = byId(target);
    const question = form.elements.question?.value ?? "";
    if (!question.trim()) {
      stop(event);
      return;
    }
    if (!block) {
      const url = form.dataset.aiAnswersTargetUrl;
      if (url && leaveToAsk(url, target, question)) stop(event);
      else event.stopImmediatePropagation(); // the browser posts the form
      return;
    }
    if (isBusy(block)) {
      stop(event);
      showNotice(form, block.dataset.textBusy);
      byId(form.dataset.docentNotice)?.firstElementChild?.setAttribute("data-docent-busy", "");
    }
  }, true);

  document.addEventListener("ai-answers:ask", (event) => {
    const block = event.target.closest?.('[data-docent-block="answer"]');
    const question = event.detail?.question;
    if (block && typeof question === "string") ask(block, question);
  });

  const blockOf = (element) => element?.dataset?.aiAnswersTarget && byId(element.dataset.aiAnswersTarget);

  document.addEventListener("htmx:before:request", (event) => {
    const block = blockOf(event.detail.ctx.sourceElement);
    if (!block) return;
    sending.add(block.id);
    clearNotices(block);
    markBusy(block);
    announce(block.dataset.textAnswering);
  });

  document.addEventListener("htmx:finally:request", (event) => {
    const { sourceElement: form, response } = event.detail.ctx;
    const block = blockOf(form);
    if (!block) return;
    sending.delete(block.id);
    markBusy(block);
    if (!response) {
      showNotice(form, block.dataset.textFailed);
      return;
    }
    if (response.status >= 400) return;
    if (form.isConnected) fill(form, "");
    const asked = document.activeElement;
    if (asked === document.body || form.contains(asked) || !asked?.isConnected) {
      [...block.querySelectorAll("[data-docent-turn] h2[tabindex]")].at(-1)?.focus();
    }
  });

  // --- Growing answers ------------------------------------------------------

  const timers = new WeakMap(); // stream element -> timer of "still working"

  const hush = (stream) => clearTimeout(timers.get(stream));
  const listen = (stream, wait = QUIET) => {
    hush(stream);
    timers.set(stream, setTimeout(() => {
      if (!stream.isConnected) return;
      announce(stream.closest('[data-docent-block="answer"]')?.dataset.textWorking);
      listen(stream, 2 * wait);
    }, wait));
  };

  // Ends whatever no longer has a stream: the text is not busy, questions may be
  // asked again.
  const settle = () => {
    for (const turn of document.querySelectorAll("[data-docent-turn]")) {
      if (turn.querySelector("[data-docent-stream]")) continue;
      byId(`${turn.id}-body`)?.setAttribute("aria-busy", "false");
    }
    for (const block of document.querySelectorAll('[data-docent-block="answer"]')) markBusy(block);
  };

  // What the reader is told about the connection, below the text; kind names the
  // text among the block's own, nothing takes the notice away.
  const tellConnection = (turn, kind) => {
    turn.querySelector("[data-docent-connection]")?.remove();
    const text = kind && turn.closest('[data-docent-block="answer"]')?.dataset[kind];
    if (!text) return;
    const box = notice(text);
    box.dataset.docentConnection = "";
    turn.append(box);
  };

  const outages = new WeakMap(); // turn -> timer: short breaks are not worth a word

  const connected = (turn, yes) => {
    if (!turn || (!yes && outages.has(turn))) return;
    clearTimeout(outages.get(turn));
    outages.delete(turn);
    if (yes) tellConnection(turn);
    else outages.set(turn, setTimeout(() => tellConnection(turn, "textReconnecting"), OUTAGE));
  };

  const turnOf = (stream) => stream.closest("[data-docent-turn]");

  const giveUp = (stream) => {
    const turn = turnOf(stream);
    connected(turn, true);
    if (turn) tellConnection(turn, "textLost");
    hush(stream);
    stream.remove();
    settle();
  };

  const isStream = (element) => element?.matches?.("[data-docent-stream]") ?? false;

  document.addEventListener("htmx:sse:after:connection", ({ target }) => {
    if (!isStream(target)) return;
    connected(turnOf(target), true);
    listen(target);
    settle();
  });
  document.addEventListener("htmx:sse:after:message", ({ target }) => {
    if (isStream(target)) listen(target);
    showNewText();
  });
  document.addEventListener("htmx:sse:error", ({ target, detail }) => {
    if (!isStream(target)) return;
    if (detail.status >= 400 && detail.status < 500) giveUp(target);
    else connected(turnOf(target), false);
  });
  document.addEventListener("htmx:sse:close", ({ target, detail }) => {
    if (isStream(target)) {
      hush(target);
      connected(turnOf(target), true);
      if (detail.reason === "message") target.remove();
    }
    // A stream that is being removed is still in the page at this moment.
    setTimeout(() => {
      settle();
      showNewText();
    }, 0);
  });

  // The first connection of a stream is an ordinary request of htmx. Forms that
  // have no place of their own for errors get a notice beside them.
  const failed = ({ target }) => {
    if (isStream(target)) giveUp(target);
    else if (target.matches?.("form[hx-post]") && target.dataset.docentNotice === undefined) {
      target.querySelector(".notice")?.remove();
      target.append(notice(byId("docent-announcer")?.dataset.textFailed ?? ""));
    }
  };
  document.addEventListener("htmx:response:error", failed);
  document.addEventListener("htmx:error", failed);

  const growing = (button) => byId(button.closest("[data-docent-turn]")?.id + "-body")?.lastElementChild;

  const showNewText = () => {
    for (const button of document.querySelectorAll("[data-docent-new-text]")) {
      const end = growing(button)?.getBoundingClientRect();
      button.hidden = !end || end.bottom <= innerHeight;
    }
  };
  let scheduled = false;
  addEventListener("scroll", () => {
    if (scheduled) return;
    scheduled = true;
    requestAnimationFrame(() => {
      scheduled = false;
      showNewText();
    });
  }, { passive: true });

  // --- Citations ------------------------------------------------------------

  const citation = (target) => target.closest?.('.d-cite a[href^="#source-"]');
  const sourceOf = (link) => byId(link.getAttribute("href").slice(1));
  let followed = null; // the citation followed last
  let card = null; // the open card
  let hover = 0; // timer

  const closeCard = () => {
    clearTimeout(hover);
    if (!card) return;
    card.link.classList.remove("d-cite--open");
    card.box.remove();
    card = null;
  };

  const closeButton = (label) => {
    const button = document.createElement("button");
    button.type = "button";
    button.className = "btn btn--plain btn--s btn--icon d-citecard__close";
    button.setAttribute("aria-label", label);
    button.textContent = "×";
    button.addEventListener("click", closeCard);
    return button;
  };

  // The card repeats what the source's entry in the list says, beside the marker.
  const openCard = (link) => {
    if (card?.link === link) return;
    closeCard();
    const source = sourceOf(link);
    const block = link.closest('[data-docent-block="answer"]');
    if (!source || !block) return;

    const box = document.createElement("div");
    box.className = "d-citecard";
    box.setAttribute("role", "group");
    box.setAttribute("aria-label", link.getAttribute("aria-label") ?? "");
    const part = (name, className, content) => {
      const element = document.createElement(name);
      element.className = className;
      element.append(content);
      box.append(element);
      return element;
    };
    const title = source.querySelector(".d-source__title");
    const name = title.querySelector("a")?.firstChild.textContent ?? title.lastChild.textContent;
    const number = document.createElement("span");
    number.textContent = link.textContent;
    part("p", "d-citecard__title", number).append(name.trim());
    const where = source.querySelector(".d-source__where");
    if (where) part("p", "d-citecard__where", where.textContent);
    const quote = source.querySelector("q");
    if (quote) box.append(quote.cloneNode(true));
    const more = source.querySelector(".d-source__more a") ?? title.querySelector("a");
    const links = part("p", "d-citecard__links", more ? more.cloneNode(true) : "");
    const inList = document.createElement("a");
    inList.href = link.getAttribute("href");
    inList.textContent = block.dataset.textInList;
    inList.addEventListener("click", () => follow(link));
    links.append(inList);
    box.append(closeButton(block.dataset.textClose));
    box.addEventListener("pointerenter", () => clearTimeout(hover));
    box.addEventListener("pointerleave", (event) => {
      if (event.pointerType === "mouse") hover = setTimeout(closeCard, 250);
    });
    block.append(box);

    const mark = link.getBoundingClientRect();
    const frame = block.getBoundingClientRect();
    const most = frame.width - box.offsetWidth;
    box.style.top = `${mark.bottom - frame.top + 10}px`;
    box.style.left = `${Math.max(0, Math.min(mark.left - frame.left - 16, most))}px`;
    link.classList.add("d-cite--open");
    card = { link, box };
  };

  const follow = (link) => {
    closeCard();
    const source = sourceOf(link);
    if (!source) return;
    for (const other of document.querySelectorAll(".d-source--followed")) other.classList.remove("d-source--followed");
    source.classList.add("d-source--followed");
    const details = source.querySelector("details");
    if (details) details.open = true;
    followed = link;
    // After the browser's own jump.
    setTimeout(() => source.focus({ preventScroll: true }), 0);
  };

  let touch = false;
  document.addEventListener("pointerdown", (event) => {
    touch = event.pointerType !== "mouse";
    if (card && !card.box.contains(event.target) && citation(event.target) !== card.link) closeCard();
  });
  document.addEventListener("click", (event) => {
    const link = citation(event.target);
    if (!link) return;
    if (touch && event.detail > 0 && card?.link !== link) {
      event.preventDefault();
      openCard(link);
    } else follow(link);
  });
  document.addEventListener("pointerover", (event) => {
    if (event.pointerType !== "mouse") return;
    const link = citation(event.target);
    if (!link) return;
    clearTimeout(hover);
    hover = setTimeout(() => openCard(link), 300);
  });
  document.addEventListener("pointerout", (event) => {
    if (event.pointerType !== "mouse" || !citation(event.target)) return;
    clearTimeout(hover);
    if (card) hover = setTimeout(closeCard, 250);
  });
  document.addEventListener("keydown", (event) => {
    if (event.key !== "Escape") return;
    if (card) closeCard();
    else if (followed?.isConnected && document.activeElement?.closest?.(".d-source--followed")) followed.focus();
  });

  // --- Small tools ----------------------------------------------------------

  // The answer as plain text: markers as [1], list items with a dash, cells apart.
  const plainText = (node) => {
    if (node.nodeType === Node.TEXT_NODE) return node.data;
    if (node.nodeType !== Node.ELEMENT_NODE) return "";
    if (node.matches(".d-cite")) return ` [${node.textContent.trim()}]`;
    if (node.matches("br")) return "\n";
    if (node.matches("pre")) return `${node.textContent.trimEnd()}\n\n`;
    if (node.matches("tr")) return `${[...node.cells].map((cell) => plainText(cell).trim()).join("\t")}\n`;
    const inner = [...node.childNodes].map(plainText).join("");
    if (node.matches("li")) return `- ${inner.trim()}\n`;
    if (node.matches("p,h1,h2,h3,h4,h5,h6,ul,ol,blockquote,table")) return `${inner.trim()}\n\n`;
    return inner;
  };

  const copyText = (element) => {
    if ("value" in element) return element.value;
    const numbers = new Set([...element.querySelectorAll(".d-cite a")].map((a) => a.getAttribute("href").slice(1)));
    const sources = [...numbers].map(byId).filter(Boolean).map((source) => {
      const link = source.querySelector(".d-source__title a");
      const title = (link?.firstChild ?? source.querySelector(".d-source__title").lastChild).textContent.trim();
      return `[${source.dataset.docentSource}] ${title}${link ? ` ${link.href}` : ""}`;
    });
    return [...element.childNodes].map(plainText).join("").trim() + (sources.length ? `\n\n${sources.join("\n")}` : "") + "\n";
  };

  const copy = async (button) => {
    const element = byId(button.dataset.docentCopy);
    if (!element) return;
    try {
      await navigator.clipboard.writeText(copyText(element));
      announce(button.dataset.textCopied ?? button.closest('[data-docent-block="answer"]')?.dataset.textCopied);
      button.setAttribute("aria-pressed", "true");
      setTimeout(() => button.removeAttribute("aria-pressed"), 1500);
    } catch {
      getSelection().selectAllChildren(element);
      element.select?.();
    }
  };

  document.addEventListener("click", (event) => {
    const button = event.target.closest?.("button");
    if (!button) return;
    if (button.dataset.docentCopy !== undefined) copy(button);
    else if (button.dataset.docentNewText !== undefined) growing(button)?.scrollIntoView({ block: "end" });
    else if (button.dataset.docentReveal !== undefined) {
      const field = byId(button.dataset.docentReveal);
      const show = field.type === "password";
      field.type = show ? "text" : "password";
      button.setAttribute("aria-pressed", String(show));
    }
  });

  // --- Start ----------------------------------------------------------------

  const prefill = new URLSearchParams(location.search).get("q");
  const first = document.querySelector('[data-docent-block="question"] form[data-ai-answers-target]');
  if (prefill && first && !first.elements.question.value) fill(first, prefill);

  // A question in the address is asked once htmx has taken over the forms.
  document.addEventListener("htmx:after:process", function start({ target }) {
    if (target !== document.body) return;
    document.removeEventListener("htmx:after:process", start);
    settle();
    readHash();
  });
  addEventListener("hashchange", readHash);
})();
