/* The chart: a canvas that is drawn anew for each change, rows from a scrolled box, times from `view`. Bars narrower
 * than some pixels are summed up by pixel, so a frame costs what is seen, and a look at each bar in view. */
const chart = {
  s: data.schedules[data.drawn], other: data.compared !== data.drawn ? data.schedules[data.compared] : null,
  from: 0, to: 1, selected: -1, marks: null, matches: 0, arrows: false, inputs: true, byJob: jobs.length > 0, colors: {}, pending: false,
};
const TOP = 30, THIN = 3, FONT = "11px Inter,'Segoe UI','DejaVu Sans',Helvetica,Arial,sans-serif", ARROWS = 1500;

function spanEnd() {
  return Math.max(chart.s.end, chart.other && chart.other.hasBars ? chart.other.end : 0, 1);
}

function rowHeight() {
  const rows = data.executors.length, base = rows <= 12 ? 34 : rows <= 32 ? 26 : rows <= 128 ? 18 : 13;
  return chart.other && chart.other.hasBars ? Math.max(base, 22) * 1.25 | 0 : base;
}

function readColors() {
  const style = getComputedStyle(document.documentElement);
  for (const name of ["back", "ink", "soft", "line", "accent", "bad", "row"])
    chart.colors[name] = style.getPropertyValue("--" + name).trim();
  const tile = element("canvas", {width: 6, height: 6}), t = tile.getContext("2d");
  t.strokeStyle = "rgba(255,255,255,.65)";
  t.lineWidth = 2;
  t.beginPath();
  for (const d of [-6, 0, 6]) t.moveTo(d - 1, 7), t.lineTo(d + 7, -1);
  t.stroke();
  chart.hatch = chart.g.createPattern(tile, "repeat");
}

const colorIndex = (s, i) => chart.byJob && jobs.length ? jobs[s.group[i]].number % 16 : data.kinds[data.task_kind[s.task[i]]][1];

function layout() {
  const box = chart.view;
  chart.width = box.clientWidth;
  chart.left = Math.min(Math.max(...data.executors.slice(0, 500).map(e => e.length)) * 6.5 + 16, chart.width < 600 ? 84 : 170) | 0;
  chart.plot = chart.width - chart.left - 8;
  chart.rows = rowHeight();
  chart.total = TOP + chart.rows * data.executors.length + 4;
  chart.spacer.style.height = "0px";
  chart.height = Math.min(chart.total, Math.max(160, innerHeight * .72 | 0));
  chart.spacer.style.height = Math.max(0, chart.total - chart.height) + "px";
  const ratio = devicePixelRatio || 1;
  chart.canvas.width = chart.width * ratio;
  chart.canvas.height = chart.height * ratio;
  chart.canvas.style.width = chart.width + "px";
  chart.canvas.style.height = chart.height + "px";
  chart.g.setTransform(ratio, 0, 0, ratio, 0, 0);
  redraw();
}

function redraw() {
  if (chart.pending) return;
  chart.pending = true;
  requestAnimationFrame(() => {
    chart.pending = false;
    draw();
  });
}

const xOf = ns => chart.left + (ns - chart.from) / (chart.to - chart.from) * chart.plot;
const timeAt = x => chart.from + (x - chart.left) / chart.plot * (chart.to - chart.from);
const yOf = row => TOP + row * chart.rows - chart.view.scrollTop;

/* The first bar of a row that ends behind a time: bars of a row follow each other. */
function firstAfter(s, row, ns) {
  let low = s.first[row], high = s.first[row + 1];
  while (low < high) {
    const middle = (low + high) >> 1;
    if (s.finish[middle] <= ns) low = middle + 1; else high = middle;
  }
  return low;
}

/* Where the bars of a schedule are in a row: two schedules share it. */
function lane(s, row) {
  const y = yOf(row), pad = chart.rows > 16 ? 3 : 1, height = chart.rows - 2 * pad;
  if (!chart.other || !chart.other.hasBars) return [y + pad, height];
  return s === chart.s ? [y + pad, height * .58 | 0] : [y + pad + (height * .58 | 0) + 1, height * .42 - 1 | 0];
}

