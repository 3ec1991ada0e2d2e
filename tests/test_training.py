"""The loop: exact resume, ensembles, bad numbers, full disks, company, and everything a user may pass."""

import errno
import json
import os
import random
import re
import signal
import subprocess
import sys
import threading
import time
import warnings
from pathlib import Path

import numpy as np
import pytest
import torch
from filelock import FileLock
from safetensors.torch import load_file
from torch import nn
from torch.utils.data import TensorDataset

import unbraid
from unbraid import catalog, storage, workers
from unbraid.errors import Notice, UserError, show_notices_only
from unbraid.loop import Loop
from unbraid.runs import read_history

KILLS = int(os.environ.get("UNBRAID_KILLS", "4"))
SMALL = {"net": "linear", "latents": 2, "beta": 1e-3, "batch_size": 32, "progress": False, "device": "cpu"}


def weights(run):
    return load_file(run.path / "weights.safetensors")


def same(a, b):
    return a.keys() == b.keys() and all(torch.equal(a[k], b[k]) for k in a)


def close(a, b):
    return all(torch.allclose(a[k], b[k], atol=1e-4) for k in a)


def test_run_folder_is_complete_and_asking_again_returns_it(square, out):
    run = unbraid.train("beta_vae", square, steps=50, out=out, **SMALL)
    assert run.status == "finished" and run.path.parent.parent == out
    names = {p.name for p in run.path.iterdir()}
    assert {"config.yaml", "environment.json", "state.json", "history.jsonl", "weights.safetensors"} == names
    assert run.history[-1]["step"] == 50 and set(run.history[-1]["terms"]) == {"loss", "reconstruction", "kl"}
    before = (run.path / "weights.safetensors").stat().st_mtime_ns
    again = unbraid.train("beta_vae", square, steps=50, out=out, **SMALL)
    assert again.path == run.path and (run.path / "weights.safetensors").stat().st_mtime_ns == before
    other = unbraid.train("beta_vae", square, steps=51, out=out, **SMALL)
    assert other.path.parent != run.path.parent


class Cut(Exception):
    pass


OWN_FILES = sorted(map(str, (Path(__file__).parent / "own").glob("*.py")))  # of more than single samples
METHODS = [*catalog.names("methods"), "beta_vae:auto", *OWN_FILES]


def options_of(method, **options):
    """Options of the small setting that a method has; large critics are for real data."""
    known = [option.name for option in catalog.entry("methods", method.partition(":")[0]).options]
    options = {**SMALL, "critic_width": 8, "critic_depth": 1, "ramp": 20, **options}
    options |= {"beta": "auto:1"} if method == "beta_vae:auto" else {}
    training = [option.name for option in catalog.function_options("training", "train")]
    return {name: value for name, value in options.items() if name in [*known, *training]}


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("seeds", [[0], [0, 1]])
def test_cut_anywhere_and_resumed_is_bit_identical(fitting, out, monkeypatch, method, seeds):
    options = options_of(method, steps=40, seeds=seeds, save_seconds=0, optimiser="adagrad", clip=1.0, probe_every=10)
    method = method.partition(":")[0]
    data = fitting(method)
    whole = unbraid.train(method, data, out=out / "whole", **options)
    real = Loop.batch
    for place in (7, 33, 39):  # in the first block of noise, in the second, and before the last step

        def batch(self, step, place=place):
            if step == place:
                raise Cut
            return real(self, step)

        monkeypatch.setattr(Loop, "batch", batch)
        with pytest.raises(Cut):
            unbraid.train(method, data, out=out / "cut", **options)
    monkeypatch.setattr(Loop, "batch", real)
    run = unbraid.train(method, data, out=out / "cut", **options)
    for ours, theirs in zip(run.members, whole.members, strict=True):
        assert same(weights(ours), weights(theirs))
        for seen in ("terms", "probe", "distances"):
            assert [r.get(seen) for r in ours.history] == [r.get(seen) for r in theirs.history]
    assert not list(run.path.glob("checkpoint*"))


