/* What entities and triplets look like, and text measured as it will be drawn. */
"use strict";

const KGScoutStyle = (() => {
  const FONT = 'system-ui, "Segoe UI", "Helvetica Neue", Arial, sans-serif';
  const pen = document.createElement("canvas").getContext("2d");

  /* Text cut to a width in pixels, and the width it then has. */
  function fit(text, size, weight, most) {
    pen.font = `${weight} ${size}px ${FONT}`;
    const width = (value) => pen.measureText(value).width;
    if (width(text) <= most) return { text, width: width(text) };
    const letters = [...text];
    let low = 1;
    let high = letters.length;
    while (low < high) {
      const middle = Math.ceil((low + high) / 2);
      if (width(letters.slice(0, middle).join("") + "…") <= most) low = middle;
      else high = middle - 1;
    }
    const cut = letters.slice(0, low).join("").trimEnd() + "…";
    return { text: cut, width: width(cut) };
  }

  /* The style of Cytoscape in the colours of the page: those of graph.css, light or dark. */
  function style() {
    const page = getComputedStyle(document.documentElement);
    const colour = (name) => page.getPropertyValue(`--kgv-${name}`).trim();
    const [INK, PAPER, PATH, EDGE, LIT] = ["ink", "paper", "path", "edge", "lit"].map(colour);
    const FILL = { topic: colour("topic-fill"), answer: colour("answer-fill"),
      right: colour("answer-fill"), wrong: colour("wrong-fill"), missed: colour("answer") };
    return [
      { selector: "node", style: {
        shape: "round-rectangle", width: "data(w)", height: "data(h)", label: "data(label)",
        "text-valign": "center", "text-halign": "center", "font-family": FONT,
        "font-size": "data(size)", color: INK, "background-color": PAPER,
        "border-width": 1, "border-color": colour("border"),
      } },
      { selector: "node.nameless", style: { color: colour("faint"), "background-color": colour("pale") } },
      { selector: "node.answer, node.right, node.wrong", style: {
        shape: "cut-rectangle", "corner-radius": 10, color: "#ffffff", "border-width": 0, "font-weight": "bold" } },
      ...["answer", "right", "wrong"].map((role) => (
        { selector: `node.${role}`, style: { "background-color": FILL[role] } })),
      { selector: "node.missed", style: {
        shape: "cut-rectangle", "corner-radius": 10, color: FILL.missed, "border-color": FILL.missed,
        "border-width": 2, "border-style": "dashed", "font-weight": "bold" } },
      { selector: "node.topic", style: {
        shape: "round-rectangle", color: "#ffffff", "background-color": FILL.topic,
        "border-width": 0, "font-weight": "bold" } },
      // A topic that is an answer: a topic with the answer's colour around it.
      ...["answer", "right", "wrong", "missed"].map((role) => (
        { selector: `node.topic.${role}`, style: { "border-width": 4, "border-style": "solid",
          "border-color": FILL[role] } })),
      { selector: "node.note", style: {
        "background-opacity": 0, "border-width": 0, color: colour("faint"), "font-style": "italic",
        events: "no" } },
      { selector: "edge", style: {
        width: "data(width)", "line-color": EDGE, "target-arrow-color": EDGE,
        "target-arrow-shape": "triangle", "arrow-scale": 0.75, "curve-style": "bezier",
        "control-point-step-size": 34, "line-opacity": 0.75, "font-family": FONT,
        "font-size": 11, color: INK, "text-background-color": PAPER,
        "text-background-opacity": 1, "text-background-padding": 1, "z-index": 2,
      } },
      { selector: "edge.tree", style: {
        "curve-style": "round-segments", "edge-distances": "endpoints",
        "segment-weights": (edge) => edge.data("weight"),
        "segment-distances": (edge) => edge.data("distance"), "segment-radii": 30,
        "source-endpoint": (edge) => edge.data("sourceEnd"),
        "target-endpoint": (edge) => edge.data("targetEnd") } },
      { selector: "edge.cross", style: { "line-style": "dashed", "line-opacity": 0.5 } },
      { selector: "edge.facing", style: {
        "source-endpoint": (edge) => edge.data("sourceEnd"),
        "target-endpoint": (edge) => edge.data("targetEnd") } },
      { selector: "edge.beside", style: {
        "curve-style": "unbundled-bezier", "edge-distances": "endpoints",
        "control-point-weights": 0.5, "control-point-distances": (edge) => edge.data("distance"),
        "source-endpoint": (edge) => edge.data("sourceEnd"),
        "target-endpoint": (edge) => edge.data("targetEnd") } },
      { selector: "edge:loop", style: { "loop-direction": "0deg", "loop-sweep": "-60deg" } },
      { selector: "edge.path", style: {
        "line-color": PATH, "target-arrow-color": PATH, "line-opacity": 1, "z-index": 5,
        "font-weight": "bold" } },
      { selector: "edge.named", style: { label: "data(label)", "text-rotation": "autorotate" } },
      { selector: "edge.named.from-source", style: {
        label: "", "source-label": "data(label)", "source-text-offset": "data(offset)" } },
      { selector: "edge.named.from-target", style: {
        label: "", "target-label": "data(label)", "target-text-offset": "data(offset)" } },
      { selector: ".dim", style: { opacity: 0.3 } },
      { selector: "edge.lit", style: {
        "line-opacity": 1, "line-color": LIT, "target-arrow-color": LIT,
        "z-index": 9, "line-style": "solid" } },
      { selector: "edge.lit.path", style: { "line-color": PATH, "target-arrow-color": PATH } },
      { selector: "node.lit", style: { "overlay-color": LIT, "overlay-opacity": 0.12,
        "overlay-padding": 3 } },
      { selector: "node.found", style: { "outline-width": 4, "outline-color": "#cc4fa3",
        "outline-offset": 2 } },
      // Lines that cross the tree run under all its labels, whatever else they are.
      { selector: "edge.cross", style: { "z-index": 0 } },
      { selector: "edge.cross.path, edge.cross.lit", style: { "z-index": 1 } },
    ];
  }

  return { style, fit };
})();
