"""Random edits of a scene for ninja.py: what a developer, a broken disk or a wrong clock does between two builds.

An edit is a list of operations that the driver does in both folders, with one time for all files:
("write", PATH, TEXT), ("touch", PATH), ("time", PATH, NS), ("equal", PATH, OTHER), ("remove", PATH), ("log", OUTPUT).
`scene.stale` collects outputs that need not follow from the sources any more; the driver removes them at the end."""
import time

from ninja_draw import FLAGS, FOUND, GENERATORS

KINDS = ["touch", "write", "mend"] * 5 + ["fault"] * 4 + ["flags", "headers", "remove_output"] * 3 + [
    "touch_output", "write_output", "age_output", "age", "newest", "equal", "variable", "step", "input",
    "remove_source", "dyndep", "dyndep", "log_line", "no_log", "no_deps_log", "rule", "depfile", "scope"]
MODES = ["fail"] * 4 + ["failw", "failw", "nowrite", "nowrite", "kill", "say", "slow", "int", "term"]


def manifests(scene):
    return [("write", name, text) for name, text in scene.written().items()]


def source(scene):
    return scene.draw.choice(sorted(name for name in scene.sources if not name.startswith(("deps/", "dyn/"))))


def output(scene, there):
    """An output that is there, or None."""
    found = sorted(path for step in scene.steps for path in step.made() if path in there and step.rule != "phony")
    return scene.draw.choice(found) if found else None


def step_of(scene, rules=None):
    found = [step for step in scene.steps if step.rule != "phony" and (rules is None or step.rule in rules)]
    return scene.draw.choice(found) if found else None


def touch(scene, _):
    return [("touch", source(scene))]


def write(scene, _):
    """Not files that have a language of their own."""
    name = scene.draw.choice(sorted(n for n in scene.sources if n.startswith(("src", "in/", "s r", "h", "inc/"))))
    scene.sources[name] += "more\n"
    return [("write", name, scene.sources[name])]


def flags(scene, _):
    step = step_of(scene)
    step.flags = scene.draw.choice(FLAGS + [None])
    if step.rule in GENERATORS:
        scene.stale.update(step.made())
    return manifests(scene)


def variable(scene, _):
    scene.variables["v%d" % scene.draw.randrange(3)] = scene.draw.choice(("", "y", "3  4", "$$", "end "))
    return manifests(scene)


def rule(scene, _):
    name = scene.draw.choice(("cat", "same", "gcc", "rsp", "msvc", "dyn"))
    scene.rule_tail[name] = scene.draw.choice(("", "; : x", "; :   y", " ; : $ z"))
    return manifests(scene)


def scope(scene, _):
    """A step moves to another file; its variables may have other values there."""
    if scene.regen:
        return []  # for a while it would stand in both, and the manifest could not be made anew
    step = step_of(scene)
    step.file = scene.draw.randrange(len(scene.files))
    return manifests(scene)


def step(scene, _):
    """One that nobody uses goes, or one that went comes back."""
    if scene.gone and scene.draw.random() < 0.6:
        back = scene.gone.pop(scene.draw.choice(sorted(scene.gone)))
        scene.steps.insert(scene.draw.randrange(len(scene.steps) + 1), back)
        return manifests(scene)
    used = {path for each in scene.steps for path in each.needs() + each.valid}
    ends = [each for each in scene.steps if not used.intersection(each.made()) and not each.dyndep]
    if not ends or sum(each.rule != "phony" for each in scene.steps) < 2 or scene.gone:
        return []
    gone = scene.draw.choice(ends)
    scene.steps.remove(gone)
    scene.gone[gone.id] = gone
    return manifests(scene)


def input(scene, _):
    """One input more or less. A generator does not run for that."""
    one = step_of(scene)
    if one.rule.startswith("make"):
        return []
    if one.ins and scene.draw.random() < 0.5:
        one.ins.remove(scene.draw.choice(one.ins))
    else:
        one.ins.append(scene.draw.choice(sorted(name for name in scene.sources if name[:2] != "dd")))
    scene.stale.update(one.made())
    return manifests(scene)


def headers(scene, _):
    one = step_of(scene, FOUND)
    if not one:
        return []
    if one.id in scene.bad_depfiles:
        return mend_depfiles(scene)
    made = [path for path in one.headers if path not in scene.sources]
    one.headers = scene.some((0, 1, 2, 3), scene.headers + made)
    scene.write_headers(one)
    return [("write", name, scene.sources[name]) for name in ("deps/" + one.id, "deps/%s.d" % one.id)]


