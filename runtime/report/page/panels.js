/* What stands around the chart: controls, hover and selection, histograms, and tables that can be sorted. */
const TABLE_ROWS = 100;
const tip = element("div", {className: "tip", hidden: true});
const details = element("div", {className: "details", hidden: true});
const found = element("output", {});
const arrowsNote = element("span", {className: "key", hidden: true}, "too many dependencies here: zoom in");

function button(text, title, action) {
  const node = element("button", {type: "button", title}, text);
  node.addEventListener("click", action);
  return node;
}

function choice(name, options, chosen, action) {
  const select = element("select", {ariaLabel: name, title: name});
  for (const [value, text] of options) select.append(element("option", {value, selected: value === chosen}, text));
  select.addEventListener("change", () => action(Number(select.value)));
  return select;
}

function tick(text, isOn, action) {
  const box = element("input", {type: "checkbox", checked: isOn});
  box.addEventListener("change", () => (action(box.checked), redraw()));
  return element("label", {}, box, text);
}

/* Lights up bars: test(i) says which; null: all alike. */
function mark(test) {
  const s = chart.s;
  chart.matches = 0;
  chart.marks = test ? new Uint8Array(s.count) : null;
  if (test) for (let i = 0; i < s.count; i++) if (test(i)) chart.marks[i] = 1, chart.matches++;
  found.textContent = test ? chart.matches + " of " + s.count : "";
  redraw();
}

function search(text) {
  const wanted = text.trim().toLowerCase();
  chart.path = null;
  criticalBox.checked = false;
  legendOff();
  if (!wanted) {
    mark(null);
    return fillTasks();
  }
  const hits = new Uint8Array(data.task_kind.length), hitJobs = jobs.map((_, k) => jobName(k).toLowerCase().includes(wanted));
  for (let t = 0; t < hits.length; t++) hits[t] = taskName(t).toLowerCase().includes(wanted);
  mark(i => hits[chart.s.task[i]] || (jobs.length > 0 && hitJobs[chart.s.group[i]]));
  fillTasks();
}

function light(path) {
  const set = new Set(path);
  chart.path = path;
  mark(i => set.has(i));
}

function criticalPath(isOn) {
  legendOff();
  chart.path = null;
  const group = jobs.length && chart.selected >= 0 ? chart.s.group[chart.selected] : -1;
  if (isOn && chart.s.cause && chart.s.count) light(chain(chart.s, lastBar(chart.s, group)));
  else mark(null);
}

const criticalBox = element("input", {type: "checkbox"});
criticalBox.addEventListener("change", () => criticalPath(criticalBox.checked));

function linkTo(i, bytes) {
  return button(label(chart.s, i) + (bytes ? " (" + bytesText(bytes) + ")" : ""), "select", () => (select(i), show(i)));
}

function links(title, list) {
  const line = element("p", {}, title + " ");
  for (const [i, bytes] of list.slice(0, 12)) line.append(linkTo(i, bytes));
  if (list.length > 12) line.append("…");
  return list.length ? [line] : [];
}

function select(i) {
  const s = chart.s;
  chart.selected = i;
  details.hidden = i < 0;
  details.replaceChildren();
  if (i >= 0) {
    const lines = describe(s, i, chart.other && chart.other.hasBars ? chart.other : null), {before, behind} = neighbours(s, i, 200);
    details.append(element("h3", {}, lines[0]), ...lines.slice(1).map(text => element("p", {}, text)), ...links("inputs from", before),
      ...links("outputs to", behind));
    if (s.cause && s.cause[i] >= 0) {
      const way = element("p", {}, "waited last for ");
      way.append(linkTo(s.cause[i], 0), button("show all that led here", "light up the chain of waits", () => light(chain(s, i))));
      details.append(way);
    }
    if (jobs.length) {
      const ofJob = () => (chart.path = null, mark(k => s.group[k] === s.group[i]));
      const pathOfJob = () => light(chain(s, lastBar(s, s.group[i])));
      details.append(...describeJob(jobs[s.group[i]]).map(text => element("p", {}, jobName(s.group[i]) + " " + text)));
      details.append(button("light up " + jobName(s.group[i]), "the bars of this job", ofJob));
      if (s.cause) details.append(button("what its end waited for", "light up the chain of waits that ends with it", pathOfJob));
    }
  }
  redraw();
}

