// --- Growing text -----------------------------------------------------------
// Most messages of a stream only add words to the end of elements of the answer.
// They are events of their own, a line for each element: its block, how many last
// children deep it lies, and the text as JSON. The words go into the text node that
// is there. Every other message is htmx's.

const WORDS = /^(\d+)\.(\d+) (.*)$/;

const addWords = (turn, line) => {
  const [, block, depth, text] = WORDS.exec(line) ?? [];
  let element = byId(`${turn.id}-b${block}`);
  for (let n = 0; n < Number(depth); n++) element = element?.lastElementChild;
  if (!element) return;
  if (element.lastChild?.nodeType === Node.TEXT_NODE) element.lastChild.appendData(JSON.parse(text));
  else element.append(JSON.parse(text));
};

document.addEventListener("htmx:sse:before:message", (event) => {
  const { target, detail } = event;
  if (!isStream(target) || detail.message.event !== "words") return;
  event.preventDefault();
  const turn = turnOf(target);
  for (const line of detail.message.data.split("\n")) addWords(turn, line);
  htmx.trigger(target, "htmx:sse:after:message", detail);
});
