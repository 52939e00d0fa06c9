// --- Connections ------------------------------------------------------------
// A browser opens six connections at most to one HTTP/1.1 server, for all tabs
// together. At most four streams stay open, so that pages and questions always get
// through; a stream without one of these slots looks in every two seconds.

const SLOTS = 4;
const LOOK_IN = 2000; // milliseconds
const GRANT = 250; // milliseconds in which a free slot is certainly given
const RECONNECT = 500; // milliseconds until the first try
const RECONNECT_MOST = 8000; // milliseconds between tries, however long an outage lasts

// Later versions of HTTP carry all streams over one connection. Without locks,
// which browsers offer to secure origins only, hidden tabs still pause.
const isCapped = () =>
  navigator.locks !== undefined && !/^h[23]/.test(performance.getEntriesByType("navigation")[0]?.nextHopProtocol ?? "");

const slots = new WeakMap(); // stream element -> its slot, held or waited for
const connections = new WeakMap(); // stream element -> htmx's connection

const streams = () => document.querySelectorAll("[data-docent-stream]");
const hasSlot = (stream) => !isCapped() || slots.get(stream)?.held === true;

const hurry = (stream) => {
  const connection = connections.get(stream);
  if (!connection) return;
  connection.config.reconnectDelay = RECONNECT;
  connection.delayCanceller?.();
};

const takeSlot = (stream) => {
  if (!isCapped() || document.hidden || slots.has(stream)) return;
  const waiting = new AbortController();
  const slot = { held: false, due: performance.now() + GRANT, free: () => waiting.abort() };
  slots.set(stream, slot);
  for (let n = 0; n < SLOTS; n++) {
    navigator.locks.request(`docent-stream-${n}`, { signal: waiting.signal }, () => {
      if (waiting.signal.aborted) return undefined; // another one came first, or none is needed any more
      waiting.abort();
      slot.held = true;
      hurry(stream);
      return new Promise((free) => { slot.free = free; });
    }).catch((error) => {
      if (error.name === "AbortError") return; // given up
      slot.held = true; // this page may not have locks
      hurry(stream);
    });
  }
};

const freeSlot = (stream) => {
  slots.get(stream)?.free();
  slots.delete(stream);
};

document.addEventListener("visibilitychange", () => {
  for (const stream of streams()) {
    if (document.hidden) freeSlot(stream);
    else takeSlot(stream);
  }
});

// A network that is back need not be waited for.
addEventListener("online", () => {
  for (const stream of streams()) hurry(stream);
});

const openConnection = (stream, connection) => {
  connections.set(stream, connection);
  connection.config.reconnectMaxDelay = RECONNECT_MOST;
  takeSlot(stream);
};

// After each message: goes on listening, or hangs up and looks in later. A message
// that tells of an error is followed by the end of the stream: no hurry then.
const afterMessage = (stream, connection, message) => {
  const listening = hasSlot(stream) && message.event !== "error";
  connection.config.reconnectDelay = listening ? RECONNECT : LOOK_IN;
  if (hasSlot(stream)) return;
  // The first message may come before a slot that is free: that is worth waiting for.
  setTimeout(() => {
    if (!hasSlot(stream)) connection.reader?.cancel();
  }, Math.max(0, (slots.get(stream)?.due ?? 0) - performance.now()));
};
