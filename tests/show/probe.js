/* Plays the user in a page of drawings and leaves what it saw in pre#seen as JSON.
   The page defines play(), which fills `seen`. */
const seen = { violations: 0, errors: [] };
addEventListener("securitypolicyviolation", () => { seen.violations += 1; });
addEventListener("error", (event) => seen.errors.push(event.message));
const pause = (ms) => new Promise((done) => setTimeout(done, ms));
const section = (id) => document.getElementById(id);
const graph = (id) => KGScout.graph(section(id));
function state(id) {
  graph(id).wake(); // it may be far from what is in sight
  const { cy } = graph(id);
  const bare = { includeLabels: false, includeOverlays: false };
  const boxes = cy.nodes().map((n) => n.boundingBox(bare));
  let overlaps = 0;
  for (const [i, a] of boxes.entries()) for (const b of boxes.slice(0, i)) {
    overlaps += Math.min(a.x2, b.x2) - Math.max(a.x1, b.x1) > 3
      && Math.min(a.y2, b.y2) - Math.max(a.y1, b.y1) > 3;
  }
  const shown = cy.extent();
  const out = (b) => b.x1 < shown.x1 || b.x2 > shown.x2 || b.y1 < shown.y1 || b.y2 > shown.y2;
  return { ...section(id).dataset, overlaps,
    drawn: [cy.nodes().length, cy.edges().length], path: cy.edges(".path").length,
    unseen: boxes.filter(out).length,
    undrawable: cy.edges().filter((e) => !Number.isFinite(e.midpoint()?.x)).length,
    places: cy.nodes().map((n) => [Math.round(n.position("x")), Math.round(n.position("y"))]),
    rows: section(id).querySelectorAll("tbody tr:not([hidden])").length,
    text: section(id).querySelector(".kgv-status")?.textContent ?? "",
    widths: cy.edges().map((e) => e.width()) };
}
function type(id, selector, value) {
  graph(id).wake();
  const input = section(id).querySelector(selector);
  input.value = value;
  input.dispatchEvent(new Event("input"));
}
addEventListener("load", async () => {
  try { await play(); } catch (error) { seen.errors.push(String(error.stack)); }
  seen.title = document.title;
  seen.images = document.images.length;
  seen.requests = performance.getEntriesByType("resource").length;
  document.getElementById("seen").textContent = JSON.stringify(seen);
});
