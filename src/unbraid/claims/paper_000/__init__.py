"""Claims of "Learning switchable representation with masked decoding and sparse encoding" (paper 000)."""
