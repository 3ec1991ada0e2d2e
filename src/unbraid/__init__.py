"""Unbraid: learn, measure and trust disentangled representations."""

__version__ = "0.1.0"