def test_running_statistics_are_resumed_and_kept(square, out, monkeypatch):
    def net(shape, latents):
        return nn.Sequential(nn.Flatten(), nn.Linear(3, 4), nn.BatchNorm1d(4)), nn.Linear(latents, 3)

    options = {**SMALL, "net": net, "steps": 40, "save_seconds": 0}
    whole = unbraid.train("beta_vae", square, out=out / "whole", **options)
    real = Loop.batch

    def batch(self, step):
        if step == 33:
            raise Cut
        return real(self, step)

    monkeypatch.setattr(Loop, "batch", batch)
    with pytest.raises(Cut):
        unbraid.train("beta_vae", square, out=out / "cut", **options)
    monkeypatch.setattr(Loop, "batch", real)
    run = unbraid.train("beta_vae", square, out=out / "cut", **options)
    assert same(weights(run), weights(whole)) and "encoder.0.2.running_mean" in weights(run)
    x = np.ones((2, 3), np.float32)
    np.testing.assert_array_equal(run.encode(x), whole.encode(x))


@pytest.mark.parametrize("seeds", ["0", "0,1,2"])
def test_kill_9_at_random_moments(out, seeds):
    """Killed again and again, a run ends with the weights of one that was left alone; nothing half-written is read."""
    steps = 2500 * max(KILLS, 1)
    words = [sys.executable, "-m", "unbraid", "train", "beta_vae", "linear_square:samples=1000", "--net", "linear"]
    words += ["--latents", "2", "--steps", str(steps), "--seeds", seeds + ("," if seeds == "0" else "")]
    words += ["--batch-size", "16", "--device", "cpu", "--save-seconds", "0"]
    draw = random.Random(seeds)

    def histories():
        return list((out / "killed").glob("*/seed-*/history.jsonl"))

    for _ in range(KILLS):
        seen = [p.stat().st_size for p in histories()]
        process = subprocess.Popen([*words, "--out", str(out / "killed")], stdout=subprocess.DEVNULL)
        while process.poll() is None and [p.stat().st_size for p in histories()] == seen:
            time.sleep(0.005)
        time.sleep(draw.random() * 0.6)
        process.send_signal(signal.SIGKILL)
        assert process.wait() == -signal.SIGKILL, "it was quicker than its killer: give it more steps"
        for path in histories():
            assert all("terms" in row for row in read_history(path.parent))
    for name in ("killed", "whole"):
        subprocess.run([*words, "--out", str(out / name)], check=True, stdout=subprocess.DEVNULL)
    for path in (out / "whole").glob("*/seed-*/weights.safetensors"):
        assert same(load_file(path), load_file(out / "killed" / path.relative_to(out / "whole")))
    assert not list((out / "killed").rglob("*.part"))


def test_an_ensemble_is_its_seeds(square, out):
    together = unbraid.train("beta_vae", square, seeds=3, steps=100, out=out / "together", **SMALL)
    alone = unbraid.train("beta_vae", square, seed=2, steps=100, out=out / "alone", **SMALL)
    assert together.members[2].path.name == alone.path.name == "seed-2"
    assert together.members[2].path.parent.name == alone.path.parent.name
    assert close(weights(together.members[2]), weights(alone))
    assert not close(weights(together.members[0]), weights(alone))


def test_only_missing_seeds_are_trained(square, out):
    first = unbraid.train("beta_vae", square, seeds=2, steps=30, out=out, **SMALL)
    stamp = (first.members[0].path / "weights.safetensors").stat().st_mtime_ns
    more = unbraid.train("beta_vae", square, seeds=4, steps=30, out=out, **SMALL)
    assert (
        len(more.members) == 4
        and len(unbraid.train("beta_vae", square, seeds=2, steps=30, out=out, **SMALL).members) == 2
    )
    assert (more.members[0].path / "weights.safetensors").stat().st_mtime_ns == stamp


def test_seeds_that_cannot_be_stacked_go_to_processes(out):
    run = unbraid.train("vae", "sprites:pixels=16,positions=2,orientations=2", net="conv", seeds=2, steps=3, out=out,
                        latents=2, progress=False, device="cpu", processes=2)  # fmt: skip
    assert [m.status for m in run.members] == ["finished"] * 2
    assert run.encode(np.zeros((4, 1, 16, 16), np.float32)).shape == (2, 4, 2)


