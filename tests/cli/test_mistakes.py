"""What users type wrong: each row is a command line, its exit status and what its one line says. A new kind of mistake is a
new row. The lines themselves may be worded anew; what they must hold is the thing that is wrong and what to do."""
import json
import os
import re
import shlex
import unittest

from support import CommandTest

A, B = '{"name": "a", "work_ns": 5}', '{"name": "b", "work_ns": 5}'


def graph(tasks, edges=""):
    return '{"format": "clotho.graph/1",\n"name": "g",\n"tasks": [\n%s\n],\n"edges": [%s]}\n' % (tasks, edges)


def task(text):
    return graph('{"name": "a", %s}' % text)


def edge(text):
    return graph(A + ",\n" + B, text)


WORDS = [  # verbs, help, and what stands where it should not
    (2, "", "no verb.*--help"),
    (2, "plna g.json", "'plna'.*did you mean 'plan'"),
    (2, "PLAN g.json", "'PLAN'.*did you mean 'plan'"),
    (2, "sim s.jsonl", "did you mean 'simulate'"),
    (2, "schedule g.json", "did you mean 'plan'"),
    (2, "execute g.json", "did you mean 'run'"),
    (2, "frobnicate", "'frobnicate' is no verb; see 'clotho --help'$"),
    (2, "g.json", "'g.json' is a file, no verb; write clotho plan g.json"),
    (2, "planners", "did you mean 'list planners'"),
    (2, "--planner heft plan", "before the verb; write clotho plan --planner"),
    (2, "-p uniform:2 plan g.json", "before the verb; write clotho plan -p"),
    (2, "--planner", "no verb, which comes first"),
    (2, "--verison", "did you mean '--version'"),
    (2, "-v", "did you mean '--version'"),
    (2, "-help", "did you mean '--help'"),
    (2, "help plna", "did you mean 'plan'"),
    (2, "help plan a b", "'a' is one word too many"),
    (2, "platform", "needs show, calibrate"),
    (2, "platform shwo", "did you mean 'show'"),
    (2, "platform --json", "needs a word before --json: show"),
    (2, "platform rk3588", "'platform rk3588'.*choose show"),
    (2, "list", "needs planners"),
    (2, "list planner", "did you mean 'planners'"),
    (2, "list policy", "did you mean 'policies'"),
    (2, "list planners extra", "'extra' is one operand too many"),
    (2, "plan", "needs GRAPH"),
    (2, "check g.json", "needs GRAPH PLAN"),
    (2, "convert g.json", "needs IN OUT"),
    (2, "simulate s.jsonl g.json", "'g.json' is one operand too many"),
    (2, "plan g.json heft", "did you mean '--planner heft'"),
    (2, "plan g.json uniform:2", "did you mean '--platform uniform:2'"),
    (2, "simulate s.jsonl fair", "did you mean '--policy fair'"),
    (2, "plan g.json --json yes", "'yes' is no file, and the option before it takes no value"),
    (2, "run g.json --copy 3", "'3' is no file, and the option before it takes no value"),
    (2, "generate chain --work 100 us", "'us' is no file; write a time and its unit as one word"),
    (2, "platform show -p uniform:2 uniform:3", "leave one out"),
    (2, "plan g.json platform", "did you mean '--platform'"),
    (2, "plan g.json planner=heft", "did you mean '--planner'"),
    (2, "plan g.json –planner heft", "did you mean '--planner'"),
    (2, "plan g.json — heft", "long dash"),
    (2, "plan - -", "'-'.*once"),
    (2, "platform show rk3588 rk3588", "'rk3588' is one operand too many"),
    (2, "generate chain new.json", "too many for 'generate'; did you mean '-o new.json'"),
    (2, "platform calibrate new.xml", "did you mean '-o new.xml'"),
    (2, "train parametric s.jsonl s2.jsonl", "too many for 'train parametric'; see"),
    (2, "plan help", "did you mean 'clotho plan --help'"),
    (2, "plan ''", "'' is no file; name one"),
    (2, "help plan run", "'run' is one word too many for 'help'; write clotho help plan$"),
    (2, "help --all", "--all is no option of 'help'; write clotho help VERB"),
    (2, "version now", "'now' is one word too many for 'version'; leave it out"),
    (2, "platform show rk3588 rk3399", "'rk3399' is one operand too many"),
    (2, "generate strem", "'strem' is no kind of graph; did you mean 'stream'"),
]

