/* What entities and triplets look like, and text measured as it will be drawn. */
"use strict";

const KGScoutStyle = (() => {
  const FONT = 'system-ui, "Segoe UI", "Helvetica Neue", Arial, sans-serif';
  const INK = "#24292f";
  const COLOURS = {
    topic: "#005f96", answer: "#00785a", right: "#00785a", wrong: "#b84a00", missed: "#00785a",
  };
  const PATH = "#d07a00";
  const EDGE = "#8d99a6";

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

  const STYLE = [
    { selector: "node", style: {
      shape: "round-rectangle", width: "data(w)", height: "data(h)", label: "data(label)",
      "text-valign": "center", "text-halign": "center", "font-family": FONT,
      "font-size": "data(size)", color: INK, "background-color": "#ffffff",
      "border-width": 1, "border-color": "#aab4be",
    } },
    { selector: "node.nameless", style: { color: "#6b7680", "background-color": "#f3f5f7" } },
    { selector: "node.answer, node.right, node.wrong", style: {
      shape: "cut-rectangle", "corner-radius": 10, color: "#ffffff", "border-width": 0, "font-weight": "bold" } },
    ...["answer", "right", "wrong"].map((role) => (
      { selector: `node.${role}`, style: { "background-color": COLOURS[role] } })),
    { selector: "node.missed", style: {
      shape: "cut-rectangle", "corner-radius": 10, color: COLOURS.missed, "border-color": COLOURS.missed,
      "border-width": 2, "border-style": "dashed", "font-weight": "bold" } },
    { selector: "node.topic", style: {
      shape: "round-rectangle", color: "#ffffff", "background-color": COLOURS.topic,
      "border-width": 0, "font-weight": "bold" } },
    // A topic that is an answer: a topic with the answer's colour around it.
    ...["answer", "right", "wrong", "missed"].map((role) => (
      { selector: `node.topic.${role}`, style: { "border-width": 4, "border-style": "solid",
        "border-color": COLOURS[role] } })),
    { selector: "node.note", style: {
      "background-opacity": 0, "border-width": 0, color: "#6b7680", "font-style": "italic",
      events: "no" } },
    { selector: "edge", style: {
      width: "data(width)", "line-color": EDGE, "target-arrow-color": EDGE,
      "target-arrow-shape": "triangle", "arrow-scale": 0.75, "curve-style": "bezier",
      "control-point-step-size": 34, "line-opacity": 0.75, "font-family": FONT,
      "font-size": 11, color: INK, "text-background-color": "#ffffff",
      "text-background-opacity": 0.92, "text-background-padding": 1,
    } },
    { selector: "edge.tree", style: {
      "curve-style": "round-segments", "edge-distances": "endpoints",
      "segment-weights": (edge) => edge.data("weight"),
      "segment-distances": (edge) => edge.data("distance"), "segment-radii": 30,
      "source-endpoint": (edge) => edge.data("sourceEnd"),
      "target-endpoint": (edge) => edge.data("targetEnd") } },
    { selector: "edge.cross", style: { "line-style": "dashed", "line-opacity": 0.5 } },
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
      "line-opacity": 1, "line-color": "#1f2933", "target-arrow-color": "#1f2933",
      "z-index": 9, "line-style": "solid" } },
    { selector: "edge.lit.path", style: { "line-color": PATH, "target-arrow-color": PATH } },
    { selector: "node.lit", style: { "overlay-color": "#1f2933", "overlay-opacity": 0.12,
      "overlay-padding": 3 } },
    { selector: "node.found", style: { "outline-width": 4, "outline-color": "#cc4fa3",
      "outline-offset": 2 } },
  ];

  return { STYLE, fit };
})();