function drawRow(s, row) {
  const g = chart.g, [y, height] = lane(s, row), end = s.first[row + 1], marks = s === chart.s ? chart.marks : null;
  const scale = chart.plot / (chart.to - chart.from), sums = new Float64Array(17);
  const dim = s === chart.s ? 1 : chart.marks ? .15 : .55;
  let pixel = -1, busy = 0, hit = false, run = null;
  const paint = () => {
    if (!run) return;
    g.globalAlpha = run.alpha;
    g.fillStyle = data.colors[run.color][0];
    g.fillRect(run.x, y, run.width, height);
    run = null;
  };
  const flush = () => {
    if (pixel < 0) return;
    let best = 0;
    for (let c = 1; c < 17; c++) if (sums[c] > sums[best]) best = c;
    const alpha = Math.max(.25, Math.min(4, Math.ceil(busy * 4 - 1e-6)) / 4) * dim * (marks && !hit ? .22 : 1);
    if (run && run.color === best && run.alpha === alpha && run.x + run.width === pixel) run.width++;
    else paint(), run = {x: pixel, width: 1, color: best, alpha};
    sums.fill(0);
    busy = 0;
    hit = false;
    pixel = -1;
  };
  const add = (p, share, color, isHit) => {
    if (p !== pixel) flush();
    pixel = p;
    if (isHit && !hit) sums.fill(0), hit = true;
    if (!hit || isHit) sums[color] += share + 1e-9;
    busy += share;
  };
  for (let i = firstAfter(s, row, chart.from - THIN / scale); i < end && s.start[i] <= chart.to; i++) {
    const x = chart.left + (s.start[i] - chart.from) * scale, width = (s.finish[i] - s.start[i]) * scale;
    if (width < THIN) {
      for (let p = Math.max(Math.floor(x), 0), first = p; p === first || p < x + width; p++)
        add(p, Math.max(Math.min(x + width, p + 1) - Math.max(x, p), 0), colorIndex(s, i), marks && marks[i] === 1);
      continue;
    }
    flush();
    paint();
    drawBar(s, i, x, width, y, height, dim * (marks && !marks[i] ? .22 : 1));
  }
  flush();
  paint();
  g.globalAlpha = 1;
}

function drawBar(s, i, x, width, y, height, alpha) {
  const g = chart.g, color = data.colors[colorIndex(s, i)];
  const left = Math.max(x, chart.left - 2), right = Math.min(x + width, chart.left + chart.plot + 8), gap = width > 4 ? .6 : 0;
  g.globalAlpha = alpha * (s.flags[i] & (LOST | SKIPPED) ? .45 : 1);
  g.fillStyle = color[0];
  g.fillRect(left, y, Math.max(right - left - gap, .8), height);
  if (s.flags[i] & REPLICA) g.fillStyle = chart.hatch, g.fillRect(left, y, right - left - gap, height);
  if (right - left > 26 && height >= 11 && alpha > .5 && !(s.flags[i] & REPLICA)) {
    if (g.globalAlpha < 1) g.fillStyle = chart.colors.ink, g.globalAlpha = 1; /* the bar is as pale as the page */
    else g.fillStyle = color[1];
    g.textAlign = "center";
    g.fillText(fit(label(s, i), right - left - 6), (left + right) / 2, y + height / 2 + .5);
  }
}

/* The name, or as much of it as there is room for. */
function fit(text, room) {
  const width = chart.g.measureText(text).width;
  if (width <= room) return text;
  for (let most = text.length * room / width | 0; most >= 4; most--) {
    const said = shortName(text, most);
    if (chart.g.measureText(said).width <= room) return said;
  }
  return "";
}

/* A thin line below a bar: its inputs on their way; of the bars in view, and of the one that follows, for which the row
 * may wait. */
function drawInputs(s, row) {
  const g = chart.g, [y, height] = lane(s, row);
  const begin = firstAfter(s, row, chart.from);
  let last = -9;
  g.fillStyle = chart.colors.ink;
  for (let i = begin; i < s.first[row + 1] && (i === begin || s.start[i - 1] <= chart.to); i++) {
    if (!s.input[i]) continue;
    const until = s.happened ? s.start[i] : s.start[i] - s.wait[i], x = xOf(until - s.input[i]), width = xOf(until) - x;
    if (width < 1 && x - last < 1) continue;
    last = x;
    g.fillRect(Math.max(x, chart.left), y + height - 3, Math.max(width - Math.max(0, chart.left - x), 1), 3);
  }
}