OPTIONS = [  # misspelt, of another verb, of another program, without a value, with one that it does not take, twice
    (2, "plan g.json --planer heft", "--planer is no.*did you mean '--planner'"),
    (2, "plan g.json --Planner heft", "did you mean '--planner'"),
    (2, "plan g.json -planner heft", "-planner is no.*did you mean '--planner'"),
    (2, "plan g.json -json", "did you mean '--json'"),
    (2, "plan g.json --pl heft", "any of --platform, --planner"),
    (2, "plan g.json --frob", "--frob is no option of 'plan'; see 'clotho plan --help'$"),
    (2, "plan g.json -z", "-z is no option of 'plan'; see 'clotho plan --help'$"),
    (2, "plan g.json --=3", "-- is no option"),
    (2, "plan g.json --no-json", "--no-json is no option of 'plan'; leave --json out"),
    (2, "plan g.json --duplicates", "does so unless there is --no-duplicates; leave it out"),
    (2, "convert g.json -o g.dot", "write IN OUT: the file to write is an operand"),
    (2, "convert g.json --output g.dot", "write IN OUT: the file to write is an operand"),
    (2, "profile check t.json --json", "--json is no option of 'profile check'; see 'clotho profile check --help'$"),
    (2, "plan g.json --policy fair", "no option of 'plan', but of .*'run', 'simulate'"),
    (2, "plan g.json --repeat 3", "no option of 'plan', but of 'run'"),
    (2, "simulate s.jsonl --repeat 3", "no option of 'simulate', but of 'run'"),
    (2, "run g.json --seeds 1-3", "did you mean '--seed'"),
    (2, "plan g.json --output x.json", "write --out$"),
    (2, "plan g.json --scheduler heft", "write --planner$"),
    (2, "plan g.json --algo heft", "write --planner$"),
    (2, "simulate s.jsonl --scheduler fair", "write --(planner|policy)$"),
    (2, "plan g.json --cores 4", "write --platform uniform:N"),
    (2, "run g.json --workers 0", "write --platform uniform:N"),
    (2, "plan g.json -j4", "-j4.*write --platform uniform:N"),
    (2, "build --workers 3", "write --jobs"),
    (2, "generate chain --nodes 10", "write --tasks"),
    (2, "train decima s.jsonl --epochs 5", "write --generations"),
    (2, "train decima s.jsonl --lr 0.1", "write --rate"),
    (2, "plan g.json --planner", "--planner needs a value: NAME.*list planners"),
    (2, "plan g.json -p", "--platform needs a value: SPEC"),
    (2, "plan g.json --planner --json", "--planner needs a value"),
    (2, "plan g.json --gantt -p uniform:2", "--gantt needs a value: F.svg"),
    (2, "plan g.json --json=yes", "--json takes no value"),
    (2, "plan g.json -p=uniform:2", "write -p uniform:2 or --platform=uniform:2"),
    (2, "plan g.json --platform = uniform:2", "--platform is '='; write --platform VALUE"),
    (2, "plan g.json --platform:uniform:2", "write --platform VALUE"),
    (2, "plan g.json --seed 1 --seed 2", "--seed is given twice"),
    (2, "plan g.json -p uniform:2 --platform uniform:3", "--platform is given twice"),
    (2, "run g.json --policy steal --planner heft", "--planner and --policy exclude each other"),
    (2, "run g.json --plan p.json --planner heft", "leave --planner and --policy out"),
    (2, "simulate s.jsonl --seeds 1-3 --seed 2", "leave --seed out"),
    (2, "plan g.json --foreign", "--foreign is of --profile"),
    (2, "plan g.json --interval 10ms", "add --pipeline"),
    (2, "run g.json --dilate 5", "add --clock padded"),
    (2, "run g.json --period 10ms", "--releases-in-flight N; add it"),
    (2, "run g.json --engine mpich", "add --hosts F.json"),
    (2, "check g.json p.json --overhead 10us", "add --admission"),
    (2, "run s.jsonl --planner heft", "write --policy NAME"),
    (2, "run s.jsonl --repeat 3", "a workload runs once"),
    (2, "plan g.json c.json -o two.json", "take one GRAPH"),
    (2, "plan --version", "--version is no option of 'plan'; write clotho --version$"),
    (2, "build --planner heft", "--planner belong to --plan; add it"),
    (2, "simulate g.json --profile times.json --seeds 1-3", "predicts one graph that runs once: leave .*--seeds.* out"),
    (1, "simulate s.jsonl --instance x", "this is a workload, and --instance takes one graph of a file; leave it out"),
    (1, "simulate s.jsonl --releases-in-flight 2", "this is a workload, and --releases-in-flight runs one graph; name a graph"),
    (2, "generate chain --format saga", "--format is saga, whose files have a platform.*write clotho"),
]