function hover(event) {
  const at = barAt(event.offsetX, event.offsetY);
  tip.hidden = !at;
  chart.canvas.style.cursor = at ? "pointer" : "grab";
  if (!at) return;
  const other = at[0] === chart.s && chart.other && chart.other.hasBars ? chart.other : null;
  tip.textContent = (at[0] === chart.s ? "" : "“" + at[0].name + "”\n") + describe(at[0], at[1], other).join("\n");
  const box = tip.getBoundingClientRect(), below = event.clientY + 18;
  tip.style.left = Math.max(4, Math.min(event.clientX + 14, innerWidth - box.width - 8)) + "px";
  tip.style.top = (below + box.height > innerHeight ? Math.max(4, event.clientY - box.height - 12) : below) + "px";
}

/* One pointer moves, two zoom, a click selects. */
function listenToPointers() {
  const canvas = chart.canvas, held = new Map();
  let moved = 0, pinch = 0;
  canvas.addEventListener("pointerdown", event => {
    held.set(event.pointerId, event.offsetX);
    moved = 0;
    pinch = 0;
    canvas.setPointerCapture(event.pointerId);
  });
  canvas.addEventListener("pointermove", event => {
    if (!held.has(event.pointerId)) return hover(event);
    const before = held.get(event.pointerId);
    held.set(event.pointerId, event.offsetX);
    tip.hidden = true;
    if (held.size === 1) {
      moved += Math.abs(event.offsetX - before);
      if (moved > 3) pan(before - event.offsetX);
    } else {
      const [a, b] = [...held.values()], distance = Math.max(Math.abs(a - b), 10);
      if (pinch) zoom(pinch / distance, (a + b) / 2);
      pinch = distance;
      moved = 9;
    }
  });
  const end = event => {
    if (!held.delete(event.pointerId) || moved > 3 || event.type !== "pointerup") return;
    const at = barAt(event.offsetX, event.offsetY);
    select(at && at[0] === chart.s ? at[1] : -1);
  };
  for (const type of ["pointerup", "pointercancel"]) canvas.addEventListener(type, end);
  canvas.addEventListener("pointerleave", () => tip.hidden = true);
  canvas.addEventListener("dblclick", event => zoom(.25, event.offsetX));
  canvas.addEventListener("wheel", event => {
    if (event.ctrlKey || event.metaKey) zoom(Math.exp(Math.max(-100, Math.min(100, event.deltaY)) / 200), event.offsetX);
    else if (event.shiftKey || Math.abs(event.deltaX) > Math.abs(event.deltaY)) pan(event.deltaX || event.deltaY);
    else return;
    event.preventDefault();
  }, {passive: false});
}

function listenToKeys() {
  const closer = () => zoom(.7), step = sign => () => pan(sign * chart.plot / 8);
  const keys = {"+": closer, "=": closer, "-": () => zoom(1 / .7), "0": fitAll, ArrowLeft: step(-1), ArrowRight: step(1),
    Home: () => setView(0, chart.to - chart.from), End: () => setView(spanEnd() - (chart.to - chart.from), spanEnd()),
    Escape: () => select(-1)};
  chart.canvas.addEventListener("keydown", event => {
    if (!keys[event.key] || event.ctrlKey || event.metaKey || event.altKey) return;
    keys[event.key]();
    event.preventDefault();
  });
}

function fitAll() {
  setView(0, spanEnd() * 1.015);
}