function drawAxis() {
  const g = chart.g, span = chart.to - chart.from;
  let step = 10 ** Math.floor(Math.log10(span / Math.max(2, chart.plot / 90)));
  for (const m of [2, 2.5, 2]) if (span / step > chart.plot / 80) step *= m;
  step = Math.max(step, 1);
  g.font = FONT;
  g.textBaseline = "middle";
  for (let k = Math.ceil(chart.from / step); k * step <= chart.to; k++) {
    const x = Math.round(xOf(k * step)) + .5;
    g.strokeStyle = chart.colors.line;
    g.beginPath();
    g.moveTo(x, 18);
    g.lineTo(x, chart.height);
    g.stroke();
    g.fillStyle = chart.colors.soft;
    g.textAlign = x > chart.left + chart.plot - 24 ? "right" : x < chart.left + 20 ? "left" : "center";
    g.fillText(k === 0 ? "0" : timeText(k * step, step), x, 9);
  }
}

function drawLine(ns, text, color, dash, isRight = xOf(ns) > chart.left + chart.plot / 2) {
  if (ns < chart.from || ns > chart.to) return;
  const g = chart.g, x = xOf(ns);
  g.strokeStyle = g.fillStyle = color;
  g.setLineDash(dash);
  g.beginPath();
  g.moveTo(x, text ? 16 : TOP - 4);
  g.lineTo(x, chart.height);
  g.stroke();
  g.setLineDash([]);
  if (!text) return;
  const width = g.measureText(text).width + 4;
  g.fillStyle = chart.colors.back;
  g.fillRect(isRight ? x - width - 3 : x + 3, 17, width, 12);
  g.fillStyle = color;
  g.textAlign = isRight ? "right" : "left";
  g.fillText(text, x + (isRight ? -5 : 5), 23);
}

/* A triangle: at arrivals downwards, at deadlines that were missed upwards. */
function drawTriangle(x, top, bottom, color) {
  chart.g.fillStyle = color;
  chart.g.beginPath();
  chart.g.moveTo(x - 3.5, top);
  chart.g.lineTo(x + 3.5, top);
  chart.g.lineTo(x, bottom);
  chart.g.fill();
}

function drawMissed() {
  let last = -9;
  for (const job of jobs) {
    if (!lateBy(job) || job.deadline < chart.from || job.deadline > chart.to) continue;
    const x = xOf(job.deadline);
    if (Math.abs(x - last) < 1) continue;
    last = x;
    drawTriangle(x, 28, 19, chart.colors.bad);
  }
}

function drawArrivals() {
  let last = -9;
  for (const job of jobs) {
    if (job.arrival === null || job.arrival < chart.from || job.arrival > chart.to) continue;
    const x = xOf(job.arrival);
    if (x - last < 1) continue;
    last = x;
    drawTriangle(x, 19, 28, chart.byJob ? data.colors[job.number % 16][0] : chart.colors.ink);
  }
}

/* Lower bound and deadline. Near to each other their texts stand on the outer sides; without room for that, the bound has
 * none. */
function drawLimits() {
  const s = chart.s, x = [xOf(s.bound_ns), xOf(data.deadline_ns)], isFirst = x[0] < x[1];
  const isNear = s.bound_ns > 0 && data.deadline_ns > 0 && Math.abs(x[0] - x[1]) < 120;
  const hasRoom = Math.min(...x) > chart.left + 50 && Math.max(...x) + 70 < chart.width;
  if (s.bound_ns) drawLine(s.bound_ns, isNear && !hasRoom ? "" : "bound", chart.colors.soft, [5, 4], isNear ? isFirst : undefined);
  if (data.deadline_ns) drawLine(data.deadline_ns, "deadline", chart.colors.bad, [2, 3], isNear && hasRoom ? !isFirst : undefined);
}

