# The two commands of the README; each sets up what is missing and can be run again.
.PHONY: demo test drivers clean
demo:
	bash scripts/demo.sh
test:
	bash scripts/test.sh
drivers:
	bash scripts/setup_drivers.sh
clean:
	rm -rf .venv .drivers build dist
