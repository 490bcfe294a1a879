"""The policy: network, sampling without replacement, and inclusion probabilities."""