function drawMarks() {
  const s = chart.s, c = chart.colors;
  drawArrivals();
  drawMissed();
  if (s.interval_ns) for (let k = 1; k * s.interval_ns <= s.end && k < 200; k++) drawLine(k * s.interval_ns, "", c.soft, [4, 4]);
  drawLimits();
  const chosen = chart.selected >= 0 && jobs.length ? jobs[s.group[chart.selected]] : null;
  if (chosen && chosen.deadline !== null) drawLine(chosen.deadline, "deadline", c.bad, [2, 3]);
}

function middle(i) {
  const [y, height] = lane(chart.s, chart.s.row[i]);
  return y + height / 2;
}

/* A clear one has an edge, so that it is seen on bars of its own colour. */
function arrow(from, to, color, isClear) {
  const g = chart.g, s = chart.s, x0 = xOf(s.finish[from]), x1 = xOf(s.start[to]), y0 = middle(from), y1 = middle(to);
  if (Math.max(x0, x1) < chart.left || Math.min(x0, x1) > chart.width) return;
  const bend = Math.max(12, Math.abs(x1 - x0) / 2);
  g.strokeStyle = g.fillStyle = color;
  g.beginPath();
  g.moveTo(x0, y0);
  g.bezierCurveTo(x0 + bend, y0, x1 - bend, y1, x1, y1);
  if (isClear) {
    g.strokeStyle = chart.colors.back;
    g.lineWidth = 4;
    g.stroke();
    g.strokeStyle = color;
    g.lineWidth = 1.5;
  }
  g.stroke();
  g.lineWidth = 1;
  g.beginPath();
  g.moveTo(x1, y1);
  g.lineTo(x1 - 6, y1 - 3.5);
  g.lineTo(x1 - 6, y1 + 3.5);
  g.fill();
}

function visibleRows() {
  const first = Math.max(0, Math.floor(chart.view.scrollTop / chart.rows));
  return [first, Math.min(data.executors.length, Math.ceil((chart.view.scrollTop + chart.height - TOP) / chart.rows) + 1)];
}

/* The dependencies of all bars in view; null: they were too many to see anything. */
function arrowsInView(first, last) {
  const s = chart.s, list = [];
  for (let row = first; row < last; row++)
    for (let i = firstAfter(s, row, chart.from); i < s.first[row + 1] && s.start[i] <= chart.to; i++) {
      for (const [b] of neighbours(s, i, 64).before) list.push([b, i]);
      if (list.length > ARROWS) return null;
    }
  return list;
}

function drawArrows(first, last) {
  const list = arrowsInView(first, last);
  arrowsNote.hidden = list !== null;
  for (const [b, i] of list || []) arrow(b, i, chart.colors.soft);
}

function drawSelection() {
  const s = chart.s, c = chart.colors, g = chart.g;
  if (chart.path) drawPath(chart.path, c.bad);
  if (chart.selected < 0) return;
  const {before, behind} = neighbours(s, chart.selected, 200);
  for (const [b] of before) arrow(b, chart.selected, c.accent, true);
  for (const [b] of behind) arrow(chart.selected, b, c.ink, true);
  outline(chart.selected, c.ink, 2);
}

/* A long chain is a line through the ends of its bars; a short one has arrows. */
function drawPath(path, color) {
  const s = chart.s, g = chart.g, seen = path.filter(i => s.finish[i] >= chart.from && s.start[i] <= chart.to);
  if (seen.length <= 300) {
    for (let k = 1; k < path.length; k++)
      if (s.finish[path[k - 1]] <= chart.to && s.start[path[k]] >= chart.from) arrow(path[k - 1], path[k], color, true);
    return;
  }
  g.strokeStyle = color;
  g.beginPath();
  let last = -9;
  for (const i of seen) {
    if (xOf(s.finish[i]) - last < 1) continue;
    g.lineTo(xOf(s.start[i]), middle(i));
    g.lineTo(last = xOf(s.finish[i]), middle(i));
  }
  g.stroke();
}

function outline(i, color, width) {
  const s = chart.s, [y, height] = lane(s, s.row[i]), x = xOf(s.start[i]);
  chart.g.strokeStyle = color;
  chart.g.lineWidth = width;
  chart.g.strokeRect(x, y, Math.max(xOf(s.finish[i]) - x, 3), height);
  chart.g.lineWidth = 1;
}

function drawFailures(first, last) {
  for (const t of failed)
    for (const i of barsOf(chart.s, t, 0, 50)) if (chart.s.row[i] >= first && chart.s.row[i] < last) outline(i, chart.colors.bad, 3);
}

