"use strict";
/* The data of the page: clotho.report/1 (docs/FORMATS.md), decoded into columns. Text from outside is shown with
 * textContent alone, never as HTML. */
const REPLICA = 1, LOST = 2, SKIPPED = 4, FAILED = 8, STOPPED = 16;
const data = JSON.parse(document.getElementById("data").textContent);
const jobs = (data.jobs || []).map(j => ({number: j[0], name: j[1], arrival: j[2], start: j[3], finish: j[4], deadline: j[5], end: j[6], path: j[7]}));
const failed = new Set(data.failed);

/* `fewest` digits, or as many as tell times apart that are `step` nanoseconds from each other. */
function timeText(ns, step, fewest = 5) {
  const size = Math.abs(ns);
  const [unit, name] = size >= 1e9 ? [1e9, "s"] : size >= 1e6 ? [1e6, "ms"] : size >= 1e3 ? [1e3, "µs"] : [1, "ns"];
  const value = ns / unit, digits = step ? Math.min(15, Math.max(fewest, 2 + Math.ceil(Math.log10(Math.max(1, size / step))))) : fewest;
  return (Math.abs(value) < 10 ** digits ? String(Number(value.toPrecision(digits))) : value.toFixed(0)) + "\u00a0" + name;
}

/* Of many times together; none of them is exact. */
const shortTime = ns => ns === 0 ? "0" : timeText(ns, 0, 3);

function bytesText(bytes) {
  const at = Math.min(4, Math.max(0, Math.floor(Math.log10(Math.max(bytes, 1)) / 3)));
  return Number((bytes / 1000 ** at).toPrecision(4)) + " " + ["B", "kB", "MB", "GB", "TB"][at];
}

function column(values, count, Type) {
  return values ? Type.from(values) : new Type(count);
}

/* Fills start, finish, row and the other columns of a schedule; those without bars keep only their figures. */
function decode(s) {
  s.hasBars = s.count !== undefined;
  const n = s.count = s.count || 0;
  s.task = column(s.task, n, Uint32Array);
  s.instance = column(s.instance, n, Uint32Array);
  s.group = column(s.group, n, Uint32Array);
  s.flags = column(s.flags, n, Uint8Array);
  const gap = column(s.gap, n, Float64Array), length = column(s.length, n, Float64Array);
  s.input = column(s.input, n, Float64Array);
  s.wait = column(s.wait, n, Float64Array);
  s.slack = column(s.slack, n, Float64Array);
  s.cause = s.causes ? column(s.cause, n, Int32Array) : null;
  s.start = new Float64Array(n);
  s.finish = new Float64Array(n);
  s.row = new Uint32Array(n);
  s.first = [0];
  (s.rows || data.executors.map(() => 0)).forEach((count, row) => {
    let end = 0;
    const begin = s.first[row];
    for (let i = begin; i < begin + count; i++) {
      s.start[i] = end + gap[i];
      s.finish[i] = end = s.start[i] + length[i];
      s.row[i] = row;
    }
    s.first.push(begin + count);
  });
  s.end = s.makespan_ns;
  for (let i = 0; i < n; i++) s.end = Math.max(s.end, s.finish[i]);
  indexTasks(s);
}

/* Bars of task t: ofTask[firstOfTask[t]] up to ofTask[firstOfTask[t + 1]]. */
function indexTasks(s) {
  const tasks = data.task_kind.length;
  s.firstOfTask = new Uint32Array(tasks + 2);
  s.ofTask = new Uint32Array(s.count);
  for (let i = 0; i < s.count; i++) s.firstOfTask[s.task[i] + 2]++;
  for (let t = 2; t < tasks + 2; t++) s.firstOfTask[t] += s.firstOfTask[t - 1];
  for (let i = 0; i < s.count; i++) s.ofTask[s.firstOfTask[s.task[i] + 1]++] = i;
}

function barsOf(s, task, group, most) {
  const found = [];
  for (let k = s.firstOfTask[task]; k < s.firstOfTask[task + 1] && found.length < most; k++)
    if (s.group[s.ofTask[k]] === group) found.push(s.ofTask[k]);
  return found;
}

/* The same execution in another schedule; -1: it is not there. */
function sameIn(s, other, i) {
  for (let k = other.firstOfTask[s.task[i]]; k < other.firstOfTask[s.task[i] + 1]; k++) {
    const b = other.ofTask[k];
    if (other.instance[b] === s.instance[i] && other.group[b] === s.group[i] && !((other.flags[b] ^ s.flags[i]) & REPLICA)) return b;
  }
  return -1;
}

/* data.inputs: for each task how many inputs it has, and how many tasks further back each one's source is. */
function readEdges() {
  if (!data.inputs) return null;
  const tasks = data.task_kind.length, e = {first: new Uint32Array(tasks + 1), outFirst: new Uint32Array(tasks + 2)};
  const count = data.inputs.length - tasks;
  e.from = new Uint32Array(count);
  e.to = new Uint32Array(count);
  e.out = new Uint32Array(count);
  for (let t = 0, at = 0, edge = 0; t < tasks; t++) {
    for (let left = data.inputs[at++]; left > 0; left--, edge++) {
      e.from[edge] = t - data.inputs[at++];
      e.to[edge] = t;
      e.outFirst[e.from[edge] + 2]++;
    }
    e.first[t + 1] = edge;
  }
  for (let t = 2; t < tasks + 2; t++) e.outFirst[t] += e.outFirst[t - 1];
  for (let edge = 0; edge < count; edge++) e.out[e.outFirst[e.from[edge] + 1]++] = edge;
  e.bytes = edge => data.input_bytes ? data.input_bytes[edge] : 0;
  return e;
}

