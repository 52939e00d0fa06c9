// --- Growing text -----------------------------------------------------------
// Most messages of a stream only add words to the end of an element of the answer.
// They go straight into its text node: htmx would parse each as a document of its
// own, which costs many times more, and would leave the text in pieces. Every other
// message is htmx's.

const WORDS = /<hx-partial hx-target="(#turn-[\w-]+-b\d+(?:&gt;:last-child)*)" hx-swap="beforeend">([^<]+)<\/hx-partial>/y;
const REFERENCES = { "&lt;": "<", "&gt;": ">", "&amp;": "&", "&#34;": '"', "&#39;": "'" }; // those that the server writes

const unescaped = (text) => text.replace(/&[^;]*;/g, (reference) => REFERENCES[reference] ?? reference);

// What a message adds, as pairs of selector and text; nothing if it does more.
const addedWords = (data) => {
  const found = [];
  for (WORDS.lastIndex = 0; WORDS.lastIndex < data.length;) {
    const match = WORDS.exec(data);
    if (!match) return undefined;
    found.push([unescaped(match[1]), unescaped(match[2])]);
  }
  return found.length > 0 ? found : undefined;
};

document.addEventListener("htmx:sse:before:message", (event) => {
  const { target, detail } = event;
  const words = isStream(target) && !detail.message.event && addedWords(detail.message.data);
  if (!words) return;
  event.preventDefault();
  for (const [selector, text] of words) {
    const element = document.querySelector(selector);
    if (element?.lastChild?.nodeType === Node.TEXT_NODE) element.lastChild.appendData(text);
    else element?.append(text);
  }
  htmx.trigger(target, "htmx:sse:after:message", detail);
});
