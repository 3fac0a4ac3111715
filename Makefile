# Two commands for a fresh machine; all else goes through the CMake presets.
.PHONY: demo test validate vscode oracle fresh-machine setup clean
JOBS ?= $(shell nproc)

# Findings are what the demo shows: exit code 1 is its success. It ends with what this binary can read and verify.
demo: setup
	cmake --preset demo
	cmake --build --preset demo -j $(JOBS)
	build/release/allranks check examples/first-hang || test $$? -eq 1
	build/release/allranks check examples/first-hang-cpp || test $$? -eq 1
	build/release/allranks version

test: setup
	cmake --preset dev
	cmake --build --preset dev -j $(JOBS)
	ctest --preset dev -j $(JOBS)

# What validators of others, a browser and pre-commit say; installs them first, which takes 500 MB.
validate: setup
	tools/setup_validators
	cmake --preset release
	cmake --build --preset release --target programs -j $(JOBS)
	ctest --preset release -C Validate -R '^validators/'

# The extension in a real VS Code, in a headless browser; PICTURES=docs/images renews the pictures of docs/editors.md.
vscode: setup
	tools/setup_vscode
	cmake --preset release
	cmake --build --preset release --target programs -j $(JOBS)
	cd editors/vscode && npm run --silent package -- --out ../../build/allranks.vsix
	node tests/vscode/run.mjs build/release/allranks build/allranks.vsix $(PICTURES)

# What rules and knowledge claim, tried on the PyTorch, Accelerate, Transformers, Lightning and DeepSpeed of today: 5 GB.
oracle:
	tools/setup_oracle
	build/oracle/bin/python -B tests/oracle/run_facts.py
	build/oracle/bin/python -B tests/oracle/run_fixtures.py

# Both commands above on a machine that has nothing but Debian's base system (needs root).
fresh-machine:
	tools/fresh_machine

setup:
	@tools/setup

clean:
	rm -rf build