function drawNames(first, last) {
  const g = chart.g;
  g.fillStyle = chart.colors.back;
  g.fillRect(0, TOP, chart.left, chart.height);
  g.fillRect(0, 0, chart.left, TOP);
  g.save();
  g.beginPath();
  g.rect(0, TOP, chart.left, chart.height);
  g.clip();
  g.textAlign = "right";
  g.fillStyle = chart.colors.ink;
  for (let row = first; row < last; row++) g.fillText(fit(data.executors[row], chart.left - 14), chart.left - 8, yOf(row) + chart.rows / 2);
  g.restore();
}

function draw() {
  const g = chart.g, [first, last] = visibleRows();
  g.fillStyle = chart.colors.back;
  g.fillRect(0, 0, chart.width, chart.height);
  g.fillStyle = chart.colors.row;
  for (let row = first; row < last; row++) if (row % 2 === 0) g.fillRect(chart.left, yOf(row), chart.plot + 8, chart.rows);
  g.fillStyle = chart.colors.back;
  g.fillRect(0, 0, chart.width, TOP);
  drawAxis();
  g.save();
  g.beginPath();
  g.rect(chart.left, TOP, chart.plot + 8, chart.height);
  g.clip();
  for (let row = first; row < last; row++) {
    drawRow(chart.s, row);
    if (chart.other && chart.other.hasBars) drawRow(chart.other, row);
    if (chart.inputs) drawInputs(chart.s, row);
  }
  arrowsNote.hidden = true;
  if (chart.arrows) drawArrows(first, last);
  drawFailures(first, last);
  drawSelection();
  g.restore();
  drawMarks();
  drawNames(first, last);
}

/* Zoom about a place, and moves; never beyond the ends, never more than 20 pixels a nanosecond, nor so near that numbers
 * do not tell times apart. */
function setView(from, to) {
  const end = spanEnd() * 1.015, span = Math.min(Math.max(to - from, Math.min(chart.plot / 20, end), end * 2 ** -40), end);
  chart.from = Math.max(0, Math.min(from, end - span));
  chart.to = chart.from + span;
  tip.hidden = true; /* another bar is below the pointer */
  redraw();
}

function zoom(factor, x) {
  const at = timeAt(x === undefined ? chart.left + chart.plot / 2 : x);
  setView(at - (at - chart.from) * factor, at + (chart.to - at) * factor);
}

const pan = pixels => {
  const by = pixels / chart.plot * (chart.to - chart.from);
  setView(chart.from + by, chart.to + by);
};

/* Brings a bar into the middle, wide enough to be seen. */
function show(i) {
  const s = chart.s, length = Math.max(s.finish[i] - s.start[i], 1), at = (s.start[i] + s.finish[i]) / 2;
  const span = Math.min(chart.to - chart.from, Math.max(length * 12, 1));
  setView(at - span / 2, at + span / 2);
  const y = s.row[i] * chart.rows;
  if (y < chart.view.scrollTop || y + chart.rows > chart.view.scrollTop + chart.height - TOP) chart.view.scrollTop = y - chart.height / 2;
}

/* The bar at a place of the canvas: the nearest within some pixels; [schedule, bar] or null. */
function barAt(x, y) {
  const row = Math.floor((y - TOP + chart.view.scrollTop) / chart.rows);
  if (x < chart.left || y < TOP || row < 0 || row >= data.executors.length) return null;
  const [, height] = lane(chart.s, row), [top] = lane(chart.s, row);
  const s = chart.other && chart.other.hasBars && y > top + height ? chart.other : chart.s;
  const ns = timeAt(x), near = 4 / chart.plot * (chart.to - chart.from);
  let best = null, distance = near;
  for (let i = firstAfter(s, row, ns - near), k = 0; i < s.first[row + 1] && s.start[i] <= ns + near && k < 2000; i++, k++) {
    const d = ns < s.start[i] ? s.start[i] - ns : ns > s.finish[i] ? ns - s.finish[i] : 0;
    if (d < distance || (d === 0 && best === null)) best = i, distance = d;
    if (d === 0) break;
  }
  return best === null ? null : [s, best];
}
