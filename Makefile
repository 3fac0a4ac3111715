# Two commands for a fresh machine; all else goes through the CMake presets.
.PHONY: demo test validate setup clean
JOBS ?= $(shell nproc)

# Findings are what the demo shows: exit code 1 is its success.
demo: setup
	cmake --preset release
	cmake --build --preset release --target allranks -j $(JOBS)
	build/release/allranks check examples/first-hang || test $$? -eq 1

test: setup
	cmake --preset dev
	cmake --build --preset dev -j $(JOBS)
	ctest --preset dev -j $(JOBS)

# What validators of others, a browser and pre-commit say; installs them first, which takes 500 MB.
validate: setup
	tools/setup_validators
	cmake --preset release
	cmake --build --preset release -j $(JOBS)
	ctest --preset release -C Validate -R '^validators/'

setup:
	@tools/setup

clean:
	rm -rf build
