// --- Sources ----------------------------------------------------------------
// What a citation's number stands for is read from the lists that follow its block.

const citation = (target) => target?.closest?.('.d-cite a[href^="#source-"]') ?? null;
const isShown = (element) => element.checkVisibility?.() ?? true;

// The entry of a citation: in the block's own list, else in the first visible list
// that follows the block, else in any.
const sourceOf = (link) => {
  const block = blockOf(link);
  if (!block) return undefined;
  const number = link.getAttribute("href").slice("#source-".length);
  const entries = sourceLists(block)
    .map((list) => list.querySelector(`[data-docent-source="${CSS.escape(number)}"]`))
    .filter(Boolean);
  return entries.find(isShown) ?? entries[0];
};

// Title and address of an entry, whichever way its source is shown.
const titleOf = (source) => {
  const title = source.querySelector(".d-source__title") ?? source;
  const link = title.querySelector("a[href]");
  return { link, text: ((link?.firstChild ?? title.lastChild)?.textContent ?? "").trim() };
};
