"use strict";
(() => {
  const data = JSON.parse(document.getElementById("data").textContent);
  const at = id => document.getElementById(id);
  const make = (name, text, more = {}) => Object.assign(document.createElement(name), text === undefined ? {} : { textContent: text }, more);
  const clock = s => {
    const two = n => String(n).padStart(2, "0"), h = Math.floor(s / 3600), m = Math.floor(s / 60) % 60, r = s % 60;
    return "+" + (h ? `${h}h${two(m)}m${two(r)}s` : m ? `${m}m${two(r)}s` : `${r}s`);
  };
  const upper = text => text.charAt(0).toUpperCase() + text.slice(1);

  // A run as a list of worlds: facts by name, after each step.
  const worlds = run => {
    const now = new Map(run.start.map(it => [it.name, it.value]));
    return run.steps.map(step => {
      step.changes.forEach(it => now.set(it.name, it.is));
      return new Map(now);
    });
  };
  const run = data.run, twin = data.twin && data.twin.run;
  const seen = worlds(run), seenInTwin = twin && worlds(twin);
  const order = run.start.map(it => [it.scope, it.name]);
  const known = new Set(order.map(it => it[1]));
  run.steps.concat(twin ? twin.steps : []).forEach(step => step.changes.forEach(it => {
    if (!known.has(it.name)) { known.add(it.name); order.push([it.scope, it.name]); }
  }));

  // The twin is laid beside the run by visible changes: after as many of them, as many steps on.
  const spans = run => {
    const first = [0], last = [0];
    run.steps.forEach((it, i) => { if (it.event) first.push(i); last[first.length - 1] = i; });
    return { first, last };
  };
  const mine = spans(run), its = twin && spans(twin);
  const beside = step => {
    if (!twin) return -1;
    const n = mine.first.findLastIndex(it => it <= step);
    if (step === run.steps.length - 1 || n >= its.first.length) return twin.steps.length - 1;
    return Math.min(its.first[n] + step - mine.first[n], its.last[n]);
  };

  // Lanes: the columns of a timeline.
  const acts = new Set(run.steps.map(it => it.lane)), lanes = data.lanes.filter(it => acts.has(it.id));
  const made = new Map();
  run.deviations.forEach((it, i) => made.set(it.before, (made.get(it.before) || []).concat([[i + 1, it.text]])));
  const noReturn = data.no_return.step, broken = data.verdict.step;
  const outside = it => it.scope === "api" || it.scope === "slot" || it.scope === "process";
  const shown = run.steps.map((step, i) =>
    step.changes.some(outside) || step.broken.length > 0 || made.has(i) || i === noReturn || i === broken);
  const every = () => at("all").checked;
  const isShown = i => every() || shown[i] || i === here;

  let here = 0;
  const body = at("lanes").tBodies[0], heads = make("tr");
  for (const [text, name] of [["step", "num"], ["time", "time"]]) heads.append(make("th", text, { className: name, scope: "col" }));
  lanes.forEach(it => heads.append(make("th", it.id, { className: "lane", scope: "col", title: it.meaning })));
  heads.append(make("th", "what it does, and what changes", { scope: "col" }));
  at("lanes").tHead.append(heads);
  const width = lanes.length + 3;

  const note = (kind, text) => {
    const row = make("tr", undefined, { className: kind });
    row.append(make("td", text, { colSpan: width }));
    body.append(row);
  };
  const fold = (from, to) => {
    if (to <= from) return;
    const row = make("tr", undefined, { className: "fold" }), cell = make("td", undefined, { colSpan: width });
    const many = to - from, button = make("button", `${many} step${many > 1 ? "s" : ""} that nobody outside sees`, { type: "button" });
    button.addEventListener("click", () => { at("all").checked = true; draw(); go(from); });
    cell.append(button); row.append(cell); body.append(row);
  };
  const draw = () => {
    body.replaceChildren();
    let folded = 0;
    run.steps.forEach((step, i) => {
      if (!isShown(i)) return;
      fold(folded, i); folded = i + 1;
      (made.get(i) || []).forEach(([n, text]) => note("note", `Deviation ${n}: ${text}`));
      if (i === noReturn) note("return", data.no_return.exact ? "Point of no return: the next step leaves no way back" : "No way back, at the latest after the next step");
      const row = make("tr", undefined, { className: "step" });
      row.dataset.step = i;
      row.append(make("td", i, { className: "num" }), make("td", i && run.steps[i - 1].time === step.time ? "" : clock(step.time), { className: "time" }));
      lanes.forEach(it => {
        const cell = make("td", undefined, { className: "lane" });
        if (it.id === step.lane) cell.append(make("span", step.broken.length ? "✖" : "●", { className: `dot ${step.class} ${step.broken.length ? "bad" : ""}` }));
        row.append(cell);
      });
      const what = make("td");
      what.append(make("span", step.action, { className: `action ${step.class}`, title: step.sentence }));
      step.changes.filter(it => every() || outside(it)).forEach(it => what.append(make("span", `${it.name}: ${it.was} → ${it.is}`, { className: "change" })));
      row.append(what); body.append(row);
      row.addEventListener("click", () => go(i));
      step.broken.forEach(id => note("broken", `${id} is broken here`));
    });
    fold(folded, run.steps.length);
    mark();
  };

  const quiet = new Set(["", "none", "no", "idle", "up"]); // shown only with every step
  const scopes = { api: "Objects of the API server", slot: "Slots", process: "Processes", goroutine: "What node-agents are doing", view: "What they know" };
  const mark = () => {
    body.querySelectorAll("tr.here").forEach(it => { it.classList.remove("here"); it.removeAttribute("aria-current"); });
    const row = body.querySelector(`tr[data-step="${here}"]`);
    if (row) {
      row.classList.add("here"); row.setAttribute("aria-current", "step");
      const pane = at("lanes").parentElement, top = row.offsetTop - pane.clientHeight / 2;
      pane.scrollTop = Math.max(0, top);
    }
    const step = run.steps[here], other = beside(here);
    at("slider").value = here;
    at("slider").setAttribute("aria-valuetext", `step ${here} of ${run.steps.length - 1}, ${step.action}`);
    at("now").replaceChildren(make("strong", `Step ${here}, ${clock(step.time)}: `), `${step.actor}: ${step.sentence} `, make("span", step.action, { className: "action" }));
    at("twin-head").textContent = twin ? `passing twin, step ${other} at ${clock(twin.steps[other].time)}` : "no passing twin";
    const changed = new Set(step.changes.map(it => it.name)), rows = [];
    let group = "";
    [...order].sort((a, b) => Object.keys(scopes).indexOf(a[0]) - Object.keys(scopes).indexOf(b[0])).forEach(([scope, name]) => {
      const value = seen[here].get(name) ?? "", its = twin ? seenInTwin[other].get(name) ?? "" : "";
      if (quiet.has(value) && quiet.has(its) && !changed.has(name) && (!every() || value + its === "")) return;
      if (scope !== group) {
        const head = make("tr", undefined, { className: "group" });
        head.append(make("th", scopes[scope] || scope, { colSpan: 3, scope: "rowgroup" })); rows.push(head); group = scope;
      }
      const row = make("tr"); row.dataset.fact = name;
      if (twin && value !== its) row.className = "differs";
      const cell = make("td", undefined, { className: "value" });
      cell.append(changed.has(name) ? make("mark", value) : value);
      row.append(make("th", name, { scope: "row" }), cell, make("td", its, { className: "value twin" }));
      rows.push(row);
    });
    at("world").tBodies[0].replaceChildren(...rows);
  };
  const go = i => {
    here = Math.max(0, Math.min(run.steps.length - 1, i));
    if (body.querySelector(`tr[data-step="${here}"]`)) mark(); else draw();
    history.replaceState(null, "", `#step=${here}`);
  };
  const move = by => { let i = here + by; while (i > 0 && i < run.steps.length - 1 && !every() && !shown[i]) i += by; go(i); };
  const deviation = () => { const all = [...made.keys()].sort((a, b) => a - b); go(all.find(it => it > here) ?? all[0] ?? here); };

  const jump = (text, step) => {
    if (step === null || step === undefined) return;
    const button = make("button", text, { type: "button" });
    button.addEventListener("click", () => go(step)); at("jumps").append(button, " ");
  };
  run.deviations.forEach((it, i) => jump(`Deviation ${i + 1}`, it.before));
  jump("No return", noReturn);
  jump(upper(data.invariant.id), broken);
  at("slider").max = run.steps.length - 1;
  at("slider").addEventListener("input", it => go(Number(it.target.value)));
  const keys = {
    first: () => go(0), previous: () => move(-1), next: () => move(1), last: () => go(run.steps.length - 1),
  };
  Object.entries(keys).forEach(([id, does]) => at(id).addEventListener("click", does));
  const pressed = {
    ArrowLeft: keys.previous, k: keys.previous, ArrowRight: keys.next, j: keys.next, Home: keys.first, End: keys.last, d: deviation,
    p: () => noReturn !== null && go(noReturn), v: () => go(broken), a: () => { at("all").checked = !every(); draw(); },
  };
  document.addEventListener("keydown", it => {
    if (it.ctrlKey || it.metaKey || it.altKey || (it.target.tagName === "INPUT" && it.target.id !== "all")) return;
    if (pressed[it.key]) { pressed[it.key](); it.preventDefault(); }
  });
  at("all").addEventListener("change", draw);
  at("copy").addEventListener("click", async () => {
    const field = at("command");
    field.select();
    try { await navigator.clipboard.writeText(field.value); } catch { document.execCommand("copy"); }
    at("copied").textContent = "Copied";
  });

  at("player").hidden = false;
  const asked = /^#step=(\d+)$/.exec(location.hash);
  here = asked ? Math.min(Number(asked[1]), run.steps.length - 1) : run.deviations.length ? run.deviations[0].before : 0;
  draw();
})();
