"""`python -m unbraid`."""

from unbraid.cli import main

raise SystemExit(main())
