"use strict";
// A view and nothing else: every number was computed beforehand, level by level. Whether something
// is in a set is a comparison of two whole numbers, the place of the level and that of its entry.
(() => {
  const data = JSON.parse(document.getElementById("contents").textContent);
  const states = data.states;
  const byId = (id) => document.getElementById(id);
  const BLUES = [[0, "#f1f1f1"], [0.2, "#f1f1f1"], [0.2, "#c6dbef"], [0.6, "#6baed6"], [1, "#08306b"]];
  const PALE = [[0, "#f7f7f7"], [1, "#9ecae1"]]; // on which black can be read
  const TRUTH = "#d95f02";
  const OURS = "#08519c";
  const FONT = { family: "system-ui, 'Segoe UI', Roboto, 'Liberation Sans', sans-serif", size: 13, color: "#1b1f24" };
  const CONFIG = { responsive: true, displaylogo: false, displayModeBar: false };
  const ROWS = 200; // steps that are spelled out
  const AIMED = data.exact ? "promised" : "aimed at";
  const JUDGED = data.guarantee === "steps" ? "share of steps right" : "share covered";
  const JUDGED_HOW = `${JUDGED} [95 % interval]`;
  // Where states have levels of their own, what was promised on average over the windows.
  const promised = (found, place) => found.promised ?? data.levels[place];
  const OWN = data.given === "present state" ? "in" : "ends in"; // the state that has the level
  const KIND = data.guarantee === "all" ? "p-value" : "probability by the model";

  // ---- words

  const number = (x, digits = 3) => (x === null || x === undefined ? "–" : x >= 1e6 ? x.toExponential(1) : x.toFixed(digits));
  const whole = (n) => n.toLocaleString("en");
  const many = (n, one, more = `${one}s`) => `${whole(n)} ${n === 1 ? one : more}`;
  const share = (s) => number(s.coverage) + (s.low === null ? "" : ` [${number(s.low)}, ${number(s.high)}]`);
  const letters = (text) => [...String(text).replace(/\s+/g, " ")]; // no half characters
  const cut = (text, most) => (letters(text).length <= most ? letters(text).join("") : `${letters(text).slice(0, most - 1).join("")}…`);
  // Names for which there is little room: the beginning, both ends or the end of each, whatever
  // tells them apart.
  function shortened(labels, most = 14) {
    const ways = [
      (all) => `${all.slice(0, most - 1).join("")}…`,
      (all) => `${all.slice(0, most - 7).join("")}…${all.slice(-6).join("")}`,
      (all) => `…${all.slice(1 - most).join("")}`,
    ].map((way) => labels.map((label) => (letters(label).length <= most ? letters(label).join("") : way(letters(label)))));
    const found = ways.find((names) => new Set(names).size === names.length);
    return (found || ways[0].map((name, k) => (letters(labels[k]).length <= most ? name : `${name} ${k + 1}`))).map(plain);
  }
  // Plotly reads tags and formulas in text; a label is not to be taken for one.
  const plain = (text) => String(text).replace(/&/g, "&amp;").replace(/</g, "&lt;").replace(/>/g, "&gt;").replace(/\$/g, "&#36;");
  const short = shortened(states);
  const tipped = states.map((name) => plain(cut(name, 30)));
  const places = states.map((_, k) => k);

  // ---- elements

  function element(tag, text, attributes = {}) {
    const made = document.createElement(tag);
    if (text !== null) made.textContent = text;
    for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
    return made;
  }

  function fill(table, head, rows) {
    table.replaceChildren();
    const top = table.createTHead().insertRow();
    for (const text of head) top.append(element("th", text, { scope: "col" }));
    const body = table.createTBody();
    for (const [first, ...cells] of rows) {
      const row = body.insertRow();
      row.append(element("th", first, { scope: "row" }));
      for (const cell of cells) {
        if (cell instanceof Node) row.insertCell().append(cell);
        else row.insertCell().textContent = cell;
      }
    }
  }

  // ---- pictures

  const narrow = () => window.innerWidth < 640;
  const axis = (title, more = {}) => ({ title: { text: title }, automargin: true, zeroline: false, gridcolor: "#e6e9ec", fixedrange: true, ...more });
  // Names where there is room for each, every second, third … name where there is not.
  function named(labels, most, more) {
    const every = Math.ceil(labels.length / most);
    const kept = labels.map((_, k) => k).filter((k) => k % every === 0);
    return axis("", { tickvals: kept, ticktext: kept.map((k) => labels[k]), showgrid: false, ...more });
  }
  const stateAxis = () => named(short, 24, { range: [states.length - 0.5, -0.5] });
  // Above the picture, on as many lines as it takes.
  const legend = { orientation: "h", x: 0, y: 1.02, yanchor: "bottom" };
  const rows = (n) => Math.min(Math.max(90 + 30 * n, 170), 620);

  function draw(id, traces, more, height, words) {
    const box = byId(id);
    box.setAttribute("aria-label", words);
    return Plotly.react(box, traces, {
      font: FONT, height, margin: { l: 10, r: 10, t: 10, b: 40 }, paper_bgcolor: "#fff", plot_bgcolor: "#fff",
      hoverlabel: { bgcolor: "#fff", bordercolor: "#5d6670", font: FONT, align: "left" }, dragmode: false, showlegend: false, ...more,
    }, CONFIG);
  }

  // Cells of steps and states: dark where the p-value is large, grey where the state is out. What
  // a cell tells of itself does not change with the level, and is written once.
  function cells(first, pValues, begin, kind) {
    const tips = places.map((state) => first.map((row, k) => {
      const from = row[state] < data.levels.length ? `in the set from level ${data.percent[row[state]]} on` : "in the set at no level shown";
      const p = pValues ? `${kind} ${number(pValues[k][state], 4)}<br>` : "";
      return `step ${whole(begin + k + 1)}: ${tipped[state]}<br>${p}${from}`;
    }));
    const x = first.map((_, k) => begin + k + 1);
    return (place) => ({
      type: "heatmap", x, y: places, text: tips, hoverinfo: "text", zmin: -0.25, zmax: 1, colorscale: BLUES, showscale: false,
      z: places.map((state) => first.map((row, k) => (row[state] <= place ? (pValues ? pValues[k][state] : 0.6) : -0.25))),
      xgap: first.length <= (narrow() ? 20 : 60) ? 2 : 0, ygap: states.length <= 24 ? 2 : 0,
    });
  }
  const newCells = data.new && cells(data.new.first, data.new.p_values, data.new.lag, KIND);
  const pastCells = data.backtest && cells(data.backtest.drawn.first, data.backtest.drawn.p_values, data.backtest.drawn.begin, "p-value");

  // ---- the sets that were asked for

  function showNew(place) {
    const found = data.new;
    if (!found) return;
    const sets = found.first.map((row) => places.filter((state) => row[state] <= place));
    const width = sets.reduce((sum, set) => sum + set.length, 0) / sets.length;
    const one = found.steps === 1;
    const size = found.counts && found.counts[place];
    const lines = [];
    if (one) lines.push(`${whole(sets[0].length)} of ${many(states.length, "state")} ${sets[0].length === 1 ? "is" : "are"} possible.`);
    else {
      if (found.counts) lines.push(`${whole(size)} of ${many(states.length ** found.steps, "sequence")} ${size === 1 ? "is" : "are"} possible.`);
      lines.push(`${number(width, 2)} of ${many(states.length, "state")} per step on average.`);
    }
    if (!width) lines.push("The set is empty: the observations are unusual, or the level is low.");
    if (found.filled[place]) lines.push(`${data.guarantee === "all" ? "The set was empty" : "At some steps the set was empty"}: the observations are unusual, or the level is low. The most plausible ${data.guarantee === "all" ? "sequence" : "state"} is shown.`);
    if (found.observed < found.steps) lines.push(found.observed ? `Only the first ${many(found.observed, "step")} ${found.observed === 1 ? "is" : "are"} observed so far.` : "A forecast: none of the steps is observed yet.");
    byId("new-summary").textContent = `At ${data.percent[place]}: ${lines.join(" ")}`;
    draw("new-picture", [newCells(place)], {
      xaxis: axis("step", { showgrid: false, dtick: found.steps <= 12 ? 1 : undefined }), yaxis: stateAxis(),
    }, rows(states.length), `States possible at each of ${many(found.steps, "step")}; the table below says the same.`);
    const seen = found.seen.some(Boolean);
    fill(byId("new-steps"), ["step", ...(seen ? ["observed"] : []), "possible states"], sets.slice(0, ROWS).map((set, k) => {
      const box = element("span", set.length ? null : "none");
      for (const state of set) {
        const mark = element("span", null, { class: `state${state === found.best[k] ? " best" : ""}` });
        mark.append(element("span", states[state], { class: "name" }), " ", element("small", number(found.p_values[k][state], 4)));
        box.append(mark, " ");
      }
      return [whole(found.lag + k + 1), ...(seen ? [found.seen[k]] : []), box];
    }));
    byId("new-cut").textContent = found.steps > ROWS ? `The first ${ROWS} steps; the picture has all.` : "";
    const box = byId("new-sequences-box");
    box.hidden = !found.sequences.length || one;
    if (box.hidden) return;
    const members = found.sequences.filter((member) => member.first <= place);
    fill(byId("new-sequences"), ["p-value", ...found.seen.map((_, k) => `step ${found.lag + k + 1}`)].slice(0, 21), members.map((member) =>
      [number(member.p, 4), ...member.codes.map((code) => states[code])].slice(0, 21)));
    const left = found.counts ? size - members.length : null;
    byId("new-more").textContent = (found.steps > 20 ? "The first 20 steps of each are shown. " : "") +
      (left ? `${whole(left)} more, less plausible ones, are possible.` : left === null ? "Of many, the first ones are listed here." : "");
  }

  // ---- backtest

  function verdict(found, place) {
    if (found.low === null) return "";
    const level = promised(found, place);
    const bounds = `the 95 % interval goes from ${number(found.low)} to ${number(found.high)}`;
    if (found.high < level && !data.exact) return `That is below the level (${bounds}); these settings have no guarantee.`;
    if (found.high < level) return `That is significantly less than promised (${bounds}): the assumption may not hold for these data.` +
      (place === data.asked ? "" : " Among many levels, one may fall short by chance.");
    if (found.low > level) return `That is more than the level (${bounds})${data.exact && !data.smoothing ? ": without smoothing, sets are conservative" : ""}.`;
    return `That is compatible with the level (${bounds}).`;
  }

  function summarised(found, ours, place) {
    const windows = found.horizon === 1 ? many(found.windows, "step") : `${many(found.windows, "window")} of ${many(found.horizon, "step")}`;
    const how = found.observed === found.horizon ? "" : found.observed ? `, with the first ${many(found.observed, "step")} of each observed` : ", as forecasts without observations";
    const level = `${AIMED}: ${data.exact ? "at least " : ""}${data.percent[place]}`;
    const came = data.guarantee === "steps"
      ? `The set of a step contained the true state at ${number(ours.coverage)} of the steps (${level}).`
      : data.guarantee === "errors" && data.max_errors
        ? `In ${number(ours.coverage)} of them, at most ${many(data.max_errors, "step")} missed the true state (${level}).`
        : `The set contained the true states in ${number(ours.coverage)} of them (${level}).`;
    return [
      `${windows} with known states ${found.windows === 1 ? "was predicted," : "were predicted, each"} from all rows before it${how}, from row ${whole(found.first_row)} on.`,
      came, verdict(ours, place), ours.unseen ? `${many(ours.unseen, "further window")} ${ours.unseen === 1 ? "has" : "have"} a state that had not occurred before; no set can contain it, and ${ours.unseen === 1 ? "this window is" : "these windows are"} counted separately.` : "",
      ours.share_empty ? `${number(ours.share_empty)} of the ${data.guarantee === "steps" ? "steps" : "sets"} were empty${data.allow_empty ? "" : " and were filled with the most plausible; coverage is that before filling"}.` : "",
      ours.verdict && data.exact && place === data.asked ? `Verdict: ${ours.verdict.words}.` : "",
    ].filter(Boolean).join(" ");
  }

  function showBacktest(place) {
    const found = data.backtest;
    if (!found) return;
    const methods = Object.entries(found.methods);
    const ours = found.methods.definetti[place];
    byId("backtest-summary").textContent = summarised(found, ours, place);
    const by = data.level_by_state ? "by_state" : "by_last_state";
    const where = data.level_by_state ? OWN : "ends in";
    const labels = Object.keys(ours[by]);
    const parts = (name) => [found.methods[name][place], ...labels.map((label) => found.methods[name][place][by][label])];
    const every = methods.map(([name]) => parts(name));
    fill(byId("coverage"), [JUDGED_HOW, ...(data.level_by_state ? [AIMED] : []), ...methods.map(([name]) => name)], every[0].map((one, k) => [
      k ? `${where} ${labels[k - 1]} (${whole(one.windows)})` : `all (${many(one.windows, "window")})`, ...(data.level_by_state ? [number(one.promised)] : []), ...every.map((way) => element("span", share(way[k]), { class: "share" })),
    ]));
    const classic = Boolean(found.methods.classical);
    byId("coverage-note").textContent = [
      classic ? "classical: conformal prediction for exchangeable rows with the same predictor, fixed on the first half of the rows where ours is refitted; without and with the previous state as a feature." : "",
      `Level guaranteed: ${methods.map(([name]) => `${name} ${found.methods[name][place].guaranteed ? "yes" : "no"}`).join(", ")}.`,
    ].filter(Boolean).join(" ");
    const bars = (name, shift, color, symbol) => {
      const those = parts(name);
      return {
        type: "scatter", mode: "markers", name, x: those.map((one) => one.coverage), y: those.map((_, k) => k + shift), marker: { color, symbol, size: 9 },
        error_x: those[0].low === null ? undefined : { type: "data", symmetric: false, array: those.map((one) => one.high - one.coverage), arrayminus: those.map((one) => one.coverage - one.low), color, thickness: 2 },
        text: those.map((one, k) => `${name}, ${k ? `${where} ${plain(cut(labels[k - 1], 30))}` : "all"}<br>${share(one)} of ${whole(one.windows)}`), hoverinfo: "text",
      };
    };
    draw("states-picture", [
      bars("definetti", classic ? -0.15 : 0, OURS, "circle"),
      ...(classic ? [bars("classical", 0.15, "#777", "square")] : []),
      data.level_by_state
        ? { type: "scatter", mode: "markers", x: parts("definetti").map((one) => one.promised), y: [...labels, ""].map((_, k) => k), marker: { color: TRUTH, symbol: "line-ns-open", size: 18, line: { width: 2 } }, name: AIMED, hoverinfo: "skip" }
        : { type: "scatter", mode: "lines", x: [data.levels[place], data.levels[place]], y: [-0.5, labels.length + 0.5], line: { color: TRUTH, dash: "dash", width: 2 }, name: AIMED, hoverinfo: "skip" },
    ], {
      xaxis: axis(JUDGED, { range: [0, 1.03] }), showlegend: true, legend,
      yaxis: named(["<b>all</b>", ...shortened(labels)], 30, { range: [labels.length + 0.5, -0.5] }),
    }, Math.min(130 + 34 * (labels.length + 1), 900), "Share covered, overall and by last state; the table above says the same.");
    fill(byId("time"), ["windows", JUDGED_HOW], ours.over_time.map((part) => [`${whole(part.first)} to ${whole(part.last)}`, share(part)]));

    const { truth, first, begin } = found.drawn;
    const x = truth.map((_, k) => begin + k + 1);
    const missed = truth.map((code, k) => (code < 0 || first[k][code] > place ? code : null));
    const number_missed = missed.filter((code) => code !== null).length;
    const dots = states.length > 8; // lines up and down would hide the cells
    draw("cells-picture", [
      pastCells(place),
      { type: "scatter", mode: dots ? "markers" : "lines", marker: { color: TRUTH, size: truth.length > 100 ? 3 : 6 }, line: { color: TRUTH, width: truth.length > 100 ? 1.2 : 2, shape: "hvh" }, x, y: truth.map((c) => (c < 0 ? null : c)), name: "true state", hoverinfo: "skip", showlegend: true },
      { type: "scatter", mode: "markers", marker: { symbol: "x", size: 8, color: "#000" }, x, y: missed, name: "true state not in the set", hoverinfo: "skip", showlegend: true },
    ], { xaxis: axis("step of the backtest", { showgrid: false }), yaxis: stateAxis(), showlegend: true, legend }, rows(states.length) + 30,
    `True states and sets of the last ${many(truth.length, "step")}; at ${whole(number_missed)} the true state is outside.`);

    const run = ours.running;
    draw("time-picture", [
      ...(run.low[0] === null ? [] : [{ type: "scatter", x: run.window.concat([...run.window].reverse()), y: run.high.concat([...run.low].reverse()), fill: "toself", fillcolor: "#d9dee3", line: { width: 0 }, name: "95 % interval", hoverinfo: "skip" }]),
      { type: "scatter", mode: "lines", x: run.window, y: run.coverage, line: { color: "#000", width: 2 }, name: `${JUDGED} so far`, hovertemplate: "%{y:.3f} after %{x} windows<extra></extra>" },
      { type: "scatter", mode: "lines", x: [1, found.windows], y: [promised(ours, place), promised(ours, place)], line: { color: TRUTH, dash: "dash", width: 2 }, name: AIMED, hoverinfo: "skip" },
    ], { xaxis: axis("window"), yaxis: axis(JUDGED, { range: [0, 1.03] }), showlegend: true, legend }, 300, "Share of windows covered so far, with its interval.");

    byId("levels-box").hidden = Boolean(data.level_by_state);
    if (data.level_by_state) return;
    const STYLES = { definetti: { color: OURS, dash: "solid" }, classical: { color: "#777", dash: "dot" } };
    const style = (name) => STYLES[name] || { color: "#aaa", dash: name === "repeat last state" ? "longdash" : "dashdot" };
    draw("levels-picture", [
      { type: "scatter", mode: "lines", x: data.levels, y: data.levels, line: { color: TRUTH, dash: "dash", width: 2 }, name: AIMED, hoverinfo: "skip" },
      ...methods.map(([name, levels]) => ({
        type: "scatter", mode: "lines", x: data.levels, y: levels.map((one) => one.coverage), line: { ...style(name), width: 2 }, name,
        hovertemplate: `${name}: %{y:.3f} at %{x}<extra></extra>`,
      })),
      { type: "scatter", mode: "markers", x: [data.levels[place]], y: [ours.coverage], marker: { size: 11, color: OURS }, hoverinfo: "skip", showlegend: false },
    ], { xaxis: axis("confidence level"), yaxis: axis(JUDGED), showlegend: true, legend }, 320, "Share covered at every confidence level.");
  }

  function showSizes(place) {
    const found = data.backtest;
    if (!found) return;
    const ours = found.methods.definetti[place], classical = found.methods.classical && found.methods.classical[place];
    const said = (one) => `${number(one.mean_states_per_step, 2)} of ${many(states.length, "state")} per step` +
      (one.mean_size === null || found.horizon === 1 ? "" : `, ${number(one.mean_size, 2)} sequences per set`);
    byId("sizes-summary").textContent = `In the backtest, on average: ${said(ours)}.` + (classical ? ` Classical: ${said(classical)}.` : "");
    const bars = (one, name, color) => ({
      type: "bar", x: one.widths.map((_, k) => k), y: one.widths, name, marker: { color },
      hovertemplate: `${name}: %{y:.3f} of steps have %{x} possible states<extra></extra>`,
    });
    draw("sizes-picture", [bars(ours, "definetti", "#2171b5"), ...(classical ? [bars(classical, "classical", "#bbb")] : [])], {
      xaxis: axis("possible states at a step", { dtick: states.length <= 20 ? 1 : undefined }), yaxis: axis("share of steps"), showlegend: Boolean(classical), legend, barmode: "group",
    }, 280, "How often a step has no, one, two and more possible states.");
  }

  // ---- tests of the assumption

  const PICTURES = {
    quantiles: ["Quantiles", "normal quantile", "residual − normal"],
    histogram: ["Histogram", "uniform residual", "density"],
    autocorrelation: ["Autocorrelation", "lag", "correlation"],
  };
  const BANDS = [["simultaneous", "#e2e6ea", "95 % band, all points together"], ["pointwise", "#bac2ca", "95 % band, each point"]];
  // Pictures side by side, or below each other where there is little room: the place of the k-th.
  function grid(k, across, down, gap) {
    const wide = (1 - gap[0] * (across - 1)) / across, high = (1 - gap[1] * (down - 1)) / down;
    const left = (k % across) * (wide + gap[0]), top = 1 - Math.floor(k / across) * (high + gap[1]);
    return { x: [left, Math.min(left + wide, 1)], y: [Math.max(top - high, 0), top], n: k ? String(k + 1) : "" };
  }
  const heading = (place, text) => ({ text, x: place.x[0], y: place.y[1], xref: "paper", yref: "paper", xanchor: "left", yanchor: "bottom", showarrow: false });

  function residualTraces(kind, curve, n) {
    const steps = kind === "histogram";
    const less = (row) => (kind === "quantiles" ? row.map((y, i) => y - curve.at[i]) : row);
    const stairs = (row) => (steps ? row.flatMap((y) => [y, y]) : less(row));
    const at = steps ? curve.at.flatMap((_, i) => [i / curve.at.length, (i + 1) / curve.at.length]) : curve.at;
    const common = { type: "scatter", xaxis: `x${n}`, yaxis: `y${n}`, showlegend: n === "", hoverinfo: "skip" };
    const back = [...at].reverse(), expected = steps ? 1 : 0;
    const out = curve.at.map((_, i) => i).filter((i) => curve.outside[i]), own = steps ? curve.observed : less(curve.observed);
    return [
      ...BANDS.map(([key, color, name]) => ({
        ...common, x: at.concat(back), y: stairs(curve[key][1]).concat(stairs(curve[key][0]).reverse()),
        mode: "lines", fill: "toself", fillcolor: color, line: { width: 0 }, name,
      })),
      { ...common, mode: "lines", x: [at[0], at[at.length - 1]], y: [expected, expected], line: { color: TRUTH, dash: "dash", width: 1.5 }, name: "expected" },
      { ...common, mode: kind === "autocorrelation" ? "lines+markers" : "lines", x: at, y: stairs(curve.observed), line: { color: "#000", width: 1.5 }, marker: { size: 5 }, name: "observed" },
      { ...common, mode: "markers", x: out.map((i) => curve.at[i]), y: out.map((i) => own[i]), marker: { symbol: "x", size: 8, color: "#000" }, name: "outside", showlegend: n === "" && out.length > 0 },
    ];
  }

  function showResiduals(found) {
    const box = byId("trust-residuals");
    Object.entries(found.residuals).forEach(([name, one], index) => {
      const title = `Residuals of ${name.startsWith("column ") ? name : `the ${name}`}`, id = `residuals-${index}`;
      box.append(element("h3", title));
      if (!index) {
        box.append(element("p", "Forecast pseudo-residuals: the rank of each step among those before it, as a normal deviate; of the next state among those that followed the same state, of an observation among those of its own state. " +
          `If the assumption holds, the line leaves the pale band anywhere with probability 0.05 at most; the dark band is for each point alone. Both are exact, from ${many(one.draws, "rearrangement")}.`, { class: "small" }));
      }
      box.append(element("div", null, { id, class: "picture", role: "img" }));
      const across = narrow() ? 1 : 3, down = 3 / across, more = { showlegend: true, legend: { ...legend, y: narrow() ? 1.06 : 1.14 }, annotations: [] };
      const traces = Object.entries(PICTURES).flatMap(([kind, [words, x, y]], k) => {
        const place = grid(k, across, down, [0.12, 0.17]);
        more[`xaxis${place.n}`] = axis(x, { domain: place.x, anchor: `y${place.n}` });
        more[`yaxis${place.n}`] = axis(y, { domain: place.y, anchor: `x${place.n}`, ...(kind === "histogram" ? { rangemode: "tozero" } : {}) });
        more.annotations.push(heading(place, `<b>${words}</b>`));
        return residualTraces(kind, one[kind], place.n);
      });
      const outside = Object.keys(PICTURES).filter((kind) => one[kind].outside.some(Boolean));
      draw(id, traces, { ...more, margin: { l: 10, r: 10, t: 30, b: 40 } }, narrow() ? 860 : 300,
        `${title}: quantiles, histogram and autocorrelation; ${outside.length ? `outside of the band in ${outside.join(" and ")}` : "all inside of their bands"}.`);
    });
  }

  function showCheck() {
    const found = data.check;
    if (!found) return;
    const fails = (name) => found.failures.includes(name);
    const tests = Object.entries(found.tests);
    byId("trust-verdict").textContent = !found.testable
      ? `The tests are not conclusive. ${found.verdict}`
      : found.rejected
      ? `Evidence against the assumption that ${found.assumption} (p = ${String(Number(found.p_value.toPrecision(3)))}). The guarantee is not exact for such rows; the backtest below shows the coverage of past sets.`
      : `No evidence against the assumption that ${found.assumption} (p = ${String(Number(found.p_value.toPrecision(3)))}).`;
    const remedies = found.rejected ? found.failures.map((name) => element("li", found.tests[name].verdict)) : [];
    if (remedies.length > 1) remedies[1].prepend("The other failures may follow from the first: "); // which is the strongest
    byId("trust-remedies").append(...remedies);
    const asks = (words) => (narrow() ? [] : [words]); // on a phone, what was found says as much
    fill(byId("trust-tests"), ["test", ...asks("question"), "p", "adjusted", "what was found"], tests.map(([name, one]) => [
      name, ...asks(one.question), number(one.p_value), number(one.adjusted_p_value), one.effect,
    ]));
    byId("trust-note").textContent = [
      `Exact tests of ${many(found.rows, "row")}, from ${many(found.resamples, "rearrangement")}; a test fails if its p-value, adjusted for all tests, is ${found.alpha} or less.`,
      ...Object.entries(found.untested).map(([name, why]) => `Not tested: ${name}, ${why}.`),
    ].join(" ");
    showResiduals(found);
    const across = narrow() ? 2 : Math.min(3, tests.length), down = Math.ceil(tests.length / across), more = { annotations: [], bargap: 0 };
    const traces = tests.flatMap(([name, one], k) => {
      const place = grid(k, across, down, [0.06, 0.32 / down]), { counts, edges } = found.drawn[name];
      const middles = counts.map((_, i) => (edges[i] + edges[i + 1]) / 2), top = Math.max(1, ...counts) * 1.1;
      const common = { xaxis: `x${place.n}`, yaxis: `y${place.n}`, hoverinfo: "skip" };
      more[`xaxis${place.n}`] = axis("", { domain: place.x, anchor: `y${place.n}`, nticks: 4 });
      more[`yaxis${place.n}`] = axis("", { domain: place.y, anchor: `x${place.n}`, showticklabels: false, showgrid: false, range: [0, top] });
      const words = plain(`${name}: p = ${Number(one.p_value.toPrecision(2))}`);
      more.annotations.push(heading(place, fails(name) ? `<b>${words}</b>` : words));
      return [
        { ...common, type: "bar", x: middles, y: counts, width: edges.length > 1 ? edges[1] - edges[0] : undefined, marker: { color: "#bac2ca" } },
        { ...common, type: "scatter", mode: "lines+markers", x: [one.statistic, one.statistic], y: [0, top * 0.95], line: { color: "#000", width: 2, dash: fails(name) ? "solid" : "dash" }, marker: { symbol: "triangle-down", size: [0, 10], color: "#000" } },
      ];
    });
    draw("trust-statistics", traces, { ...more, margin: { l: 10, r: 10, t: 30, b: 30 } }, 40 + 170 * down, "Each statistic among those of rearrangements; the table above says how many are as large.");
  }

  // ---- estimates

  // A table as a picture: rows are states.
  function heat(id, columns, values, shades, tips, words, means) {
    const written = shortened(columns);
    const longest = Math.max(...columns.map((column) => Math.min([...column].length, 14)));
    const room = columns.length * (narrow() ? 40 : 48) <= (narrow() ? 330 : 860);
    const bound = Math.max(0.01, ...shades.flat().map((x) => Math.abs(x ?? 0)));
    draw(id, [{
      type: "heatmap", z: shades, x: columns.map((_, k) => k), y: places, showscale: false, xgap: 2, ygap: 2, colorscale: PALE,
      text: values.map((row) => row.map((x) => (x === null ? "" : means ? String(Number(x.toPrecision(3))) : number(x, 2)))),
      texttemplate: room ? "%{text}" : undefined, textfont: { color: "#111" },
      customdata: tips, hovertemplate: "%{customdata}<extra></extra>", zmin: means ? -bound : 0, zmax: means ? bound : 1,
    }], {
      xaxis: named(written, 30, { side: "top" }), yaxis: stateAxis(), margin: { l: 10, r: 10, t: 40, b: 10 },
    }, rows(states.length) + 6 * longest, words);
  }

  function showModel() {
    const { transition, counts, emissions, prior, columns_left_out: left } = data.model;
    byId("model-from").textContent = `From ${data.model.from}.`;
    byId("prior").textContent = prior ? `${prior} is added to every count.` : "No prior is added to the counts.";
    heat("transition-picture", states, transition, transition, transition.map((row, i) => row.map((p, j) =>
      `${tipped[i]} → ${tipped[j]}<br>probability ${number(p, 4)}<br>seen ${many(counts[i][j], "time")}`)), "Estimated transition probabilities; the table below says the same.", false);
    fill(byId("transition"), ["from \\ to", ...states], transition.map((row, i) => [states[i], ...row.map((p, j) => element("span", number(p, 4), { title: `seen ${many(counts[i][j], "time")}` }))]));
    const box = byId("emissions");
    emissions.forEach((table, k) => {
      const id = `emission-${k}`, means = table.kind === "means";
      box.append(element("h3", table.title));
      box.append(element("p", means ? "Sample means. Dark: high for this measurement; light: low." : "Sample shares.", { class: "small" }));
      box.append(element("div", null, { id, class: "picture", role: "img" }));
      const details = element("details", null), inner = element("table", null, { id: `${id}-table` });
      const wide = element("div", null, { class: "wide", tabindex: "0", role: "region", "aria-label": table.title });
      wide.append(inner);
      details.append(element("summary", "As a table"), wide);
      box.append(details);
      const digits = (x) => (x === null ? "–" : means ? String(Number(x.toPrecision(5))) : number(x, 4));
      fill(inner, ["state", ...table.columns], table.values.map((row, i) => [states[i], ...row.map(digits)]));
      heat(id, table.columns, table.values, table.shades, table.values.map((row, i) => row.map((x, j) => `${tipped[i]}, ${plain(cut(table.columns[j], 30))}<br>${means ? "mean" : "share"} ${digits(x)}`)), `${table.title}; the table below says the same.`, means);
    });
    if (left) box.append(element("p", `${many(left, "further column")} ${left === 1 ? "is" : "are"} not shown.`, { class: "small" }));
  }

  // On paper, what is folded would be lost, and pictures must fit the sheet.
  const pictures = () => document.querySelectorAll(".picture");
  window.addEventListener("beforeprint", () => {
    document.querySelectorAll("details").forEach((one) => { one.open = true; });
    pictures().forEach((one) => one.data && Plotly.relayout(one, { width: Math.min(one.clientWidth, 640) }));
  });
  window.addEventListener("afterprint", () => pictures().forEach((one) => one.data && Plotly.relayout(one, { width: null, autosize: true })));

  // ---- many series

  const DRAWN = 40; // series in the picture

  function showSeries() {
    const found = data.series;
    if (!found) return;
    byId("series").hidden = false;
    const sentence = (words) => `${words[0].toUpperCase()}${words.slice(1)}.`;
    byId("series-verdict").textContent = sentence(found.verdict);
    byId("series-levels").replaceChildren(...found.verdicts.slice(1).map((words) => element("p", sentence(words))));
    byId("series-promise").textContent = `Guarantee: ${found.says}. Windows of ${many(found.horizon, "step")}${found.source ? `, each predicted from ${found.source}` : ""}.`;
    const long = found.horizon > 1; // else as many sequences as states
    fill(byId("series-table"), ["series", "verdict", found.shared_calibration ? "covered" : "covered [95 % interval]", "windows", "rows", ...(long ? ["sequences per set"] : []), "states per step", "empty before filling"], found.listed.map((one) => [
      one.series, one.verdict, element("span", share(one), { class: "share" }), whole(one.windows), whole(one.rows),
      ...(long ? [number(one.mean_size, 2)] : []), number(one.states_per_step, 2), number(one.share_empty),
    ]));
    const hidden = found.number - found.listed.length;
    byId("series-more").textContent = (found.shared_calibration ? "Least covered first. " : "Worst first, by the p-value of the shortfall. ") + (hidden ? `${whole(hidden)} more have better coverage.` : "");
    const some = found.listed.filter((one) => one.windows).slice(0, DRAWN);
    byId("series-picture").hidden = !some.length;
    if (some.length) {
      const bounds = some.filter((one) => one.low !== null).length === some.length;
      draw("series-picture", [
        {
          type: "scatter", mode: "markers", name: "share covered", x: some.map((one) => one.coverage), y: some.map((_, k) => k), marker: { color: OURS, size: 9 },
          error_x: bounds ? { type: "data", symmetric: false, array: some.map((one) => one.high - one.coverage), arrayminus: some.map((one) => one.coverage - one.low), color: OURS, thickness: 2 } : undefined,
          text: some.map((one) => `${plain(cut(one.series, 30))}<br>${share(one)} of ${whole(one.windows)}`), hoverinfo: "text",
        },
        { type: "scatter", mode: "lines", x: [found.promised, found.promised], y: [-0.5, some.length - 0.5], line: { color: TRUTH, dash: "dash", width: 2 }, name: "promised", hoverinfo: "skip" },
      ], {
        xaxis: axis("share covered", { range: [0, 1.03] }), showlegend: true, legend,
        yaxis: named(shortened(some.map((one) => one.series)), 30, { range: [some.length - 0.5, -0.5] }),
      }, Math.min(120 + 26 * some.length, 900), "Share covered by series, the worst first; the table below says the same.");
    }
    byId("asked").textContent = `${whole(found.number)} series, ${many(found.rows, "labelled row")}.`;
    byId("series-shown").textContent = found.shown === null ? "" : `Series ${found.shown}, predicted from its own rows`;
    byId("series-shown").hidden = byId("series-asked").hidden = found.shown === null;
  }

  function showSettings() {
    fill(byId("settings-table"), ["setting", "value"], Object.entries(data.settings).map(([key, value]) => [key, element("code", value)]));
  }

  showSeries();
  if (data.levels === null) { // all series and none in full
    document.querySelectorAll(".control, .promise, #new, #trust, #backtest, #sizes, #model, #skip").forEach((one) => one.remove());
    showSettings();
    document.body.dataset.ready = "yes";
    return;
  }

  // ---- the level

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
  slider.hidden = byId("reset").hidden = data.levels.length === 1;
  // A slider speaks more often than pictures can be drawn: once a frame is enough.
  let waiting = false;
  slider.addEventListener("input", () => {
    if (waiting) return;
    waiting = true;
    requestAnimationFrame(() => { waiting = false; show(Number(slider.value)); });
  });
  byId("reset").addEventListener("click", () => { slider.value = data.asked; show(data.asked); slider.focus(); });
  // By hand, since inside of another page a link may lead out of this one.
  byId("skip").addEventListener("click", (event) => { event.preventDefault(); byId("new").focus(); });
  byId("skip").hidden = !data.new;

  function asked() {
    const found = data.new;
    if (!found) return "no new rows";
    if (!found.observed) return `${many(found.steps, "step")} to forecast`;
    return found.observed < found.steps ? `${many(found.steps, "step")} to predict, ${whole(found.observed)} of them observed` : `${whole(found.steps)} new rows`;
  }
  byId(data.series ? "series-asked" : "asked").textContent = `${many(data.labelled, "labelled row")}, ${asked()}. Requested level: ${data.percent[data.asked]}.`;
  document.querySelectorAll(".kind").forEach((one) => { one.textContent = KIND; });
  byId("assumed").textContent = data.assumed;
  byId("notes").append(...data.notes.map((note) => element("li", `${note[0].toUpperCase()}${note.slice(1)}.`)));
  byId("backtest-title").textContent = "Backtest: coverage of past sets";
  if (!data.new) byId("new").hidden = true;
  if (!data.check) byId("trust").hidden = true;
  if (!data.backtest) { byId("backtest").hidden = true; byId("sizes").hidden = true; }
  showSettings();
  showModel();
  showCheck();
  show(data.asked);
  document.body.dataset.ready = "yes";
})();
