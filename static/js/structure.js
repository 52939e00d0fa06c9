// Dragging for trees and ordered lists of the administration. A drop fills the
// field "drop" of the tree's form with "id:place:target" and sends it; the place
// is before, after or inside. Everything else the buttons of each row do.
(() => {
  "use strict";

  const places = ["before", "after", "inside"];
  let dragged = null;

  const clear = (tree) => {
    for (const li of tree.querySelectorAll("[data-docent-node]")) li.classList.remove(...places.map((p) => `tree__over--${p}`));
  };

  // Where a drop would go: the row's upper or lower part, or its middle, which
  // stands for "below this entry" in trees with levels.
  const placeIn = (tree, row, y) => {
    const box = row.getBoundingClientRect();
    const part = (y - box.top) / box.height;
    if (tree.dataset.docentTree === "flat") return part < 0.5 ? "before" : "after";
    return part < 0.3 ? "before" : part > 0.7 ? "after" : "inside";
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
      if (!dragged || !over || dragged.contains(over) || !row.draggable) return;
      event.preventDefault();
      over.classList.add(`tree__over--${placeIn(tree, row, event.clientY)}`);
    });
    tree.addEventListener("drop", (event) => {
      const row = event.target.closest?.(".tree__row");
      const over = row?.closest("[data-docent-node]");
      if (!dragged || !over || dragged.contains(over) || !row.draggable) return;
      event.preventDefault();
      tree.elements.drop.value = `${dragged.dataset.docentNode}:${placeIn(tree, row, event.clientY)}:${over.dataset.docentNode}`;
      tree.submit();
    });
    tree.addEventListener("dragend", () => {
      clear(tree);
      dragged = null;
    });
  }
})();