def has_compiler():
    from torch._inductor import config, cpp_builder

    try:
        return bool(cpp_builder.get_cpp_compiler()) and bool(config)
    except Exception:
        return False


@pytest.mark.skipif(not has_compiler(), reason="no C++ compiler here: the compiled step cannot be compared")
@pytest.mark.parametrize(
    ("method", "seeds"),
    [
        ("beta_vae", [0]),
        ("beta_vae:auto", [0, 1]),
        ("factor_vae", [0, 1]),
        ("annealed_vae", [0]),
        *((file, [0, 1]) for file in OWN_FILES),
    ],
)
def test_compiled_is_eager_up_to_rounding(fitting, out, method, seeds):
    options = options_of(method, seeds=seeds, steps=60, out=out)
    method = method.partition(":")[0]
    data = fitting(method)
    eager = unbraid.train(method, data, **options)
    torch._dynamo.utils.counters.clear()
    compiled = unbraid.train(method, data, compile=True, **options)
    updates = len(eager.members[0].method.updates())
    assert torch._dynamo.utils.counters["stats"]["unique_graphs"] == updates, "a step was compiled again"
    for ours, theirs in zip(eager.members, compiled.members, strict=True):
        assert close(weights(ours), weights(theirs))
        for term, value in ours.history[-1]["terms"].items():
            assert value == pytest.approx(theirs.history[-1]["terms"][term], rel=1e-3, abs=1e-4)


@pytest.mark.parametrize("method", METHODS)
def test_half_precision_is_near_and_the_weights_stay_whole(fitting, out, method):
    options = options_of(method, seeds=2, steps=20, out=out)
    method = method.partition(":")[0]
    data = fitting(method)
    whole = unbraid.train(method, data, **options)
    half = unbraid.train(method, data, precision="bf16", **options)
    for ours, theirs in zip(half.members, whole.members, strict=True):
        assert all(w.dtype == torch.float32 for w in weights(ours).values())
        first, exact = (run.history[0]["terms"] for run in (ours, theirs))
        near = next(term for term in first if term != "loss")  # a part that does not nearly cancel with another
        assert first[near] == pytest.approx(exact[near], rel=0.03)


def test_without_a_compiler_training_goes_on(square, out, monkeypatch):
    def broken(function, **options):
        def fail(*arguments):
            raise RuntimeError("no C++ compiler found\nand a long story")

        return fail

    monkeypatch.setattr(torch, "compile", broken)
    with pytest.warns(
        UserWarning, match=r"no working compiler \(no C\+\+ compiler found\): training goes on uncompiled"
    ):
        run = unbraid.train("beta_vae", square, steps=20, compile=True, out=out, **SMALL)
    assert run.status == "finished"


def test_bf16_trains_and_float32_weights_stay(square, out):
    run = unbraid.train("beta_vae", square, steps=200, precision="bf16", lr=1e-2, out=out, **SMALL)
    assert all(w.dtype == torch.float32 for w in weights(run).values())
    assert run.history[-1]["terms"]["loss"] < run.history[0]["terms"]["loss"] / 2


class Explodes(nn.Module):
    """A decoder that gives infinity once its bias has moved far enough."""

    def __init__(self):
        super().__init__()
        self.line = nn.Linear(2, 3)
        nn.init.zeros_(self.line.bias)

    def forward(self, z):
        return self.line(z) / (self.line.bias.abs().max() < 0.3)


@pytest.mark.parametrize("seeds", [[0], [0, 1]])
def test_nan_stops_the_seed_names_the_term_and_keeps_the_last_good_state(square, out, seeds):
    options = {**SMALL, "net": lambda shape, latents: (nn.Flatten(), Explodes()), "save_seconds": 0, "lr": 1e-2}
    with pytest.warns(UserWarning, match="term 'reconstruction' became"):
        run = unbraid.train("beta_vae", square, steps=2000, seeds=seeds, out=out, **options)
    member = run.members[0]
    assert member.status == "stopped" and "term 'reconstruction' became" in member.state["reason"]
    kept = weights(member)
    assert all(torch.isfinite(w).all() for w in kept.values())
    assert 0 < member.state["step"] < 2000
    short = {**options, "net": lambda shape, latents: (nn.Flatten(), Explodes())}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # another seed of the ensemble may have stopped before this one
        good = unbraid.train("beta_vae", square, steps=member.state["step"], seeds=seeds, out=out / "good", **short)
    assert same(kept, weights(good.members[0]))


