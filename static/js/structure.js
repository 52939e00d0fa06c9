// Dragging for trees and ordered lists of the administration. A drop fills the
// field "drop" of the tree's form with "id:place:target" and sends it; the place
// is before, after or inside. Lists that stand in several slots take a drop beside
// their rows too, at the end. Everything else the buttons of each row do, which
// Alt with an arrow presses.
(() => {
  "use strict";

  const places = ["before", "after", "inside"];
  let dragged = null;

  const clear = (tree) => {
    for (const li of tree.querySelectorAll("[data-docent-node]")) li.classList.remove(...places.map((p) => `tree__over--${p}`));
    for (const slot of tree.querySelectorAll(".layout__over")) slot.classList.remove("layout__over");
  };

  // Where a drop would go: the row's upper or lower part, or its middle, which
  // stands for "below this entry" in trees with levels.
  const placeIn = (tree, row, y) => {
    const box = row.getBoundingClientRect();
    const part = (y - box.top) / box.height;
    if (tree.dataset.docentTree === "flat") return part < 0.5 ? "before" : "after";
    return part < 0.3 ? "before" : part > 0.7 ? "after" : "inside";
  };

  // The slot under a drag that is over none of its rows.
  const slotAt = (target) => (target.closest?.(".tree__row") ? null : target.closest?.("[data-docent-slot]"));

  const send = (tree, place, target) => {
    tree.elements.drop.value = `${dragged.dataset.docentNode}:${place}:${target}`;
    tree.submit();
  };

  for (const tree of document.querySelectorAll("[data-docent-tree]")) {
    tree.addEventListener("dragstart", (event) => {
      const row = event.target.closest?.(".tree__row[draggable]");
      if (!row) return;
      dragged = row.closest("[data-docent-node]");
      event.dataTransfer.effectAllowed = "move";
      event.dataTransfer.setData("text/plain", dragged.dataset.docentNode);
    });
    tree.addEventListener("dragover", (event) => {
      const row = event.target.closest?.(".tree__row");
      const over = row?.closest("[data-docent-node]");
      clear(tree);
      const slot = dragged && slotAt(event.target);
      if (slot) {
        event.preventDefault();
        slot.classList.add("layout__over");
        return;
      }
      if (!dragged || !over || dragged.contains(over) || !row.draggable) return;
      event.preventDefault();
      over.classList.add(`tree__over--${placeIn(tree, row, event.clientY)}`);
    });
    tree.addEventListener("drop", (event) => {
      const row = event.target.closest?.(".tree__row");
      const over = row?.closest("[data-docent-node]");
      const slot = dragged && slotAt(event.target);
      if (slot) {
        event.preventDefault();
        send(tree, "inside", slot.dataset.docentSlot);
        return;
      }
      if (!dragged || !over || dragged.contains(over) || !row.draggable) return;
      event.preventDefault();
      send(tree, placeIn(tree, row, event.clientY), over.dataset.docentNode);
    });
    tree.addEventListener("dragend", () => {
      clear(tree);
      dragged = null;
    });
    tree.addEventListener("keydown", (event) => {
      const way = event.altKey && { ArrowUp: "up", ArrowDown: "down" }[event.key];
      const row = way && !event.target.matches("input, select, textarea") && event.target.closest("[data-docent-node]");
      const button = row && row.querySelector(`:scope > .tree__row button[name="move"][value^="${way}:"]:enabled`);
      if (!button) return;
      event.preventDefault();
      button.click();
    });
  }
})();
