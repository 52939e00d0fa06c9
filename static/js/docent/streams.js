// --- Growing answers --------------------------------------------------------

const QUIET = 7000; // milliseconds without new text before "still working"
const OUTAGE = 2000; // milliseconds without a connection before a word about it
const FIRST_TRIES = 6; // attempts at the first connection of a stream

const isStream = (element) => element?.matches?.("[data-docent-stream]") ?? false;
const turnOf = (stream) => stream.closest("[data-docent-turn]");

const timers = new WeakMap(); // stream element -> timer of "still working"

const hush = (stream) => clearTimeout(timers.get(stream));
const listen = (stream, wait = QUIET) => {
  hush(stream);
  timers.set(stream, setTimeout(() => {
    if (!stream.isConnected) return;
    announce(blockOf(stream)?.dataset.textWorking);
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
  for (const block of answerBlocks()) markBusy(block);
};

// What the reader is told about the connection, below the text; kind names the
// text among the block's own, nothing takes the notice away.
const tellConnection = (turn, kind) => {
  turn.querySelector("[data-docent-connection]")?.remove();
  const text = kind && blockOf(turn)?.dataset[kind];
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

const giveUp = (stream) => {
  const turn = turnOf(stream);
  connected(turn, true);
  if (turn) tellConnection(turn, "textLost");
  hush(stream);
  freeSlot(stream);
  stream.remove();
  settle();
};

// The first connection of a stream is an ordinary request of htmx, which gives up
// at once: what is a mishap on the way is tried again.
const tries = new WeakMap(); // stream element -> failed first connections

const tryAgain = (stream) => {
  const failed = (tries.get(stream) ?? 0) + 1;
  if (failed >= FIRST_TRIES) {
    giveUp(stream);
    return;
  }
  tries.set(stream, failed);
  connected(turnOf(stream), false);
  setTimeout(() => {
    if (stream.isConnected) htmx.ajax("GET", stream.getAttribute("hx-sse:connect"), { source: stream });
  }, RECONNECT * 2 ** (failed - 1));
};

document.addEventListener("htmx:sse:before:connection", ({ target, detail }) => {
  if (isStream(target)) openConnection(target, detail.connection);
});
document.addEventListener("htmx:sse:after:connection", ({ target }) => {
  if (!isStream(target)) return;
  connected(turnOf(target), true);
  listen(target);
  settle();
});
document.addEventListener("htmx:sse:after:message", ({ target, detail }) => {
  if (isStream(target)) {
    listen(target);
    afterMessage(target, detail.connection, detail.message);
  }
  showNewTextSoon();
});
document.addEventListener("htmx:sse:error", ({ target, detail }) => {
  if (!isStream(target)) return;
  if (detail.status >= 400 && detail.status < 500) giveUp(target);
  else connected(turnOf(target), false);
});
document.addEventListener("htmx:sse:close", ({ target, detail }) => {
  if (isStream(target)) {
    hush(target);
    freeSlot(target);
    connected(turnOf(target), true);
    if (detail.reason === "message") target.remove();
  }
  // A stream that is being removed is still in the page at this moment.
  setTimeout(() => {
    settle();
    showNewText();
  }, 0);
});

// Forms that have no place of their own for errors get a notice beside them.
const failed = ({ target, detail }) => {
  if (isStream(target)) {
    const status = detail.ctx?.response?.status;
    if (status >= 400 && status < 500) giveUp(target);
    else tryAgain(target);
  } else if (target.matches?.("form[hx-post]") && target.dataset.docentNotice === undefined) {
    target.querySelector(".notice")?.remove();
    target.append(notice(byId("docent-announcer")?.dataset.textFailed ?? ""));
  }
};
document.addEventListener("htmx:response:error", failed);
document.addEventListener("htmx:error", failed);

// The page is never scrolled for the reader: a button leads to the growing end
// while that is out of sight.
const growing = (button) => byId(`${button.closest("[data-docent-turn]")?.id}-body`)?.lastElementChild;

const showNewText = () => {
  for (const button of document.querySelectorAll("[data-docent-new-text]")) {
    const end = growing(button)?.getBoundingClientRect();
    button.hidden = !end || end.bottom <= innerHeight;
  }
};
let scheduled = false;
const showNewTextSoon = () => {
  if (scheduled) return;
  scheduled = true;
  requestAnimationFrame(() => {
    scheduled = false;
    showNewText();
  });
};
addEventListener("scroll", showNewTextSoon, { passive: true });
addEventListener("resize", showNewTextSoon, { passive: true });
document.addEventListener("click", (event) => {
  const button = event.target.closest?.("[data-docent-new-text]");
  if (button) growing(button)?.scrollIntoView({ block: "end" });
});
