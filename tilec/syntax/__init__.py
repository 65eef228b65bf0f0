"""From text to the abstract syntax tree."""
