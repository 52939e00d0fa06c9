// --- Copying ----------------------------------------------------------------

const COPIED = 2000; // milliseconds in which a button says so

// The answer as plain text: markers as [1], list items with a dash, cells apart.
const plainText = (node) => {
  if (node.nodeType === Node.TEXT_NODE) return node.data;
  if (node.nodeType !== Node.ELEMENT_NODE) return "";
  if (node.matches(".d-cite")) return ` [${node.textContent.trim()}]`;
  if (node.matches("br")) return "\n";
  if (node.matches(".code")) return plainText(node.querySelector("pre")); // without the bar above it
  if (node.matches("pre")) return `${node.textContent.trimEnd()}\n\n`;
  if (node.matches("tr")) return `${[...node.cells].map((cell) => plainText(cell).trim()).join("\t")}\n`;
  const inner = [...node.childNodes].map(plainText).join("");
  if (node.matches("li")) return `- ${inner.trim()}\n`;
  if (node.matches("p,h1,h2,h3,h4,h5,h6,ul,ol,blockquote,table")) return `${inner.trim()}\n\n`;
  return inner;
};

// An answer's text, followed by the addresses of the sources that it cites.
const answerText = (body) => {
  const cited = new Set([...body.querySelectorAll(".d-cite a")].map(sourceOf).filter(Boolean));
  const sources = [...cited].map((source) => {
    const { link, text } = titleOf(source);
    return `[${source.dataset.docentSource}] ${text}${link ? ` ${link.href}` : ""}`;
  });
  return [...body.childNodes].map(plainText).join("").trim() + (sources.length ? `\n\n${sources.join("\n")}` : "") + "\n";
};

// The words on a control, which may stand beside an icon.
const labelOf = (control) => {
  const texts = document.createTreeWalker(control, NodeFilter.SHOW_TEXT);
  let words;
  while (texts.nextNode()) {
    if (texts.currentNode.data.trim()) words = texts.currentNode;
  }
  return words;
};

const sayCopied = (control) => {
  const text = control.dataset.textCopied ?? byId("docent-announcer")?.dataset.textCopied;
  announce(text);
  const words = labelOf(control);
  if (!words || !text || control.dataset.docentCopied !== undefined) return;
  const before = words.data;
  control.dataset.docentCopied = "";
  words.data = text;
  setTimeout(() => {
    words.data = before;
    delete control.dataset.docentCopied;
  }, COPIED);
};

// Copies text, or a promise of it. Where the browser does not let it, the reader
// gets to copy by hand.
const copy = async (control, text, byHand) => {
  try {
    if (typeof text === "string") await navigator.clipboard.writeText(text);
    else {
      const blob = text.then((value) => new Blob([value], { type: "text/plain" }));
      await navigator.clipboard.write([new ClipboardItem({ "text/plain": blob })]);
    }
  } catch {
    byHand();
    return;
  }
  sayCopied(control);
};

const select = (element) => {
  getSelection().selectAllChildren(element);
  element.select?.();
};

const fetchText = async (url) => {
  const response = await fetch(url, { headers: { Accept: "text/markdown" } });
  if (!response.ok) throw new Error(response.statusText);
  return response.text();
};

document.addEventListener("click", (event) => {
  const control = event.target.closest?.("[data-docent-copy], [data-docent-copy-code], [data-docent-copy-markdown]");
  if (!control) return;
  if (control.dataset.docentCopyMarkdown !== undefined) {
    if (event.ctrlKey || event.metaKey || event.shiftKey) return;
    event.preventDefault();
    copy(control, fetchText(control.href), () => location.assign(control.href));
    return;
  }
  if (control.dataset.docentCopyCode !== undefined) {
    const pre = control.closest(".code")?.querySelector("pre");
    if (pre) copy(control, pre.textContent, () => select(pre));
    return;
  }
  const element = byId(control.dataset.docentCopy);
  if (element) copy(control, "value" in element ? element.value : answerText(element), () => select(element));
});