const edges = readEdges();
data.schedules.forEach(decode);

const taskName = t => data.tasks ? data.tasks[t] || "(no name)" : "task " + t;
const kindName = t => data.kinds[data.task_kind[t]][0];

/* Names differ at their ends: of a longer one the middle is left out. */
function shortName(text, most) {
  const letters = Array.from(text), tail = most < 9 ? 0 : (most - 1) * .4 | 0;
  return letters.length <= most ? text : letters.slice(0, most - 1 - tail).join("") + "…" + letters.slice(letters.length - tail).join("");
}

function jobName(group) {
  const job = jobs[group];
  return data.job_word + " " + job.number + (job.name ? " " + job.name : "");
}

/* What stands in a bar. */
function label(s, i) {
  const name = taskName(s.task[i]);
  return jobs.length ? jobs[s.group[i]].number + "·" + name : name;
}

function flagText(flags) {
  return [[REPLICA, "replica"], [LOST, "lost to its hedge"], [SKIPPED, "skipped"], [FAILED, "failed"], [STOPPED, "goes on later"]]
    .filter(([bit]) => flags & bit).map(([, text]) => text).join(", ");
}

/* Lines that say all about a bar. */
function describe(s, i, other) {
  const isOne = !s.instance[i] && barsOf(s, s.task[i], s.group[i], 2).length < 2, length = s.finish[i] - s.start[i];
  const lines = [taskName(s.task[i]) + (isOne ? "" : " [" + s.instance[i] + "]")];
  if (jobs.length) lines[0] += ", " + jobName(s.group[i]);
  else if (s.interval_ns) lines[0] += ", release " + s.group[i];
  if (s.flags[i]) lines.push(flagText(s.flags[i]));
  lines.push(data.executors[s.row[i]] + ", " + timeText(s.start[i]) + " to " + timeText(s.finish[i]) + " (" + timeText(length) + ")");
  if (s.input[i]) lines.push("inputs moved in " + timeText(s.input[i]));
  if (s.cause) lines.push("waited " + timeText(s.wait[i]) + " after its inputs, slack " + timeText(s.slack[i]));
  const b = other ? sameIn(s, other, i) : -1;
  if (b >= 0)
    lines.push("in “" + other.name + "”: " + data.executors[other.row[b]] + ", from " + timeText(other.start[b]) + " on, " +
      timeText(other.finish[b] - other.start[b]) + "; here " + signed(s.start[i] - other.start[b]) + " at the start, " +
      signed(length - other.finish[b] + other.start[b]) + " longer");
  return lines;
}

const signed = ns => (ns > 0 ? "+" : "") + timeText(ns);

/* The chain of bars that each waited for the one before, up to bar i. */
function chain(s, i) {
  const path = [];
  for (let left = s.count; i >= 0 && left > 0; left--, i = s.cause[i]) path.push(i);
  return path.reverse();
}

/* Of a job, or of all (group < 0). */
function lastBar(s, group) {
  let last = -1;
  for (let i = 0; i < s.count; i++)
    if (!(s.flags[i] & LOST) && (group < 0 || s.group[i] === group) && (last < 0 || s.finish[i] > s.finish[last])) last = i;
  return last;
}

const lateBy = job => job.deadline === null || job.finish === null ? 0 : Math.max(0, job.finish - job.deadline);

/* What is said of a job. */
function describeJob(job) {
  const lines = [];
  if (job.arrival !== null && job.start !== null) lines.push("came at " + timeText(job.arrival) + ", waited " + timeText(job.start - job.arrival) + " for its first start");
  if (job.arrival !== null && job.finish !== null)
    lines.push("took " + timeText(job.finish - job.arrival) + (job.path ? "; its critical path is " + timeText(job.path) : ""));
  if (lateBy(job)) lines.push("late by " + timeText(lateBy(job)));
  return lines;
}

/* Bars of the tasks before and behind a bar, at most `most` of each. */
function neighbours(s, i, most) {
  const before = [], behind = [], t = s.task[i];
  if (edges) {
    for (let e = edges.first[t]; e < edges.first[t + 1] && before.length < most; e++)
      for (const b of barsOf(s, edges.from[e], s.group[i], most - before.length)) before.push([b, edges.bytes(e)]);
    for (let k = edges.outFirst[t]; k < edges.outFirst[t + 1] && behind.length < most; k++)
      for (const b of barsOf(s, edges.to[edges.out[k]], s.group[i], most - behind.length)) behind.push([b, edges.bytes(edges.out[k])]);
  }
  return {before, behind};
}

function element(tag, properties, ...children) {
  const node = Object.assign(document.createElement(tag), properties);
  node.append(...children);
  return node;
}