def depfile(scene, _):
    """What the compiler writes is torn or says something else."""
    one = step_of(scene, ("gcc", "gccsame", "dep"))
    if not one:
        return []
    scene.bad_depfiles[one.id] = one
    text = scene.draw.choice(("x\n", "", "other: h0.h\n", one.outs[0].replace(" ", "\\ ") + "\n", ": x\n"))
    scene.sources["deps/%s.d" % one.id] = text
    return [("write", "deps/%s.d" % one.id, text), ("touch", "deps/" + one.id)]


def dyndep(scene, _):
    one = step_of(scene, ("dyn", "dynsame"))
    if not one:
        return []
    before = dict(scene.sources)
    scene.draw_dyndep(one)
    return [("write", name, text) for name, text in scene.sources.items() if before.get(name) != text]


def fault(scene, _):
    names = [each.id for each in scene.steps if each.rule != "phony"] + (["regen"] if scene.regen else [])
    name = scene.draw.choice(names)
    mode = scene.draw.choice(MODES) if name != "regen" else "fail"
    if scene.draw.random() < 0.6 and mode in ("int", "term"):
        mode = "fail"
    return order(scene, name, mode)


def order(scene, name, mode):
    scene.faults[name] = mode
    for each in scene.steps:
        if each.id == name and mode == "nowrite":
            scene.stale.update(each.made())
    return [("write", "ctl/" + name, mode + "\n")]


def mend(scene, _):
    """One fault goes; else a source comes back, or a depfile is whole again."""
    if scene.faults:
        name = scene.draw.choice(sorted(scene.faults))
        del scene.faults[name]
        return [("remove", "ctl/" + name)]
    if scene.missing:
        name = scene.missing.pop()
        return [("write", name, scene.sources[name])]
    return mend_depfiles(scene)


def mend_depfiles(scene):
    done = []
    for one in scene.bad_depfiles.values():
        scene.write_headers(one)
        done += [("write", name, scene.sources[name]) for name in ("deps/" + one.id, "deps/%s.d" % one.id)]
        done += [("touch", "deps/" + one.id), ("remove", one.outs[0] + ".d")]
        scene.stale.update(one.made())
    scene.bad_depfiles.clear()
    return done


def remove_source(scene, _):
    name = source(scene)
    scene.missing.add(name)
    return [("remove", name)]


def remove_output(scene, there):
    names = [output(scene, there) for _ in range(scene.draw.choice((1, 1, 2)))]
    return [("remove", name) for name in dict.fromkeys(names) if name]


def touch_output(scene, there):
    name = output(scene, there)
    scene.stale.add(name)
    return [("touch", name) if scene.draw.random() < 0.7 else ("time", name, time.time_ns() + 10 ** 12)] if name else []


def write_output(scene, there):
    name = output(scene, there)
    scene.stale.add(name)
    return [("write", name, "by hand\n")] if name and not name.startswith("dd") else []


def age_output(scene, there):
    name = output(scene, there)
    scene.stale.add(name)
    return [("time", name, scene.draw.choice((0, 1, 10 ** 18, 1000)))] if name else []


def age(scene, _):
    return [("time", source(scene), scene.draw.choice((0, 1, 10 ** 18, 999999999)))]


def newest(scene, _):
    """Not what makes the manifest: that would be made a hundred times. The log of a restat step gets that time, so that
    later edits may be older."""
    scene.stale.update(path for each in scene.steps for path in each.made())
    return [("time", source(scene), time.time_ns() + scene.draw.choice((10 ** 12, 10 ** 17)))]


def equal(scene, there):
    """An output gets exactly the time of a source. Not the other way round: where outputs of one folder have one time,
    those of the other may have two."""
    made = output(scene, there)
    if not made:
        return []
    scene.stale.add(made)
    return [("equal", made, source(scene))]


def log_line(scene, there):
    name = output(scene, there)
    scene.stale.add(name)
    return [("log", name)] if name else []


def no_log(scene, _):
    for each in scene.steps:
        if each.rule in GENERATORS:
            scene.stale.update(each.made())
    return [("remove", (scene.builddir + "/" if scene.builddir else "") + ".ninja_log")]


def no_deps_log(scene, _):
    return [("remove", (scene.builddir + "/" if scene.builddir else "") + ".ninja_deps")]


def edit(scene, there, kind=None):
    """One random edit: what it is called, and its operations."""
    kind = kind or scene.draw.choice(KINDS)
    return kind, globals()[kind](scene, there)


def mend_all(scene):
    """No faults, all sources there and as new as can be, nothing stale."""
    done = mend_depfiles(scene) + [("remove", "ctl/" + name) for name in scene.faults]
    done += [("write", name, scene.sources[name]) for name in sorted(scene.missing)]
    done += [("touch", name) for name in sorted(scene.sources)]
    done += [("remove", name) for name in sorted(filter(None, scene.stale))]
    scene.faults.clear()
    scene.missing.clear()
    scene.stale.clear()
    return done