/* Another schedule is drawn, or another one beside it. */
function change(drawn, other) {
  chart.s = data.schedules[drawn];
  chart.other = other >= 0 && other !== drawn ? data.schedules[other] : null;
  chart.path = null;
  criticalBox.checked = false;
  mark(null);
  select(-1);
  layout();
  fitAll();
  drawFigures();
  fillTasks();
}

function controls() {
  const bar = element("div", {className: "bar"});
  const shown = data.schedules.map((s, k) => [k, s.name]).filter(([k]) => data.schedules[k].hasBars);
  const box = element("input", {type: "search", placeholder: "search tasks", ariaLabel: "search tasks"});
  box.addEventListener("input", () => search(box.value));
  box.addEventListener("keydown", event => {
    const first = chart.marks ? chart.marks.indexOf(1, event.shiftKey ? 0 : chart.selected + 1) : -1;
    const next = first < 0 && chart.marks ? chart.marks.indexOf(1) : first;
    if (event.key === "Enter" && next >= 0) select(next), show(next);
  });
  bar.append(button("−", "zoom out (-)", () => zoom(1 / .6)), button("+", "zoom in (+, or Ctrl and the wheel)", () => zoom(.6)),
    button("all", "show all (0)", fitAll), box, found);
  let drawn = data.drawn, other = data.compared === data.drawn ? -1 : data.compared;
  if (shown.length > 1) {
    bar.append(element("label", {}, "draw ", choice("schedule", shown, drawn, k => change(drawn = k, other))),
      element("label", {}, "beside ", choice("beside", [[-1, "nothing"], ...shown], other, k => change(drawn, other = k))));
  }
  if (chart.s.cause) bar.append(element("label", {}, criticalBox, "critical path"));
  if (edges) bar.append(tick("dependencies", false, isOn => chart.arrows = isOn));
  if (data.schedules.some(s => s.input.some(ns => ns > 0))) bar.append(tick("▁ inputs", true, isOn => chart.inputs = isOn));
  if (jobs.length) bar.append(tick("colours by " + data.job_word, true, isOn => (chart.byJob = isOn, legend.hidden = isOn)));
  const key = (isThere, text, isBad) => isThere && bar.append(element("span", {className: isBad ? "key late" : "key"}, text));
  key(jobs.some(job => job.arrival !== null), "▼ arrival");
  key(jobs.some(job => lateBy(job)), "▲ missed deadline", true);
  key(data.schedules.some(s => s.flags.some(flags => flags & REPLICA)), "▨ replica");
  key(data.schedules.some(s => s.interval_ns && s.count), "┆ next release");
  key(failed.size, "▢ failed", true);
  bar.append(arrowsNote);
  return bar;
}

/* The legend lights up kinds. */
const legend = document.getElementById("legend");

function legendOff() {
  for (const b of legend.querySelectorAll("button")) b.ariaPressed = "false";
}

function prepareLegend() {
  legend.hidden = chart.byJob || !legend.children.length;
  for (const item of legend.children) {
    const color = Number(item.firstElementChild.className.slice(1)), b = element("button", {type: "button", ariaPressed: "false"});
    b.append(...item.childNodes);
    item.append(b);
    b.addEventListener("click", () => {
      const isOn = b.ariaPressed !== "true";
      legendOff();
      criticalBox.checked = false;
      chart.path = null;
      b.ariaPressed = String(isOn);
      mark(isOn ? i => data.kinds[data.task_kind[chart.s.task[i]]][1] === color : null);
    });
  }
}

