// The media library's script: files can be dropped, the focal point set by a click
// or the arrow keys, and images chosen in a dialog. All of it has a plain form too.
(() => {
  "use strict";

  const byId = (id) => document.getElementById(id);

  // --- Dropping files ----------------------------------------------------------

  const zoneOf = (event) => event.target.closest?.("form[data-docent-drop]");
  const holdsFiles = (event) => [...(event.dataTransfer?.types ?? [])].includes("Files");

  document.addEventListener("dragover", (event) => {
    if (!holdsFiles(event)) return;
    event.preventDefault(); // beside a form too: a file must not replace the page
    const zone = zoneOf(event);
    event.dataTransfer.dropEffect = zone ? "copy" : "none";
    for (const form of document.querySelectorAll("form[data-docent-drop]")) form.toggleAttribute("data-docent-over", form === zone);
  });
  document.addEventListener("dragleave", (event) => {
    if (event.relatedTarget === null) zoneOf(event)?.removeAttribute("data-docent-over");
  });
  document.addEventListener("drop", (event) => {
    if (!holdsFiles(event)) return;
    event.preventDefault();
    const form = zoneOf(event);
    const input = form?.querySelector("input[type=file]");
    form?.removeAttribute("data-docent-over");
    if (!input || event.dataTransfer.files.length === 0) return;
    const files = new DataTransfer();
    for (const file of [...event.dataTransfer.files].slice(0, input.multiple ? undefined : 1)) files.items.add(file);
    input.files = files.files;
    if (input.multiple) form.requestSubmit(); // others ask for more than the file
  });
  document.addEventListener("submit", (event) => {
    if (!event.target.matches?.("form[data-docent-drop]") || event.defaultPrevented) return;
    event.target.setAttribute("aria-busy", "true");
  });

  // --- The focal point -----------------------------------------------------------

  for (const frame of document.querySelectorAll("[data-docent-focus]")) {
    const mark = frame.querySelector("button");
    const image = frame.querySelector("img");
    const inputs = [byId("focus-x"), byId("focus-y")];
    if (!mark || !image || inputs.some((input) => !input || input.disabled)) continue;
    const values = () => inputs.map((input) => Math.min(100, Math.max(0, Number(input.value) || 0)));
    const show = () => {
      const [x, y] = values();
      mark.style.left = `${x}%`;
      mark.style.top = `${y}%`;
    };
    const move = (x, y) => {
      inputs[0].value = String(Math.round(Math.min(100, Math.max(0, x))));
      inputs[1].value = String(Math.round(Math.min(100, Math.max(0, y))));
      show();
    };
    frame.addEventListener("click", (event) => {
      if (event.target === mark) return;
      const box = image.getBoundingClientRect();
      move(((event.clientX - box.left) / box.width) * 100, ((event.clientY - box.top) / box.height) * 100);
    });
    mark.addEventListener("keydown", (event) => {
      const step = event.shiftKey ? 10 : 2;
      const by = { ArrowLeft: [-step, 0], ArrowRight: [step, 0], ArrowUp: [0, -step], ArrowDown: [0, step] }[event.key];
      if (!by) return;
      event.preventDefault();
      const [x, y] = values();
      move(x + by[0], y + by[1]);
    });
    for (const input of inputs) input.addEventListener("input", show);
    show();
  }

  // --- Choosing ------------------------------------------------------------------

  const dialog = byId("media-picker");
  const body = dialog?.querySelector("[data-docent-picker-body]");
  if (!dialog || !body) return;
  let loading = null;

  const choose = (element) => {
    const { docentMedium: id, docentLabel: label, docentDetail: detail, docentImage: image, docentAlt: alt } = element.dataset;
    dialog.close();
    dialog.dispatchEvent(new CustomEvent("docent:picked", { bubbles: true, detail: { id, label, detail, image, alt } }));
  };

  const fail = () => {
    const box = document.createElement("div");
    box.className = "notice notice--danger";
    box.setAttribute("role", "alert");
    box.textContent = body.dataset.docentFailed;
    body.prepend(box);
  };

  // The server's HTML is its own: names and labels in it are escaped there.
  const load = async (url, options) => {
    loading?.abort();
    const own = (loading = new AbortController());
    body.setAttribute("aria-busy", "true");
    try {
      const response = await fetch(url, { ...options, signal: own.signal, headers: { "HX-Request": "true", Accept: "text/html" } });
      if (!response.ok && response.status !== 422) throw new Error(String(response.status));
      const page = new DOMParser().parseFromString(await response.text(), "text/html");
      const done = page.querySelector("[data-docent-done]");
      body.replaceChildren(...page.body.childNodes);
      if (done) choose(done);
      else (body.querySelector("[role=alert]") ? byId("upload-alt") ?? byId("upload-file") : byId("choice-text"))?.focus();
    } catch (error) {
      if (own === loading && error.name !== "AbortError") fail();
    } finally {
      if (own === loading) body.removeAttribute("aria-busy");
    }
  };

  dialog.addEventListener("docent:pick", (event) => {
    body.replaceChildren();
    dialog.showModal();
    load(event.detail.url);
  });
  dialog.addEventListener("close", () => loading?.abort());
  dialog.addEventListener("click", (event) => {
    if (event.target === dialog || event.target.closest("[data-docent-picker-close]")) return dialog.close();
    const medium = event.target.closest("button[data-docent-medium]");
    if (medium) return choose(medium);
    const link = event.target.closest("a[href]");
    if (link && body.contains(link)) {
      event.preventDefault();
      load(link.href);
    }
  });
  dialog.addEventListener("submit", (event) => {
    const form = event.target;
    event.preventDefault();
    if (form.method === "post") load(form.action, { method: "POST", body: new FormData(form) });
    else load(`${form.action}?${new URLSearchParams(new FormData(form))}`);
  });
})();
