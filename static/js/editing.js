// The administration's script for forms in which content is edited. Everything in
// them works without it: rows move and grow by buttons that post the form.
(() => {
  "use strict";

  const PAUSE = 1000; // milliseconds without typing before a form is kept
  const byId = (id) => document.getElementById(id);
  const announce = (text) => {
    const region = byId("docent-announcer");
    if (!region || !text) return;
    region.textContent = "";
    setTimeout(() => { region.textContent = text; }, 50);
  };

  const form = document.querySelector("form[data-docent-edit]");

  // --- Keeping what is typed -------------------------------------------------

  // The form as it would be sent, without what is not typed.
  const entries = () => {
    const data = new URLSearchParams(new FormData(form));
    data.delete("op");
    return data;
  };
  const typed = () => {
    const data = entries();
    data.delete("csrf_token");
    return data.toString();
  };
  const backupKey = (id) => `docent-form:${id}`;
  // Storage may be full, or forbidden: then the server's copy is the only one.
  const store = (change) => { try { return change(localStorage); } catch { return null; } };

  let kept = "";
  let timer = 0;
  let leaving = false;
  let sending = null;

  const say = (text, failed) => {
    const place = byId("edit-saved");
    if (!place || !text) return;
    place.textContent = text;
    place.toggleAttribute("data-docent-failed", Boolean(failed));
    if (failed) announce(text);
  };

  const keep = async () => {
    clearTimeout(timer);
    const now = typed();
    if (now === kept || leaving) return;
    store((s) => s.setItem(backupKey(form.dataset.docentEdit), JSON.stringify({ at: Date.now(), data: now })));
    sending?.abort();
    sending = new AbortController();
    try {
      const response = await fetch(form.dataset.docentKeep, {
        method: "POST", body: entries(), signal: sending.signal, redirect: "error",
        headers: { Accept: "application/json" },
      });
      if (!response.ok) throw new Error(String(response.status));
      const { text } = await response.json();
      kept = now;
      store((s) => s.removeItem(backupKey(form.dataset.docentEdit)));
      say(text);
    } catch (error) {
      if (error.name === "AbortError") return;
      say(form.dataset.textUnsaved, true);
      timer = setTimeout(keep, 15 * PAUSE);
    }
  };
  const changed = () => {
    clearTimeout(timer);
    timer = setTimeout(keep, PAUSE);
  };

  if (form) {
    kept = typed();
    form.addEventListener("input", changed);
    form.addEventListener("change", changed);
    form.addEventListener("submit", () => {
      const now = typed();
      if (now !== kept) store((s) => s.setItem(backupKey(form.dataset.docentEdit), JSON.stringify({ at: Date.now(), data: now })));
      leaving = true;
      sending?.abort();
      clearTimeout(timer);
    });
    // A page from the browser's own cache goes on being edited.
    addEventListener("pageshow", (event) => { if (event.persisted) leaving = false; });
    addEventListener("online", keep);
    addEventListener("pagehide", () => {
      if (leaving || typed() === kept) return;
      store((s) => s.setItem(backupKey(form.dataset.docentEdit), JSON.stringify({ at: Date.now(), data: typed() })));
      navigator.sendBeacon(form.dataset.docentKeep, entries());
    });

    // What was saved needs no second net; what was not is offered.
    for (const id of (form.dataset.docentForget ?? "").split(" ")) if (id) store((s) => s.removeItem(backupKey(id)));
    const offer = byId("edit-backup");
    const backup = store((s) => JSON.parse(s.getItem(backupKey(form.dataset.docentEdit)) ?? "null"));
    if (offer && backup?.data && backup.data !== kept && !document.querySelector("[data-docent-focus]")) {
      offer.hidden = false;
      offer.querySelector("[data-docent-restore]")?.addEventListener("click", () => {
        const again = document.createElement("form");
        again.method = "post";
        again.action = form.action;
        const data = new URLSearchParams(backup.data);
        data.set("csrf_token", form.elements.csrf_token.value);
        data.set("op", "refresh");
        for (const [name, value] of data) {
          const input = document.createElement("input");
          input.type = "hidden";
          input.name = name;
          input.value = value;
          again.append(input);
        }
        document.body.append(again);
        leaving = true;
        again.submit();
      });
      offer.querySelector("[data-docent-forget-backup]")?.addEventListener("click", () => {
        store((s) => s.removeItem(backupKey(form.dataset.docentEdit)));
        offer.remove();
      });
    }

    document.addEventListener("keydown", (event) => {
      if (!(event.ctrlKey || event.metaKey) || event.altKey || event.key.toLowerCase() !== "s") return;
      event.preventDefault();
      const save = form.querySelector("[data-docent-save]");
      if (save) form.requestSubmit(save);
    });
  }
  document.querySelector("[data-docent-focus]")?.focus();

  // --- Rows -------------------------------------------------------------------

  const rowOf = (element) => element.closest("[data-docent-row]");

  const move = (row, way) => {
    const button = document.activeElement;
    const other = way === "up" ? row.previousElementSibling : row.nextElementSibling;
    if (!other) return;
    if (way === "up") other.before(row);
    else other.after(row);
    button?.focus();
    const rows = [...row.parentElement.children];
    announce(form.dataset.textMoved?.replace("{n}", rows.indexOf(row) + 1).replace("{of}", rows.length));
    changed();
  };

  // Asks the server for the form as it is after a button, and takes one field of it.
  const refresh = async (button, fieldId) => {
    const data = entries();
    data.set("op", button.value);
    button.setAttribute("aria-disabled", "true");
    try {
      const response = await fetch(form.action, { method: "POST", body: data, redirect: "error", headers: { Accept: "text/html" } });
      if (!response.ok) throw new Error(String(response.status));
      const page = new DOMParser().parseFromString(await response.text(), "text/html");
      const field = page.getElementById(fieldId);
      if (!field) throw new Error("no field");
      const old = byId(fieldId);
      const before = new Set([...old.querySelectorAll("[data-docent-row] > input[type=hidden]")].map((i) => i.value));
      old.replaceWith(field);
      prepare(field);
      const added = [...field.querySelectorAll("[data-docent-row]")].find((r) => !before.has(r.querySelector("input[type=hidden]")?.value));
      (added ?? field).querySelector("input:not([type=hidden]), textarea, select, button[data-docent-pick]")?.focus();
      changed();
      return field;
    } catch {
      button.removeAttribute("aria-disabled");
      say(form.dataset.textUnsaved, true);
      return null;
    }
  };

  document.addEventListener("click", (event) => {
    const button = event.target.closest?.("button");
    if (!button || !form?.contains(button)) return;
    const { docentMove: way, docentAdd: field } = button.dataset;
    if (way) {
      event.preventDefault();
      const row = rowOf(button);
      if (way !== "remove") return move(row, way);
      const widget = row.closest("[data-docent-widget]");
      const next = row.nextElementSibling ?? row.previousElementSibling;
      // The last row of a full field brings back its button to add: the server knows.
      const full = !widget.querySelector("[data-docent-add], .widget__more");
      if (full) return void refresh(button, widget.id);
      row.remove();
      (next?.querySelector(`[data-docent-move]`) ?? widget.querySelector("button") ?? widget).focus();
      announce(form.dataset.textRemoved);
      changed();
    } else if (field) {
      event.preventDefault();
      refresh(button, field);
    }
  });

  document.addEventListener("keydown", (event) => {
    if (!event.altKey || (event.key !== "ArrowUp" && event.key !== "ArrowDown")) return;
    if (event.target.matches("select")) return; // the keys open it
    const row = form && rowOf(event.target);
    if (!row?.querySelector("[data-docent-drag]")) return;
    event.preventDefault();
    move(row, event.key === "ArrowUp" ? "up" : "down");
  });

  let dragged = null;
  document.addEventListener("dragstart", (event) => {
    if (!event.target.matches?.("[data-docent-drag]")) return;
    dragged = rowOf(event.target);
    dragged.classList.add("widget__row--dragged");
    event.dataTransfer.effectAllowed = "move";
    event.dataTransfer.setData("text/plain", "");
    event.dataTransfer.setDragImage(dragged, 10, 10);
  });
  document.addEventListener("dragover", (event) => {
    const row = dragged && rowOf(event.target);
    if (!row || row.parentElement !== dragged.parentElement) return;
    event.preventDefault();
    if (row === dragged) return;
    const box = row.getBoundingClientRect();
    if (event.clientY < box.top + box.height / 2) row.before(dragged);
    else row.after(dragged);
  });
  document.addEventListener("drop", (event) => { if (dragged) event.preventDefault(); });
  document.addEventListener("dragend", () => {
    dragged?.classList.remove("widget__row--dragged");
    if (dragged) changed();
    dragged = null;
  });

  // --- Choosing media ----------------------------------------------------------

  // The library opens in a dialog; what is chosen there comes back as an event.
  let picking = null;
  document.addEventListener("click", async (event) => {
    const button = event.target.closest?.("button[data-docent-pick]");
    if (!button?.dataset.docentPick || !form?.contains(button)) return;
    const dialog = byId("media-picker");
    if (!dialog?.showModal) return;
    event.preventDefault();
    picking = button;
    dialog.dispatchEvent(new CustomEvent("docent:pick", { bubbles: true, detail: { url: button.dataset.docentPick } }));
  });
  document.addEventListener("docent:picked", async (event) => {
    if (!picking || !event.detail?.id) return;
    const button = picking;
    picking = null;
    const value = `${button.value}:${event.detail.id}`;
    const stand = { value, setAttribute() {}, removeAttribute() {} };
    await refresh(stand, button.closest("[data-docent-widget]").id);
  });

  // --- Markdown ------------------------------------------------------------------

  const insert = (area, text, from, to) => {
    area.focus();
    // Undo keeps working with the old command; without it the text is set.
    if (!document.execCommand?.("insertText", false, text)) area.setRangeText(text, area.selectionStart, area.selectionEnd, "end");
    if (from !== undefined) area.setSelectionRange(from, to);
    area.dispatchEvent(new Event("input", { bubbles: true }));
  };
  const around = (area, sign, fallback) => {
    const { selectionStart: a, selectionEnd: b, value } = area;
    const text = value.slice(a, b) || fallback;
    insert(area, sign + text + sign, a + sign.length, a + sign.length + text.length);
  };
  const lines = (area, sign) => {
    const { value } = area;
    const a = value.lastIndexOf("\n", area.selectionStart - 1) + 1;
    const end = value.indexOf("\n", area.selectionEnd);
    const b = end < 0 ? value.length : end;
    const text = value.slice(a, b).split("\n").map((line) => (line.startsWith(sign) ? line.slice(sign.length) : sign + line)).join("\n");
    area.setSelectionRange(a, b);
    insert(area, text, a, a + text.length);
  };
  const marks = {
    bold: (area, word) => around(area, "**", word),
    italic: (area, word) => around(area, "*", word),
    heading: (area) => lines(area, "## "),
    list: (area) => lines(area, "- "),
    link: (area, word) => {
      const { selectionStart: a, selectionEnd: b, value } = area;
      const text = value.slice(a, b) || word;
      insert(area, `[${text}](/)`, a + text.length + 3, a + text.length + 4);
    },
    table: (area) => {
      const gap = area.value.slice(0, area.selectionStart).endsWith("\n\n") || !area.selectionStart ? "" : "\n\n";
      insert(area, `${gap}|   |   |\n| --- | --- |\n|   |   |\n`);
    },
  };
  const areaOf = (element) => element.closest("[data-docent-editor]")?.querySelector("textarea");
  const mark = (area, name) => marks[name]?.(area, form?.dataset.textWord ?? "text");

  document.addEventListener("click", (event) => {
    const button = event.target.closest?.("[data-docent-mark]");
    const area = button && areaOf(button);
    if (area) mark(area, button.dataset.docentMark);
  });
  document.addEventListener("keydown", (event) => {
    const bar = event.target.closest?.("[data-docent-toolbar]");
    if (bar) {
      const buttons = [...bar.querySelectorAll("button")];
      const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
      const here = buttons.indexOf(event.target);
      let to = step && here + (getComputedStyle(bar).direction === "rtl" ? -step : step);
      if (event.key === "Home") to = 0;
      if (event.key === "End") to = buttons.length - 1;
      if (to === undefined) return;
      event.preventDefault();
      const next = buttons[(to + buttons.length) % buttons.length];
      for (const b of buttons) b.tabIndex = b === next ? 0 : -1;
      next.focus();
      return;
    }
    if (!(event.ctrlKey || event.metaKey) || event.altKey || event.shiftKey || !event.target.matches?.("[data-docent-editor] textarea")) return;
    if (event.target.closest("[data-docent-editor]").querySelector("[data-docent-toolbar]")?.hidden) return;
    const name = { b: "bold", i: "italic", k: "link" }[event.key.toLowerCase()];
    if (!name) return;
    event.preventDefault();
    mark(event.target, name);
  });
  const showToolbar = (select) => {
    const bar = select.closest("[data-docent-editor]")?.querySelector("[data-docent-toolbar]");
    if (bar) bar.hidden = select.value !== "markdown";
  };
  document.addEventListener("change", (event) => { if (event.target.matches?.("[data-docent-format]")) showToolbar(event.target); });

  // --- References ------------------------------------------------------------------

  const combo = (box) => {
    const input = box.querySelector("input:not([type=hidden])");
    const id = box.querySelector("[data-docent-combo-id]");
    const list = document.createElement("ul");
    list.className = "combo__list";
    list.id = `${input.id}-list`;
    list.setAttribute("role", "listbox");
    list.setAttribute("aria-label", input.getAttribute("aria-label") ?? document.querySelector(`label[for="${CSS.escape(input.id)}"]`)?.textContent.trim() ?? "");
    list.hidden = true;
    box.append(list);
    input.setAttribute("role", "combobox");
    input.setAttribute("aria-autocomplete", "list");
    input.setAttribute("aria-expanded", "false");
    input.setAttribute("aria-controls", list.id);
    let asked = 0;
    let wait = 0;
    const close = () => {
      list.hidden = true;
      input.setAttribute("aria-expanded", "false");
      input.removeAttribute("aria-activedescendant");
    };
    const choose = (option) => {
      if (option.dataset.id === undefined) return;
      id.value = option.dataset.id;
      input.value = option.dataset.label;
      close();
      input.dispatchEvent(new Event("change", { bubbles: true }));
    };
    const point = (step) => {
      const options = [...list.querySelectorAll("[data-id]")];
      if (!options.length) return;
      const at = options.findIndex((o) => o.getAttribute("aria-selected") === "true");
      const next = options[(at + step + options.length) % options.length];
      for (const o of options) o.setAttribute("aria-selected", String(o === next));
      input.setAttribute("aria-activedescendant", next.id);
      next.scrollIntoView({ block: "nearest" });
    };
    const show = (found) => {
      list.replaceChildren(...found.map((f, i) => {
        const option = document.createElement("li");
        option.id = `${list.id}-${i}`;
        option.setAttribute("role", "option");
        option.setAttribute("aria-selected", "false");
        option.dataset.id = f.id;
        option.dataset.label = f.label;
        option.dir = "auto";
        option.textContent = f.label;
        if (f.detail) option.append(Object.assign(document.createElement("span"), { textContent: f.detail }));
        return option;
      }));
      if (!found.length) {
        const none = document.createElement("li");
        none.setAttribute("role", "option");
        none.setAttribute("aria-disabled", "true");
        none.textContent = box.dataset.textNone;
        list.append(none);
      }
      list.hidden = false;
      input.setAttribute("aria-expanded", "true");
      announce(found.length ? box.dataset.textFound.replace("{n}", found.length) : box.dataset.textNone);
    };
    const ask = async () => {
      const mine = ++asked;
      const url = new URL(box.dataset.docentCombo, location.href);
      url.searchParams.set("q", input.value);
      try {
        const response = await fetch(url, { headers: { Accept: "application/json" } });
        const found = response.ok ? await response.json() : [];
        if (mine === asked && document.activeElement === input) show(found);
      } catch { close(); }
    };
    input.addEventListener("input", () => {
      id.value = "";
      clearTimeout(wait);
      asked++;
      if (input.value.trim()) wait = setTimeout(ask, 150);
      else close();
    });
    input.addEventListener("keydown", (event) => {
      if (event.key === "ArrowDown" || event.key === "ArrowUp") {
        if (event.altKey) return;
        event.preventDefault();
        if (list.hidden) ask();
        else point(event.key === "ArrowDown" ? 1 : -1);
      } else if (event.key === "Enter" && !list.hidden) {
        const option = list.querySelector("[aria-selected=true]");
        if (option) { event.preventDefault(); choose(option); }
      } else if (event.key === "Escape" && !list.hidden) {
        event.stopPropagation();
        close();
      }
    });
    input.addEventListener("blur", () => setTimeout(close, 150));
    list.addEventListener("mousedown", (event) => {
      event.preventDefault();
      const option = event.target.closest("[data-id]");
      if (option) choose(option);
    });
  };

  const prepare = (root) => {
    for (const box of root.querySelectorAll("[data-docent-combo]")) if (box.dataset.docentCombo) combo(box);
    for (const select of root.querySelectorAll("[data-docent-format]")) showToolbar(select);
  };
  prepare(document);

  // --- Lists with actions ------------------------------------------------------------

  const list = document.querySelector("form[data-docent-bulk]");
  if (list) {
    const boxes = [...list.querySelectorAll("tbody .box")];
    const all = list.querySelector("[data-docent-all]");
    const count = list.querySelector("[data-docent-count]");
    const tell = () => {
      const n = boxes.filter((b) => b.checked).length;
      all.checked = n > 0 && n === boxes.length;
      all.indeterminate = n > 0 && n < boxes.length;
      count.textContent = n ? list.dataset.textSelected.replace("{n}", n) : list.dataset.textNone;
      for (const b of list.querySelectorAll("[data-docent-when]")) b.disabled = n === 0;
      list.querySelector("[data-docent-clear]").hidden = n === 0;
    };
    all.closest("[hidden]")?.removeAttribute("hidden");
    list.addEventListener("change", (event) => {
      if (event.target === all) for (const b of boxes) b.checked = all.checked;
      tell();
    });
    list.querySelector("[data-docent-clear]").addEventListener("click", () => {
      for (const b of boxes) b.checked = false;
      tell();
      all.focus();
    });
    addEventListener("pageshow", tell);
    tell();
  }

  // --- Small menus ---------------------------------------------------------------------

  document.addEventListener("click", (event) => {
    for (const d of document.querySelectorAll("details.drop[open]")) if (!d.contains(event.target)) d.open = false;
  });
  document.addEventListener("keydown", (event) => {
    if (event.key !== "Escape") return;
    const open = event.target.closest?.("details.drop[open]");
    if (!open) return;
    open.open = false;
    open.querySelector("summary").focus();
  });
})();