/* Histograms: of each quantity that is not 0 everywhere, with what it is one of. */
function quantities() {
  const s = chart.s, one = "execution", list = [["times of executions", Float64Array.from(s.finish, (end, i) => end - s.start[i]), one]];
  if (s.cause) list.push(["waits after the inputs", s.wait, one], ["slack", s.slack, one]);
  if (s.input.some(ns => ns > 0)) list.push(["times of inputs on their way", s.input.filter(ns => ns > 0), one]);
  if (chart.other && chart.other.hasBars) {
    const more = [];
    for (let i = 0; i < s.count; i++) {
      const b = sameIn(s, chart.other, i);
      if (b >= 0) more.push(s.finish[i] - s.start[i] - chart.other.finish[b] + chart.other.start[b]);
    }
    list.push(["longer than in “" + chart.other.name + "”", Float64Array.from(more), one]);
  }
  const ended = jobs.filter(j => j.finish !== null && j.arrival !== null);
  list.push(["completion times of " + data.job_word + "s", Float64Array.from(ended, j => j.finish - j.arrival), data.job_word]);
  list.push(["waits of " + data.job_word + "s for their first start",
    Float64Array.from(jobs.filter(j => j.start !== null && j.arrival !== null), j => j.start - j.arrival), data.job_word]);
  list.push(["lateness: end after the deadline", Float64Array.from(ended.filter(j => j.deadline !== null), j => j.finish - j.deadline), data.job_word]);
  return list.filter(([, values]) => values.some(v => v !== 0));
}

function drawHistogram(canvas, sorted, one) {
  const width = canvas.clientWidth, height = canvas.clientHeight, ratio = devicePixelRatio || 1, g = canvas.getContext("2d");
  const low = Math.min(0, sorted[0]), high = Math.max(0, sorted[sorted.length - 1]), bins = Math.min(60, Math.max(8, width / 12 | 0));
  const counts = new Float64Array(bins), base = height - 18;
  for (const v of sorted) counts[Math.min(bins - 1, (v - low) / (high - low) * bins | 0)]++;
  const most = Math.max(...counts);
  canvas.width = width * ratio;
  canvas.height = height * ratio;
  g.setTransform(ratio, 0, 0, ratio, 0, 0);
  g.fillStyle = chart.colors.accent;
  for (let k = 0; k < bins; k++) {
    const tall = counts[k] ? Math.max(1.5, counts[k] / most * (base - 14)) : 0;
    g.fillRect(k * width / bins, base - tall, width / bins - 1, tall);
  }
  g.fillStyle = chart.colors.soft;
  g.fillRect(0, base, width, 1);
  g.font = FONT;
  g.textBaseline = "middle";
  g.fillText(shortTime(low), 0, height - 8);
  g.textAlign = "right";
  g.fillText(shortTime(high), width, height - 8);
  g.fillText("highest bar: " + most + " " + one + (most > 1 ? "s" : ""), width, 7);
}

function drawFigures() {
  const section = document.getElementById("distributions"), box = element("div", {className: "figures"});
  const list = chart.s.count ? quantities() : [];
  section.hidden = !list.length;
  section.querySelector(".figures")?.remove();
  section.append(box);
  const drawn = list.map(([title, values, one]) => {
    const sorted = Float64Array.from(values).sort(), at = share => shortTime(sorted[Math.min(sorted.length - 1, sorted.length * share | 0)]);
    const canvas = element("canvas", {role: "img", ariaLabel: "histogram: " + title});
    const figures = element("span", {}, "median " + at(.5) + ", p95 " + at(.95) + ", most " + at(1));
    box.append(element("figure", {}, element("figcaption", {}, title + " ", figures), canvas));
    return [canvas, sorted, one];
  });
  for (const [canvas, sorted, one] of drawn) drawHistogram(canvas, sorted, one); /* once all have their widths */
}

/* Tables: a click on a head sorts, a second one the other way. */
function sortable(table, sort) {
  table.querySelectorAll("th").forEach((head, at) => {
    const b = button(head.textContent, "sort", () => {
      const isDown = head.ariaSort !== "descending";
      for (const other of table.querySelectorAll("th")) other.ariaSort = null;
      head.ariaSort = isDown ? "descending" : "ascending";
      sort(at, isDown ? -1 : 1);
    });
    head.replaceChildren(b);
  });
}

