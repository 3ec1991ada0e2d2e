"""Claims of "Towards principled objectives for contrastive disentanglement" (paper 001)."""