VALUES = [  # numbers, units, names
    (2, "run g.json --planner all", "here one planner makes the plan; 'clotho plan' compares them all"),
    (2, "plan g.json --seed -5", "--seed is '-5'; write a whole number"),
    (2, "plan g.json --seed 5,5", "--seed is '5,5'; write a whole number"),
    (2, "plan g.json --seed 1e3", "--seed is '1e3'; write a whole number"),
    (2, "plan g.json --seed 0x10", "--seed is '0x10'; write a whole number"),
    (2, "plan g.json --seed 1_000", "--seed is '1_000'; write a whole number"),
    (2, "plan g.json --seed=", "--seed is ''; write a whole number"),
    (2, "plan g.json --seed 99999999999999999999", "to 18446744073709551615"),
    (2, "plan g.json --scale 1,5", "--scale is '1,5'; write a number.* such as 0.5"),
    (2, "plan g.json --scale 50%", "without a unit"),
    (2, "plan g.json --scale 0", "write a number > 0"),
    (2, "plan g.json --scale 0x10", "--scale is '0x10'"),
    (2, "plan g.json --scale nan", "--scale is 'nan'; write a number"),
    (2, "plan g.json --threads 0", "--threads is '0'; write a whole number from 1"),
    (2, "run g.json --repeat 0", "--repeat is 0; write 1 to"),
    (2, "run s.jsonl --jobs 0", "--jobs is '0'; write a whole number from 1"),
    (2, "run s.jsonl --live 0", "--live is '0'; write a whole number from 1"),
    (2, "run g.json --memory-limit 10G", "write MIB: a whole number"),
    (2, "run g.json --fifo 99", "from 1 to 98"),
    *[(2, "run g.json --deadline " + shlex.quote(bad), re.escape("--deadline is '%s'; write a time such as 500, 20us" % bad))
      for bad in ("10 ms", "10MS", "10min", "1,5ms", "-5ms", "0", "0x10", "1_000", "fast", "NaN", "9999999999999s")],
    (2, "run g.json --deadline 10 ms", "'ms' is no file; write a time and its unit as one word"),
    (2, "plan g.json --budget '10 ms' --planner best", "such as 500ms"),
    (2, "plan g.json --budget 0x10 --planner best", "--budget is '0x10'"),
    (1, "plan g.json -p uniform:2 --pipeline --interval 1ns", "g.json: an interval of 1 ns is too short; no plan has less than"),
    (1, "run g.json --releases-in-flight 2 --period 5ns", "g.json: period_ns is 5; the shortest period is 1000 ns"),
    (2, "simulate s.jsonl --seeds 9-1", "A-B with A <= B"),
    (2, "simulate s.jsonl --seeds 1,2,3", "A-B with A <= B"),
    (2, "simulate s.jsonl --arrivals poison:1", "batch, trace or poisson:SECONDS"),
    (2, "simulate s.jsonl --arrivals poisson:x", "'poisson:x'; write the mean gap"),
    (2, "generate chain --instances 5-1", "smaller one first"),
    (2, "generate chain --spread 2", "from 0 to 1"),
    (2, "run g.json --clock virtal", "'virtal'; write real, padded or virtual"),
    (2, "serve --clock virtual", "write client or real"),
    (2, "run g.json --body soul", "write spin, memory or command"),
    (2, "plan g.json --contention all", "write choose or times"),
    (2, "plan g.json --planner hfet", "did you mean 'heft'"),
    (2, "plan g.json --planner heft,cpop", "'heft,cpop'.*one name at a time"),
    (2, "plan g.json --planner heft:x", "takes no argument; write --planner heft"),
    (2, "plan g.json --planner fair", "'fair' is a policy.*--policy fair"),
    (2, "plan g.json --planner ''", "empty; see 'clotho list planners'"),
    (2, "plan g.json --planner zzz", "'zzz' is no planner; see 'clotho list planners'$"),
    (2, "simulate s.jsonl --policy fiar", "did you mean 'fair'"),
    (2, "run g.json --policy heft", "'heft' is a planner.*--planner heft"),
    (2, "simulate s.jsonl --policy fair:x", "takes no argument; write --policy fair"),
    (2, "simulate s.jsonl --policy deft:foo", "'foo' selects nothing; write fifo"),
    (2, "simulate s.jsonl --policy follow:", "write --policy follow:LOG"),
    (2, "simulate s.jsonl -p uniform:2 --planner heft", "'heft' is no planner of workloads, but of one graph.*take synchpack-1"),
    (2, "simulate s.jsonl --environment lunar", "no environment 'lunar'; write decima"),
    (2, "generate choleski", "did you mean 'cholesky'"),
    (2, "generate chain --format jsno", "'jsno' is no format; see 'clotho list formats'"),
    (2, "generate chain --format json", "did you mean 'clotho'"),
    (2, "generate chain --format svg", "'svg' is no format; see 'clotho list formats'"),
    (2, "plan g.json --planner ALL", "did you mean 'all'"),
    (2, "convert g.json x.json --format wfformt", "did you mean 'wfformat'"),
    (1, "platform show rk3589", "did you mean 'rk3588'"),
    (1, "plan g.json -p RK3588", "did you mean 'rk3588'"),
    (1, "plan g.json -p rk3588:2", "did you mean 'rk3588'"),
    (1, "plan g.json -p 4", "did you mean 'uniform:4'"),
    (1, "plan g.json -p uniform=4", "did you mean 'uniform:4'"),
    (1, "plan g.json -p unifrom:4", "did you mean 'uniform:4'"),
    (1, "plan g.json -p nativ", "did you mean 'native'"),
    (1, "plan g.json -p uniform:0", "a number from 1 to 65536"),
    (1, "plan g.json -p uniform:1e3", "a number from 1 to 65536"),
    (1, "plan g.json -p moon", 'no platform "moon"; use native'),
    (1, "plan g.json -p own", "g.json: carries no platform; name one with --platform"),
    (1, "model show decma", "did you mean 'decima'"),
    (2, "plan g.json --scale -1", "--scale is '-1'; write a number > 0"),
    (2, "run g.json --fifo 0", "--fifo is '0'; write PRIORITY: a whole number from 1 to 98"),
    (2, "simulate s.jsonl -p uniform:2 --planner psr", "'psr' is no planner of workloads; did you mean 'psrs'"),
    (2, "simulate g.json --planner heft", "'heft' is no planner of workloads, but of one graph.*take synchpack-1"),
    (2, "generate gauss --tasks 4000000000", "--tasks is 4000000000; use at most"),
    (2, "generate layered --width 4000000000", "--width is 4000000000; use at most"),
    (2, "generate chain --beta 3", "--beta is 3; give a number from 0"),
    (2, "generate chain --kinds 99", "--kinds is 99; use at most 32"),
    (2, "generate stream --spread 2", "--spread is 2; give a number from 0 to 1"),
    (2, "train decima s.jsonl --sigma 0", "--sigma is 0; write a number > 0, at most 10"),
    (2, "train decima s.jsonl --rate 11", "--rate is 11; write a number > 0, at most 10"),
    (2, "train parametric s.jsonl --population 1", "--population is 1; write 4 to 10000"),
    (2, "train parametric s.jsonl --environment lunar", "no environment 'lunar'; write decima"),
    (2, "train parametric s.jsonl --scene uniform:2/5/often", "--scene: ARRIVALS is 'often'; write batch"),
    (2, "train lachesis s.jsonl --width 0", "--width is from 1 to 64, not 0"),
    (1, "platform show own", "'own' is the platform in a file of a graph, and here is none; name one"),
    (1, "plan g.json -i x", "no instance is called 'x', of 1 that can be read; name one"),
    (1, "simulate s.jsonl --policy residual:nope.model", "nope.model: No such file.*; name a file that can be read"),
]