def test_clipping_bounds_what_a_step_can_do(square, out):
    start = unbraid.train("beta_vae", square, steps=1, optimiser="adagrad", lr=1e-9, out=out, **SMALL)
    assert start.status == "finished"
    with pytest.raises(UserError, match="unknown option of beta_vae 'clp': did you mean 'clip'"):
        unbraid.train("beta_vae", square, steps=1, clp=1, out=out, **SMALL)


def test_a_full_disk_is_one_line_and_loses_nothing(square, out, monkeypatch):
    run = unbraid.train("beta_vae", square, steps=20, out=out, **SMALL)
    path = run.path / "weights.safetensors"
    before = path.read_bytes()

    def full(descriptor):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(storage.os, "fsync", full)
    with pytest.raises(UserError, match="No space left on device; what was saved before is untouched") as error:
        storage.write_text(path, "half")
    assert "\n" not in str(error.value) and path.read_bytes() == before
    with pytest.raises(UserError, match="No space left"):
        unbraid.train("beta_vae", square, steps=40, out=out, **SMALL)
    assert not list(out.rglob("*.part"))
    monkeypatch.undo()
    assert unbraid.train("beta_vae", square, steps=40, out=out, **SMALL).status == "finished"


def test_two_processes_one_works_the_other_waits(square, out, capsys):
    group = unbraid.train("beta_vae", square, steps=10, out=out, **SMALL).path.parent
    (group / "seed-1").mkdir()

    def hold():
        with FileLock(group / ".seed-1.lock"):
            time.sleep(1.0)

    threading.Thread(target=hold).start()
    time.sleep(0.1)
    began = time.perf_counter()
    run = unbraid.train("beta_vae", square, seed=1, steps=10, out=out, **SMALL)
    assert run.status == "finished" and time.perf_counter() - began > 0.8
    assert "another process is training" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"steps": 0}, "steps must be a whole number of at least 1, not 0"),
        ({"batch_size": 2.5}, "batch_size must be a whole number"),
        ({"seeds": []}, "seeds is empty"),
        ({"precision": "fp8"}, "unknown precision 'fp8'"),
        ({"device": "cuda:77"}, "device 'cuda:77' is not available here"),
        ({"optimiser": "adamw"}, "unknown optimiser 'adamw'"),
        ({"beta": "four"}, "beta must be a number, auto, or auto:5 to keep 5 latents active, not 'four'"),
        ({"beta": "auto:3"}, "of 2 latents between 1 and 2 can stay active"),
        ({"beta": True}, "beta must be a number"),
        ({"latents": 2.5}, "latents must be a whole number"),
        ({"reconstruction": "mse"}, "unknown reconstruction 'mse'"),
        ({"bta": 4}, "did you mean 'beta'"),
    ],
)
def test_mistakes_are_one_clear_line_and_leave_nothing(square, out, change, words):
    with pytest.raises(UserError, match=words) as error:
        unbraid.train("beta_vae", square, **{"steps": 5, "out": out, **SMALL, **change})
    assert "\n" not in str(error.value)
    assert not list(out.rglob("weights.safetensors"))


def test_unknown_names_are_answered_by_the_nearest(out):
    with pytest.raises(UserError, match="did you mean 'beta_vae'"):
        unbraid.train("betavae", "sprites", out=out)
    with pytest.raises(UserError, match="did you mean 'sprites'"):
        unbraid.train("vae", "sprits", out=out)


OWN = '''"""Mine: a VAE that squares its KL."""
from unbraid.methods.vae import VAE

class Mine(VAE):
    """Mine.

    Arguments:
        weight: of the square.
    """
    def __init__(self, net, latents=2, *, weight=1.0):
        super().__init__(net, latents)
        self.weight = weight

    def penalty(self, q, z):
        kl = q.kl().sum(-1).mean()
        return self.weight * kl.square(), {"kl": kl}
'''


