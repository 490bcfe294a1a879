/* Draws each section.kgv when it comes into sight and gives up those far away. */
"use strict";

const KGScout = (() => {
  const graphs = new Map();

  /* The drawing of a section, made when first asked for. */
  function graph(section) {
    if (!graphs.has(section)) graphs.set(section, new KGScoutGraph(section));
    return graphs.get(section);
  }

  function start() {
    const sections = document.querySelectorAll("section.kgv");
    const watch = new IntersectionObserver((entries) => {
      for (const { target, isIntersecting } of entries) {
        if (isIntersecting) graph(target).wake();
        else graphs.get(target)?.sleep();
      }
    }, { rootMargin: "600px" });
    for (const section of sections) watch.observe(section);
    addEventListener("beforeprint", () => {
      // What a closed <details> hides is not printed.
      for (const section of sections) if (section.checkVisibility()) graph(section).print();
    });
    let waiting;
    addEventListener("resize", () => {
      clearTimeout(waiting);
      waiting = setTimeout(() => graphs.forEach((each) => each.cy && each.resize()), 150);
    });
  }

  document.addEventListener("DOMContentLoaded", start);
  return { graph };
})();
