"""Prints `docs/errors.md`: `python -m tilec.diag.page > docs/errors.md`."""

from tilec.diag.render import errors_page

if __name__ == "__main__":
    print(errors_page(), end="")
