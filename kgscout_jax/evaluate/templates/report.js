"use strict";
// The questions of a batch: filtered, sorted, shown a screenful at a time. Everything
// from the data goes into the page as text, never as markup. The filters stand in the
// address (#retriever=scout&k=10&verdict=wrong&open=ID), so that a view can be sent on.
(() => {
  const data = JSON.parse(document.getElementById("data").textContent);
  const PAGE = 40;
  const [ANSWERS, GIVEN, FOUND, REPLY, ERROR, FAILURE, OUTCOME, FIGURES, SPENT, HASH, GRAPH] =
    Array.from({ length: 11 }, (_, i) => i);
  const metrics = Object.keys(data.metrics);
  const cells = new Map(data.cells.map((c) => [c.retriever + "\n" + c.k, c]));
  const retrievers = [...new Set(data.cells.map((c) => c.retriever))];
  const ks = [...new Set(data.cells.map((c) => c.k))].sort((a, b) => a - b);
  const form = document.getElementById("filters");
  const list = document.getElementById("list");
  const more = document.getElementById("more");
  const state = {};
  const drawings = new Map(); // opened questions -> what frees their drawing
  let shown = [];
  let next = 0;

  const cellOf = (retriever, k) => cells.get(retriever + "\n" + k);
  const isRight = (row) => row[FAILURE] === null;

  // -- elements

  function make(tag, attributes = {}, ...children) {
    const element = document.createElement(tag);
    for (const [name, value] of Object.entries(attributes)) {
      if (value !== null && value !== undefined) element.setAttribute(name, value);
    }
    for (const child of children.flat()) {
      if (child !== null && child !== undefined) element.append(child);
    }
    return element;
  }

  function options(name, pairs) {
    const groups = new Map();
    for (const [value, label, group] of pairs) {
      const option = make("option", { value }, label);
      if (!group) {
        form.elements[name].append(option);
        continue;
      }
      if (!groups.has(group)) {
        groups.set(group, make("optgroup", { label: group }));
        form.elements[name].append(groups.get(group));
      }
      groups.get(group).append(option);
    }
  }

  // -- filters

  function fillFilters() {
    options("retriever", retrievers.map((name) => [name, name]));
    options("k", ks.map((k) => [String(k), String(k)]));
    const others = retrievers.length > 1 ? retrievers : [];
    options("verdict", [
      ["all", "all"], ["right", "right"], ["wrong", "wrong"],
      ...Object.entries(data.failures).map(([key, label]) => [key, label, "wrong because"]),
      ...others.map((name) => ["gained " + name, "right, wrong by " + name, "compared"]),
      ...others.map((name) => ["lost " + name, "wrong, right by " + name, "compared"]),
    ]);
    const hops = [...new Set(data.questions.map((q) => q.hop))].sort();
    options("hop", [["all", "all"],
      ...hops.map((hop) => [String(hop), hop === null ? "unknown" : String(hop)])]);
    options("order", [["asked", "as asked"], ["worst", "worst F1 first"], ["best", "best F1 first"]]);
  }

  function readAddress() {
    const hash = decodeURI(location.hash.slice(1));
    const said = hash.includes("=") ? new URLSearchParams(location.hash.slice(1)) : null;
    const start = {
      retriever: retrievers[retrievers.length - 1], k: String(ks[ks.length - 1]),
      verdict: "all", hop: "all", order: "asked", text: "", open: "",
    };
    for (const name of Object.keys(start)) {
      let value = state[name] ?? start[name];
      // an address says everything: what it leaves out is as at the start
      if (said) value = said.get(name) ?? start[name];
      state[name] = value;
      const field = form.elements[name];
      if (!field) continue;
      field.value = value;
      if (field.value !== value) field.value = state[name] = start[name];
    }
    return said !== null;
  }

  function writeAddress() {
    const kept = Object.entries(state).filter(([, value]) => value !== "" && value !== "all");
    try {
      history.replaceState(null, "", "#" + new URLSearchParams(kept));
    } catch {
      // some viewers allow no address for a local file
    }
  }

  const texts = new Map();
  function textOf(i, row) {
    if (!texts.has(row)) {
      const q = data.questions[i];
      const parts = [q.id, q.text, ...q.topics, ...q.gold, ...row[ANSWERS], row[REPLY] ?? ""];
      texts.set(row, parts.join("\n").toLowerCase());
    }
    return texts.get(row);
  }

  function passes(row, i) {
    const verdict = state.verdict;
    if (state.hop !== "all" && String(data.questions[i].hop) !== state.hop) return false;
    if (verdict === "right" && !isRight(row)) return false;
    if (verdict === "wrong" && isRight(row)) return false;
    if (verdict in data.failures && row[FAILURE] !== verdict) return false;
    const [kind, name] = [verdict.split(" ", 1)[0], verdict.slice(verdict.indexOf(" ") + 1)];
    if (kind === "gained" || kind === "lost") {
      const other = cellOf(name, state.k)?.rows[i];
      if (!other || isRight(other) === isRight(row)) return false;
      if (isRight(row) !== (kind === "gained")) return false;
    }
    const words = state.text.toLowerCase().split(/\s+/).filter(Boolean);
    return words.every((word) => textOf(i, row).includes(word));
  }

  function refresh() {
    const rows = cellOf(state.retriever, state.k).rows;
    shown = rows.map((row, i) => [row, i]).filter(([row, i]) => passes(row, i)).map(([, i]) => i);
    if (state.order !== "asked") {
      const at = metrics.indexOf("macro_f1");
      const sign = state.order === "worst" ? 1 : -1;
      shown.sort((a, b) => sign * (rows[a][FIGURES][at] - rows[b][FIGURES][at]) || a - b);
    }
    const n = shown.filter((i) => isRight(rows[i])).length;
    document.getElementById("count").textContent =
      `${shown.length} of ${rows.length} questions, ${n} right`;
    for (const item of [...drawings.keys()]) free(item);
    list.replaceChildren();
    next = 0;
    showMore();
    const wanted = shown.findIndex((i) => data.questions[i].id === state.open);
    while (next <= wanted) showMore();
  }

  function showMore() {
    const rows = cellOf(state.retriever, state.k).rows;
    for (const i of shown.slice(next, next + PAGE)) list.append(line(rows[i], i));
    next = Math.min(shown.length, next + PAGE);
    more.hidden = next >= shown.length;
  }

  // -- one question

  function badge(row) {
    const name = row[FAILURE] ?? "right";
    return make("span", { class: "badge f-" + name }, data.failures[name] ?? "right");
  }

  function line(row, i) {
    const q = data.questions[i];
    const others = retrievers.filter((name) => name !== state.retriever).map((name) => {
      const other = cellOf(name, state.k)?.rows[i];
      if (!other) return null;
      const mark = isRight(other) ? "✓" : "✗";
      return make("span", { class: isRight(other) ? "yes" : "no",
        title: `${name}: ${data.failures[other[FAILURE]] ?? "right"}` }, `${name} ${mark}`);
    });
    const given = row[ANSWERS].length ? row[ANSWERS].join("; ") : row[ERROR] ? "no reply" : "no answer";
    const item = make("details", { class: "question", "data-id": q.id },
      make("summary", {}, badge(row), make("span", { class: "text" }, q.text),
        make("span", { class: "given" }, given), make("span", { class: "others" }, others)));
    let filled = false;
    item.addEventListener("toggle", () => {
      free(item);
      // said late: a filter may have taken the question off the page
      if (!item.open || !item.isConnected) return;
      if (!filled) item.append(body(row, i));
      filled = true;
      draw(item, row, i);
    });
    if (q.id === state.open) item.open = true;
    return item;
  }

  function chips(values, flags, none) {
    if (!values.length) return make("span", { class: "none" }, none);
    return values.map((value, i) => make("span",
      { class: "chip " + (flags ? (flags[i] ? "yes" : "no") : "") }, value));
  }

  function body(row, i) {
    const q = data.questions[i];
    const [sent, got, seconds] = row[SPENT];
    const figures = metrics.map((name, m) => [data.metrics[name], row[FIGURES][m]])
      .map(([label, value]) => `${label} ${value === null ? "–" : Math.round(100 * value) + "%"}`);
    const facts = [
      ["Gold", chips(q.gold, row[FOUND], "none")],
      ["Given", chips(row[ANSWERS], row[GIVEN], row[ERROR] ? "no reply" : "no answer")],
      ["Topics", chips(q.topics, null, "none")],
      ["Figures", figures.join(" · ")],
      ["Reading", row[OUTCOME] + (sent || got ? `; ${sent} prompt and ${got} reply tokens` : "") +
        `; ${seconds.toFixed(2)} s`],
      ["Question", `${q.id}${q.hop === null ? "" : `, ${q.hop} hop${q.hop === 1 ? "" : "s"}`}` +
        (row[HASH] ? `; prompt ${row[HASH].slice(0, 12)}` : "")],
    ];
    const box = make("div", { class: "body" }, make("dl", {}, facts.map(([name, value]) =>
      [make("dt", {}, name), make("dd", {}, value)]).flat()));
    if (row[GRAPH]) box.append(make("h4", {}, "Answers from the graph"), ...answers(row[GRAPH]));
    if (row[ERROR]) box.append(make("p", { class: "warning" }, row[ERROR]));
    if (row[REPLY] !== null) box.append(make("h4", {}, "Reply"), make("pre", {}, row[REPLY] || "(empty)"));
    const trace = data.traces[state.retriever]?.[i];
    if (trace) box.append(make("h4", {}, "Trace"), make("pre", {}, trace));
    const kept = triplets(i);
    if (kept.length) {
      box.append(make("h4", {}, `The ${kept.length} triplets kept`),
        make("div", { class: "drawing" }), table(kept));
    }
    return box;
  }

  // [abstention or null, [[name, probability, right, path], ...]]
  function answers([abstention, best]) {
    const parts = [];
    if (abstention !== null) {
      parts.push(make("p", { class: "note" }, best.length
        ? `Withheld with abstention: the best is less probable than ${abstention}.`
        : "No node has a probability."));
    }
    const rows = best.map(([name, probability, right, path]) =>
      make("tr", { class: right ? "gold" : null }, make("td", {}, name),
        make("td", { class: "num score" }, probability.toFixed(3),
          make("i", { style: `width:${(60 * probability).toFixed(1)}px` })),
        make("td", { class: "path" }, ...chain(path, name))));
    const head = ["answer", "probability", "path"];
    if (rows.length) parts.push(make("div", { class: "wide" }, make("table", { class: "answers" },
      make("thead", {}, make("tr", {}, head.map((name) => make("th", {}, name)))),
      make("tbody", {}, rows))));
    return parts;
  }

  // triplets from a topic to the answer, read from their end: A — r → B ← s — C
  function chain(path, name) {
    const parts = [];
    let end = name;
    for (const [head, relation, tail] of [...path].reverse()) {
      const forward = tail === end;
      parts.unshift(make("span", { class: "relation" },
        forward ? ` — ${relation} → ` : ` ← ${relation} — `), end);
      end = forward ? head : tail;
    }
    return path.length ? [end, ...parts] : [];
  }

  // -- its drawing, by a script that may stand before this one

  function draw(item, row, i) {
    const place = item.querySelector(".drawing");
    if (!place || typeof window.kgscoutDraw !== "function") return;
    try {
      const done = window.kgscoutDraw(place, { ...data.questions[i],
        retriever: state.retriever, k: Number(state.k), triplets: triplets(i),
        answers: row[ANSWERS], right: row[GIVEN], found: row[FOUND],
        rows: [...item.querySelectorAll(".triplets tbody tr")] });
      drawings.set(item, typeof done === "function" ? done : () => {});
    } catch (error) {
      place.replaceChildren(); // the table below says the same
      console.error(error);
    }
  }

  function free(item) {
    const done = drawings.get(item);
    if (!drawings.delete(item)) return;
    done();
    item.querySelector(".drawing").replaceChildren();
  }

  function triplets(i) {
    const [ids, scores, marks] = data.lists[state.retriever]?.[i] ?? [[], [], []];
    const none = state.retriever === "none";
    return scores.slice(0, none ? 0 : Number(state.k)).map((score, at) => ({
      head: data.names[ids[3 * at]], relation: data.names[ids[3 * at + 1]],
      tail: data.names[ids[3 * at + 2]], score,
      holdsAnswer: Boolean(marks[at] & 1), onPath: Boolean(marks[at] & 2),
    }));
  }

  function table(kept) {
    const best = Math.max(...kept.map((t) => t.score));
    const span = best - Math.min(...kept.map((t) => t.score)) || 1;
    const rows = kept.map((t, at) => {
      const mark = [t.holdsAnswer && "answer", t.onPath && "path"].filter(Boolean);
      const width = 4 + 56 * (1 - (best - t.score) / span);
      return make("tr", { class: mark.length ? "gold" : null },
        make("td", { class: "num" }, String(at + 1)), make("td", {}, t.head),
        make("td", { class: "relation" }, t.relation), make("td", {}, t.tail),
        make("td", { class: "num score" }, t.score.toPrecision(4),
          make("i", { style: `width:${width.toFixed(1)}px` })),
        make("td", {}, mark.map((word) => make("span", { class: "mark " + word }, word))));
    });
    const head = ["#", "head", "relation", "tail", "score", "gold"];
    return make("div", { class: "wide" }, make("table", { class: "triplets" },
      make("thead", {}, make("tr", {}, head.map((name) => make("th", {}, name)))),
      make("tbody", {}, rows)));
  }

  // -- going

  function arrive() {
    const opened = list.querySelector("details[open]");
    (opened ?? document.getElementById("questions")).scrollIntoView();
  }

  function changed(name, value) {
    state[name] = value;
    state.open = "";
    writeAddress();
    refresh();
  }

  fillFilters();
  const asked = readAddress();
  refresh();
  if (asked) arrive();
  form.addEventListener("submit", (event) => event.preventDefault());
  form.addEventListener("change", (event) => {
    if (event.target.name !== "text") changed(event.target.name, event.target.value);
  });
  let timer = 0;
  form.elements.text.addEventListener("input", (event) => {
    clearTimeout(timer);
    timer = setTimeout(() => changed("text", event.target.value), 150);
  });
  more.addEventListener("click", showMore);
  window.addEventListener("hashchange", () => {
    if (!readAddress()) return;
    refresh();
    arrive();
  });
  if ("IntersectionObserver" in window) {
    new IntersectionObserver((entries) => {
      if (entries.some((entry) => entry.isIntersecting) && !more.hidden) showMore();
    }, { rootMargin: "600px" }).observe(more);
  }
})();
