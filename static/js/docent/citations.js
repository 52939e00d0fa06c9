// --- Citations --------------------------------------------------------------
// Pointing at a marker, focusing it or tapping it opens a card with the passage
// behind it. Following it leads to the source's entry in the list.

const OPEN_AFTER = 300; // milliseconds of pointing
const CLOSE_AFTER = 250; // milliseconds in which the pointer may reach the card
const GAP = 10; // pixels between marker and card
const EDGE = 8; // pixels kept free at the window's edges

let card = null; // the open card: its marker and its box
let followed = null; // the citation followed last
let hover = 0; // timer
let quiet = false; // focus is being moved by the script: it opens nothing

const closeCard = () => {
  clearTimeout(hover);
  if (!card) return;
  const { link, box } = card;
  card = null;
  link.classList.remove("d-cite--open");
  link.removeAttribute("aria-expanded");
  link.removeAttribute("aria-controls");
  const inside = box.contains(document.activeElement);
  box.remove();
  if (inside && link.isConnected) focusQuietly(link);
};

const focusQuietly = (element) => {
  quiet = true;
  element.focus({ preventScroll: true });
  quiet = false;
};

const holdsFocus = () => card.link === document.activeElement || card.box.contains(document.activeElement);
const closeSoon = () => {
  clearTimeout(hover);
  hover = setTimeout(() => {
    if (card && !holdsFocus()) closeCard();
  }, CLOSE_AFTER);
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

const linkToList = (link, label) => {
  const a = document.createElement("a");
  a.href = link.getAttribute("href");
  a.textContent = label;
  a.addEventListener("click", (event) => {
    event.preventDefault();
    follow(link);
  });
  return a;
};

// The card repeats what the source's entry in the list says, beside the marker.
const buildCard = (link, source, block) => {
  const box = document.createElement("div");
  box.className = "d-citecard";
  box.id = `${block.id}-card`;
  box.setAttribute("role", "group");
  box.setAttribute("aria-label", link.getAttribute("aria-label") ?? link.textContent);
  const part = (className, ...content) => {
    const p = document.createElement("p");
    p.className = className;
    p.append(...content);
    box.append(p);
  };
  const title = titleOf(source);
  const number = document.createElement("span");
  number.textContent = link.textContent;
  part("d-citecard__title", number, title.text);
  const where = source.querySelector(".d-source__where");
  if (where) part("d-citecard__where", where.textContent);
  const passage = source.querySelector("q");
  if (passage) box.append(passage.cloneNode(true));
  const links = [];
  const more = source.querySelector(".d-source__more a") ?? title.link;
  if (more) links.push(more.cloneNode(true));
  if (isShown(source)) links.push(linkToList(link, block.dataset.textInList));
  part("d-citecard__links", ...links);
  box.append(closeButton(block.dataset.textClose));
  box.addEventListener("pointerenter", () => clearTimeout(hover));
  box.addEventListener("pointerleave", (event) => {
    if (event.pointerType === "mouse") closeSoon();
  });
  return box;
};

// Below the marker; above it where there is no room, or where the card would lie
// over the line that is being written. Inside the block, and so inside the window.
const placeCard = (link, box, block) => {
  const frame = block.getBoundingClientRect();
  const mark = link.getBoundingClientRect();
  const { offsetWidth: width, offsetHeight: height } = box;
  const body = link.closest('.d-turn__body[aria-busy="true"]');
  const end = body?.lastElementChild?.getBoundingClientRect().bottom;
  const lowest = mark.bottom + GAP + height;
  const crowded = lowest > innerHeight - EDGE || (end !== undefined && end < lowest);
  const above = mark.top - GAP - height;
  box.style.top = `${(crowded && above >= EDGE ? above : mark.bottom + GAP) - frame.top}px`;
  const rtl = getComputedStyle(block).direction === "rtl";
  const wanted = rtl ? mark.right - frame.left + 2 * EDGE - width : mark.left - frame.left - 2 * EDGE;
  box.style.left = `${Math.max(0, Math.min(wanted, frame.width - width))}px`;
};

const openCard = (link) => {
  clearTimeout(hover);
  if (card?.link === link) return;
  closeCard();
  const source = sourceOf(link);
  const block = blockOf(link);
  if (!source || !block) return;
  const box = buildCard(link, source, block);
  block.append(box);
  placeCard(link, box, block);
  link.classList.add("d-cite--open");
  link.setAttribute("aria-expanded", "true");
  link.setAttribute("aria-controls", box.id);
  card = { link, box };
};

addEventListener("resize", () => {
  if (card) placeCard(card.link, card.box, card.box.parentElement);
});

const follow = (link) => {
  const source = sourceOf(link);
  if (!source || !isShown(source)) {
    openCard(link);
    return;
  }
  closeCard();
  for (const other of document.querySelectorAll(".d-source--followed")) {
    other.classList.remove("d-source--followed");
    other.removeAttribute("aria-current");
  }
  source.classList.add("d-source--followed");
  source.setAttribute("aria-current", "true");
  const details = source.querySelector("details");
  if (details) details.open = true;
  followed = link;
  source.scrollIntoView({ block: "nearest" });
  source.focus({ preventScroll: true });
};

let touch = false;
document.addEventListener("pointerdown", (event) => {
  touch = event.pointerType !== "mouse";
  if (card && !card.box.contains(event.target) && citation(event.target) !== card.link) closeCard();
});
document.addEventListener("click", (event) => {
  const link = citation(event.target);
  if (!link || event.ctrlKey || event.metaKey || event.shiftKey) return;
  event.preventDefault();
  if (touch && event.detail > 0 && card?.link !== link) openCard(link);
  else follow(link);
});
document.addEventListener("pointerover", (event) => {
  const link = event.pointerType === "mouse" && citation(event.target);
  if (!link) return;
  clearTimeout(hover);
  hover = setTimeout(openCard, OPEN_AFTER, link);
});
document.addEventListener("pointerout", (event) => {
  if (event.pointerType !== "mouse" || !citation(event.target)) return;
  clearTimeout(hover);
  if (card) closeSoon();
});

document.addEventListener("focusin", (event) => {
  const link = citation(event.target);
  if (link && !quiet && link.matches(":focus-visible")) openCard(link);
});
document.addEventListener("focusout", (event) => {
  const to = event.relatedTarget;
  if (card && to && to !== card.link && !card.box.contains(to)) closeCard();
});

// The card stands at the end of its block; Tab leads from the marker into it and
// out of it to what follows the marker.
const tabThroughCard = (event) => {
  const inside = [...card.box.querySelectorAll("a[href], button")];
  const active = document.activeElement;
  if (!event.shiftKey && active === card.link) {
    event.preventDefault();
    inside[0].focus();
  } else if (event.shiftKey && active === inside[0]) {
    event.preventDefault();
    focusQuietly(card.link);
  } else if (!event.shiftKey && active === inside.at(-1)) {
    closeCard(); // the browser goes on from the marker
  }
};

document.addEventListener("keydown", (event) => {
  if (event.key === "Tab" && card) tabThroughCard(event);
  if (event.key !== "Escape") return;
  if (card) closeCard();
  else if (followed?.isConnected && document.activeElement?.closest?.(".d-source--followed")) focusQuietly(followed);
});

// A marker near the growing end may be written anew, or turn out to be none.
document.addEventListener("htmx:sse:after:message", () => {
  if (card && !card.link.isConnected) closeCard();
});
