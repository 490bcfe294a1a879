/* The drawing of one section.kgv: Cytoscape.js on a canvas, with its panel around it. */
"use strict";

const KGScoutGraph = (() => {
  const { make, roles, ROLES } = KGScoutPanel;
  const { style, fit } = KGScoutStyle;
  const ARROW = fit(" →", 11, "bold", 99).width;
  const FIRST_K = 30; // more than this is asked for with the slider
  const NAMELESS = /^[mg]\.[0-9a-z_]+$/; // Freebase ids without a name

  class Graph {
    /* Draws `data`, else what stands in the section. With `rows`, the rows of a table
       elsewhere in the page take the place of the drawing's own; `share`: how much of
       the window's height it may take. */
    constructor(section, { data, rows, share = 1 } = {}) {
      this.section = section;
      this.data = data ?? JSON.parse(section.querySelector("script").textContent);
      this.rows = rows;
      this.share = share;
      this.k = Math.min(this.data.triplets.length, FIRST_K);
      this.labels = "room";
      this.query = "";
      this.firstRank = new Map();
      this.data.triplets.forEach(([h, , t], rank) => {
        for (const id of [h, t]) if (!this.firstRank.has(id)) this.firstRank.set(id, rank);
      });
      this.build();
    }

    build() {
      const { data } = this;
      this.panel = KGScoutPanel.controls(data, this.k, {
        k: (k) => this.show(k), search: (text) => this.search(text), next: () => this.next(),
        labels: (mode) => { this.labels = mode; this.mark(); },
        in: () => this.zoom(1.25), out: () => this.zoom(0.8), fit: () => this.fit(),
        png: () => this.save(),
      });
      const names = KGScoutPanel.names(data, this.firstRank, { show: (id) => this.find(id) });
      const linked = {
        light: (rank) => this.light(rank === null ? null : this.edge(rank)),
        hold: (rank) => this.hold(this.edge(rank)),
      };
      this.table = this.rows
        ? KGScoutPanel.linked(this.rows, linked) : KGScoutPanel.table(data, linked);
      this.canvas = make("div", {
        className: "kgv-canvas", tabIndex: 0, onkeydown: (event) => this.key(event),
        attrs: { role: "img" },
      });
      this.tip = make("div", { className: "kgv-tip", hidden: true });
      this.status = make("p", { className: "kgv-status", attrs: { role: "status" } });
      this.stage = make("div", { className: "kgv-stage" }, this.canvas, this.tip);
      const empty = !data.triplets.length;
      if (empty) {
        this.stage.append(make("p", { className: "kgv-empty", textContent: this.nothing() }));
      }
      this.section.append(
        names, ...(empty ? [] : [this.panel.bar, KGScoutPanel.legend(data)]), this.stage,
        ...(empty ? [] : this.rows ? [this.status] : [this.status, this.table.scroll]),
      );
      // The wheel scrolls the page unless the drawing is meant.
      this.canvas.addEventListener("wheel", (event) => {
        const meant = event.ctrlKey || event.metaKey || document.activeElement === this.canvas;
        this.cy?.userZoomingEnabled(meant);
      }, { capture: true, passive: true });
      this.canvas.addEventListener("pointerdown", () => this.canvas.focus({ preventScroll: true }));
    }

    /* Draws; until then, and after sleep(), the section only keeps its place. */
    wake() {
      if (this.cy) return;
      this.cy = cytoscape({
        container: this.canvas, style: style(), minZoom: 0.1, maxZoom: 4, boxSelectionEnabled: false,
        autounselectify: true, userZoomingEnabled: matchMedia("(pointer: coarse)").matches,
      });
      this.cy.on("mouseover", "node, edge", ({ target, renderedPosition }) => {
        this.light(target);
        this.hint(target, renderedPosition);
      });
      this.cy.on("mouseout", "node, edge", () => { this.light(null); this.tip.hidden = true; });
      this.cy.on("tap", ({ target }) => this.hold(target === this.cy ? null : target));
      this.cy.on("pan zoom", () => { this.tip.hidden = true; });
      // An arrow in a label follows the entities that are moved.
      this.cy.on("free", "node", ({ target }) => target.connectedEdges().not(":loop").forEach((edge) => {
        const ends = [edge.source().position(), edge.target().position()];
        edge.data("label", KGScoutElements.directed(edge.data("text"), ...ends));
      }));
      this.show(this.k);
    }

    sleep() {
      this.held = null;
      this.cy?.destroy();
      this.cy = null;
    }

    /* Gives it up for good: nothing in the page keeps it alive. */
    free() {
      this.sleep();
      this.table.unlink();
    }

    nothing() {
      return this.data.nothing || "Nothing was kept.";
    }

    /* The colours of the page, where those have changed. */
    recolour() {
      this.cy?.style(style());
    }

    edge(rank) {
      return this.cy?.getElementById(`e${rank}`) ?? null;
    }

    /* Draws the top k. */
    show(k) {
      this.k = k;
      const { data, cy } = this;
      const marks = data.paths.filter(([from]) => from <= k).pop();
      this.onPath = new Set(marks ? marks[1] : []);
      this.panel.k.textContent = `${k} of ${data.triplets.length}`;
      this.table.show(k, this.onPath);
      if (!cy) return;
      this.held = null;
      const edges = this.edges(k);
      const nodes = this.nodes(edges);
      const width = this.canvas.clientWidth - 50;
      const plan = KGScoutLayout.place(nodes, edges, { width, height: this.tallest() - 50 });
      cy.batch(() => {
        cy.elements().remove();
        cy.add(KGScoutElements.all(nodes, edges, plan));
      });
      this.mark();
      this.search(this.query);
      this.resize();
      this.report(nodes.length, edges.length);
    }

    edges(k) {
      return this.data.triplets.slice(0, k).map(([head, relation, tail, , weight], rank) => {
        const label = fit(this.data.relations[relation][1], 11, "bold", k > 15 ? 130 : 190);
        return { rank, head, tail, relation, weight, onPath: this.onPath.has(rank),
          text: label.text, labelWidth: label.width + ARROW };
      });
    }

    nodes(edges) {
      const { names, kinds } = this.data;
      const ids = new Set(kinds.flatMap((kind, id) => (kind & 1 ? [id] : [])));
      for (const { head, tail } of edges) ids.add(head).add(tail);
      const loops = new Set(edges.filter((e) => e.head === e.tail).map((e) => e.head));
      return [...ids].map((id) => {
        const kind = roles(kinds[id], this.data.judged);
        const topic = kind[0] === "topic";
        const size = topic ? 15 : 12;
        const label = fit(names[id] || "(no name)", size, kind.length ? "bold" : "normal", topic ? 220 : edges.length > 15 ? 150 : 200);
        // Cut corners need room beside the text.
        const room = topic ? 24 : kind.length ? 30 : 14;
        if (!kind.length && NAMELESS.test(names[id])) kind.push("nameless");
        return { id, topic, size, text: label.text, w: Math.round(label.width + room),
          h: topic ? 34 : 22, loops: loops.has(id), kind };
      });
    }

    /* Path marks, and the labels that are shown unasked. */
    mark() {
      // A few crossing paths can be labelled; more would lie on one another.
      const crowded = this.cy?.edges(".cross").filter((e) => this.onPath.has(e.data("rank"))).length > 4;
      this.cy?.batch(() => {
        this.cy.edges().forEach((edge) => {
          const path = this.onPath.has(edge.data("rank"));
          const room = !edge.hasClass("cross") || (path && !crowded);
          const named = { room, paths: path, all: true, none: false }[this.labels];
          edge.toggleClass("path", path).toggleClass("named", named);
        });
      });
    }

    report(nodes, edges) {
      const path = this.onPath.size;
      const { total, triplets, toGold, given } = this.data;
      const place = given ? "the path to an answer"
        : `a shortest path ${toGold ? "to a gold answer" : "between a topic and an answer"}`;
      const text = !total ? this.nothing() :
        `${edges} of ${triplets.length} triplets, ${nodes} ${nodes === 1 ? "entity" : "entities"}, ` +
        `${path || "none"} on ${place}.` +
        (total > triplets.length ? ` Only the best ${triplets.length} of ${total} are drawn.` : "");
      this.status.textContent = text;
      this.canvas.setAttribute("aria-label", `Drawing: ${text}`);
      Object.assign(this.section.dataset, { nodes, edges, path, ready: "yes" });
    }

    /* The canvas is as high as the drawing needs, within bounds; then all is fitted in. */
    resize() {
      const box = this.cy.elements().boundingBox();
      const zoom = Math.min(1.1, (this.canvas.clientWidth - 40) / Math.max(box.w, 1));
      const height = Math.round(Math.min(this.tallest(), Math.max(260, box.h * zoom + 50)));
      this.canvas.style.height = `${height}px`;
      this.cy.resize();
      this.fit();
    }

    tallest() {
      return Math.max(420, Math.min(1100, this.share * window.innerHeight));
    }

    fit() {
      this.cy?.fit(undefined, 22);
      if (this.cy?.zoom() > 1.25) this.zoom(1.25 / this.cy.zoom());
      this.cy?.center();
    }

    zoom(factor) {
      const { cy, canvas } = this;
      const middle = { x: canvas.clientWidth / 2, y: canvas.clientHeight / 2 };
      cy?.zoom({ level: cy.zoom() * factor, renderedPosition: middle });
    }

    key(event) {
      const pan = { ArrowLeft: [60, 0], ArrowRight: [-60, 0], ArrowUp: [0, 60], ArrowDown: [0, -60] };
      if (event.ctrlKey || event.metaKey || event.altKey) return;
      if (pan[event.key]) this.cy.panBy({ x: pan[event.key][0], y: pan[event.key][1] });
      else if (event.key === "+" || event.key === "=") this.zoom(1.25);
      else if (event.key === "-") this.zoom(0.8);
      else if (event.key === "0" || event.key === "f") this.fit();
      else if (event.key === "Escape") this.hold(null);
      else return;
      event.preventDefault();
    }

    /* Lights an entity or a triplet with what it touches; null: what is held. */
    light(element) {
      const target = element ?? this.held;
      const cy = this.cy;
      if (!cy) return;
      let on = cy.collection();
      if (target?.length) {
        on = target.isNode() ? target.closedNeighborhood() : target.union(target.connectedNodes());
      }
      this.mark();
      cy.batch(() => {
        cy.elements().removeClass("lit dim");
        if (on.length) cy.elements().not(on).addClass("dim");
        on.addClass("lit");
        on.edges().addClass("named");
      });
      const ranks = new Set(on.edges().map((edge) => edge.data("rank")));
      this.table.rows.forEach((row, rank) => row.classList.toggle("kgv-lit", ranks.has(rank)));
    }

    hold(element) {
      this.held = element?.length && element.id() !== "note" ? element : null;
      this.light(null);
      const rank = this.held?.isEdge() ? this.held.data("rank") : null;
      const row = rank === null ? null : this.table.rows[rank];
      // Only the table scrolls, never the page.
      if (row) this.table.scroll.scrollTop = row.offsetTop - this.table.scroll.clientHeight / 2;
    }

    hint(target, { x, y }) {
      const { names, kinds, relations, triplets } = this.data;
      const lines = [];
      if (target.isNode()) {
        const id = target.data("entity");
        const role = roles(kinds[id], this.data.judged).map((each) => ROLES[each]).join(", ");
        lines.push(make("b", { textContent: names[id] }), make("div", {
          textContent: `${role ? `${role}; ` : ""}${target.degree()} of the triplets shown` }));
      } else {
        const [h, r, t, value] = triplets[target.data("rank")];
        lines.push(
          make("b", { textContent: `${names[h]} → ${names[t]}` }),
          make("div", { textContent: relations[r][0] }),
          make("div", { textContent: `rank ${target.data("rank") + 1}, score ${KGScoutPanel.score(value)}` }),
        );
      }
      this.tip.replaceChildren(...lines);
      this.tip.hidden = false;
      const right = this.stage.clientWidth - this.tip.offsetWidth - 8;
      this.tip.style.left = `${Math.max(4, Math.min(x + 14, right))}px`;
      this.tip.style.top = `${y + 16}px`;
    }

    /* Marks entities by name, and those at the ends of relations by name. */
    search(text) {
      this.query = text;
      const wanted = text.trim().toLowerCase();
      const { names, relations, triplets } = this.data;
      const has = (value) => value.toLowerCase().includes(wanted);
      const hits = new Set(wanted ? names.flatMap((name, id) => (has(name) ? [id] : [])) : []);
      const rows = triplets.map(([h, r, t]) => {
        const relation = wanted !== "" && relations[r].some(has);
        if (relation) hits.add(h).add(t);
        return relation || hits.has(h) && has(names[h]) || hits.has(t) && has(names[t]);
      });
      this.table.rows.forEach((row, rank) => row.classList.toggle("kgv-found", Boolean(rows[rank])));
      if (!this.cy) return;
      const drawn = this.cy.nodes().filter((node) => hits.has(node.data("entity")));
      this.cy.nodes().removeClass("found");
      drawn.addClass("found");
      this.hits = drawn.toArray();
      this.at = -1;
      const hidden = [...hits].filter((id) => this.firstRank.get(id) >= this.k).length;
      this.section.dataset.found = drawn.length;
      this.panel.found.textContent = wanted
        ? `${drawn.length} found${hidden ? `, ${hidden} beyond K` : ""}` : "";
    }

    next() {
      if (!this.hits?.length) return;
      this.at = (this.at + 1) % this.hits.length;
      this.go(this.hits[this.at]);
    }

    go(node) {
      if (this.cy.zoom() < 1) this.cy.zoom(1);
      this.cy.center(node);
      this.hold(node);
    }

    /* Shows an entity, with a larger K if it takes one. */
    find(id) {
      const rank = this.firstRank.get(id);
      if (!this.cy || rank === undefined) return;
      if (rank >= this.k) {
        this.panel.slider.value = rank + 1;
        this.show(rank + 1);
      }
      this.go(this.cy.getElementById(`n${id}`));
    }

    image() {
      const bg = getComputedStyle(document.documentElement).getPropertyValue("--kgv-paper").trim();
      return this.cy.png({ full: true, scale: 2, bg, maxWidth: 8000, maxHeight: 8000 });
    }

    save() {
      if (!this.cy) return;
      const download = `${this.data.file || this.section.id || "triplets"}.png`;
      make("a", { href: this.image(), download }).click();
    }

    /* Paper shows an image of the whole drawing, as wide as the paper. */
    print() {
      const asleep = !this.cy;
      this.wake();
      this.light(null);
      document.documentElement.classList.add("kgv-print");
      this.recolour();
      this.paper ??= this.stage.appendChild(make("img", { className: "kgv-paper", alt: "" }));
      this.paper.src = this.image();
      document.documentElement.classList.remove("kgv-print");
      this.recolour();
      if (asleep) this.sleep();
    }
  }

  return Graph;
})();
