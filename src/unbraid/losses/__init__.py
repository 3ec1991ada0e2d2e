"""Pure functions that a second method needed. Values are per sample; the method takes the mean over the batch."""