FILES = [  # that are not there, are something else, or cannot be written; objects that do not belong together
    (1, "plan nope.json", "nope.json: No such file.*name a file"),
    (1, "plan g.jsn", "did you mean 'g.json'"),
    (1, "plan c", "did you mean 'c.json'"),  # and not c.csv
    (1, "platform show nope.xml", "nope.xml: No such file.*name a file"),
    (1, "platform show native+nope.xml", "nope.xml: No such file.*name a file"),
    (1, "plan g.json -p rk3588.xml", "no file 'rk3588.xml'; did you mean 'rk3588'"),
    (1, "model quantize g.json -o q.model", "give the published weights of Decima as JSON"),
    (2, "generate chain --format workload -o w.json", "'clotho generate stream' writes workloads"),
    (1, "simulate s.jsonl --replay nope.log", "nope.log: No such file.*name a file"),
    (1, "profile merge nope.json -o t.json", "nope.json: No such file.*name a file"),
    (1, "plan missing/g.json", "missing/g.json: No such file"),
    (1, "plan g.json/x", "g.json/x: No such file"),
    (1, "run '*.json'", "no file is of this pattern"),
    (1, "plan 'no*.json'", "none matches this as a pattern"),
    (1, "plan bare", "bare: is a directory without graph files.*name files"),
    (1, "plan 'g.json c.json'", "several files as words of their own"),
    (1, "plan g.json,c.json", "several files as words of their own"),
    (1, "plan '$HOME/g.json'", "leave the quotes out, so that the shell replaces"),
    (1, "plan https://a.example/g.json", "download it first"),
    (1, "run dir", "dir: Is a directory; name a file in it"),
    (1, "plan empty.json", "empty.json:1: the file is empty; write a graph"),
    (1, "plan binary.json", "not valid UTF-8"),
    (1, "plan g.json.gz", "is compressed; unpack it"),
    (1, "plan notes.txt", "notes.txt:1: unknown format; convert it"),
    (1, "plan t.csv", "t.csv:1: unknown format; convert it"),
    (1, "plan board.xml", "board.xml:1: this is a platform.*--platform"),
    (1, "plan s.jsonl", "this is a workload, no graph; 'clotho simulate'"),
    (1, "plan p.json", "this is a plan, no graph; name the graph"),
    (1, "plan f.log", "this is the log of a run.*'clotho check WORKLOAD LOG'"),
    (1, "simulate f.log", "this is the log of a run"),
    (1, "plan g.json -p g.json", "no cluster file.*hwloc"),
    (1, "plan g.json -p broken.xml", "broken.xml:1"),
    (1, "plan g.json -p dir", "dir: Is a directory"),
    (1, "plan g.json --profile nope.json", "nope.json: No such file"),
    (1, "plan g.json --profile g.json", "no file of measured times.*clotho calibrate"),
    (1, "run g.json --plan p.jsn", "did you mean 'p.json'"),
    (1, "run g.json --plan c.json", "c.json:1: format is .*not a plan file; make one with"),
    (1, "run c.json --plan p.json -p uniform:2", "p.json: is a plan of the graph 'diamond', this is 'chain'"),
    (1, "check c.json p.json -p uniform:2", "p.json: is a plan of the graph 'diamond', this is 'chain'"),
    (1, "check g.json p.json -p rk3588", "is a plan for the platform 'uniform:2'.*--platform"),
    (1, "check p.json g.json -p uniform:2", "p.json:2: .*this is a plan, no graph"),
    (1, "plan times.json", "times.json:1: format says that these are measured times, no graph; name the graph, and these by --profile"),
    (1, "run lab.json", "lab.json:1: format says that this is a cluster, no graph; name the graph, and this by --platform"),
    (1, "plan g.json -p lab.json", "lab.json:1: .*gone.xml: No such file.*; name a file that is there"),
    (1, "platform calibrate --hosts lab.json", "^clotho: lab.json:1: .*gone.xml: No such file.*; name a file that is there"),
    (1, "plan g.json -p broken.xml", "broken.xml:1: the file ends too early; give the whole hwloc XML file"),
    (1, "plan g.json -p empty.json", "empty.json:1: the file is empty; "),
    (1, "platform show void.xml", "void.xml:1: the file is empty; give an hwloc XML file"),
    (1, "platform show letter.xml", "letter.xml:1: the document is a <note>, no <topology>; give an hwloc XML file"),
    (1, "platform show native+rk3588", "no accelerator to add: .*; name a file that has one"),
    (1, "platform show dir", "dir: Is a directory; name a file in it"),
    (1, "simulate s.jsonl --replay dir", "dir: Is a directory; name a file in it"),
    (1, "simulate s.jsonl --policy fifo --replay f.log", "f.log: --policy is another one than the log's; leave it out: "),
    (1, "profile check empty.json", "empty.json:1: the file is empty; write JSON"),
    (1, "plan -", "^clotho: standard input:1: the file is empty; write a graph"),
    (1, "plan g.json -o f.log/x.json", "f.log/x.json: Not a directory; nothing was begun: name a file in a folder"),
    (1, "train parametric s.jsonl --checkpoint g.json", "g.json: .*; name another file, or delete it to begin anew"),
    (1, "generate chain -o /dev/full", "/dev/full: No space left on device; what was written is not complete"),
    (1, "check g.json dangling.json -p uniform:2", 'executor is "e9"; write a name or index of this graph and platform'),
    (1, "check g.json gone.json -p uniform:2", "'d' instance 0 has no original execution"),
    (1, "simulate headless.jsonl", "headless.jsonl:1: .*workload, whose first line is missing"),
    (1, "simulate short.jsonl", "ends after 1 of 3 jobs; it is truncated"),
    (1, "check s.jsonl cut.log", "the log ends without its last line"),
    (1, "check s.jsonl edited.log", "the log was changed"),
    (1, "check g.json empty.json", "the file is empty; give a plan or a log"),
    (1, "check s2.jsonl f.log", "the log is of another workload"),
    (1, "check s.jsonl f.log -p uniform:3", "a platform with 2 executors, this one has 3"),
    (1, "simulate s2.jsonl --replay f.log", "the log is of another workload"),
    (1, "simulate s.jsonl --replay g.json", "this is no log.*give a file that --log wrote"),
    (1, "run g.json -p uniform:4096", "has 4096 executors but this process may use .*choose the padded or virtual clock"),
    (1, "calibrate g.json -o t.json -p rk3588", "'rk3588' is not this machine"),
    (1, "run g.json --hosts nope.json", "nope.json: No such file"),
    (1, "run g.json --hosts g.json", "no cluster file"),
    (1, "model show g.json", "is no model"),
    (1, "plan g.json -o missing/p.json", "missing/p.json: No such file.*nothing was begun: make the folder first"),
    (1, "plan g.json --gantt=", "--gantt: a file to write needs a name"),
    (1, "plan g.json -o dir", "dir: Is a directory; nothing was begun"),
    (1, "plan g.json -p uniform:2 -o /dev/full", "/dev/full: No space left"),
    (1, "generate chain -o /dev/full", "/dev/full: No space left"),
    (2, "plan g.json -o g.json", "would replace g.json, which is read; name another"),
    (2, "convert g.json g.json", "OUT would replace IN"),
    (2, "plan g.json -o p.svg", "write F.json"),
    (2, "plan g.json --gantt x.png", "write F.svg"),
    (2, "simulate s.jsonl --csv x.json", "write F.csv"),
    (2, "convert g.json x.pdf", "write .json or .dot"),
    (2, "convert g.json x.json --format psplib", "'psplib' can only be read"),
    (2, "run g.json --trace same.json --learn same.json", "name one file, same.json; name two"),
    (2, "serve --restart f.log", "--restart needs --workload"),
    (2, "plan g.json -o p.c", "write F.json"),
    (2, "model embed lachesis -o lachesis.model", "write F.c"),
    (2, "model embed lachesis --name int -o l.c", "--name is 'int'; write a name of C"),
    (2, "generate stream -o s.dot", "'s.dot' is no name of a workload file; write F.jsonl"),
    (2, "build -f ninja.json --plan -o ninja.json", "would replace ninja.json, which is read; name another"),
    (2, "build -f ninja.json --plan -o build.ninja", "write F.json"),
    (1, "serve --socket missing/s", "missing/s: the socket cannot be made.*in a folder that is there"),
    (1, "serve --socket g.json", "g.json: is there and no socket; name another"),
    (1, "build -f ninja.json dir", "dir is a folder without a build.ninja, and no target"),
    (1, "build dir", "build.ninja: there is no such file"),
]

