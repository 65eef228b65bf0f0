"""`python -m tilec`: the command line."""

import sys

from tilec.cli.main import main

sys.exit(main())
