/* What stands around the drawing: controls, names, legend and the table of triplets.
   Names from the data become text nodes only, never markup. */
"use strict";

const KGScoutPanel = (() => {
  /* An element with properties, attributes (in `attrs`) and children. */
  function make(tag, properties = {}, ...children) {
    const { attrs = {}, ...rest } = properties;
    const element = Object.assign(document.createElement(tag), rest);
    for (const [name, value] of Object.entries(attrs)) element.setAttribute(name, value);
    element.append(...children);
    return element;
  }

  const ROLES = {
    topic: "topic",
    answer: "answer",
    right: "right answer",
    wrong: "wrong answer",
    missed: "gold answer not given",
  };

  /* The role of an entity, from its kind: a topic that is an answer is drawn as one. */
  function roles(kind, judged) {
    const found = kind & 1 ? ["topic"] : [];
    if (!judged) return kind & 2 ? [...found, "answer"] : found;
    if (kind & 2) found.push(kind & 4 ? "right" : "wrong");
    else if (kind & 4) found.push("missed");
    return found;
  }

  function score(value) {
    const size = Math.abs(value);
    if (value !== 0 && (size < 1e-3 || size >= 1e6)) return value.toExponential(2);
    return value.toFixed(size < 1 ? 4 : 3);
  }

  function controls(data, k, on) {
    const n = data.triplets.length;
    const part = {};
    const button = (text, label, act) =>
      make("button", {
        type: "button", textContent: text, title: label, onclick: act,
        attrs: { "aria-label": label },
      });
    part.slider = make("input", {
      type: "range", min: Math.min(1, n), max: n, step: 1, value: k, disabled: n < 2,
      attrs: { "aria-label": "K, triplets shown" },
      oninput: () => on.k(Number(part.slider.value)),
    });
    part.k = make("output", { textContent: `${k} of ${n}` });
    part.search = make("input", {
      type: "search", placeholder: "Find an entity or relation",
      attrs: { "aria-label": "Find an entity or relation" },
      oninput: () => on.search(part.search.value),
      onkeydown: (event) => {
        if (event.key === "Enter") on.next();
        if (event.key === "Escape") on.search((part.search.value = ""));
      },
    });
    part.found = make("span", { className: "kgv-found", attrs: { role: "status" } });
    const labels = make("select", { onchange: () => on.labels(labels.value) });
    for (const [value, text] of [
      ["room", "where there is room"], ["paths", "on paths"], ["all", "all"],
      ["none", "when pointed at"],
    ]) {
      labels.append(make("option", { value, textContent: text }));
    }
    part.bar = make(
      "div", { className: "kgv-bar" },
      make("label", { className: "kgv-k" }, make("b", { textContent: "K" }), part.slider, part.k),
      part.search, part.found,
      make("label", { className: "kgv-labels" }, "Relations ", labels),
      make(
        "span", { className: "kgv-buttons" },
        button("−", "Zoom out", on.out), button("+", "Zoom in", on.in),
        button("Fit", "Show everything", on.fit), button("PNG", "Save as an image", on.png),
      ),
    );
    return part;
  }

  /* Topics and answers by name, with the rank at which each first occurs. */
  function names(data, firstRank, on) {
    const box = make("div", { className: "kgv-names" });
    const group = (title, ids) => {
      if (!ids.length) return;
      const line = make("div", {}, make("b", { textContent: title }));
      for (const id of ids) {
        const rank = firstRank.get(id);
        const [role] = roles(data.kinds[id] & (title === "Topics" ? 1 : 6), data.judged);
        const at = rank === undefined ? "not kept" : `#${rank + 1}`;
        line.append(make(
          "button",
          {
            type: "button", className: `kgv-chip kgv-${role}`, disabled: rank === undefined,
            title: `${data.names[id]}: ${ROLES[role]}, ${
              rank === undefined ? "in no kept triplet" : `first in triplet ${rank + 1}`}`,
            onclick: () => on.show(id),
          },
          make("span", { textContent: data.names[id] }), make("small", { textContent: at }),
        ));
      }
      box.append(line);
    };
    const ids = data.names.map((_, id) => id);
    group("Topics", ids.filter((id) => data.kinds[id] & 1));
    group("Answers", ids.filter((id) => data.kinds[id] & 6));
    return box;
  }

  function legend(data) {
    const line = make("div", { className: "kgv-legend" });
    const seen = new Set(data.kinds.flatMap((kind) => roles(kind, data.judged)));
    for (const role of Object.keys(ROLES)) {
      if (!seen.has(role)) continue;
      line.append(make("span", {}, make("i", { className: `kgv-key kgv-${role}` }), ROLES[role]));
    }
    line.append(
      make("span", {}, make("i", { className: "kgv-key kgv-path" }),
        data.toGold ? "on a shortest path to a gold answer"
          : data.given ? "on the path to an answer" : "on a shortest topic–answer path"),
      make("span", {}, make("i", { className: "kgv-key kgv-arrow", textContent: "→ ←" }), "from head to tail"),
      make("span", {}, make("i", { className: "kgv-key kgv-thin" }),
        make("i", { className: "kgv-key kgv-thick" }), "wider: higher score"),
      make("span", { className: "kgv-hint", textContent: "Ctrl + wheel zooms, click holds" }),
    );
    return line;
  }

  /* Rows that light the drawing and hold it lit; the arrow keys go from one to the next. */
  function link(rows, on) {
    rows.forEach((row, rank) => {
      row.tabIndex = rank ? -1 : 0;
      row.onmouseenter = row.onfocus = () => on.light(rank);
      row.onmouseleave = row.onblur = () => on.light(null);
      row.onclick = () => on.hold(rank);
      row.onkeydown = (event) => {
        const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
        const next = step && rows[rank + step];
        if (event.key === "Enter") on.hold(rank);
        if (!next || next.hidden) return;
        event.preventDefault();
        row.tabIndex = -1;
        next.tabIndex = 0;
        next.focus();
      };
    });
  }

  function unlink(rows) {
    for (const row of rows) {
      row.onmouseenter = row.onmouseleave = row.onfocus = row.onblur = null;
      row.onclick = row.onkeydown = null;
      row.classList.remove("kgv-lit", "kgv-found", "kgv-beyond");
    }
  }

  /* A table of the page around the drawing: rows beyond K are pale, none is hidden. */
  function linked(rows, on) {
    link(rows, on);
    const scroll = rows[0].closest("table").parentElement;
    scroll.classList.add("kgv-rows");
    const show = (k) => rows.forEach((row, rank) => row.classList.toggle("kgv-beyond", rank >= k));
    return { scroll, rows, show, unlink: () => unlink(rows) };
  }

  /* The table; rows are lit by the drawing and light the drawing. */
  function table(data, on) {
    const body = make("tbody");
    const rows = data.triplets.map(([h, r, t, value], rank) => {
      const row = make(
        "tr", {},
        make("td", { textContent: rank + 1 }), make("td", { textContent: score(value) }),
        make("td", { textContent: data.names[h] }),
        make("td", { textContent: data.relations[r][0] }),
        make("td", { textContent: data.names[t] }),
        ...(data.sources ? [make("td", { className: "kgv-source", textContent: data.sources[rank] })] : []),
        make("td"),
      );
      body.append(row);
      return row;
    });
    link(rows, on);
    const head = make("tr");
    for (const title of [
      "#", "Score", "Head", "Relation", "Tail", ...(data.sources ? ["Source"] : []), "Path",
    ]) {
      head.append(make("th", { textContent: title, attrs: { scope: "col" } }));
    }
    const scroll = make(
      "div", { className: "kgv-table" },
      make("table", {}, make("caption", { textContent: "Kept triplets, best first" }),
        make("thead", {}, head), body),
    );
    const show = (k, onPath) => rows.forEach((row, rank) => {
      row.hidden = rank >= k;
      row.lastChild.textContent = onPath.has(rank) ? "●" : "";
    });
    return { scroll, rows, show, unlink: () => unlink(rows) };
  }

  return { make, roles, ROLES, score, controls, names, legend, table, linked };
})();