GRAPHS = [  # what a graph file says wrong: its name, its text, what the line says
    ("trailing", graph(A + ","), r":5: .*remove the comma"),
    ("trailing_key", graph('{"name": "a", "work_ns": 5,}'), r":4: expected a key"),
    ("no_comma", graph(A + "\n" + B), r":5: expected ','"),
    ("cut", graph(A)[:-20], r":\d+: .*truncated"),
    ("twice_there", task('"work_ns": 5, "work_ns": 6'), r":4: tasks\[0\].work_ns is there twice; remove one"),
    ("two_values", graph(A) + graph(A), r":7: more text after the end"),
    ("single_quotes", graph("{'name': 'a'}"), r":4: expected a key in double quotes"),
    ("single_value", graph("{\"name\": 'a'}"), r":4: JSON has no .*'text'"),
    ("nan", task('"work_ns": NaN'), r":4: JSON has no NaN.*write a number"),
    ("infinity", task('"work_ns": Infinity'), r":4: JSON has no .*Infinity"),
    ("hex", task('"work_ns": 0x10'), r":4: malformed number"),
    ("underscore", task('"work_ns": 1_000'), r":4: malformed number"),
    ("plus", task('"work_ns": +5'), r":4: malformed number"),
    ("comma", task('"work_ns": 5,5'), r":4: expected a key"),
    ("text", task('"work_ns": "5 ms"'), r":4: tasks\[0\].work_ns is \"5 ms\"; write a number"),
    ("negative", task('"work_ns": -5'), r":4: tasks\[0\].work_ns is -5; write a number >= 0"),
    ("large", task('"work_ns": 1e30'), r":4: .*146 years; write a smaller time"),
    ("unit", task('"work_ms": 5'), r":4: .*work_ms is not a known key; did you mean \"work_ns\""),
    ("key", task('"wrok_ns": 5'), r":4: .*wrok_ns is not a known key; did you mean \"work_ns\""),
    ("other_key", task('"colour": 5'), r":4: .*colour is not a known key; correct or remove it"),
    ("source", edge('{"source": "a", "target": "b"}'), r":7: edges\[0\].source .*did you mean \"from\""),
    ("pair", edge('["a", "b"]'), r":7: edges\[0\] is an array; write an object"),
    ("no_to", edge('{"from": "a"}'), r":7: edges\[0\] has no \"to\"; add it"),
    ("unknown", edge('{"from": "a", "to": "c"}'), r":7: edges\[0\].to is \"c\"; write the name or index"),
    ("far", edge('{"from": 0, "to": 2}'), r":7: edges\[0\].to is 2; the graph has the tasks 0 .. 1"),
    ("itself", edge('{"from": "a", "to": "a"}'), r":7: edges\[0\] goes from a task to itself; remove it"),
    ("cycle", edge('{"from": "a", "to": "b"}, {"from": "b", "to": "a"}'), r"\"a\" -> \"b\" -> \"a\"; remove one"),
    ("again", edge('{"from": "a", "to": "b"}, {"from": "a", "to": "b"}'), r"both go from \"a\" to \"b\"; merge"),
    ("minus_bytes", edge('{"from": "a", "to": "b", "bytes": -1}'), r":7: edges\[0\].bytes is -1"),
    ("same_names", graph(A + "," + A + "," + B, '{"from": "a", "to": "b"}'), r"index of the task; several tasks have this name"),
    ("no_tasks", graph(""), r"tasks is empty; a graph needs at least one"),
    ("lacks_tasks", '{"format": "clotho.graph/1", "name": "g", "edges": []}', r":1: .*no \"tasks\"; add it"),
    ("map", '{"format": "clotho.graph/1", "tasks": {"a": 5}, "edges": []}', r":1: tasks is an object; write an array"),
    ("version", '{"format": "clotho.graph/7", "tasks": [], "edges": []}', r":1: .*write \"clotho.graph/1\""),
    ("no_format", '{"tasks": [], "edges": []}', r":1: .*a graph of our own begins with"),
    ("array", "[1, 2]", r":1: .*write an object"),
    ("conflict", "<<<<<<< HEAD\n" + graph(A), r":1: unknown format"),
    ("utf16", graph(A).encode("utf-16"), r":1: .*save the file as UTF-8"),
    ("zero_byte", graph(A.replace("a", "a\0")), r":4: a zero byte"),
    ("fits_nowhere", task('"times": {"gpu": 5}'), r"no executor of \"uniform:2\" can run it.*kind \"gpu\""),
    ("no_command", task('"command": []'), r":4: tasks\[0\].command is empty; write the program first, or leave it out"),
    ("no_handle", task('"data": [{"handle": "x", "mode": "read"}]'), r":4: .*handle is \"x\"; .*there is none of this name"),
    ("far_executor", task('"work_ns": 5, "executors": [7]'), r"executors from 7 on.*name executors that are there"),
]


