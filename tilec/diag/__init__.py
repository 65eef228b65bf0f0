"""What is said to the user about a program: the catalog of diagnostics, the reporter and the renderer."""
