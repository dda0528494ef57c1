"use strict";
// A view and nothing else: every number was computed beforehand, level by level. Whether something
// is in a set is a comparison of two whole numbers, the place of the level and that of its entry.
(() => {
  const data = JSON.parse(document.getElementById("contents").textContent);
  const states = data.states;
  const byId = (id) => document.getElementById(id);
  const BLUES = [[0, "#f1f1f1"], [0.2, "#f1f1f1"], [0.2, "#c6dbef"], [0.6, "#6baed6"], [1, "#08306b"]];
  const TRUTH = "#d95f02";
  const FONT = { family: "system-ui, 'Segoe UI', Roboto, 'Liberation Sans', sans-serif", size: 13, color: "#1b1f24" };
  const CONFIG = { responsive: true, displaylogo: false, displayModeBar: false };

  const number = (x, digits = 3) => (x === null || x === undefined ? "–" : x.toFixed(digits));
  const share = (s) => number(s.coverage) + (s.low === null ? "" : ` [${number(s.low)}, ${number(s.high)}]`);
  const JUDGED = data.guarantee === "steps" ? "share of steps right" : "share covered";
  const JUDGED_HOW = data.guarantee === "steps" ? JUDGED : `${JUDGED} [exact 95 % interval]`;
  // Plotly reads tags in text; a label is not to be taken for one.
  const plain = (text) => String(text).replace(/&/g, "&amp;").replace(/</g, "&lt;").replace(/>/g, "&gt;");
  const names = states.map(plain);
  const short = names.map((name) => (name.length > 14 ? `${name.slice(0, 13)}…` : name));
  const places = states.map((_, k) => k);

  function element(tag, text, attributes = {}) {
    const made = document.createElement(tag);
    if (text !== null) made.textContent = text;
    for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
    return made;
  }

  function fill(table, caption, head, rows) {
    table.replaceChildren();
    if (caption) table.append(element("caption", caption, { class: "small" }));
    const top = table.createTHead().insertRow();
    for (const text of head) top.append(element("th", text, { scope: "col" }));
    const body = table.createTBody();
    for (const cells of rows) {
      const row = body.insertRow();
      for (const cell of cells) {
        if (cell instanceof Node) row.insertCell().append(cell);
        else row.insertCell().textContent = cell;
      }
    }
    return body;
  }

  function layout(more, height) {
    return {
      font: FONT, height, margin: { l: 10, r: 10, t: 10, b: 40 }, paper_bgcolor: "#fff", plot_bgcolor: "#fff",
      hoverlabel: { font: FONT, align: "left" }, dragmode: false, showlegend: false, ...more,
    };
  }
  const axis = (title, more = {}) => ({ title: { text: title }, automargin: true, zeroline: false, gridcolor: "#e6e9ec", fixedrange: true, ...more });
  const stateAxis = () => axis("", {
    tickvals: states.length > 24 ? undefined : places, ticktext: states.length > 24 ? undefined : short,
    range: [states.length - 0.5, -0.5], showgrid: false,
  });
  // A legend above the picture, on as many lines as it takes, needs room.
  const legend = { orientation: "h", x: 0, y: 1.02, yanchor: "bottom" };
  const rows = (n) => Math.min(Math.max(90 + 30 * n, 170), 620);
  const narrow = () => window.innerWidth < 640;

  function draw(id, traces, more, height, words) {
    const box = byId(id);
    box.setAttribute("aria-label", words);
    return Plotly.react(box, traces, layout(more, height), CONFIG);
  }

  // Cells of steps and states: dark where the p-value is large, grey where the state is out.
  function cells(first, pValues, place, begin, kind) {
    const z = places.map((state) => first.map((row, k) => (row[state] <= place ? (pValues ? pValues[k][state] : 0.6) : -0.25)));
    const tips = places.map((state) => first.map((row, k) => {
      const from = row[state] < data.levels.length ? `possible from ${data.percent[row[state]]} on` : "not possible at any level shown";
      const p = pValues ? `${kind} ${number(pValues[k][state], 4)}<br>` : "";
      return `step ${begin + k + 1}: ${names[state]}<br>${p}${row[state] <= place ? "<b>in the set</b>" : "not in the set"}, ${from}`;
    }));
    return {
      type: "heatmap", z, x: first.map((_, k) => begin + k + 1), y: places, text: tips, hoverinfo: "text",
      zmin: -0.25, zmax: 1, colorscale: BLUES, showscale: false,
      xgap: first.length <= 60 ? 2 : 0, ygap: 2,
    };
  }

  function showNew(place) {
    const found = data.new;
    if (!found) return;
    const kind = data.guarantee === "all" ? "p-value" : "probability";
    const sets = found.first.map((row) => places.filter((state) => row[state] <= place));
    const width = sets.reduce((sum, set) => sum + set.length, 0) / sets.length;
    const one = found.steps === 1;
    const counted = one ? `${sets[0].length} of ${states.length} states ${sets[0].length === 1 ? "is" : "are"} possible.` : found.counts ? `${found.counts[place].toLocaleString("en")} of ${(states.length ** found.steps).toLocaleString("en")} sequences are possible, ` : "";
    byId("new-summary").textContent = `At ${data.percent[place]}: ${counted}` + (one ? "" : `${number(width, 2)} of ${states.length} states per step on average.`);
    draw("new-picture", [cells(found.first, found.p_values, place, 0, kind)], {
      xaxis: axis("step", { showgrid: false, dtick: found.steps <= 12 ? 1 : undefined }), yaxis: stateAxis(),
    }, rows(states.length), `States possible at each of ${found.steps} steps; the table below says the same.`);
    byId("new-steps").replaceChildren();
    const body = fill(byId("new-steps"), null, ["step", ...(found.seen.some(Boolean) ? ["observed"] : []), "possible states"], sets.map((set, k) => {
      const box = element("span", set.length ? null : "none");
      for (const state of set) {
        const p = found.p_values[k][state];
        const mark = element("span", states[state], { class: `state${state === found.best[k] ? " best" : ""}`, title: `${kind} ${number(p, 4)}`, "data-state": state });
        box.append(mark);
      }
      return [String(k + 1), ...(found.seen.some(Boolean) ? [found.seen[k]] : []), box];
    }));
    body.id = "new-steps-body";
    const box = byId("new-sequences-box");
    box.hidden = !found.sequences.length || one;
    if (box.hidden) return;
    const members = found.sequences.filter((one) => one.first <= place);
    fill(byId("new-sequences"), null, ["p-value", ...found.seen.map((_, k) => `step ${k + 1}`)].slice(0, 21), members.map((one) =>
      [number(one.p, 4), ...one.codes.map((code) => states[code])].slice(0, 21)));
    const cut = found.steps > 20 ? "The first 20 steps of each are shown. " : "";
    const left = found.counts ? found.counts[place] - members.length : null;
    byId("new-more").textContent = cut + (left ? `${left.toLocaleString("en")} more, less plausible ones, are possible.`
      : left === null ? "There may be more than are listed here." : "");
  }

  function verdict(found, level) {
    const bounds = `the exact 95 % interval goes from ${number(found.low)} to ${number(found.high)}`;
    if (found.high < level) return `That is less than promised, by more than chance explains (${bounds}): the assumptions may not hold for these data.`;
    if (found.low > level) return `That is more than promised (${bounds}).`;
    return `Chance alone explains the difference (${bounds}).`;
  }

  function showBacktest(place) {
    const found = data.backtest;
    if (!found) return;
    const methods = Object.entries(found.methods);
    const ours = found.methods.definetti[place];
    const windows = `${found.windows.toLocaleString("en")} ${found.horizon === 1 ? "steps" : `windows of ${found.horizon} steps`}`;
    byId("backtest-summary").textContent = `${windows} with known states were predicted, each from all rows before it, from row ${found.first_row.toLocaleString("en")} on. ` +
      (data.guarantee === "steps"
        ? `Of their steps, ${number(ours.coverage)} had their true state among those left possible (promised: ${data.percent[place]}).`
        : `The set held the truth in ${number(ours.coverage)} of them (promised: at least ${data.percent[place]}). ${verdict(ours, data.levels[place])}`);
    const labels = Object.keys(ours.by_last_state);
    fill(byId("coverage"), null, [JUDGED_HOW, ...methods.map(([name]) => name)], [
      ["all", ...methods.map(([, levels]) => share(levels[place]))],
      ...labels.map((label) => [`ends in ${label} (${ours.by_last_state[label].windows})`, ...methods.map(([, levels]) => share(levels[place].by_last_state[label]))]),
    ]);
    byId("coverage-note").textContent = methods.length > 1
      ? `classical: conformal prediction that ignores time. It guarantees none of these shares${data.exact ? "; definetti guarantees each" : ""}.`
      : "";
    const bars = (name, shift, color, symbol) => {
      const parts = ["all", ...labels].map((label) => (label === "all" ? found.methods[name][place] : found.methods[name][place].by_last_state[label]));
      return {
        type: "scatter", mode: "markers", name, x: parts.map((one) => one.coverage), y: parts.map((_, k) => k + shift), marker: { color, symbol, size: 9 },
        error_x: parts[0].low === null ? undefined : { type: "data", symmetric: false, array: parts.map((one) => one.high - one.coverage), arrayminus: parts.map((one) => one.coverage - one.low), color, thickness: 2 },
        text: parts.map((one, k) => `${name}, ${k ? `ends in ${plain(labels[k - 1])}` : "all"}<br>${share(one)} of ${one.windows}`), hoverinfo: "text",
      };
    };
    draw("states-picture", [
      bars("definetti", methods.length > 1 ? -0.15 : 0, "#08519c", "circle"),
      ...(methods.length > 1 ? [bars("classical", 0.15, "#777", "square")] : []),
      { type: "scatter", mode: "lines", x: [data.levels[place], data.levels[place]], y: [-0.5, labels.length + 0.5], line: { color: TRUTH, dash: "dash", width: 2 }, name: "promised", hoverinfo: "skip" },
    ], {
      xaxis: axis(JUDGED, { range: [0, 1.03] }), showlegend: true, legend,
      yaxis: axis("", { tickvals: ["all", ...labels].map((_, k) => k), ticktext: ["all", ...labels.map((label) => plain(label.length > 14 ? `${label.slice(0, 13)}…` : label))], range: [labels.length + 0.5, -0.5], showgrid: false }),
    }, Math.min(130 + 34 * (labels.length + 1), 700), "Share covered, overall and by last state; the table above says the same.");
    fill(byId("time"), null, ["windows", JUDGED_HOW], ours.over_time.map((part) => [`${part.first} to ${part.last}`, share(part)]));

    const { truth, first, p_values: pValues, begin } = found.drawn;
    const missed = truth.map((code, k) => (code < 0 || first[k][code] > place ? code : null));
    draw("cells-picture", [
      cells(first, pValues, place, begin, "p-value"),
      { type: "scatter", mode: "lines", line: { color: TRUTH, width: truth.length > 100 ? 1.2 : 2, shape: "hvh" }, x: truth.map((_, k) => begin + k + 1), y: truth.map((c) => (c < 0 ? null : c)), name: "truth", hoverinfo: "skip", showlegend: true },
      { type: "scatter", mode: "markers", marker: { symbol: "x", size: 9, color: "#000" }, x: truth.map((_, k) => begin + k + 1), y: missed, name: "truth not in the set", hoverinfo: "skip", showlegend: true },
    ], { xaxis: axis("step of the backtest", { showgrid: false }), yaxis: stateAxis(), showlegend: true, legend }, rows(states.length) + 30,
    `True states and sets of the last ${truth.length} steps; ${missed.filter((c) => c !== null).length} true states are outside.`);

    const run = ours.running;
    draw("time-picture", [
      run.low[0] === null ? { type: "scatter", x: [], y: [], showlegend: false } : { type: "scatter", x: run.window.concat([...run.window].reverse()), y: run.high.concat([...run.low].reverse()), fill: "toself", fillcolor: "#d9dee3", line: { width: 0 }, name: "exact 95 % interval", hoverinfo: "skip" },
      { type: "scatter", mode: "lines", x: run.window, y: run.coverage, line: { color: "#000", width: 2 }, name: `${JUDGED} so far`, hovertemplate: "%{y:.3f} after %{x} windows<extra></extra>" },
      { type: "scatter", mode: "lines", x: [1, found.windows], y: [data.levels[place], data.levels[place]], line: { color: TRUTH, dash: "dash", width: 2 }, name: "promised", hoverinfo: "skip" },
    ], { xaxis: axis("window"), yaxis: axis(JUDGED, { range: [0, 1.03] }), showlegend: true, legend }, 300, "Share of windows covered so far, with its exact interval.");

    const STYLES = { definetti: { color: "#08519c", dash: "solid" }, classical: { color: "#777", dash: "dot" } };
    draw("levels-picture", [
      { type: "scatter", mode: "lines", x: data.levels, y: data.levels, line: { color: TRUTH, dash: "dash", width: 2 }, name: "promised", hoverinfo: "skip" },
      ...methods.map(([name, levels]) => ({
        type: "scatter", mode: "lines", x: data.levels, y: levels.map((one) => one.coverage), line: { ...STYLES[name], width: 2 }, name,
        hovertemplate: `${name}: %{y:.3f} at %{x}<extra></extra>`,
      })),
      { type: "scatter", mode: "markers", x: [data.levels[place]], y: [ours.coverage], marker: { size: 11, color: "#08519c" }, hoverinfo: "skip", showlegend: false },
    ], { xaxis: axis("confidence level"), yaxis: axis(JUDGED), showlegend: true, legend }, 320, "Share covered at every confidence level.");
  }

  function showSizes(place) {
    const found = data.backtest;
    if (!found) return;
    const ours = found.methods.definetti[place], classical = found.methods.classical && found.methods.classical[place];
    const said = (one) => `${number(one.mean_states_per_step, 2)} of ${states.length} states per step` +
      (one.mean_size === null || found.horizon === 1 ? "" : `, ${number(one.mean_size, 2)} sequences per set`);
    byId("sizes-summary").textContent = `In the backtest, on average: ${said(ours)}.` + (classical ? ` Classical: ${said(classical)}.` : "");
    const bars = (one, name, pattern) => ({
      type: "bar", x: one.widths.map((_, k) => k), y: one.widths, name, marker: { color: pattern ? "#bbb" : "#2171b5" },
      hovertemplate: `${name}: %{y:.3f} of steps have %{x} possible states<extra></extra>`,
    });
    draw("sizes-picture", [bars(ours, "definetti", false), ...(classical ? [bars(classical, "classical", true)] : [])], {
      xaxis: axis("possible states at a step", { dtick: states.length <= 20 ? 1 : undefined }), yaxis: axis("share of steps"), showlegend: Boolean(classical), legend, barmode: "group",
    }, 280, "How often a step has no, one, two and more possible states.");
  }

  // A table as a picture: rows are states.
  function heat(id, columns, values, shades, tips, words, centred) {
    const text = values.map((row) => row.map((x) => (x === null ? "" : centred ? String(Number(x.toPrecision(3))) : number(x, 2))));
    const room = columns.length * (narrow() ? 40 : 48) <= (narrow() ? 330 : 860);
    const bound = Math.max(0.01, ...shades.flat().map((x) => Math.abs(x ?? 0)));
    draw(id, [{
      type: "heatmap", z: shades, x: columns.map((_, k) => k), y: places, text: room ? text : undefined, texttemplate: room ? "%{text}" : undefined,
      customdata: tips, hovertemplate: "%{customdata}<extra></extra>", showscale: false, xgap: 2, ygap: 2,
      zmin: centred ? -bound : 0, zmax: centred ? bound : 1,
      colorscale: [[0, "#f7f7f7"], [1, "#4292c6"]],
    }], {
      xaxis: axis("", { tickvals: columns.length <= 30 ? columns.map((_, k) => k) : undefined, ticktext: columns.length <= 30 ? columns.map((c) => (c.length > 14 ? `${plain(c.slice(0, 13))}…` : plain(c))) : undefined, showgrid: false, side: "top" }),
      yaxis: stateAxis(), margin: { l: 10, r: 10, t: 40, b: 10 },
    }, rows(states.length), words);
  }

  function showModel() {
    const { transition, counts, emissions, prior } = data.model;
    byId("prior").textContent = prior ? `${prior} is added to every count.` : "plain shares of the counts.";
    heat("transition-picture", states, transition, transition, transition.map((row, i) => row.map((p, j) =>
      `${names[i]} → ${names[j]}<br>probability ${number(p, 4)}<br>seen ${counts[i][j].toLocaleString("en")} times`)), "Estimated transition probabilities; the table below says the same.", false);
    fill(byId("transition"), null, ["from \\ to", ...states], transition.map((row, i) => [states[i], ...row.map((p, j) => element("span", number(p, 4), { title: `seen ${counts[i][j]} times` }))]));
    emissions.forEach((table, k) => {
      const id = `emission-${k}`;
      const box = byId("emissions");
      box.append(element("h3", table.title));
      if (table.kind === "means") box.append(element("p", "Dark: high for this measurement. Light: low.", { class: "small" }));
      box.append(element("div", null, { id, class: "picture", role: "img" }));
      const details = element("details", null);
      const wide = element("div", null, { class: "wide", tabindex: "0" }), inner = element("table", null, { id: `${id}-table` });
      wide.append(inner);
      details.append(element("summary", "As a table"), wide);
      box.append(details);
      const digits = (x) => (x === null ? "–" : table.kind === "means" ? String(Number(x.toPrecision(5))) : number(x, 4));
      fill(inner, null, ["state", ...table.columns], table.values.map((row, i) => [states[i], ...row.map(digits)]));
      heat(id, table.columns, table.values, table.shades, table.values.map((row, i) => row.map((x, j) => `${names[i]}, ${plain(table.columns[j])}<br>${table.kind === "means" ? "mean" : "share"} ${digits(x)}`)), `${table.title}; the table below says the same.`, table.kind === "means");
    });
  }

  function show(place) {
    byId("percent").textContent = data.percent[place];
    slider.setAttribute("aria-valuetext", data.percent[place]);
    byId("promise").textContent = data.promise[place];
    byId("reset").disabled = place === data.asked;
    showNew(place);
    showBacktest(place);
    showSizes(place);
    document.body.dataset.level = data.levels[place];
    document.body.dataset.place = place;
  }

  const slider = byId("level");
  slider.max = data.levels.length - 1;
  slider.value = data.asked;
  // A slider speaks more often than pictures can be drawn: once a frame is enough.
  let waiting = false;
  slider.addEventListener("input", () => {
    if (waiting) return;
    waiting = true;
    requestAnimationFrame(() => { waiting = false; show(Number(slider.value)); });
  });
  byId("reset").addEventListener("click", () => { slider.value = data.asked; show(data.asked); slider.focus(); });
  byId("asked").textContent = `${data.labelled.toLocaleString("en")} labelled rows, ` +
    (data.new ? `${data.new.steps.toLocaleString("en")} new. ` : "none new. ") + `Asked for: ${data.percent[data.asked]}.`;
  byId("kind").textContent = data.guarantee === "all" ? "p-value" : "probability by the model";
  byId("assumed").textContent = data.assumed;
  byId("notes").append(...data.notes.map((note) => element("li", `At ${data.percent[data.asked]}: ${note}.`)));
  if (!data.new) { byId("new").hidden = true; }
  if (!data.backtest) { byId("backtest").hidden = true; byId("sizes").hidden = true; }
  fill(byId("settings-table"), null, ["setting", "value"], Object.entries(data.settings).map(([key, value]) => [key, element("code", value)]));
  showModel();
  show(data.asked);
  // On paper, what is folded would be lost, and pictures must fit the sheet.
  const pictures = () => document.querySelectorAll(".picture");
  window.addEventListener("beforeprint", () => {
    document.querySelectorAll("details").forEach((one) => { one.open = true; });
    pictures().forEach((one) => one.data && Plotly.relayout(one, { width: Math.min(one.clientWidth, 640) }));
  });
  window.addEventListener("afterprint", () => pictures().forEach((one) => one.data && Plotly.relayout(one, { width: null, autosize: true })));
  document.body.dataset.ready = "yes";
})();
