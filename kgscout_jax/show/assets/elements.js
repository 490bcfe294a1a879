/* The elements that Cytoscape draws: entities as boxes, triplets as edges along the
   routes of the layout. */
"use strict";

const KGScoutElements = (() => {
  const { fit } = KGScoutStyle;

  /* All elements of a layout, see KGScoutLayout.place. */
  function all(nodes, edges, plan) {
    const widths = new Map(nodes.map(({ id, w }) => [id, w]));
    const beside = new Map(); // pair of entities -> edges so far that run beside boxes
    const room = { ...plan, widths, beside };
    return [
      ...nodes.map((each) => node(each, plan)), ...edges.map((each) => edge(each, room)),
      ...(plan.note ? [note(plan.note)] : []),
    ];
  }

  function node({ id, w, size, text, kind }, plan) {
    return {
      group: "nodes", classes: kind.join(" "), position: plan.positions.get(id), grabbable: true,
      data: { id: `n${id}`, entity: id, w, h: plan.heights.get(id), size, label: text },
    };
  }

  /* A label with an arrow that points to the tail: at a hub the heads of arrows lie on one
     another. */
  function directed(text, { x: from }, { x: to }) {
    return to < from ? `← ${text}` : `${text} →`;
  }

  function edge({ rank, head, tail, weight, text, labelWidth }, plan) {
    const ends = [head, tail].map((id) => plan.positions.get(id));
    const data = { id: `e${rank}`, rank, source: `n${head}`, target: `n${tail}`, text,
      label: head === tail ? text : directed(text, ...ends), width: 1 + 5 * weight };
    const route = plan.routes.get(rank);
    if (head === tail) return { group: "edges", data };
    if (!route) return crossing(data, plan);
    // The route runs from parent to child; the edge from head to tail.
    const down = route.child === tail;
    const [a, b] = down ? [route.start, route.end] : [route.end, route.start];
    const end = ({ x, y }) => `${x}px ${y}px`;
    const [dx, dy] = [b.x - a.x, b.y - a.y];
    const [px, py] = [route.bend.x - a.x, route.bend.y - a.y];
    const length = Math.hypot(dx, dy);
    Object.assign(data, {
      weight: (px * dx + py * dy) / length ** 2,
      distance: (py * dx - px * dy) / length,
      sourceEnd: end(down ? route.parentEnd : route.childEnd),
      targetEnd: end(down ? route.childEnd : route.parentEnd),
      offset: labelWidth / 2 + (down ? 16 : 9),
    });
    return { group: "edges", data, classes: `tree from-${down ? "target" : "source"}` };
  }

  /* An edge that is no part of the tree. Between boxes above one another it leaves and
     arrives at their sides: there is no room between them. */
  function crossing(data, { positions, widths, beside }) {
    const [a, b] = [data.source, data.target].map((id) => Number(id.slice(1)));
    const [from, to] = [positions.get(a), positions.get(b)];
    const apart = Math.abs(from.x - to.x) - (widths.get(a) + widths.get(b)) / 2;
    if (apart > 12) {
      // From the sides that face each other, so that it does not run under its own column.
      const way = Math.sign(to.x - from.x);
      data.sourceEnd = `${(way * widths.get(a)) / 2}px 0px`;
      data.targetEnd = `${(-way * widths.get(b)) / 2}px 0px`;
      return { group: "edges", classes: "cross facing", data };
    }
    const pair = a < b ? `${a} ${b}` : `${b} ${a}`;
    const before = beside.get(pair) ?? 0;
    beside.set(pair, before + 1);
    const side = from.x < 0 ? -1 : 1;
    const bulge = 30 + 0.12 * Math.abs(from.y - to.y) + 20 * before;
    Object.assign(data, {
      distance: side * Math.sign(to.y - from.y || 1) * -bulge,
      sourceEnd: `${(side * widths.get(a)) / 2}px 0px`,
      targetEnd: `${(side * widths.get(b)) / 2}px 0px`,
    });
    return { group: "edges", classes: "cross beside", data };
  }

  function note({ x, y }) {
    const label = fit("Kept, but connected to no topic:", 13, "italic", 400);
    return { group: "nodes", classes: "note", grabbable: false, selectable: false,
      position: { x: x + label.width / 2, y },
      data: { id: "note", w: label.width, h: 18, size: 13, label: label.text } };
  }

  return { all, directed };
})();
