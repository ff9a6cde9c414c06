"use strict";
// Tables sort by a click on a head: descending, ascending, then as they were. Without JavaScript
// they stand as they are.
for (const table of document.querySelectorAll("table[data-sortable]")) {
  const bodies = [...table.tBodies];
  const rows = bodies.map((body) => [...body.rows]);
  const heads = [...table.tHead.rows[0].cells];
  const key = (row, column) => {
    const cell = row.cells[column];
    if (cell.dataset.number === undefined) return cell.textContent.trim();
    return cell.dataset.number === "" ? NaN : Number(cell.dataset.number);
  };
  const compare = (a, b, sign) => {
    if (typeof a === "string") return sign * a.localeCompare(b);
    if (Number.isNaN(a) || Number.isNaN(b)) return Number.isNaN(a) - Number.isNaN(b);
    return sign * (a - b);
  };
  heads.forEach((head, column) => {
    const words = head.classList.contains("words");
    const order = words ? ["ascending", "descending"] : ["descending", "ascending"];
    const button = document.createElement("button");
    button.type = "button";
    button.append(...head.childNodes);
    head.append(button);
    head.setAttribute("aria-sort", "none");
    button.addEventListener("click", () => {
      const before = head.getAttribute("aria-sort");
      const next = before === "none" ? order[0] : before === order[0] ? order[1] : "none";
      heads.forEach((other) => other.setAttribute("aria-sort", "none"));
      head.setAttribute("aria-sort", next);
      if (next === "none") {
        bodies.forEach((body, place) => body.append(...rows[place]));
        return;
      }
      const sign = next === "ascending" ? 1 : -1;
      bodies[0].append(
        ...rows.flat().sort((a, b) => compare(key(a, column), key(b, column), sign)),
      );
    });
  });
}
