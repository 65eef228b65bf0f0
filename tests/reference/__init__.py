"""NumPy float64 twins of the library, the accuracy that each function owes, and the table that ties them together."""
