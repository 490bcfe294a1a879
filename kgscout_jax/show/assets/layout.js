/* Where entities stand and how edges run: a tree around the topics, like a mind map.

   Topics stand in the middle, what they lead to on their right, and on their left once the
   right would be too much; each entity hangs on the neighbour through which it is reached best.
   An edge of the tree ends in a horizontal stretch long enough for its label, parallel
   edges each have a stretch of their own, and no two boxes overlap: labels can be read
   without being asked for. What no topic reaches stands below. The same triplets give
   the same picture, always. */
"use strict";

const KGScoutLayout = (() => {
  const GAP = 7; // between boxes above one another
  const PORT = 15; // between parallel edges where they reach a box
  // Tried in this order: a plain tree to the right is the easiest to read.
  const SHAPES = [
    { twoSided: false, most: Infinity },
    { twoSided: true, most: Infinity },
    { twoSided: false, most: 12 },
    { twoSided: true, most: 12 },
    { twoSided: true, most: 6 },
  ];
  const ROOT_GAP = 26;
  const LOOP = 34; // room above a box for a self-loop

  /* The tree: for each entity the one it hangs on, and the children of each. */
  class Forest {
    constructor(nodes, edges) {
      this.nodes = new Map(nodes.map((node) => [node.id, node]));
      this.links = new Map(nodes.map((node) => [node.id, []]));
      this.children = new Map(nodes.map((node) => [node.id, []]));
      this.parent = new Map();
      this.bundle = new Map(); // child -> its edges with its parent, best first
      for (const edge of edges) {
        if (edge.head === edge.tail) continue;
        this.links.get(edge.head).push([edge.tail, edge]);
        this.links.get(edge.tail).push([edge.head, edge]);
      }
    }

    /* Hangs on the roots all that they reach, in fewest steps. */
    grow(roots) {
      let level = roots;
      for (const root of roots) this.parent.set(root, null);
      while (level.length) {
        const best = new Map();
        for (const from of level) {
          for (const [to, edge] of this.links.get(from)) {
            if (this.parent.has(to)) continue;
            const other = best.get(to);
            if (!other || better(edge, other.edge)) best.set(to, { from, edge });
          }
        }
        for (const [to, { from, edge }] of best) {
          this.parent.set(to, from);
          const bundle = this.links.get(to).filter(([end]) => end === from);
          this.bundle.set(to, bundle.map(([, each]) => each));
          this.children.get(from).push({ id: to, edge });
        }
        level = [...best.keys()];
      }
      for (const root of roots) this.sort(root);
    }

    /* Children by relation, relations by their best triplet. */
    sort(id) {
      const children = this.children.get(id);
      const group = ({ edge }) => edge.relation + (edge.head === id ? ">" : "<");
      const first = new Map();
      for (const child of children) {
        const key = group(child);
        first.set(key, Math.min(first.get(key) ?? Infinity, child.edge.rank));
      }
      children.sort(
        (a, b) =>
          b.edge.onPath - a.edge.onPath ||
          first.get(group(a)) - first.get(group(b)) ||
          a.edge.rank - b.edge.rank,
      );
      for (const child of children) this.sort(child.id);
    }
  }

  const better = (a, b) => (a.onPath !== b.onPath ? a.onPath : a.rank < b.rank);

  /* Half the height that a box takes, with its parallel edges and self-loops. */
  function half(forest, id) {
    const node = forest.nodes.get(id);
    return height(forest, id) / 2 + (node.loops ? LOOP : 0);
  }

  function height(forest, id) {
    const ports = forest.bundle.get(id)?.length ?? 1;
    return forest.nodes.get(id).h + (ports - 1) * PORT;
  }

  /* The children of one entity, from top to bottom: {height, width, items: [{id, x, y,
     inner, top}]}; y from the block's top, x from the parent's edge to the box's. */
  function block(forest, children, most) {
    const items = [];
    let y = 0;
    const leaves = [];
    for (const { id } of children) {
      if (!forest.children.get(id).length) {
        leaves.push(id);
        continue;
      }
      const inner = block(forest, forest.children.get(id), most);
      const tall = Math.max(inner.height, 2 * half(forest, id) + GAP);
      items.push({ id, y: y + tall / 2, column: 0, inner, top: y + (tall - inner.height) / 2 });
      y += tall;
    }
    const height = leaves.length <= most
      ? inOneColumn(forest, leaves, y, items)
      : inTwoColumns(forest, leaves, y, items);
    return across(forest, { height, items });
  }

  function inOneColumn(forest, leaves, y, items) {
    for (const id of leaves) {
      const tall = 2 * half(forest, id) + GAP;
      items.push({ id, y: y + tall / 2, column: 0 });
      y += tall;
    }
    return y;
  }

  /* The edges to the far column run between the boxes of the near one. */
  function inTwoColumns(forest, leaves, y, items) {
    let bottom = y;
    const row = [];
    leaves.forEach((id, i) => {
      const box = half(forest, id);
      const lines = ((forest.bundle.get(id).length - 1) * PORT) / 2 + 4;
      let at = y + box + GAP / 2;
      if (i >= 1) {
        const other = row[i - 1];
        at = other.at + (i % 2 ? other.box + lines : other.lines + box);
      }
      if (i >= 2) at = Math.max(at, row[i - 2].at + row[i - 2].box + box + GAP);
      row.push({ at, box, lines });
      items.push({ id, y: at, column: i % 2 });
      bottom = Math.max(bottom, at + box + GAP / 2);
    });
    // Where the first box of the far column is the taller one, it may stick out above.
    const above = Math.max(0, ...row.map(({ at, box }) => y - (at - box - GAP / 2)));
    for (const item of items.slice(items.length - leaves.length)) item.y += above;
    return bottom + above;
  }

  /* How far to the side each child stands: as near as boxes and labels allow. */
  function across(forest, { height, items }) {
    const box = [0, 0];
    const stretch = [0, 0];
    let fan = 26;
    for (const { id, column, y } of items) {
      const label = Math.max(...forest.bundle.get(id).map((edge) => edge.labelWidth));
      box[column] = Math.max(box[column], forest.nodes.get(id).w);
      stretch[column] = Math.max(stretch[column], label + 26);
      fan = Math.max(fan, Math.min(90, 0.35 * Math.abs(y - height / 2)));
    }
    const near = fan + stretch[0];
    let width = 0;
    for (const item of items) {
      item.x = item.column ? near + box[0] + 10 + stretch[1] : near;
      item.bend = fan;
      const end = item.x + forest.nodes.get(item.id).w + (item.inner?.width ?? 0);
      width = Math.max(width, end);
    }
    return { height, width, items };
  }

  /* The blocks on the right and on the left of a root. */
  function sides(forest, root, { twoSided, most }) {
    const children = forest.children.get(root);
    if (!twoSided) return [block(forest, children, most), block(forest, [], most)];
    const weight = children.map(({ id }) =>
      forest.children.get(id).length
        ? block(forest, forest.children.get(id), most).height
        : 2 * half(forest, id) + GAP,
    );
    const total = weight.reduce((a, b) => a + b, 0);
    let sum = 0;
    let cut = 0;
    while (cut < children.length && sum + weight[cut] / 2 < total / 2) sum += weight[cut++];
    return [block(forest, children.slice(0, cut), most), block(forest, children.slice(cut), most)];
  }

  /* Places roots one below the other with their trees; returns the box they fill. */
  function trees(forest, roots, shape, out) {
    const box = { x1: 0, x2: 0, y1: 0, y2: 0 };
    let y = 0;
    for (const root of roots) {
      const [right, left] = sides(forest, root, shape);
      const tall = Math.max(right.height, left.height, 2 * half(forest, root) + GAP);
      const centre = y + tall / 2;
      const middle = forest.nodes.get(root).w / 2;
      out.positions.set(root, { x: 0, y: centre });
      put(forest, right, root, 1, centre - right.height / 2, out);
      put(forest, left, root, -1, centre - left.height / 2, out);
      box.x1 = Math.min(box.x1, -middle - left.width);
      box.x2 = Math.max(box.x2, middle + right.width);
      box.y2 = y + tall;
      y += tall + ROOT_GAP;
    }
    return box;
  }

  function put(forest, { items }, parent, side, y0, out) {
    const from = out.positions.get(parent);
    const fromHalf = forest.nodes.get(parent).w / 2;
    const edgeX = from.x + side * fromHalf;
    for (const item of items) {
      const node = forest.nodes.get(item.id);
      const x = edgeX + side * item.x;
      const y = y0 + item.y;
      out.positions.set(item.id, { x: x + (side * node.w) / 2, y });
      const bundle = forest.bundle.get(item.id);
      bundle.forEach((edge, i) => {
        const port = (i - (bundle.length - 1) / 2) * PORT;
        out.routes.set(edge.rank, {
          child: item.id,
          parentEnd: { x: side * fromHalf, y: 0 },
          childEnd: { x: (-side * node.w) / 2, y: port },
          start: { x: edgeX, y: from.y },
          bend: { x: edgeX + side * item.bend, y: y + port },
          end: { x, y: y + port },
        });
      });
      if (item.inner) put(forest, item.inner, item.id, side, y0 + item.top, out);
    }
  }

  /* The connected pieces without a topic, best triplet first, each with a root. */
  function looseTrees(forest, edges) {
    const trees = [];
    for (const { head, tail } of edges) {
      if (forest.parent.has(head)) continue;
      const seen = new Set([head, tail]);
      for (const id of seen) for (const [other] of forest.links.get(id)) seen.add(other);
      const busiest = [...seen].reduce((a, b) =>
        forest.links.get(b).length > forest.links.get(a).length ? b : a,
      );
      forest.grow([busiest]);
      trees.push({ root: busiest, members: [...seen] });
    }
    return trees;
  }

  /* Places everything in one shape: {twoSided, most leaves in one column}. */
  function arrange(forest, roots, loose, shape, width) {
    const out = { positions: new Map(), routes: new Map(), note: null };
    const box = trees(forest, roots, shape, out);
    const span = Math.max(box.x2 - box.x1, width);
    let x = box.x1;
    let y = box.y2;
    if (roots.length && loose.length) {
      out.note = { x: box.x1, y: box.y2 + 36 };
      y += 64;
    }
    let shelf = 0;
    for (const { root, members } of loose) {
      const piece = { positions: new Map(), routes: new Map() };
      const size = trees(forest, [root], { ...shape, twoSided: false }, piece);
      if (x > box.x1 && x + size.x2 - size.x1 > box.x1 + span) {
        x = box.x1;
        y += shelf + 22;
        shelf = 0;
      }
      const moved = (point) => ({ x: point.x + x - size.x1, y: point.y + y });
      for (const id of members) out.positions.set(id, moved(piece.positions.get(id)));
      for (const [rank, route] of piece.routes) {
        const { start, bend, end } = route;
        out.routes.set(rank, {
          ...route, start: moved(start), bend: moved(bend), end: moved(end) });
      }
      x += size.x2 - size.x1 + 40;
      shelf = Math.max(shelf, size.y2);
      box.x2 = Math.max(box.x2, x - 40);
      box.y2 = y + shelf;
    }
    return { ...out, box };
  }

  /* Places everything, in the shape that can be shown largest.

     nodes: [{id, w, h, topic, loops}], edges: [{rank, head, tail, relation, labelWidth,
     onPath}], best first; room: {width, height} on the screen. Returns positions
     (id -> {x, y}), heights (id -> h), routes (rank -> how an edge of the tree runs; the
     others cross it) and, where there are pieces without a topic, the place of a note. */
  function place(nodes, edges, room) {
    const forest = new Forest(nodes, edges);
    const roots = nodes.filter((node) => node.topic).map((node) => node.id);
    forest.grow(roots);
    const loose = looseTrees(forest, edges);
    let best = null;
    for (const shape of SHAPES) {
      const plan = arrange(forest, roots, loose, shape, room.width);
      const width = plan.box.x2 - plan.box.x1;
      const height = plan.box.y2 - plan.box.y1;
      plan.zoom = Math.min(room.width / width, room.height / height, 1);
      if (!best || plan.zoom > 1.08 * best.zoom) best = plan;
    }
    const heights = new Map(nodes.map(({ id }) => [id, height(forest, id)]));
    return { ...best, heights };
  }

  return { place };
})();
