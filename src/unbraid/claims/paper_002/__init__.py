"""Claims of the thesis "Why VAEs disentangle" (paper 002), chapter 3 so far."""
