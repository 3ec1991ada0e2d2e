# make demo: environment, a first model, its scores and its report.   make test: checks and tests.
PYTHON ?= python3.11
BIN := .venv/bin
READY := .venv/.ready

.PHONY: demo test

$(READY): pyproject.toml constraints.txt
	$(PYTHON) -m venv .venv
	$(BIN)/pip install --quiet --disable-pip-version-check -c constraints.txt -e '.[dev]'
	touch $@

demo: $(READY)
	@echo "Training a beta-VAE on sprites drawn here, for a minute or two (no download) …"
	@run=$$($(BIN)/unbraid train beta_vae sprites:pixels=32,positions=16 --net mlp:encoder=400-400,decoder=400-400 \
	    --latents 6 --beta 6 --batch-size 128 --steps 5000 --probe-every 100 --out runs | tail -n 1) && \
	$(BIN)/unbraid evaluate $$run && $(BIN)/unbraid report $$run | sed 's/^/Open this report in a browser: /'

test: $(READY)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/python -m pytest