def test_own_method_file_is_kept_in_the_run(square, out, tmp_path):
    file = tmp_path / "mine.py"
    file.write_text(OWN)
    options = {**SMALL, "steps": 10, "out": out, "weight": 3.0}
    options.pop("beta")
    run = unbraid.train(str(file), square, **options)
    file.unlink()
    again = unbraid.load_run(run.path)
    assert type(again.method).__name__ == "Mine" and again.method.weight == 3.0
    assert again.encode(np.zeros((2, 3), np.float32)).shape == (2, 2)


def test_own_networks_as_modules(square, out):
    pair = (nn.Linear(3, 6), nn.Linear(2, 3))
    run = unbraid.train("vae", square, net=pair, latents=2, steps=10, out=out, progress=False)
    with pytest.raises(UserError, match=r"load_run\(path, net=\(encoder, decoder\)\)"):
        unbraid.load_run(run.path).encode(np.zeros((2, 3), np.float32))
    again = unbraid.load_run(run.path, net=pair)
    np.testing.assert_array_equal(again.encode(np.ones((2, 3), np.float32)), run.encode(np.ones((2, 3), np.float32)))
    several = unbraid.train("vae", square, net=pair, latents=2, steps=1, seeds=2, out=out, progress=False)
    assert not close(weights(several.members[0]), weights(several.members[1]))


def test_own_method_object_starts_from_its_own_weights(square, out):
    from unbraid.methods.vae import VAE
    from unbraid.networks import open_net

    method = VAE(open_net("linear", (3,), "real"), 2)
    run = unbraid.train(method, square, steps=1, lr=1e-9, out=out, progress=False)
    assert all(torch.allclose(weights(run)[k], v, atol=1e-6) for k, v in method.state_dict().items())
    again = unbraid.load_run(run.path, method=method)
    assert again.encode(np.ones((2, 3), np.float32)).shape == (2, 2)
    with pytest.raises(UserError, match=r"load_run\(path, method=…\)"):
        unbraid.load_run(run.path).encode(np.ones((2, 3), np.float32))


def test_arrays_datasets_and_files_are_data(out, tmp_path):
    x = np.random.default_rng(0).random((60, 8, 9, 3)).astype(np.float32)
    np.save(tmp_path / "mine.npy", x)
    options = {"net": "mlp", "latents": 2, "steps": 3, "out": out, "progress": False}
    for data in (x, TensorDataset(torch.from_numpy(x)), str(tmp_path / "mine.npy"), tmp_path / "mine.npy"):
        run = unbraid.train("vae", data, **options)
        assert run.config["shape"] == [3, 8, 9]
        assert run.encode(x[:5]).shape == (5, 2)
    vectors = unbraid.train("vae", x.reshape(60, -1), **options)
    assert vectors.config["shape"] == [216]
    changed = unbraid.train("vae", x[::-1].copy(), **options)
    assert changed.path != unbraid.train("vae", x, **options).path


def test_several_processes_share_one_run(square, out):
    """Two processes on one machine average the gradients of every update and leave one folder."""
    script = (
        "import unbraid; unbraid.train('factor_vae', 'linear_square:samples=1000', net='linear', latents=2, steps=20, "
        f"critic_width=8, critic_depth=1, out={str(out)!r}, progress=False)"
    )
    environment = {
        **os.environ,
        "MASTER_ADDR": "127.0.0.1",
        "MASTER_PORT": "29561",
        "WORLD_SIZE": "2",
        "ACCELERATE_USE_CPU": "true",
    }
    group = [
        subprocess.Popen([sys.executable, "-c", script], env={**environment, "RANK": str(r), "LOCAL_RANK": str(r)})
        for r in (0, 1)
    ]
    assert [process.wait(timeout=120) for process in group] == [0, 0]
    run = unbraid.load_run(next(out.glob("*/seed-0")))
    assert run.status == "finished" and json.loads((run.path / "environment.json").read_text())["processes"] == 2
    short = options_of("factor_vae", latents=2, batch_size=64, steps=20)
    alone = unbraid.train("factor_vae", square, out=out / "alone", **short)
    apart = {name: (weight - weights(alone)[name]).abs().max().item() for name, weight in weights(run).items()}
    assert all(0 < difference < 0.05 for difference in apart.values()), "the second process had no say, or too much"