function sortRows(table) {
  const body = table.tBodies[0], value = cell => cell.dataset.v !== undefined ? Number(cell.dataset.v) : cell.textContent;
  return (at, sign) => {
    const rows = [...body.rows].map(row => [value(row.cells[at]), row]);
    const number = v => typeof v === "number" ? v : v.trim() !== "" && isFinite(v) ? Number(v) : NaN;
    rows.sort(([a], [b]) => {
      const x = number(a), y = number(b);
      return sign * (isNaN(x) || isNaN(y) ? String(a).localeCompare(String(b)) : x - y);
    });
    body.append(...rows.map(([, row]) => row));
  };
}

const taskOrder = {at: 3, sign: -1};
const taskKeys = [label, (s, i) => s.row[i], (s, i) => s.start[i], (s, i) => s.finish[i] - s.start[i], (s, i) => s.wait[i],
  (s, i) => s.slack[i]];

function fillTasks() {
  const table = document.getElementById("tasks"), s = chart.s;
  if (!table) return;
  const list = [], key = taskKeys[taskOrder.at], columns = table.tHead.rows[0].cells.length - 2;
  const text = v => v === null ? "–" : timeText(v);
  for (let i = 0; i < s.count; i++) if (!chart.marks || chart.marks[i]) list.push([key(s, i), i]);
  list.sort(([a, i], [b, k]) => (typeof a === "string" ? taskOrder.sign * a.localeCompare(b) : taskOrder.sign * (a - b)) || i - k);
  const cut = list.length > TABLE_ROWS ? ": the first " + TABLE_ROWS + " of " + list.length : "";
  table.closest("section").querySelector("h2").textContent = "Executions" + cut;
  table.tBodies[0].replaceChildren(...list.slice(0, TABLE_ROWS).map(([, i]) => {
    const row = element("tr", {className: "go"}), sample = element("i", {className: "k" + data.kinds[data.task_kind[s.task[i]]][1]});
    const name = element("td", {title: label(s, i)}, sample, shortName(label(s, i), 40));
    const times = [s.start[i], s.finish[i] - s.start[i], s.cause ? s.wait[i] : null, s.cause ? s.slack[i] : null].slice(0, columns);
    row.append(name, element("td", {}, data.executors[s.row[i]]), ...times.map(v => element("td", {className: "n"}, text(v))));
    row.addEventListener("click", () => {
      select(i);
      show(i);
      document.getElementById("schedule").scrollIntoView();
    });
    return row;
  }));
}

function prepareTables() {
  for (const table of document.querySelectorAll("table")) {
    if (table.id !== "tasks") sortable(table, sortRows(table));
    else sortable(table, (at, sign) => (taskOrder.at = at, taskOrder.sign = sign, fillTasks()));
  }
  for (const row of document.querySelectorAll("tr[data-job]")) {
    row.className = "go";
    row.addEventListener("click", () => {
      const group = Number(row.dataset.job);
      chart.path = chart.s.cause ? chain(chart.s, lastBar(chart.s, group)) : null;
      mark(i => chart.s.group[i] === group);
      document.getElementById("schedule").scrollIntoView();
    });
  }
  fillTasks();
}

function start() {
  const box = document.getElementById("chart");
  chart.canvas = element("canvas", {tabIndex: 0, role: "img", ariaLabel: "Gantt chart: arrow keys move, + and - zoom, 0 shows all"});
  chart.g = chart.canvas.getContext("2d");
  chart.spacer = element("div", {});
  chart.view = element("div", {className: "view"}, chart.canvas, chart.spacer);
  box.append(controls(), chart.view, details, tip);
  box.hidden = false;
  document.getElementById("picture").hidden = true;
  readColors();
  layout();
  fitAll();
  listenToPointers();
  listenToKeys();
  chart.view.addEventListener("scroll", () => (tip.hidden = true, redraw()));
  prepareLegend();
  prepareTables();
  drawFigures();
  addEventListener("resize", () => (layout(), drawFigures()));
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => (readColors(), redraw(), drawFigures()));
}

if (chart.s.hasBars) start();
