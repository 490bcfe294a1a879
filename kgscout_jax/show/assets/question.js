/* Draws the questions of a report: its script calls window.kgscoutDraw with an empty
   element and a question that was opened, and what that returns when it is closed. */
"use strict";

const KGScoutQuestion = (() => {
  const MOST = 500; // triplets drawn, as in the pages of one question
  const TOPIC = 1;
  const ANSWER = 2;
  const GOLD = 4;
  // White space as Python splits at it, so that entities are one here as there.
  const SPACE = "\t-\r\x1c-\x20\x85\xa0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000";
  const SPACES = new RegExp(`[${SPACE}]+`);
  const DOTTED = new RegExp(`^[^./${SPACE}]+(?:[.]+[^./${SPACE}]+)+$`);

  const WITHOUT_WIDTH = /[\u200b\u2060\ufeff\u00ad]/g;

  const spelled = (text) => text.split(SPACES).filter(Boolean).join(" ");

  /* The identity of an entity, see kgscout_jax.types.entity_key. */
  function entityKey(name) {
    const text = name.normalize("NFC");
    const shown = text.replace(WITHOUT_WIDTH, "");
    return spelled((spelled(shown) ? shown : text).toLowerCase());
  }

  /* The relation in few words: the last step of a dotted or slashed name. */
  function relationLabel(relation) {
    let label = relation.replace(/[/#]+$/, "");
    if (label.includes("//") || label.startsWith("/")) label = label.split(/[/#]/).pop();
    if (DOTTED.test(label)) label = label.slice(label.lastIndexOf(".") + 1);
    return spelled(label.replaceAll("_", " ")) || relation;
  }

  /* Scores moved into [0, 1] within the question. */
  function weights(scores) {
    const low = Math.min(...scores) / 2;
    const range = Math.max(...scores) / 2 - low;
    return scores.map((score) => (range > 0 ? Math.round(1e4 * (score / 2 - low) / range) / 1e4 : 0.5));
  }

  /* What is drawn of a question. Answers that were judged right are drawn so, also where
     the rules are looser than the names; the marks of paths are the report's. */
  function data(question) {
    const { topics, answers, gold, triplets: kept } = question;
    const shown = kept.slice(0, MOST);
    const ids = new Map();
    const names = [];
    const kinds = [];
    const relations = new Map();
    const entity = (name, bits) => {
      const key = entityKey(name);
      if (!ids.has(key)) {
        ids.set(key, names.length);
        names.push(spelled(name));
        kinds.push(0);
      }
      kinds[ids.get(key)] |= bits;
      return ids.get(key);
    };
    const weight = weights(shown.map(({ score }) => score));
    const triplets = shown.map(({ head, relation, tail, score }, rank) => {
      if (!relations.has(relation)) relations.set(relation, relations.size);
      return [entity(head, 0), relations.get(relation), entity(tail, 0), score, weight[rank]];
    });
    for (const name of topics) entity(name, TOPIC);
    answers.forEach((name, i) => entity(name, question.right?.[i] ? ANSWER | GOLD : ANSWER));
    gold.forEach((name, i) => entity(name, question.found?.[i] ? ANSWER | GOLD : GOLD));
    const marked = shown.flatMap(({ onPath }, rank) => (onPath ? [rank] : []));
    return {
      names, kinds, triplets, judged: true, total: kept.length, toGold: true,
      relations: [...relations.keys()].map((relation) => [relation, relationLabel(relation)]),
      // As K grows, marks only come: they say nothing of the other triplets kept.
      paths: marked.map((rank, i) => [rank + 1, marked.slice(0, i + 1)]),
      file: [question.retriever, question.k, question.id].join("-"),
    };
  }

  /* Draws into an element; returns what frees the drawing. */
  function draw(element, question) {
    const section = KGScoutPanel.make("section", {
      className: "kgv", attrs: { "aria-label": `Kept triplets: ${question.text}` } });
    element.append(section);
    const rows = question.rows?.slice(0, MOST);
    KGScout.add(section, { data: data(question), rows, share: 0.72 });
    return () => KGScout.drop(section);
  }

  window.kgscoutDraw = draw;
  return { data };
})();