def test_the_loop_is_quiet_when_not_a_terminal(square, out, capfd):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        unbraid.train("beta_vae", square, steps=10, out=out, **{**SMALL, "progress": True})
    said = capfd.readouterr()
    assert said.out == "" and said.err == ""
    assert Path(out).is_dir()


def test_seeds_that_were_cut_off_together_go_on_together(square, out, monkeypatch):
    options = {**SMALL, "steps": 60, "save_seconds": 0}
    whole = unbraid.train("beta_vae", square, seeds=3, out=out / "whole", **options)
    real = Loop.batch

    def batch(self, step):
        if step == 50:
            raise Cut
        return real(self, step)

    monkeypatch.setattr(Loop, "batch", batch)
    with pytest.raises(Cut):
        unbraid.train("beta_vae", square, seeds=3, out=out / "cut", **options)
    monkeypatch.setattr(Loop, "batch", real)
    with pytest.warns(UserWarning, match=r"seeds \[0, 1, 2\] were cut off together"):
        one = unbraid.train("beta_vae", square, seed=1, out=out / "cut", **options)
    assert not list(one.path.parent.glob("checkpoint*"))
    for member in unbraid.train("beta_vae", square, seeds=3, out=out / "cut", **options).members:
        assert same(weights(member), load_file(whole.path / member.path.name / "weights.safetensors"))


FULL = """
import resource, signal, sys
import unbraid
from unbraid.errors import UserError
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
for room in (3000, 40_000):
    resource.setrlimit(resource.RLIMIT_FSIZE, (room, resource.RLIM_INFINITY))
    try:
        unbraid.train("vae", "linear_square:samples=500", net="linear", latents=2, steps=2000, probe_every=1,
                      out=sys.argv[1], progress=False)
    except UserError as error:
        print(error)
"""


def test_no_room_for_a_file_is_one_line_that_says_so(out):
    """Files that may not grow stand for a disk that is full: the same call fails, with another number."""
    done = subprocess.run([sys.executable, "-c", FULL, str(out)], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    small, large = done.stdout.splitlines()
    assert re.fullmatch(r"cannot write .*checkpoint-0\.pt: File too large; what was saved before is untouched", small)
    assert re.fullmatch(r"cannot write .*history\.jsonl: File too large; the same command goes on .*", large)


def test_weights_that_cannot_be_written(tmp_path):
    from safetensors import SafetensorError

    def fill(part):
        raise SafetensorError("Error while serializing: I/O error: No space left on device (os error 28)")

    with pytest.raises(UserError, match=r"cannot write .*a: No space left on device; what"):
        storage.write(tmp_path / "a", fill)
    with pytest.raises(UserError, match=r"cannot write .*a: No such file or directory"):
        storage.write(tmp_path / "nowhere/a", fill)


def test_faults_of_ours_stay_faults(tmp_path):
    def fill(part):
        raise RuntimeError("a fault")

    with pytest.raises(RuntimeError, match="a fault"):
        storage.write(tmp_path / "a", fill)
    assert not list(tmp_path.iterdir())


def test_places_that_cannot_hold_a_folder(tmp_path, monkeypatch):
    (tmp_path / "file").write_text("")
    with pytest.raises(UserError, match=r"cannot use .*file/runs as the folder: .*file is a file"):
        storage.check_folder(tmp_path / "file/runs")
    storage.check_folder(tmp_path / "new/runs")
    monkeypatch.setattr(storage.os, "access", lambda path, mode: False)
    with pytest.raises(UserError, match="may not be written into"):
        storage.check_folder(tmp_path / "new/runs")


def test_notices_of_workers_are_notices():
    with pytest.warns(Notice, match="^something$"):
        workers._pass_on("unbraid: something\n")


def test_the_same_notice_is_said_once(capsys):
    with warnings.catch_warnings():
        shown = warnings.showwarning
        show_notices_only()
        for words in ("one", "one", "two"):
            warnings.warn(words, Notice, stacklevel=2)
        warnings.showwarning = shown
    assert capsys.readouterr().err == "unbraid: one\nunbraid: two\n"
