/* Draws each section.kgv when it comes into sight and gives up those far away. */
"use strict";

const KGScout = (() => {
  const MARGIN = 600; // what is nearer to the window than this is drawn
  const sections = new Set();
  const graphs = new Map();

  const watch = new IntersectionObserver((entries) => {
    for (const { target, isIntersecting } of entries) {
      if (!sections.has(target)) continue; // dropped meanwhile
      if (isIntersecting) graph(target).wake();
      else graphs.get(target)?.sleep();
    }
  }, { rootMargin: `${MARGIN}px` });

  /* The drawing of a section, made when first asked for. */
  function graph(section) {
    if (!graphs.has(section)) graphs.set(section, new KGScoutGraph(section));
    return graphs.get(section);
  }

  /* Takes care of a section and draws it now if it is in sight; `given`: what to draw. */
  function add(section, given) {
    sections.add(section);
    watch.observe(section);
    if (given) graphs.set(section, new KGScoutGraph(section, given));
    const { top, bottom } = section.getBoundingClientRect();
    if (top < window.innerHeight + MARGIN && bottom > -MARGIN) graph(section).wake();
  }

  /* Takes a section out of the page and frees its drawing. */
  function drop(section) {
    watch.unobserve(section);
    graphs.get(section)?.free();
    graphs.delete(section);
    sections.delete(section);
    section.remove();
  }

  document.addEventListener("DOMContentLoaded", () => {
    for (const section of document.querySelectorAll("section.kgv")) add(section);
  });
  addEventListener("beforeprint", () => {
    // What a closed <details> hides is not printed.
    for (const section of sections) if (section.checkVisibility()) graph(section).print();
  });
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => {
    for (const each of graphs.values()) each.recolour();
  });
  let waiting;
  addEventListener("resize", () => {
    clearTimeout(waiting);
    waiting = setTimeout(() => graphs.forEach((each) => each.cy && each.resize()), 150);
  });
  return { graph, add, drop };
})();