class Mistakes(CommandTest):
    def scene(self):
        """The files that the rows speak of."""
        self.diamond()
        self.graph([{"name": n, "work_ns": 5} for n in "xyz"], [(0, 1), (1, 2)], name="chain", file="c.json")
        for seed, name in ((0, "s.jsonl"), (5, "s2.jsonl")):
            self.good("generate", "stream", "--jobs", 3 + seed, "--seed", seed, "-o", name)
        self.good("plan", "g.json", "-p", "uniform:2", "-o", "p.json")
        self.good("simulate", "s.jsonl", "-p", "uniform:2", "--policy", "fair", "--log", "f.log")
        os.mkdir(self.path("bare"))
        plan = json.loads(self.bytes("p.json"))
        lines, log = self.bytes("s.jsonl").decode().splitlines(True), self.bytes("f.log").decode().splitlines(True)
        self.file("gone.json", {**plan, "placements": [p for p in plan["placements"] if p["task"] != "d"]})
        self.file("dangling.json", {**plan, "placements": [{**p, "executor": "e9"} for p in plan["placements"]]})
        self.file("headless.jsonl", "".join(lines[1:]))
        self.file("short.jsonl", "".join(lines[:2]))
        self.file("cut.log", "".join(log[:3]))
        self.file("edited.log", "".join(log[:4]) + log[4].replace("0", "1", 1) + "".join(log[5:]))
        for name, content in (("empty.json", ""), ("binary.json", bytes(range(128, 256))), ("g.json.gz", b"\x1f\x8b\x08\0"),
                              ("notes.txt", "to do\n"), ("c.csv", "a,b\n"),
                              ("ninja.json", "build all: phony\n"), ("t.csv", "a,b\n1,2\n"), ("broken.xml", "<topology><object"),
                              ("times.json", '{"format": "clotho.profile/1"}'), ("void.xml", ""), ("letter.xml", "<note>hi</note>"),
                              ("lab.json", '{"format": "clotho.cluster/1", "machines": [{"name": "a", "platform": "gone.xml"}]}'),
                              ("board.xml", '<?xml version="1.0"?>\n<topology version="2.0"></topology>\n'), ("dir/x.json", "{}")):
            os.makedirs(os.path.dirname(self.path(name)), exist_ok=True)
            self.file(name, content)

    def play(self, rows):
        self.scene()
        for code, line, wanted in rows:
            with self.subTest(line):
                said = self.bad(code, *shlex.split(line))
                self.assertRegex(said.err.rstrip("\n"), wanted)

    def test_words(self):
        self.play(WORDS)

    def test_options(self):
        self.play(OPTIONS)

    def test_values(self):
        self.play(VALUES)

    def test_files(self):
        self.play(FILES)

    def test_graphs(self):
        for name, text, wanted in GRAPHS:
            with self.subTest(name):
                said = self.bad(1, "plan", self.file(name + ".json", text), "-p", "uniform:2", holds=name + ".json")
                self.assertRegex(said.err.rstrip("\n"), wanted)

    def test_what_looks_wrong_and_is_not(self):
        """No message where none is due: line ends of other systems, a byte order mark, names with blanks, large letters."""
        text = graph(A + "," + B, '{"from": "a", "to": "b"}')
        for name, content in (("crlf.json", text.replace("\n", "\r\n")), ("bom.json", "\ufeff" + text), ("two words.json", text),
                              ("GRAPH.JSON", text), ("-dash.json", text), ("text", text)):
            self.good("plan", "-p", "uniform:2", "--", self.file(name, content))
        self.good("plan", "-", "-p", "uniform:2", stdin=text)
        for words in (["simulate", "-"], ["simulate", "/dev/stdin"], ["run", "/dev/stdin", "--jobs", 1]):
            self.good(*words, "-p", "uniform:2", stdin=self.good("generate", "stream", "--jobs", 2))
        self.good("serve", "--workload", "w.json", "-p", "uniform:2", stdin="")
        self.good("plan", "text", "-puniform:2", "--planner=HEFT")
        for words in (["-h"], ["--help"], ["help", "--help"], ["--help", "plan"], ["help", "plan"], ["plan", "-h"], ["--version"]):
            self.good(*words)


if __name__ == "__main__":
    unittest.main()
